//! The project's files that a conversation names, so that they outlive its summary.
//!
//! Commands are shell, which nobody can read for sure: what looks like a path counts where there is a file. What tools
//! print is not looked at, since listings name everything.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::model::message::Message;

/// Most files that are named.
const MOST: usize = 40;
/// Most words that are looked up on the disk.
const MOST_LOOKUPS: usize = 4000;

/// Files below `root` that calls, the person and former summaries name, newest last. Relative paths start from `cwd` or
/// from `root`.
pub(super) fn named(messages: &[Message], root: &Path, cwd: &Path) -> Vec<String> {
    let mut seen = HashSet::new();
    let mut files: Vec<String> = Vec::new();
    let mut lookups = 0;
    for text in messages.iter().rev().flat_map(texts) {
        let words: Vec<&str> = text.split(is_separator).filter(|word| may_be_path(word)).collect();
        for word in words.into_iter().rev() {
            if !seen.insert(word.to_owned()) {
                continue;
            }
            lookups += 1;
            if let Some(file) = find(word, root, cwd)
                && !files.contains(&file)
            {
                files.push(file);
            }
            if files.len() == MOST || lookups == MOST_LOOKUPS {
                files.reverse();
                return files;
            }
        }
    }
    files.reverse();
    files
}

/// The texts of a message in which files are looked for, newest first.
fn texts(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant(reply) => reply
            .tool_calls
            .iter()
            .rev()
            .flat_map(|call| {
                let arguments = serde_json::from_str(&call.function.arguments).unwrap_or_default();
                let mut texts = Vec::new();
                strings(arguments, &mut texts);
                texts.reverse();
                texts
            })
            .collect(),
        Message::User { content } => vec![content.clone()],
        Message::Tool { .. } => Vec::new(),
    }
}

fn strings(value: Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.into_iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.into_iter().for_each(|(_, field)| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`;|&<>()[]{}$=,:*?!#\\".contains(c)
}

fn may_be_path(word: &str) -> bool {
    (3..256).contains(&word.len())
        && !word.starts_with('-')
        && word.contains(['.', '/'])
        && word.contains(char::is_alphabetic)
}

/// The file that `word` names, from `root`.
fn find(word: &str, root: &Path, cwd: &Path) -> Option<String> {
    let word = word.trim_end_matches('.');
    let path = [cwd, root].into_iter().map(|dir| dir.join(word)).find(|path| path.is_file())?;
    let inside = path.strip_prefix(root).ok()?.components();
    if inside.clone().any(|part| part == Component::ParentDir) {
        return None;
    }
    Some(inside.collect::<PathBuf>().to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::message::{Assistant, ToolCall};

    fn call(arguments: &Value) -> Message {
        let tool_calls = vec![ToolCall::new("1", "any", arguments.to_string())];
        Message::Assistant(Assistant { tool_calls, ..Assistant::default() })
    }

    #[test]
    fn files_that_exist_are_found_in_commands_and_summaries_newest_last() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir(root.join("src")).unwrap();
        for file in ["old.md", "src/main.rs", "src/lib.rs", "new.txt"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        let messages = [
            Message::user("Summary: read old.md, then gone.md."),
            call(
                &serde_json::json!({ "command": "sed -n 1,9p src/main.rs >out.log; cat /etc/passwd" }),
            ),
            Message::tool("1", "a result names new.txt only"),
            call(&serde_json::json!({ "path": "./lib.rs", "n": 3 })),
            call(
                &serde_json::json!({ "command": "cat <<EOF >\"new.txt\"\nold.mdx 3.14 e.g.\nEOF" }),
            ),
        ];
        let found = named(&messages, root, &root.join("src"));
        assert_eq!(found, ["old.md", "src/main.rs", "src/lib.rs", "new.txt"]);
    }

    #[test]
    fn the_list_is_bounded_and_keeps_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..100).map(|n| format!("file{n}.txt")).collect();
        names.iter().for_each(|name| std::fs::write(dir.path().join(name), "").unwrap());
        let found =
            named(&[call(&serde_json::json!({ "c": names.join(" ") }))], dir.path(), dir.path());
        assert_eq!((found.len(), found[39].as_str()), (MOST, "file99.txt"));
    }
}
