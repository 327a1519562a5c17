//! `@path` in a message: which files a person means, and how the model is told.

use std::path::{Path, PathBuf};

/// How the sentence begins that names the files.
const LEAD: &str = "[Files that the message names with @; read them first: ";

/// The message as the model gets it: as it was typed, with a sentence that names the files in it.
pub(super) fn expanded(text: &str, root: &Path, home: Option<&Path>) -> String {
    let mut named: Vec<&str> = Vec::new();
    for path in paths(text) {
        if !named.contains(&path) && resolve(path, root, home).exists() {
            named.push(path);
        }
    }
    if named.is_empty() {
        text.to_owned()
    } else {
        format!("{text}\n\n{LEAD}{}]", named.join(", "))
    }
}

/// The message as it was typed.
pub(super) fn typed(text: &str) -> &str {
    match text.rfind(LEAD) {
        Some(at) if text.ends_with(']') => text[..at].trim_end(),
        _ => text,
    }
}

/// The words of `text` that begin with `@`, without it; the quotes around names with spaces are taken off.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let begins = move |at: &usize| {
        text[..*at].chars().next_back().is_none_or(|c| c.is_whitespace() || "([{\"'`".contains(c))
    };
    let starts = text.match_indices('@').map(|(at, _)| at).filter(begins);
    starts.filter_map(move |at| {
        let rest = &text[at + 1..];
        if let Some(quoted) = rest.strip_prefix('"') {
            return quoted.split_once(['"', '\n']).map(|(path, _)| path);
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let path = rest[..end]
            .trim_end_matches([',', ';', ':', '.', '!', '?', ')', ']', '}', '"', '\'', '`']);
        (!path.is_empty()).then_some(path)
    })
}

fn resolve(path: &str, root: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => root.join(path),
    }
}

/// `@path` for a message, quoted where it must be.
pub(super) fn mention(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_there_are_named_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rs"), "").unwrap();
        std::fs::write(dir.path().join("b c.txt"), "").unwrap();
        let text = "look at @a.rs, (@a.rs) and @\"b c.txt\"; not me@a.rs nor @gone.rs";
        let full = expanded(text, dir.path(), None);
        assert_eq!(full, format!("{text}\n\n{LEAD}a.rs, b c.txt]"));
        assert_eq!(typed(&full), text);
    }

    #[test]
    fn a_message_without_files_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["plain", "mail me@example.org", "@someone hello", "@", "a [list]"] {
            assert_eq!(expanded(text, dir.path(), None), text);
            assert_eq!(typed(text), text);
        }
    }

    #[test]
    fn a_name_with_spaces_is_quoted() {
        assert_eq!(mention("src/a.rs"), "@src/a.rs");
        assert_eq!(mention("b c.txt"), "@\"b c.txt\"");
    }
}
