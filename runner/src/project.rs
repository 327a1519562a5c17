//! Where a project's files are: `.autocode/` and what is in it; its first files; what was replaced in it.

mod misplaced;
mod prev;
mod scaffold;

use std::path::{Path, PathBuf};

pub use prev::Keep;
pub use scaffold::Scaffold;

/// A project: the directory the agent works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    home: PathBuf,
}

impl Project {
    /// The project that `cwd` belongs to: the nearest directory upwards that holds `.autocode/`, looking neither
    /// above the repository's top level nor at the user's home, else `cwd` itself.
    pub fn find(cwd: &Path, home: Option<&Path>) -> Self {
        for dir in cwd.ancestors() {
            if dir.join(".autocode").exists() {
                return Self::at(dir);
            }
            if dir.join(".git").exists() || dir.parent() == home {
                break;
            }
        }
        Self::at(cwd)
    }

    /// The project at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { home: root.join(".autocode"), root }
    }

    /// This project with its state kept at `home` instead of `.autocode/`: for a project whose own may not be touched.
    #[must_use]
    pub fn kept_at(self, home: impl Into<PathBuf>) -> Self {
        Self { home: home.into(), ..self }
    }

    /// The project's directory, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.autocode/`.
    pub fn home(&self) -> PathBuf {
        self.home.clone()
    }

    /// `.autocode/NAME`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// Settings over the user's.
    pub fn config(&self) -> PathBuf {
        self.file("config.json")
    }

    /// Wasm tools and their grants.
    pub fn tools(&self) -> PathBuf {
        self.file("tools")
    }

    /// Sources of tools built here.
    pub fn sources(&self) -> PathBuf {
        self.file("src")
    }

    /// Transcripts.
    pub fn sessions(&self) -> PathBuf {
        self.file("sessions")
    }

    /// Full text of clipped output.
    pub fn out(&self) -> PathBuf {
        self.file("out")
    }

    /// What a reload or a reset replaced.
    pub fn prev(&self) -> PathBuf {
        self.file("prev")
    }

    /// `path` relative to the project where it lies within, for showing to people.
    pub fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_directory_with_state_is_the_project_but_never_beyond_the_repository_or_at_home()
    {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        for sub in [
            ".autocode",
            "code/.autocode",
            "code/repo/.git",
            "code/repo/deep/er",
            "code/plain/x",
            "loose",
        ] {
            std::fs::create_dir_all(home.join(sub)).unwrap();
        }
        let find = |cwd: &str| Project::find(&home.join(cwd), Some(home)).root().to_owned();
        assert_eq!(find("code/plain/x"), home.join("code"));
        assert_eq!(find("code/repo/deep/er"), home.join("code/repo/deep/er"));
        assert_eq!(find("loose"), home.join("loose"));
        assert_eq!(find(""), home);
    }
}
