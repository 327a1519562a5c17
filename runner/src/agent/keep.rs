//! What stays word for word, made to fit where it is too long.
//!
//! Invariants: only the longest texts are cut, all to the same length, so that what is short stays whole; both ends of a
//! cut text stay, and a file has all of it; a call's arguments stay a JSON object.

use serde_json::{Map, Value, json};

use crate::model::message::Message;
use crate::tools::clip;
use crate::tools::out::OutDir;

/// What a message has beside its texts, and a call beside its arguments, in bytes.
const AROUND: usize = 100;
/// Room for the line that says what was left out, in bytes.
const NOTICE: usize = 120;

/// One text of a message.
enum Text<'a> {
    Plain(&'a mut String),
    /// A call's, which must stay a JSON object.
    Arguments(&'a mut String),
}

/// Cuts the texts of `messages` so that together they take about `room` bytes.
pub(super) fn fit(mut messages: Vec<&mut Message>, room: usize, out: &OutDir) {
    let mut lengths = Vec::new();
    let mut around = 0;
    for message in &mut messages {
        around += AROUND;
        each_text(message, &mut |text| match text {
            Text::Plain(text) => lengths.push(text.len()),
            Text::Arguments(arguments) => {
                around += AROUND;
                lengths.push(arguments.len());
            }
        });
    }
    let Some(most) = longest(lengths, room.saturating_sub(around)) else { return };
    for message in messages {
        each_text(message, &mut |text| match text {
            Text::Plain(text) => shorten(text, most, out),
            Text::Arguments(arguments) => shorten_arguments(arguments, most, out),
        });
    }
}

/// The length to which the longest of `lengths` must be cut for all together to be at most `room`; `None`: they are.
pub(super) fn longest(mut lengths: Vec<usize>, mut room: usize) -> Option<usize> {
    lengths.sort_unstable();
    let count = lengths.len();
    for (at, length) in lengths.into_iter().enumerate() {
        let share = room / (count - at);
        if length > share {
            return Some(share);
        }
        room -= length;
    }
    None
}

fn each_text(message: &mut Message, take: &mut dyn FnMut(Text<'_>)) {
    match message {
        Message::User { content } | Message::Tool { content, .. } => take(Text::Plain(content)),
        Message::Assistant(reply) => {
            let thinking = &mut reply.reasoning;
            let texts = [
                &mut reply.content,
                &mut thinking.reasoning_content,
                &mut thinking.reasoning,
                &mut thinking.reasoning_text,
            ];
            texts.into_iter().flatten().for_each(|text| take(Text::Plain(text)));
            for call in &mut reply.tool_calls {
                take(Text::Arguments(&mut call.function.arguments));
            }
        }
    }
}

fn shorten(text: &mut String, most: usize, out: &OutDir) {
    if text.len() > most {
        // Limits of clipping are in characters.
        let characters = most.saturating_sub(NOTICE) * text.chars().count() / text.len();
        *text = clip::clip_to_file(text, characters, out);
    }
}

fn shorten_arguments(arguments: &mut String, most: usize, out: &OutDir) {
    if arguments.len() <= most {
        return;
    }
    let mut object: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let mut lengths = Vec::new();
    object.values_mut().for_each(|value| each_string(value, &mut |text| lengths.push(text.len())));
    if let Some(most) = longest(lengths, most) {
        object
            .values_mut()
            .for_each(|value| each_string(value, &mut |text| shorten(text, most, out)));
    }
    let mut shorter = Value::Object(object).to_string();
    if shorter.len() > most.saturating_mul(2).max(AROUND + NOTICE) {
        shorter =
            json!({ "left_out": format!("{} bytes of arguments", arguments.len()) }).to_string();
    }
    *arguments = shorter;
}

fn each_string(value: &mut Value, take: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, take)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_string(field, take)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::message::{Assistant, ToolCall};

    fn fitted(mut messages: Vec<Message>, room: usize) -> Vec<Message> {
        let dir = tempfile::tempdir().unwrap();
        fit(messages.iter_mut().collect(), room, &OutDir::new(dir.path()));
        messages
    }

    fn size(messages: &[Message]) -> usize {
        messages.iter().map(|m| serde_json::to_string(m).unwrap().len()).sum()
    }

    fn calling(arguments: &str) -> Message {
        let tool_calls = vec![ToolCall::new("a", "bash", arguments)];
        Message::Assistant(Assistant { tool_calls, ..Assistant::default() })
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let messages =
            vec![Message::user("do it"), calling("{ \"x\": 1}"), Message::tool("a", "ok")];
        assert_eq!(fitted(messages.clone(), 1000), messages);
    }

    #[test]
    fn only_what_is_long_is_cut_and_both_its_ends_stay() {
        let long = format!("first\n{}\nlast", "line\n".repeat(10_000));
        let messages = fitted(vec![Message::user("short"), Message::tool("a", long)], 4000);
        assert_eq!(messages[0], Message::user("short"));
        let Message::Tool { content, .. } = &messages[1] else { panic!() };
        assert!(content.starts_with("first\n") && content.ends_with("\nlast"), "{content}");
        assert!(content.contains("full output: ") && size(&messages) < 4600);
    }

    #[test]
    fn the_newest_words_of_a_person_are_cut_where_they_alone_are_too_long() {
        let messages = fitted(vec![Message::user("wörter ".repeat(5000))], 3000);
        let Message::User { content } = &messages[0] else { panic!() };
        assert!(content.starts_with("wörter") && (2000..3200).contains(&content.len()));
    }

    #[test]
    fn long_arguments_stay_an_object_with_their_short_parts_whole() {
        let script = json!({ "path": "a.rs", "edits": [{ "text": "x\n".repeat(20_000) }] });
        let messages = fitted(vec![calling(&script.to_string())], 2000);
        let Message::Assistant(reply) = &messages[0] else { panic!() };
        let arguments: Value =
            serde_json::from_str(&reply.tool_calls[0].function.arguments).unwrap();
        assert_eq!(arguments["path"], "a.rs");
        let text = arguments["edits"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("x\n") && text.contains("left out") && text.len() < 2000);
        let numbers = json!({ "numbers": vec![1; 20_000] });
        let messages = fitted(vec![calling(&numbers.to_string())], 2000);
        let Message::Assistant(reply) = &messages[0] else { panic!() };
        assert_eq!(
            reply.tool_calls[0].function.arguments,
            r#"{"left_out":"40013 bytes of arguments"}"#
        );
    }

    #[test]
    fn room_is_shared_evenly_among_the_long() {
        assert_eq!(longest(vec![10, 20, 30], 60), None);
        assert_eq!(longest(vec![10, 100, 1000], 110), Some(50));
        assert_eq!(longest(vec![5, 5], 0), Some(0));
        assert_eq!(longest(vec![], 0), None);
    }
}
