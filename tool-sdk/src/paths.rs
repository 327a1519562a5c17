//! Paths as the agent means them.
//!
//! autocode tells a tool in `PWD` where the agent works, and in `AUTOCODE_DIRS` (colons between) which directories the
//! tool may touch. Neither is what keeps a tool inside: that is the sandbox. They make for a clear error.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The agent's working directory, absolute.
pub fn cwd() -> PathBuf {
    std::env::var_os("PWD").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// The absolute path of `path`, relative to the agent's working directory, without `.` and `..`.
///
/// # Errors
/// It is outside of the project and of the directories that the tool's grants name.
///
/// ```no_run
/// # use autocode_tool::{Result, path, tool};
/// # /// Read.
/// # #[tool]
/// # fn read(file: &str) -> Result<String> {
/// let text = std::fs::read_to_string(path(file)?)?;
/// # Ok(text) }
/// # fn main() {}
/// ```
pub fn path(path: impl AsRef<Path>) -> Result<PathBuf, Outside> {
    let dirs = std::env::var("AUTOCODE_DIRS").unwrap_or_default();
    resolve(&cwd(), &dirs, path.as_ref())
}

fn resolve(cwd: &Path, dirs: &str, path: &Path) -> Result<PathBuf, Outside> {
    let mut absolute = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = absolute.pop(),
            other => absolute.push(other),
        }
    }
    let mut dirs = dirs.split(':').filter(|dir| !dir.is_empty()).peekable();
    if dirs.peek().is_none() || dirs.any(|dir| absolute.starts_with(dir)) {
        Ok(absolute)
    } else {
        Err(Outside(absolute))
    }
}

/// A path that the tool may not touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside(PathBuf);

impl fmt::Display for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.display();
        write!(f, "{path} is outside of the project; the grant \"fs\": [\"{path}\"] would allow it")
    }
}

impl std::error::Error for Outside {}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(path: &str) -> Result<PathBuf, Outside> {
        resolve(Path::new("/work/app/src"), "/work/app:/srv/data", Path::new(path))
    }

    #[test]
    fn a_relative_path_starts_at_the_working_directory() {
        assert_eq!(at("a.rs"), Ok("/work/app/src/a.rs".into()));
        assert_eq!(at("./../README.md"), Ok("/work/app/README.md".into()));
    }

    #[test]
    fn granted_directories_are_inside() {
        assert_eq!(at("/srv/data/x"), Ok("/srv/data/x".into()));
    }

    #[test]
    fn a_path_outside_names_itself_and_the_grant() {
        let error = at("../../../etc/passwd").unwrap_err();
        assert_eq!(
            error.to_string(),
            "/etc/passwd is outside of the project; the grant \"fs\": [\"/etc/passwd\"] would allow it"
        );
        assert!(at("/work/apple").is_err(), "a common beginning of a name is not a directory");
    }
}
