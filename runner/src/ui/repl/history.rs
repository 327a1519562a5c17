//! What was typed before, kept across sessions in `.autocode/history`.
//!
//! Invariant: what a person typed and did not send is stored as well when it would otherwise be lost. A history that
//! cannot be kept in a file is kept in memory.

use std::path::Path;

use reedline::{FileBackedHistory, History as _, HistoryItem, SearchDirection, SearchQuery};

/// Entries that are kept.
const ENTRIES: usize = 1000;

/// A longer entry is not kept: what was pasted is somewhere else already.
const LONGEST: usize = 16 << 10;

/// More than such a file ever has.
const LARGEST: u64 = ENTRIES as u64 * LONGEST as u64;

/// Earlier messages, and the place that the person has gone back to.
pub(super) struct History {
    store: FileBackedHistory,
    /// Newest first; read when it is first asked for.
    entries: Option<Vec<String>>,
    /// How far back the shown entry is, and what had been typed before.
    shown: Option<(usize, String)>,
}

impl History {
    /// The history in this file. Only a plain file is opened: a link would be written through, a FIFO waited for.
    pub(super) fn open(path: &Path) -> Self {
        make_private(path);
        let usable = path.symlink_metadata().is_ok_and(|m| m.is_file() && m.len() <= LARGEST);
        let store = usable.then(|| FileBackedHistory::with_file(ENTRIES, path.to_owned()).ok());
        Self { store: store.flatten().unwrap_or_default(), ..Self::in_memory() }
    }

    /// A history that begins empty and ends with the session.
    pub(super) fn in_memory() -> Self {
        Self { store: FileBackedHistory::default(), entries: None, shown: None }
    }

    /// Keeps a line; the person is at the newest entry again.
    pub(super) fn add(&mut self, line: &str) {
        self.shown = None;
        let line = line.trim_end();
        if line.is_empty() || line.len() > LONGEST {
            return;
        }
        let _ = self.store.save(HistoryItem::from_command_line(line));
        let _ = self.store.sync();
        self.entries = None;
    }

    /// One entry further back; `typed` is kept for the way back.
    pub(super) fn older(&mut self, typed: &str) -> Option<String> {
        let next = self.shown.as_ref().map_or(0, |(at, _)| at + 1);
        let entry = self.entries().get(next)?.clone();
        match &mut self.shown {
            Some((at, _)) => *at = next,
            None => self.shown = Some((0, typed.to_owned())),
        }
        Some(entry)
    }

    /// One entry forward, at last to what had been typed.
    pub(super) fn newer(&mut self) -> Option<String> {
        let (at, _) = self.shown.as_mut()?;
        match at.checked_sub(1) {
            Some(next) => {
                *at = next;
                self.entries().get(next).cloned()
            }
            None => self.shown.take().map(|(_, typed)| typed),
        }
    }

    /// What is typed now is no longer an entry of the past.
    pub(super) fn edited(&mut self) {
        self.shown = None;
    }

    /// The newest entry from the `from`th on that holds `text`, with its place.
    pub(super) fn find(&mut self, text: &str, from: usize) -> Option<(usize, String)> {
        let text = text.to_lowercase();
        let mut entries = self.entries().iter().enumerate().skip(from);
        entries
            .find(|(_, entry)| entry.to_lowercase().contains(&text))
            .map(|(at, entry)| (at, entry.clone()))
    }

    fn entries(&mut self) -> &[String] {
        let store = &self.store;
        self.entries.get_or_insert_with(|| {
            let all = store.search(SearchQuery::everything(SearchDirection::Backward, None));
            let mut lines: Vec<String> =
                all.unwrap_or_default().into_iter().map(|item| item.command_line).collect();
            lines.dedup();
            lines
        })
    }
}

/// Makes the file, for its owner's eyes only, where there is a directory for it.
fn make_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_leads_to_what_was_typed() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(&dir.path().join("history"));
        history.add("one");
        history.add("two\nlines");
        assert_eq!(history.older("draft").as_deref(), Some("two\nlines"));
        assert_eq!(history.older("").as_deref(), Some("one"));
        assert_eq!(history.older(""), None);
        assert_eq!(history.newer().as_deref(), Some("two\nlines"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
    }

    #[test]
    fn entries_live_on_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history");
        History::open(&path).add("fix the test");
        let mut again = History::open(&path);
        assert_eq!(again.find("THE", 0), Some((0, "fix the test".to_owned())));
        assert_eq!(again.find("THE", 1), None);
    }

    #[test]
    fn without_a_place_for_the_file_memory_does() {
        let mut history = History::open(Path::new("/dev/null/history"));
        history.add("kept");
        assert_eq!(history.older("").as_deref(), Some("kept"));
    }
}
