//! How far a project's agent has evolved from the one that autocode ships: `--diff` and `--reset`.
//!
//! Invariant: works with everything in `.autocode/` broken. Whatever is there is looked at without waiting, never
//! followed out of the project, and moved, not deleted.

mod built;
mod reset;
mod show;
mod tools;

use serde::Serialize;

use crate::files;
use crate::pristine;
use crate::project::Project;
pub use built::record as record_build;
pub use reset::{Part, reset};
pub use tools::ToolDrift;

/// Everything that is not as autocode ships it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// Settings and prompts.
    pub files: Vec<FileDrift>,
    /// Tools; autocode ships none in a project.
    pub tools: Vec<ToolDrift>,
}

/// A file that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileDrift {
    /// Its name in `.autocode/`.
    pub file: &'static str,
    /// How it differs.
    #[serde(flatten)]
    pub state: FileState,
}

/// How a file differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum FileState {
    /// By its text.
    Changed {
        /// Lines that are not in the shipped one.
        added: usize,
        /// Lines of the shipped one that are not in it.
        removed: usize,
        /// Unified, secrets masked.
        diff: String,
    },
    /// It cannot be read; the shipped one is used in its place.
    Broken {
        /// Completes a sentence that begins with the file.
        problem: String,
    },
}

/// The files that are compared, with what autocode ships.
const FILES: [(&str, &str); 3] = [
    ("config.json", pristine::CONFIG),
    ("prompt.md", pristine::PROMPT),
    ("compact.md", pristine::COMPACT),
];

impl Drift {
    /// That of `project`. A file that is not there is none: the shipped one is in force.
    pub fn of(project: &Project) -> Self {
        if let Some(problem) = unusable(project) {
            let state = FileState::Broken { problem };
            return Self { files: vec![FileDrift { file: "", state }], tools: Vec::new() };
        }
        let files = FILES.iter().filter_map(|&(file, shipped)| {
            let text = files::read_inside(project.root(), &project.file(file), files::SMALL);
            let state = match text {
                Ok(None) => return None,
                Ok(Some(text)) => show::changed(file, shipped, &text)?,
                Err(problem) => FileState::Broken { problem: problem.to_string() },
            };
            Some(FileDrift { file, state })
        });
        Self { files: files.collect(), tools: tools::drift(project) }
    }

    /// Whether everything is as autocode ships it.
    pub fn is_none(&self) -> bool {
        self.files.is_empty() && self.tools.is_empty()
    }
}

/// What is wrong with `.autocode/` itself.
fn unusable(project: &Project) -> Option<String> {
    let home = project.home();
    let metadata = home.symlink_metadata().ok()?;
    if metadata.is_symlink() {
        let target = home.canonicalize();
        let root = project.root().canonicalize();
        return match (target, root) {
            (Ok(target), Ok(root)) if target.starts_with(&root) && target.is_dir() => None,
            (Ok(target), _) => {
                Some(format!("is a link out of the project, to {}", target.display()))
            }
            (Err(_), _) => Some("is a link that leads nowhere".to_owned()),
        };
    }
    if !metadata.is_dir() {
        return Some("is not a directory".to_owned());
    }
    home.read_dir().err().map(|e| format!("cannot be read: {}", files::reason(&e)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
