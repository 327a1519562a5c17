//! What stands in `.autocode/` in the place of something else, where nothing that reads it would say so.

use std::io;
use std::path::Path;

use super::Project;
use crate::files;

/// Directories, and what is lost where one cannot be used.
const DIRECTORIES: [(&str, &str); 5] = [
    ("tools", "no tool is loaded"),
    ("src", "no tool can be built"),
    ("sessions", "conversations are not kept"),
    ("out", "the whole text of long output is not kept"),
    ("prev", "what is replaced is not kept"),
];

/// Files, and the same.
const FILES: [(&str, &str); 2] = [
    (".gitignore", "git may take up transcripts and keys"),
    ("history", "what you type is not remembered"),
];

impl Project {
    /// A sentence for each directory or file of ours that is something else.
    pub fn misplaced(&self) -> Vec<String> {
        if !self.home.is_dir() {
            return Vec::new();
        }
        let directories = DIRECTORIES.iter().filter_map(|(name, lost)| {
            let problem = problem(&self.file(name), true)?;
            Some(format!("{} {problem}; {lost}", self.short(&self.file(name))))
        });
        let files = FILES.iter().filter_map(|(name, lost)| {
            let problem = problem(&self.file(name), false)?;
            Some(format!("{} {problem}; {lost}", self.short(&self.file(name))))
        });
        directories.chain(files).collect()
    }

    /// Directories of ours that are something else.
    pub fn misplaced_directories(&self) -> impl Iterator<Item = &'static str> {
        let names = DIRECTORIES.iter().map(|(name, _)| *name);
        names.filter(|name| problem(&self.file(name), true).is_some())
    }
}

fn problem(path: &Path, directory: bool) -> Option<String> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == io::ErrorKind::NotFound && !files::is_link(path) => return None,
        Err(e) => return Some(format!("cannot be used: {}", files::reason(&e))),
    };
    let wanted = if directory { "directory" } else { "file" };
    let is = files::kind(&metadata);
    (is != wanted).then(|| format!("is a {is}, not a {wanted}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_something_else_is_named_with_what_it_costs() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(dir.path());
        assert_eq!(project.misplaced(), [""; 0]);
        project.scaffold();
        assert_eq!(project.misplaced(), [""; 0]);
        std::fs::remove_dir(project.tools()).unwrap();
        std::fs::write(project.tools(), "").unwrap();
        std::fs::create_dir(project.file("history")).unwrap();
        symlink("sessions", project.sessions()).unwrap();
        let told = project.misplaced();
        assert_eq!(told[0], ".autocode/tools is a file, not a directory; no tool is loaded");
        assert!(told[1].starts_with(".autocode/sessions cannot be used: "), "{told:?}");
        assert_eq!(
            told[2],
            ".autocode/history is a directory, not a file; what you type is not remembered"
        );
        let names: Vec<_> = project.misplaced_directories().collect();
        assert_eq!(names, ["tools", "sessions"]);
    }
}
