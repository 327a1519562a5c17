//! The conversation as the model sees it: messages, and the very bytes that go out for them.
//!
//! Invariants: the bytes only ever grow at their end between compactions, so that each request starts with the
//! previous one (prompt caches, and a step costs its own messages only); every tool call has exactly one result
//! before the next model call; call ids are unique; on the wire a person's words and replies alternate.

use std::collections::HashSet;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde_json::Value;

use super::budget::BYTES_PER_TOKEN;
use crate::model::message::{Assistant, Message, ToolCall, Usage};
use crate::session::Meta;

/// Stands where a damaged transcript has lost what a reply was a reply to.
const MISSING: &str = "[autocode: what stood here is lost]";

/// Messages and their wire form.
#[derive(Default)]
pub struct Conversation {
    messages: Vec<Message>,
    /// The messages as comma-joined JSON; words of the person in a row are one message there, since many chat
    /// templates insist on alternation.
    wire: Bytes,
    /// Where the last message begins in `wire`.
    last_start: usize,
    /// The user messages that are autocode's words, not the person's.
    own: HashSet<usize>,
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

/// A conversation as a compaction cuts it.
pub(super) struct Cut<'a> {
    /// All that the model has answered to: what is past, and the latest step.
    pub(super) told: &'a [Message],
    /// What came before the latest step.
    pub(super) past: &'a [Message],
    /// The last reply, and the results of its calls.
    pub(super) step: &'a [Message],
    /// What it has not answered to, and whether that is autocode's words.
    pub(super) waiting: Vec<(&'a Message, bool)>,
    /// The newest message in the person's own words, where it is among what is past and nothing newer waits.
    pub(super) request: Option<&'a Message>,
}

impl Conversation {
    /// An empty conversation.
    pub fn new(keep_reasoning: bool) -> Self {
        Self { keep_reasoning, ..Self::default() }
    }

    /// One that holds what a transcript held; `meta` tells of each message whose words it is and what it cost.
    pub fn resumed(messages: Vec<Message>, meta: &[Meta], keep_reasoning: bool) -> Self {
        let mut conversation = Self::new(keep_reasoning);
        for (at, message) in messages.into_iter().enumerate() {
            let meta = meta.get(at);
            let is_reply = matches!(message, Message::Assistant(_));
            conversation.add(message, meta.is_none_or(|m| !m.own));
            if let Some(usage) = meta.and_then(|m| m.usage).filter(|_| is_reply) {
                conversation.measured(&usage);
            }
        }
        conversation
    }

    /// The messages, oldest first.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The messages' bytes for a request; cheap.
    pub fn wire(&self) -> Bytes {
        self.wire.clone()
    }

    /// The bytes of all that the model has answered to, and of `words` after them.
    pub(super) fn wire_asking(&self, words: &str) -> Bytes {
        let end = match self.messages.last() {
            Some(Message::User { .. }) => self.last_start.saturating_sub(1),
            _ => self.wire.len(),
        };
        let mut bytes = BytesMut::with_capacity(end + words.len() + 64);
        bytes.extend_from_slice(&self.wire[..end]);
        if end > 0 {
            bytes.put_u8(b',');
        }
        self.write(&mut bytes, &Message::user(words));
        bytes.freeze()
    }

    /// The conversation in the parts that a compaction treats apart.
    pub(super) fn cut(&self) -> Cut<'_> {
        let messages = &self.messages[..];
        let is_user = |m: &Message| matches!(m, Message::User { .. });
        let end = messages.iter().rposition(|m| !is_user(m)).map_or(0, |at| at + 1);
        let (told, waiting) = messages.split_at(end);
        let step = told.iter().rposition(|m| matches!(m, Message::Assistant(_)));
        let (past, step) = told.split_at(step.unwrap_or(end));
        let newest =
            (0..messages.len()).rev().find(|at| is_user(&messages[*at]) && !self.own.contains(at));
        let request = newest.and_then(|at| past.get(at));
        let waiting =
            waiting.iter().zip(end..).map(|(m, at)| (m, self.own.contains(&at))).collect();
        Cut { told, past, step, waiting, request }
    }

    /// Whether a call of this id is in the conversation.
    pub fn has_call(&self, id: &str) -> bool {
        self.call_ids.contains(id)
    }

    /// Adds a message; a user's is in the person's own words.
    pub fn push(&mut self, message: Message) {
        self.add(message, true);
    }

    /// Adds words that autocode writes in the person's place.
    pub fn push_own(&mut self, words: impl Into<String>) {
        self.add(Message::user(words), false);
    }

