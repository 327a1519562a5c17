//! Where a project's files are: `.autocode/` and what is in it.

use std::path::{Path, PathBuf};

/// A project: the directory the agent works in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// The project that `cwd` belongs to: the nearest directory upwards that holds `.autocode/`, looking neither
    /// above the repository's top level nor at the user's home, else `cwd` itself.
    pub fn find(cwd: &Path, home: Option<&Path>) -> Self {
        for dir in cwd.ancestors() {
            if dir.join(".autocode").exists() {
                return Self { root: dir.to_owned() };
            }
            if dir.join(".git").exists() || dir.parent() == home {
                break;
            }
        }
        Self { root: cwd.to_owned() }
    }

    /// The project at `root`.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The project's directory, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// `.autocode/`.
    pub fn home(&self) -> PathBuf {
        self.root.join(".autocode")
    }

    /// `.autocode/NAME`.
    pub fn file(&self, name: &str) -> PathBuf {
        self.home().join(name)
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

    /// `path` relative to the project where it lies within, for showing to people.
    pub fn short<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
