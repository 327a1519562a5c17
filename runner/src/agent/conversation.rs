//! The conversation as the model sees it: messages, and the very bytes that go out for them.
//!
//! Invariants: the bytes only ever grow at their end between compactions, so that each request starts with the
//! previous one (prompt caches, and a step costs its own messages only); every tool call has exactly one result
//! before the next model call; call ids are unique; roles alternate.

use std::collections::HashSet;

use bytes::{Bytes, BytesMut};

use crate::model::message::{Assistant, Message};

/// Characters a token stands for where the server has not counted, in bytes of JSON.
const BYTES_PER_TOKEN: u64 = 4;

/// Messages and their wire form.
#[derive(Default)]
pub struct Conversation {
    messages: Vec<Message>,
    /// The messages as comma-joined JSON.
    wire: Bytes,
    /// Where the last message begins in `wire`.
    last_start: usize,
    call_ids: HashSet<String>,
    keep_reasoning: bool,
    measured: Option<Measured>,
}

/// What the server counted, and how much of the wire that covers.
#[derive(Clone, Copy)]
struct Measured {
    tokens: u64,
    wire_len: usize,
}

impl Conversation {
    /// A conversation that already holds `messages`.
    pub fn new(messages: Vec<Message>, keep_reasoning: bool) -> Self {
        let mut conversation = Self { keep_reasoning, ..Self::default() };
        for message in messages {
            conversation.push(message);
        }
        conversation
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Whether nothing has been said.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages' bytes for a request; cheap.
    pub fn wire(&self) -> Bytes {
        self.wire.clone()
    }

    /// Whether a call of this id is in the conversation.
    pub fn has_call(&self, id: &str) -> bool {
        self.call_ids.contains(id)
    }

    /// Adds a message. Two user messages in a row become one, since many chat templates insist on alternation.
    pub fn push(&mut self, message: Message) {
        let mut buffer = reclaim(std::mem::take(&mut self.wire));
        match (self.messages.last_mut(), message) {
            (Some(Message::User { content: last }), Message::User { content }) => {
                last.push_str("\n\n");
                last.push_str(&content);
                buffer.truncate(self.last_start);
            }
            (_, message) => {
                if let Message::Assistant(reply) = &message {
                    self.call_ids.extend(reply.tool_calls.iter().map(|c| c.id.clone()));
                }
                if !buffer.is_empty() {
                    buffer.extend_from_slice(b",");
                }
                self.last_start = buffer.len();
                self.messages.push(message);
            }
        }
        if let Some(last) = self.messages.last() {
            write_wire(&mut buffer, last, self.keep_reasoning);
        }
        self.wire = buffer.freeze();
    }

    /// Sends thinking back from now on. Changes the bytes of every message that has some.
    pub fn keep_reasoning(&mut self, keep: bool) {
        if self.keep_reasoning != keep {
            *self = Self::new(std::mem::take(&mut self.messages), keep);
        }
    }

    /// The calls of the last reply that have no result yet: `(id, tool name)`.
    pub fn unanswered(&self) -> Vec<(String, String)> {
        let Some(at) = self.messages.iter().rposition(|m| matches!(m, Message::Assistant(_)))
        else {
            return Vec::new();
        };
        let Message::Assistant(reply) = &self.messages[at] else { return Vec::new() };
        let answered: HashSet<&str> = self.messages[at + 1..]
            .iter()
            .filter_map(|m| match m {
                Message::Tool { tool_call_id, .. } => Some(tool_call_id.as_str()),
                _ => None,
            })
            .collect();
        let open = reply.tool_calls.iter().filter(|c| !answered.contains(c.id.as_str()));
        open.map(|c| (c.id.clone(), c.function.name.clone())).collect()
    }

    /// Notes that the server counted `tokens` for everything up to now.
    pub fn measured(&mut self, tokens: u64) {
        self.measured = Some(Measured { tokens, wire_len: self.wire.len() });
    }

    /// Tokens in context: the server's last count and an estimate of what is newer. `overhead` is the byte length of
    /// what goes along with the messages (system prompt, tools), needed while nothing was counted.
    pub fn tokens(&self, overhead: usize) -> u64 {
        match self.measured {
            Some(m) => {
                m.tokens + (self.wire.len().saturating_sub(m.wire_len)) as u64 / BYTES_PER_TOKEN
            }
            None => (self.wire.len() + overhead) as u64 / BYTES_PER_TOKEN,
        }
    }
}

/// The buffer behind `wire` for appending: itself, where no request holds it any more.
fn reclaim(wire: Bytes) -> BytesMut {
    wire.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]))
}

