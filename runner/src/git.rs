//! Whether git brought other people's files into a working tree, told from the reflog alone.
//!
//! A commit made here only records what is here already; a pull, merge, checkout, rebase or reset replaces files by
//! what someone else may have written. Never runs git, never writes; in doubt the answer is that files were brought.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files;

/// How far a repository's history had come at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Bytes of the log of `HEAD`; `None` without a log.
    log: Option<u64>,
    /// The commit it ended at.
    head: String,
}

/// The repository around a project, if there is one.
#[derive(Clone, Debug)]
pub struct Repository {
    dir: Option<PathBuf>,
}

impl Repository {
    /// The one whose working tree holds `root`.
    pub fn around(root: &Path) -> Self {
        let dir = root.ancestors().find_map(|dir| {
            let git = dir.join(".git");
            let metadata = git.metadata().ok()?;
            if metadata.is_dir() {
                return Some(git);
            }
            // A worktree or submodule: the file says where the directory is.
            let text = files::read_small(&git, 4096).ok()??;
            Some(dir.join(text.strip_prefix("gitdir:")?.trim()))
        });
        Self { dir }
    }

    /// Whether there is one.
    pub fn exists(&self) -> bool {
        self.dir.is_some()
    }

    /// Where its history stands now.
    pub fn mark(&self) -> Mark {
        let Some(log) = self.log() else { return Mark::default() };
        let Ok(metadata) = log.metadata() else { return Mark::default() };
        let tail = tail(&log, metadata.len().saturating_sub(4096)).unwrap_or_default();
        let head = tail.lines().last().and_then(Entry::parse).map(|e| e.new.to_owned());
        Mark { log: Some(metadata.len()), head: head.unwrap_or_default() }
    }

    /// Whether anything but local commits moved it since `mark`. One stat when nothing did.
    pub fn moved_since(&self, mark: &Mark) -> bool {
        let Some(log) = self.log() else { return false };
        let len = log.metadata().ok().map(|m| m.len());
        match (mark.log, len) {
            (None, None) => !self.is_unborn(),
            (Some(old), Some(new)) if old == new => false,
            (Some(old), Some(new)) if old < new => foreign(&log, old, &mark.head),
            (None, Some(_)) => foreign(&log, 0, ""),
            _ => true,
        }
    }

    fn log(&self) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.join("logs/HEAD"))
    }

    /// No commit yet. Otherwise a missing log means that it is switched off and tells nothing.
    fn is_unborn(&self) -> bool {
        let Some(dir) = &self.dir else { return true };
        let no_branches = dir.join("refs/heads").read_dir().is_ok_and(|mut d| d.next().is_none());
        no_branches && !dir.join("packed-refs").exists()
    }
}

/// Whether the log's entries from `start` on hold one that brought files, or do not follow on `head`.
fn foreign(log: &Path, start: u64, head: &str) -> bool {
    let Some(text) = tail(log, start) else { return true };
    let mut at = head.to_owned();
    for line in text.lines() {
        match Entry::parse(line) {
            Some(entry) if (at.is_empty() || entry.old == at) && entry.is_local() => {
                entry.new.clone_into(&mut at)
            }
            _ => return true,
        }
    }
    false
}

/// One line of a reflog: `OLD NEW NAME <MAIL> TIME ZONE<tab>MESSAGE` (git-reflog's on-disk form).
struct Entry<'a> {
    old: &'a str,
    new: &'a str,
    message: &'a str,
}

impl<'a> Entry<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (head, message) = line.split_once('\t').unwrap_or((line, ""));
        let mut words = head.split(' ');
        Some(Self { old: words.next()?, new: words.next()?, message })
    }

    fn is_local(&self) -> bool {
        let committed = ["commit:", "commit (initial):", "commit (amend):"];
        self.old == self.new || committed.iter().any(|start| self.message.starts_with(start))
    }
}

fn tail(path: &Path, start: u64) -> Option<String> {
    let mut file = std::fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(files::SMALL + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= files::SMALL).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(dir: &Path, args: &[&str]) {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(args)
            .current_dir(dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    fn commit(dir: &Path, text: &str) {
        std::fs::write(dir.join("file"), text).unwrap();
        git(dir, &["add", "."]);
        git(dir, &["commit", "-m", text]);
    }

    #[test]
    fn a_tree_without_git_never_moves() {
        let dir = tempfile::tempdir().unwrap();
        let repository = Repository { dir: None };
        assert!(!repository.exists());
        assert!(!repository.moved_since(&repository.mark()));
        drop(dir);
    }

    #[test]
    fn local_commits_and_new_branches_bring_nothing() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init"]);
        let repository = Repository::around(&dir.path().join("below"));
        let unborn = repository.mark();
        assert!(!repository.moved_since(&unborn));
        commit(dir.path(), "one");
        assert!(!repository.moved_since(&unborn));
        let mark = repository.mark();
        commit(dir.path(), "two");
        git(dir.path(), &["commit", "--amend", "-m", "three"]);
        git(dir.path(), &["checkout", "-b", "topic"]);
        assert!(!repository.moved_since(&mark));
    }

    #[test]
    fn pull_checkout_reset_and_a_merge_bring_files() {
        let (theirs, dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git(theirs.path(), &["init"]);
        commit(theirs.path(), "one");
        git(dir.path(), &["clone", "-q", theirs.path().to_str().unwrap(), "."]);
        let repository = Repository::around(dir.path());

        let mark = repository.mark();
        git(dir.path(), &["pull"]);
        assert!(!repository.moved_since(&mark), "there was nothing to pull");
        commit(theirs.path(), "two");
        git(dir.path(), &["pull", "--ff-only"]);
        assert!(repository.moved_since(&mark));

        let mark = repository.mark();
        git(dir.path(), &["reset", "--hard", "HEAD~1"]);
        assert!(repository.moved_since(&mark));

        let mark = repository.mark();
        git(dir.path(), &["checkout", "origin/HEAD"]);
        commit(dir.path(), "on top");
        assert!(repository.moved_since(&mark));
    }

    #[test]
    fn a_rewritten_or_missing_log_counts_as_movement() {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init"]);
        commit(dir.path(), "one");
        let repository = Repository::around(dir.path());
        let mark = repository.mark();
        let log = repository.log().unwrap();
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::write(&log, format!("{text}{text}")).unwrap();
        assert!(repository.moved_since(&mark));
        std::fs::remove_file(&log).unwrap();
        assert!(repository.moved_since(&mark));
        assert!(repository.moved_since(&repository.mark()));
    }

    #[test]
    fn a_worktree_has_its_own_history() {
        let (dir, tree) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git(dir.path(), &["init"]);
        commit(dir.path(), "one");
        git(
            dir.path(),
            &["worktree", "add", "-b", "topic", tree.path().join("w").to_str().unwrap()],
        );
        let repository = Repository::around(&tree.path().join("w"));
        let mark = repository.mark();
        commit(&tree.path().join("w"), "two");
        assert!(!repository.moved_since(&mark));
        git(&tree.path().join("w"), &["reset", "--hard", "HEAD~1"]);
        assert!(repository.moved_since(&mark));
    }
}
