//! What a client asked: as it came over the wire, and as JSON.

use std::time::Instant;

use serde_json::Value;

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Counts chat completions from 1; 0 for anything else.
    pub number: usize,
    /// `POST`, `GET`.
    pub method: String,
    /// With the query, as it came.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body's bytes; empty when the server forgets bodies.
    pub raw: Vec<u8>,
    /// The body's length.
    pub length: usize,
    /// When its last byte had been read.
    pub at: Instant,
}

impl Request {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub fn body(&self) -> Value {
        serde_json::from_slice(&self.raw).unwrap_or_else(|error| {
            panic!("request {} is not JSON ({error}): {}", self.number, self.text())
        })
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// The conversation that was sent.
    pub fn messages(&self) -> Vec<Value> {
        self.body()["messages"].as_array().cloned().unwrap_or_default()
    }

    /// The newest message.
    pub fn last_message(&self) -> Value {
        self.messages().pop().expect("a request has messages")
    }

    /// The content of the newest message, for a step that answers a tool call: what the model gets to see of it.
    pub fn tool_result(&self) -> String {
        let message = self.last_message();
        assert_eq!(message["role"], "tool", "expected a tool result, got {message:#}");
        message["content"].as_str().expect("a tool result is text").to_owned()
    }

    /// Names of the tools on offer, in order.
    pub fn tool_names(&self) -> Vec<String> {
        let body = self.body();
        let tools = body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        tools
            .iter()
            .map(|tool| tool["function"]["name"].as_str().unwrap_or("").to_owned())
            .collect()
    }

    /// The schema of one tool on offer.
    pub fn tool(&self, name: &str) -> Option<Value> {
        let body = self.body();
        let tools = body["tools"].as_array()?;
        tools.iter().map(|tool| &tool["function"]).find(|tool| tool["name"] == name).cloned()
    }

    /// The bytes of the `tools` array as they went over the wire.
    pub fn tools_bytes(&self) -> &[u8] {
        value_bytes(&self.raw, b"\"tools\":")
    }

    /// The bytes of the `messages` array as they went over the wire.
    pub fn messages_bytes(&self) -> &[u8] {
        value_bytes(&self.raw, b"\"messages\":")
    }
}

/// The bytes of the top-level value that follows `key` (which ends in a colon); empty when there is none.
fn value_bytes<'a>(json: &'a [u8], key: &[u8]) -> &'a [u8] {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut start = None;
    for (at, &byte) in json.iter().enumerate() {
        if start.is_none() && depth == 1 && !in_string && json[at..].starts_with(key) {
            start = Some(at + key.len());
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if let Some(start) = start
            && at > start
            && !in_string
            && (depth == 1 && matches!(byte, b'}' | b']'))
        {
            return json[start..=at].trim_ascii();
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_a_top_level_array_are_found_whatever_strings_hold() {
        let json = br#"{"messages":[{"content":"\"tools\":[ } ]"}], "tools": [{"a":"]"},{"b":[1]}] ,"x":1}"#;
        assert_eq!(value_bytes(json, b"\"tools\":"), br#"[{"a":"]"},{"b":[1]}]"#);
        assert_eq!(value_bytes(json, b"\"messages\":"), br#"[{"content":"\"tools\":[ } ]"}]"#);
        assert_eq!(value_bytes(json, b"\"none\":"), b"");
    }
}
