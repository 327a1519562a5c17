//! What can be put in the place of the word before the cursor: commands after `/`, files after `@`.

use super::commands;
use super::files::{Files, Found};
use super::mention::mention;

/// Rows that are shown.
pub(super) const ROWS: usize = 8;

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What it puts into the line.
    pub(super) insert: String,
    /// What it is called.
    pub(super) label: String,
    /// What it is for.
    pub(super) help: String,
}

/// The list that is open, if any.
#[derive(Debug, Default)]
pub(super) struct Completion {
    /// Where the word begins; `None`: nothing is to be completed.
    from: Option<usize>,
    word: String,
    candidates: Vec<Candidate>,
    chosen: usize,
    /// The word that the person has closed the list on.
    closed: Option<String>,
}

impl Completion {
    /// Looks at the line anew. Files are asked for; they come with [`Completion::found`].
    pub(super) fn look(&mut self, text: &str, cursor: usize, files: &mut Files) {
        let Some((from, word)) = word(text, cursor) else {
            *self = Self::default();
            return;
        };
        if self.from == Some(from) && self.word == word {
            return;
        }
        if self.closed.as_deref().is_some_and(|closed| !word.starts_with(closed)) {
            self.closed = None;
        }
        (self.from, self.word, self.chosen) = (Some(from), word.to_owned(), 0);
        match word.strip_prefix('@') {
            // The old ones stay until the new ones come.
            Some(path) => files.ask(path.trim_start_matches('"')),
            None => self.candidates = matching_commands(word),
        }
    }

    /// Files that were asked for.
    pub(super) fn found(&mut self, found: Found) {
        let asked = self.word.strip_prefix('@').map(|path| path.trim_start_matches('"'));
        if self.from.is_some() && asked == Some(found.query.as_str()) {
            let candidate = |path: String| Candidate {
                insert: mention(&path),
                label: path,
                help: String::new(),
            };
            self.candidates = found.paths.into_iter().map(candidate).collect();
            self.chosen = 0;
        }
    }

    /// What is shown, and which of it is chosen; empty when there is no list.
    pub(super) fn shown(&self) -> (&[Candidate], usize) {
        if self.is_open() { (&self.candidates, self.chosen) } else { (&[], 0) }
    }

    /// Whether a list is shown.
    pub(super) fn is_open(&self) -> bool {
        self.from.is_some() && self.closed.is_none() && !self.candidates.is_empty()
    }

    /// Whether the word is whole already, so that Enter is meant for the line.
    pub(super) fn is_settled(&self) -> bool {
        !self.is_open()
            || self.candidates.iter().any(|candidate| candidate.insert.trim_end() == self.word)
    }

    /// Chooses the next one, or the one before.
    pub(super) fn step(&mut self, forward: bool) {
        let count = self.candidates.len().max(1);
        self.chosen = (self.chosen + if forward { 1 } else { count - 1 }) % count;
    }

    /// Closes the list for this word.
    pub(super) fn close(&mut self) {
        self.closed = Some(self.word.clone());
    }

    /// Where the chosen one goes, and what it puts there.
    pub(super) fn accept(&mut self) -> Option<(usize, String)> {
        if !self.is_open() {
            return None;
        }
        let candidate = self.candidates.get(self.chosen)?;
        // A directory is gone on with.
        let space = if candidate.insert.ends_with(['/', ' ']) { "" } else { " " };
        Some((self.from?, format!("{}{space}", candidate.insert)))
    }
}

/// The word before the cursor if it is one that can be completed, and where it begins.
fn word(text: &str, cursor: usize) -> Option<(usize, &str)> {
    let before = &text[..cursor];
    let from = before
        .rfind(char::is_whitespace)
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    let word = &before[from..];
    let command = from == 0 && word.starts_with('/') && !word[1..].contains('/');
    (command || word.starts_with('@')).then_some((from, word))
}

fn matching_commands(word: &str) -> Vec<Candidate> {
    let matching = commands::ENTRIES.iter().filter(|entry| entry.name.starts_with(&word[1..]));
    matching
        .map(|entry| Candidate {
            insert: format!("/{}{}", entry.name, if entry.arguments.is_empty() { "" } else { " " }),
            label: format!("/{} {}", entry.name, entry.arguments),
            help: entry.help.to_owned(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    fn files() -> Files {
        Files::new(Path::new("/dev/null"), unbounded_channel().0)
    }

    #[test]
    fn commands_are_offered_at_the_beginning_only() {
        let mut completion = Completion::default();
        completion.look("/co", 3, &mut files());
        let labels: Vec<&str> = completion.shown().0.iter().map(|c| c.insert.trim_end()).collect();
        assert_eq!(labels, ["/config", "/compact", "/cost", "/copy"]);
        completion.step(false);
        assert_eq!(completion.accept(), Some((0, "/copy ".to_owned())));
        completion.look("see /co", 7, &mut files());
        assert!(!completion.is_open());
    }

    #[test]
    fn files_are_put_in_the_place_of_the_word() {
        let mut completion = Completion::default();
        completion.look("read @sm please", 8, &mut files());
        assert!(!completion.is_open());
        completion.found(Found { query: "other".into(), paths: vec!["x".into()] });
        assert!(!completion.is_open());
        completion.found(Found { query: "sm".into(), paths: vec!["src/main.rs".into()] });
        assert_eq!(completion.accept(), Some((5, "@src/main.rs ".to_owned())));
    }

    #[test]
    fn a_closed_list_stays_closed_for_its_word() {
        let mut completion = Completion::default();
        completion.look("/co", 3, &mut files());
        completion.close();
        completion.look("/com", 4, &mut files());
        assert!(!completion.is_open());
        completion.look("/", 1, &mut files());
        assert!(completion.is_open());
    }

    #[test]
    fn a_whole_word_is_settled() {
        let mut completion = Completion::default();
        completion.look("/help", 5, &mut files());
        assert!(completion.is_settled());
        completion.look("/hel", 4, &mut files());
        assert!(!completion.is_settled());
    }
}