/// Appends `message` as it goes to the server.
fn write_wire(buffer: &mut BytesMut, message: &Message, keep_reasoning: bool) {
    use bytes::BufMut;
    let writer = buffer.writer();
    // Serialising these types into memory cannot fail: no maps with non-string keys, no fallible writers.
    let _ = match message {
        Message::Assistant(reply) if !keep_reasoning => {
            serde_json::to_writer(writer, &Message::Assistant(without_reasoning(reply)))
        }
        message => serde_json::to_writer(writer, message),
    };
}

/// The reply without plain thinking text. `reasoning_details` stay: providers need their signatures.
fn without_reasoning(reply: &Assistant) -> Assistant {
    let mut bare = reply.clone();
    bare.reasoning.reasoning_content = None;
    bare.reasoning.reasoning = None;
    bare.reasoning.reasoning_text = None;
    bare
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::model::message::{Reasoning, ToolCall};

    fn call(id: &str) -> ToolCall {
        ToolCall::new(id, "bash", "{}")
    }

    fn parsed(conversation: &Conversation) -> Vec<serde_json::Value> {
        let text = format!("[{}]", std::str::from_utf8(&conversation.wire()).unwrap());
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_wire_grows_at_its_end_only() {
        let mut c = Conversation::default();
        c.push(Message::user("hi"));
        let before = c.wire();
        c.push(Message::Assistant(Assistant {
            content: Some("hello".into()),
            ..Default::default()
        }));
        assert!(c.wire().starts_with(&before));
        assert_eq!(parsed(&c).len(), 2);
    }

    #[test]
    fn two_user_messages_become_one() {
        let mut c = Conversation::default();
        c.push(Message::user("a"));
        c.push(Message::user("b"));
        assert_eq!(parsed(&c), [serde_json::json!({"role": "user", "content": "a\n\nb"})]);
    }

    #[test]
    fn thinking_stays_home_unless_kept() {
        let reasoning = Reasoning { reasoning_content: Some("hm".into()), ..Default::default() };
        let reply = Assistant { content: Some("x".into()), reasoning, ..Default::default() };
        let mut c = Conversation::new(vec![Message::Assistant(reply)], false);
        assert!(parsed(&c)[0].get("reasoning_content").is_none());
        c.keep_reasoning(true);
        assert_eq!(parsed(&c)[0]["reasoning_content"], "hm");
    }

    #[test]
    fn calls_without_result_are_found() {
        let tool_calls = vec![call("a"), call("b")];
        let mut c = Conversation::new(
            vec![Message::Assistant(Assistant { tool_calls, ..Default::default() })],
            false,
        );
        c.push(Message::tool("a", "done"));
        assert_eq!(c.unanswered(), [("b".to_owned(), "bash".to_owned())]);
        assert!(c.has_call("b"));
    }

    #[test]
    fn tokens_are_the_count_plus_an_estimate_of_what_is_newer() {
        let mut c = Conversation::default();
        c.push(Message::user("x".repeat(400)));
        assert!(c.tokens(400) > 200);
        c.measured(1000);
        assert_eq!(c.tokens(400), 1000);
        c.push(Message::Assistant(Assistant {
            content: Some("y".repeat(400)),
            ..Default::default()
        }));
        assert!(c.tokens(400) > 1090);
    }
}
