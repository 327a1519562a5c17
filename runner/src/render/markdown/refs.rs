//! Link reference definitions: `[label]: address "title"`.
//!
//! A definition serves the text that comes after it: what was shown is never touched again.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use pulldown_cmark::Parser;

/// The definitions seen so far, and the labels that were asked for before they were defined.
///
/// A clone is for looking ahead: what it learns stays unknown to the original.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refs {
    targets: Arc<HashMap<String, String>>,
    missed: RefCell<Arc<HashSet<String>>>,
}

/// A definition that came too late for a link before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Late {
    pub label: String,
    pub target: String,
}

impl Refs {
    /// The address a label stands for.
    pub(crate) fn find(&self, label: &str) -> Option<&str> {
        let label = normalise(label);
        let found = self.targets.get(&label);
        if found.is_none()
            && !label.is_empty()
            && let Some(missed) = Arc::get_mut(&mut self.missed.borrow_mut())
        {
            missed.insert(label);
        }
        found.map(String::as_str)
    }

    /// Takes the definitions off the beginning of a paragraph: the offset where its text begins,
    /// and the definitions that links before them have missed.
    pub(crate) fn take(&mut self, paragraph: &str, end: End) -> (usize, Vec<Late>) {
        if !paragraph.starts_with('[') {
            return (0, Vec::new());
        }
        // Indented, so that no line but the first can be anything else than a continuation.
        let text = paragraph.replace('\n', "\n    ");
        let parser = Parser::new(&text);
        let mut found: Vec<_> = parser
            .reference_definitions()
            .iter()
            .map(|(label, def)| (def.span.clone(), label.to_owned(), def.dest.to_string()))
            .collect();
        found.sort_by_key(|(span, ..)| span.start);
        let rest = match end {
            End::Closed => parser.into_offset_iter().next().map_or(text.len(), |(_, r)| r.start),
            // The title of the last one may follow.
            End::Open => found.pop().map_or(0, |(span, ..)| span.start),
        };
        let late = found.into_iter().filter_map(|(_, label, target)| self.define(label, target));
        let late = late.collect();
        let breaks = text[..rest].matches("\n    ").count();
        (rest.saturating_sub(4 * breaks).min(paragraph.len()), late)
    }

    fn define(&mut self, label: String, target: String) -> Option<Late> {
        let key = normalise(&label);
        let missed = self.missed.borrow().contains(&key);
        if let Some(targets) = Arc::get_mut(&mut self.targets) {
            targets.entry(key).or_insert_with(|| target.clone());
        }
        missed.then_some(Late { label, target })
    }
}

/// Whether more lines of a paragraph may come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum End {
    Open,
    Closed,
}

/// Labels match whatever their case and spacing.
fn normalise(label: &str) -> String {
    let words: Vec<_> = label.split_whitespace().collect();
    words.join(" ").to_lowercase().to_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_taken_off_the_beginning() {
        let mut refs = Refs::default();
        let text = "[A  b]: /url 'title'\n[c]:\n<x y>\n[a b]: /other\ntext";
        let (rest, late) = refs.take(text, End::Closed);
        assert_eq!(&text[rest..], "text");
        assert_eq!(late, []);
        assert_eq!(refs.find("a B"), Some("/url"));
        assert_eq!(refs.find("C"), Some("x y"));
    }

    #[test]
    fn an_open_paragraph_keeps_its_last_definition() {
        let mut refs = Refs::default();
        let text = "[a]: /a\n[b]: /b";
        assert_eq!(refs.take(text, End::Open).0, 8);
        assert_eq!(refs.find("b"), None);
    }

    #[test]
    fn a_definition_that_was_missed_is_reported() {
        let mut refs = Refs::default();
        assert_eq!(refs.find("late"), None);
        let (_, late) = refs.take("[Late]: /x", End::Closed);
        assert_eq!(late, [Late { label: "Late".into(), target: "/x".into() }]);
    }

    #[test]
    fn looking_ahead_teaches_the_original_nothing() {
        let refs = Refs::default();
        let mut ahead = refs.clone();
        assert_eq!(ahead.find("x"), None);
        ahead.take("[y]: /y", End::Closed);
        drop(ahead);
        assert_eq!(refs.find("y"), None);
    }

    #[test]
    fn text_without_definitions_is_left_alone() {
        let mut refs = Refs::default();
        for text in ["[a] b", "[a]: ", "plain", "[a]: /u x"] {
            assert_eq!(refs.take(text, End::Closed).0, 0, "{text}");
        }
    }
}
