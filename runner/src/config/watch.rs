//! One file that may change while a session runs: a stat when it did not, its text when it did.

use std::path::{Path, PathBuf};

use crate::files::{self, Stamp};

/// What is at a path: text, nothing, or why there is no text.
pub(super) type Seen = Result<Option<String>, String>;

/// A file and the state in which it was last looked at.
pub(super) struct Watched {
    path: PathBuf,
    /// Symbolic links may not lead out of here.
    inside: Option<PathBuf>,
    stamp: Option<Stamp>,
    /// The next write could leave the same stamp.
    fresh: bool,
    seen: Seen,
}

impl Watched {
    /// Looks for the first time.
    pub(super) fn new(path: PathBuf, inside: Option<&Path>) -> Self {
        let mut new = Self {
            path,
            inside: inside.map(Path::to_owned),
            stamp: None,
            fresh: false,
            seen: Ok(None),
        };
        new.stamp = Stamp::of(&new.path);
        new.fresh = new.stamp.is_some_and(|s| s.is_fresh());
        new.seen = new.read();
        new
    }

    /// What was there when it was last looked at.
    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What was there, for one look only.
    pub(super) fn into_seen(self) -> Seen {
        self.seen
    }

    /// Looks again; what was there before, if it is something else now.
    pub(super) fn changed(&mut self) -> Option<Seen> {
        let stamp = Stamp::of(&self.path);
        if stamp == self.stamp && !self.fresh {
            return None;
        }
        self.stamp = stamp;
        self.fresh = stamp.is_some_and(|s| s.is_fresh());
        let now = self.read();
        (now != self.seen).then(|| std::mem::replace(&mut self.seen, now))
    }

    fn read(&self) -> Seen {
        if self.stamp.is_none() && !files::is_link(&self.path) {
            return Ok(None);
        }
        let text = match &self.inside {
            Some(root) => files::read_inside(root, &self.path, files::SMALL),
            None => files::read_small(&self.path, files::SMALL),
        };
        text.map_err(|e| e.to_string())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_seen_once_however_fast_it_follows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut watched = Watched::new(path.clone(), None);
        assert_eq!(watched.changed(), None);
        for n in 0..200 {
            std::fs::write(&path, format!("{n:03}")).unwrap();
            assert!(watched.changed().is_some(), "{n}");
            assert_eq!(watched.seen(), &Ok(Some(format!("{n:03}"))));
            assert_eq!(watched.changed(), None);
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(watched.changed(), Some(Ok(Some("199".to_owned()))));
        std::fs::create_dir(&path).unwrap();
        assert!(watched.changed().is_some());
        assert_eq!(watched.seen(), &Err("is a directory, not a file".to_owned()));
    }
}
