//! A conversation as plain text, as short as it has to be: for models that cannot be asked to sum up the conversation
//! itself, and in a summary's place where none can be had.

use std::fmt::Write as _;

use super::keep::longest;
use crate::model::message::Message;
use crate::tools::clip;

/// Share of the room that words get before what tools were told and said.
const WORDS: (usize, usize) = (3, 4);
/// A text that is to be shorter than this has no room for a line that says what is missing.
const WORTH_A_NOTICE: usize = 300;

/// One entry of the text.
struct Entry<'a> {
    label: &'a str,
    text: &'a str,
    /// Said by a person or the model, as opposed to what tools were told and said.
    is_words: bool,
}

/// `messages` as text of about `room` bytes at most. What tools said is cut first, then words, then the middle.
pub(super) fn plain(messages: &[Message], room: usize) -> String {
    let entries = entries(messages);
    let lengths = |is_words: bool| -> Vec<usize> {
        entries.iter().filter(|e| e.is_words == is_words).map(|e| e.text.len()).collect()
    };
    let (words, rest) = (lengths(true), lengths(false));
    let labels: usize = entries.iter().map(|e| e.label.len() + 4).sum();
    let free = room.saturating_sub(labels);
    let for_words = (free / WORDS.1 * WORDS.0).max(free.saturating_sub(rest.iter().sum()));
    let most_words = longest(words.clone(), for_words);
    let used: usize = words.iter().map(|&length| length.min(most_words.unwrap_or(length))).sum();
    let most_rest = longest(rest, free.saturating_sub(used));

    let mut text = String::new();
    for Entry { label, text: entry, is_words } in entries {
        let most = if is_words { most_words } else { most_rest };
        let _ = write!(text, "[{label}]\n{}\n\n", short(entry, most.unwrap_or(usize::MAX)));
    }
    short(text.trim_end(), room)
}

fn entries(messages: &[Message]) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for message in messages {
        match message {
            Message::User { content } => {
                entries.push(Entry { label: "user", text: content, is_words: true });
            }
            Message::Assistant(reply) => {
                let words = reply.content.as_deref();
                entries.extend(words.map(|text| Entry {
                    label: "assistant",
                    text,
                    is_words: true,
                }));
                entries.extend(reply.tool_calls.iter().map(|call| Entry {
                    label: &call.function.name,
                    text: &call.function.arguments,
                    is_words: false,
                }));
            }
            Message::Tool { content, .. } => {
                entries.push(Entry { label: "result", text: content, is_words: false });
            }
        }
    }
    entries
}

/// At most about `most` bytes of `text`.
fn short(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    if most >= WORTH_A_NOTICE {
        let characters = most * text.chars().count() / text.len();
        return clip::clip(text, characters, None);
    }
    let end = text.floor_char_boundary(most);
    format!("{} …", &text[..end])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::message::{Assistant, ToolCall};

    fn conversation(result: &str) -> Vec<Message> {
        let tool_calls = vec![ToolCall::new("1", "bash", r#"{"command":"ls"}"#)];
        let content = Some("I will look.".to_owned());
        vec![
            Message::user("What is here?"),
            Message::Assistant(Assistant { content, tool_calls, ..Assistant::default() }),
            Message::tool("1", result),
        ]
    }

    #[test]
    fn a_short_conversation_is_whole() {
        assert_eq!(
            plain(&conversation("a\nb"), 1000),
            "[user]\nWhat is here?\n\n[assistant]\nI will look.\n\n[bash]\n{\"command\":\"ls\"}\n\n[result]\na\nb"
        );
    }

    #[test]
    fn what_tools_said_is_cut_before_words_are() {
        let text = plain(&conversation(&"x".repeat(10_000)), 500);
        assert!(text.contains("What is here?") && text.contains("I will look."), "{text}");
        assert!(text.len() < 700, "{}", text.len());
    }

    #[test]
    fn however_little_room_there_is_it_is_not_exceeded_by_much() {
        let mut messages = Vec::new();
        for _ in 0..200 {
            messages.extend(conversation(&"ü".repeat(900)));
        }
        for room in [0, 10, 100, 1000, 10_000, 100_000] {
            let text = plain(&messages, room);
            assert!(text.len() < room + 200, "{room}: {}", text.len());
        }
    }
}