    fn add(&mut self, message: Message, by_person: bool) {
        let is_user = matches!(message, Message::User { .. });
        if let Message::Assistant(reply) = &message {
            if matches!(self.messages.last(), None | Some(Message::Assistant(_))) {
                self.push_own(MISSING);
            }
            self.call_ids.extend(reply.tool_calls.iter().map(|c| c.id.clone()));
        }
        if is_user && !by_person {
            self.own.insert(self.messages.len());
        }
        let joins = is_user && matches!(self.messages.last(), Some(Message::User { .. }));
        self.messages.push(message);

        let mut buffer = reclaim(std::mem::take(&mut self.wire));
        if joins {
            buffer.truncate(self.last_start);
        } else {
            if !buffer.is_empty() {
                buffer.put_u8(b',');
            }
            self.last_start = buffer.len();
        }
        match &self.messages[..] {
            many if joins => self.write(&mut buffer, &Message::user(words_in_a_row(many))),
            [.., last] => self.write(&mut buffer, last),
            [] => {}
        }
        self.wire = buffer.freeze();
    }

    /// Appends `message` as it goes to the server.
    fn write(&self, buffer: &mut BytesMut, message: &Message) {
        let writer = buffer.writer();
        // Serialising these types into memory cannot fail: no maps with non-string keys, no fallible writers.
        let _ = match message {
            Message::Assistant(reply) if !self.keep_reasoning => {
                serde_json::to_writer(writer, &WithoutThinking::from(reply))
            }
            message => serde_json::to_writer(writer, message),
        };
    }

    /// Whether thinking is sent back.
    pub fn keeps_reasoning(&self) -> bool {
        self.keep_reasoning
    }

    /// Sends thinking back, or no longer does. Changes the bytes of every message that has some.
    pub fn keep_reasoning(&mut self, keep: bool) {
        if self.keep_reasoning == keep {
            return;
        }
        let own = std::mem::take(&mut self.own);
        *self = Self::resumed(std::mem::take(&mut self.messages), &[], keep);
        self.own = own;
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

    /// Notes what the server counted for everything up to now, the newest message being the reply that it counted.
    /// Thinking that is not sent back takes no room in the next request.
    pub fn measured(&mut self, usage: &Usage) {
        // A server that counts replies only says nothing about the conversation.
        if usage.prompt == 0 {
            return;
        }
        let unsent = match self.messages.last() {
            Some(Message::Assistant(reply)) if !self.keep_reasoning => thinking(usage, reply),
            _ => 0,
        };
        let tokens = (usage.prompt + usage.completion).saturating_sub(unsent);
        self.measured = Some(Measured { tokens, wire_len: self.wire.len() });
    }

    /// Tokens in context: the server's last count and an estimate of what is newer. `overhead` is the byte length of
    /// what goes along with the messages (system prompt, tools), needed while nothing was counted.
    pub fn tokens(&self, overhead: usize) -> u64 {
        let (counted, from) = match self.measured {
            Some(m) => (m.tokens, m.wire_len),
            None => (overhead as u64 / BYTES_PER_TOKEN, 0),
        };
        counted + self.wire.len().saturating_sub(from) as u64 / BYTES_PER_TOKEN
    }
}

/// Tokens of a reply's thinking that does not go back. Where the server does not tell, the length of the text does.
fn thinking(usage: &Usage, reply: &Assistant) -> u64 {
    if !reply.reasoning.reasoning_details.is_empty() {
        return 0;
    }
    let estimated = reply.reasoning.text().map_or(0, |text| text.len() as u64 / BYTES_PER_TOKEN);
    let tokens = if usage.reasoning > 0 { usage.reasoning } else { estimated };
    tokens.min(usage.completion)
}

/// The words of the user messages that `messages` end in, as one text.
fn words_in_a_row(messages: &[Message]) -> String {
    let words = messages.iter().rev().map_while(|message| match message {
        Message::User { content } => Some(content.as_str()),
        _ => None,
    });
    let mut words: Vec<&str> = words.collect();
    words.reverse();
    words.join("\n\n")
}

/// The buffer behind `wire` for appending: itself, where no request holds it any more.
fn reclaim(wire: Bytes) -> BytesMut {
    wire.try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]))
}

/// A reply without plain thinking text. `reasoning_details` stay: providers need their signatures.
#[derive(Serialize)]
struct WithoutThinking<'a> {
    role: &'static str,
    content: &'a Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tool_calls: &'a [ToolCall],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    reasoning_details: &'a [Value],
}

impl<'a> From<&'a Assistant> for WithoutThinking<'a> {
    fn from(reply: &'a Assistant) -> Self {
        Self {
            role: "assistant",
            content: &reply.content,
            tool_calls: &reply.tool_calls,
            reasoning_details: &reply.reasoning.reasoning_details,
        }
    }
}

#[cfg(test)]
mod tests;
