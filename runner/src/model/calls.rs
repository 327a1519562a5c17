//! Makes the calls of a reply fit for the conversation: ids unique, arguments a valid JSON object.
//!
//! Pure functions; the agent applies them before a reply enters the transcript.

use serde_json::{Map, Value, json};

use super::message::Assistant;

/// Longest piece of broken argument text that is kept in the history.
const KEPT: usize = 8 * 1024;

/// A new call id: nine letters and digits, the only form that Mistral accepts and one that everybody else does.
pub fn mint_id() -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(9).collect()
}

/// Gives a new id to every call whose id is empty, comes twice in the reply, or is taken in the conversation.
pub fn unique_ids(reply: &mut Assistant, is_taken: impl Fn(&str) -> bool) {
    for at in 0..reply.tool_calls.len() {
        let (earlier, rest) = reply.tool_calls.split_at_mut(at);
        let id = &mut rest[0].id;
        while id.is_empty() || is_taken(id) || earlier.iter().any(|call| call.id == *id) {
            *id = mint_id();
        }
    }
}

/// Makes the arguments of every call a valid JSON object; nothing at all counts as `{}`.
///
/// What is broken is replaced by `{"invalid_json": "…"}`, which shows the model what it sent. Gives position and error
/// of each such call: it must not run, and the error is its result.
pub fn sanitize_arguments(reply: &mut Assistant) -> Vec<(usize, String)> {
    let mut broken = Vec::new();
    for (at, call) in reply.tool_calls.iter_mut().enumerate() {
        let arguments = &mut call.function.arguments;
        if matches!(arguments.trim(), "" | "null") {
            "{}".clone_into(arguments);
            continue;
        }
        let error = match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(_)) => continue,
            Ok(Value::String(inner))
                if serde_json::from_str::<Map<String, Value>>(&inner).is_ok() =>
            {
                *arguments = inner;
                continue;
            }
            Ok(other) => format!("expected a JSON object, got {}", kind(&other)),
            Err(error) => error.to_string(),
        };
        let name = &call.function.name;
        broken.push((
            at,
            format!(
                "error: the arguments of this call of {name} are not valid JSON ({error}); \
                 it did not run. Send the call again with a whole JSON object."
            ),
        ));
        *arguments = json!({ "invalid_json": clip(arguments) }).to_string();
    }
    broken
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::ToolCall;

    fn reply(calls: &[(&str, &str)]) -> Assistant {
        let tool_calls = calls.iter().map(|(id, args)| ToolCall::new(*id, "bash", *args)).collect();
        Assistant { tool_calls, ..Assistant::default() }
    }

    #[test]
    fn ids_that_are_empty_double_or_taken_are_replaced() {
        let mut reply = reply(&[("call_0", "{}"), ("a", "{}"), ("a", "{}"), ("", "{}")]);
        unique_ids(&mut reply, |id| id == "call_0");
        let ids: Vec<_> = reply.tool_calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids[1], "a");
        for minted in [ids[0], ids[2], ids[3]] {
            assert!(minted.len() == 9 && minted.bytes().all(|b| b.is_ascii_alphanumeric()));
        }
        assert!(ids[0] != ids[2] && ids[2] != ids[3] && ids[0] != ids[3]);
    }

    #[test]
    fn good_arguments_stay_byte_for_byte_and_none_are_an_empty_object() {
        let mut reply =
            reply(&[("a", "{ \"x\": 1.0}"), ("b", " "), ("c", "null"), ("d", r#""{\"x\":1}""#)]);
        assert_eq!(sanitize_arguments(&mut reply), []);
        let arguments: Vec<_> =
            reply.tool_calls.iter().map(|call| call.function.arguments.as_str()).collect();
        assert_eq!(arguments, ["{ \"x\": 1.0}", "{}", "{}", r#"{"x":1}"#]);
    }

    #[test]
    fn broken_arguments_are_kept_inside_valid_ones_and_told() {
        let mut reply =
            reply(&[("a", "{}"), ("b", r#"{"command": "ls"#), ("c", "[1]"), ("d", "{}{}")]);
        let broken = sanitize_arguments(&mut reply);
        assert_eq!(broken.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(broken[0].1.contains("EOF while parsing a string"), "{}", broken[0].1);
        assert!(broken[1].1.contains("got an array"), "{}", broken[1].1);
        assert_eq!(
            reply.tool_calls[1].function.arguments,
            r#"{"invalid_json":"{\"command\": \"ls"}"#
        );
    }
}
