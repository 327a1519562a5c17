//! The first run in a project writes its `.autocode/`; no later run overwrites anything in it.

use std::io;
use std::os::unix::fs::DirBuilderExt as _;

use super::Project;
use crate::files;
use crate::pristine;

/// What scaffolding did.
#[derive(Debug, PartialEq, Eq)]
pub enum Scaffold {
    /// `.autocode/` is new.
    Created,
    /// It was there already.
    Present,
    /// It cannot be written; work goes on without. One sentence.
    Impossible(String),
}

impl Project {
    /// Writes the first files where there is no `.autocode/` yet.
    pub fn scaffold(&self) -> Scaffold {
        match self.write_first_files() {
            Ok(()) => Scaffold::Created,
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && self.home.is_dir() => {
                // Transcripts and keys stay out of git also where someone else's `.autocode/` forgot to say so.
                let _ = files::write_new(&self.file(".gitignore"), pristine::GITIGNORE, 0o644);
                Scaffold::Present
            }
            Err(e) => Scaffold::Impossible(self.why_not(&e)),
        }
    }

    fn write_first_files(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().mode(0o755).create(&self.home)?;
        std::fs::create_dir(self.tools())?;
        let files = [
            (".gitignore", pristine::GITIGNORE, 0o644),
            ("config.json", pristine::CONFIG, 0o600),
            ("prompt.md", pristine::PROMPT, 0o644),
            ("compact.md", pristine::COMPACT, 0o644),
        ];
        for (name, text, mode) in files {
            files::write_new(&self.file(name), text, mode)?;
        }
        Ok(())
    }

    fn why_not(&self, error: &io::Error) -> String {
        let place = self.short(&self.home);
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists => "is not a directory".to_owned(),
            _ => format!("cannot be written: {}", files::reason(error)),
        };
        format!("{place} {why}; settings, tools and sessions of this project are not kept")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = dir
            .read_dir()
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_first_run_writes_everything_and_later_runs_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(dir.path());
        assert_eq!(project.scaffold(), Scaffold::Created);
        assert_eq!(
            names(&project.home()),
            [".gitignore", "compact.md", "config.json", "prompt.md", "tools"]
        );
        assert_eq!(project.config().metadata().unwrap().permissions().mode() & 0o777, 0o600);

        std::fs::write(project.config(), "mine").unwrap();
        std::fs::remove_file(project.file("prompt.md")).unwrap();
        assert_eq!(project.scaffold(), Scaffold::Present);
        assert_eq!(std::fs::read_to_string(project.config()).unwrap(), "mine");
        assert!(!project.file("prompt.md").exists());
    }

    #[test]
    fn a_missing_gitignore_is_added() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(dir.path());
        std::fs::create_dir(project.home()).unwrap();
        assert_eq!(project.scaffold(), Scaffold::Present);
        assert_eq!(names(&project.home()), [".gitignore"]);
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let project = Project::at(dir.path());
        std::fs::write(project.home(), "a file").unwrap();
        let Scaffold::Impossible(why) = project.scaffold() else { panic!() };
        assert_eq!(
            why,
            ".autocode is not a directory; settings, tools and sessions of this project are not kept"
        );
        let gone = Project::at(dir.path().join("gone"));
        let Scaffold::Impossible(why) = gone.scaffold() else { panic!() };
        assert!(why.starts_with(".autocode cannot be written: no such file or directory"), "{why}");
    }
}
