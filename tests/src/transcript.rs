//! A session's transcript as it lies on disk, and what makes a conversation valid for every provider.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One `.autocode/sessions/ID.jsonl`.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// Where it is.
    pub path: PathBuf,
    /// Its lines, each parsed; a line that is not JSON fails the test.
    pub lines: Vec<Value>,
}

impl Transcript {
    /// Reads one.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("read a transcript");
        assert!(text.is_empty() || text.ends_with('\n'), "{} ends in half a line", path.display());
        let lines = text
            .lines()
            .map(|line| {
                serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("{}: {error}: {line}", path.display()))
            })
            .collect();
        Self { path: path.to_owned(), lines }
    }

    /// The id to resume it by.
    pub fn id(&self) -> String {
        self.path.file_stem().unwrap().to_string_lossy().into_owned()
    }

    /// The lines that are messages.
    pub fn messages(&self) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["role"].is_string()).collect()
    }

    /// The messages' roles, in order.
    pub fn roles(&self) -> Vec<&str> {
        self.messages().into_iter().filter_map(|message| message["role"].as_str()).collect()
    }
}

/// What is wrong with a conversation, if anything: providers answer 400 to a call without a result, a result without
/// a call, an id used twice, or arguments that are not JSON.
///
/// # Errors
/// The first thing found, with the message's place.
pub fn valid_history(messages: &[Value]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let role =
            message["role"].as_str().ok_or(format!("message {at} has no role: {message}"))?;
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or("");
            if !open.remove(id) {
                return Err(format!("message {at} answers {id:?}, which no open call has"));
            }
            continue;
        }
        if let Some(id) = open.first() {
            return Err(format!("message {at} ({role}) comes before the result of call {id:?}"));
        }
        match role {
            "system" if at > 0 => return Err(format!("message {at} is a second system prompt")),
            "system" | "user" => {}
            "assistant" => open = check_calls(at, message, &mut seen)?,
            other => return Err(format!("message {at} has the role {other:?}")),
        }
    }
    match open.first() {
        Some(id) => Err(format!("call {id:?} has no result")),
        None => Ok(()),
    }
}

/// The ids that wait for a result after this reply.
fn check_calls(
    at: usize,
    message: &Value,
    seen: &mut BTreeSet<String>,
) -> Result<BTreeSet<String>, String> {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    if calls.is_empty() && !message["content"].is_string() {
        return Err(format!("message {at} neither says nor calls anything"));
    }
    let mut ids = BTreeSet::new();
    for call in calls {
        let id = call["id"].as_str().unwrap_or("");
        if id.is_empty() || !seen.insert(id.to_owned()) {
            return Err(format!(
                "message {at} calls with the id {id:?}, which is empty or was used before"
            ));
        }
        let arguments = call["function"]["arguments"].as_str().unwrap_or("");
        if !serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()) {
            return Err(format!("message {at} has arguments that are no JSON object: {arguments}"));
        }
        ids.insert(id.to_owned());
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, arguments: &str) -> Value {
        let function = json!({ "name": "bash", "arguments": arguments });
        json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": id, "function": function }] })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "" })
    }

    #[test]
    fn a_conversation_with_paired_calls_is_valid() {
        let user = json!({ "role": "user", "content": "x" });
        let end = json!({ "role": "assistant", "content": "done" });
        let messages = [user, call("a", "{}"), result("a"), call("b", "{}"), result("b"), end];
        assert_eq!(valid_history(&messages), Ok(()));
    }

    #[test]
    fn each_way_to_be_invalid_is_found() {
        let user = json!({ "role": "user", "content": "x" });
        for (messages, cause) in [
            (vec![call("a", "{}")], "has no result"),
            (vec![call("a", "{}"), user.clone()], "comes before the result"),
            (vec![user, result("a")], "which no open call has"),
            (vec![call("a", "{}"), result("a"), call("a", "{}"), result("a")], "was used before"),
            (vec![call("", "{}"), result("")], "is empty"),
            (vec![call("a", "{\"command\": \"ls"), result("a")], "no JSON object"),
            (vec![json!({ "role": "assistant", "content": null })], "neither says nor calls"),
        ] {
            let error = valid_history(&messages).unwrap_err();
            assert!(error.contains(cause), "expected {cause:?}, got {error:?}");
        }
    }
}
