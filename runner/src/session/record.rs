//! One line of a transcript: to bytes and back.
//!
//! Writing is exact; reading is lenient, since a line may come from an older version, another program or a text
//! editor: what has a role and a content is a message.

use std::fmt;

use jiff::Timestamp;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::note::Note;
use crate::model::message::{Assistant, Message, Reasoning, ToolCall, Usage};

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A message of the conversation.
    Message(Message, Meta),
    /// A tool keeps a value, or no longer keeps one.
    State {
        /// Its name.
        key: String,
        /// Its value.
        value: Option<String>,
    },
    /// Something that happened beside the conversation.
    Note(Note),
    /// What the session is about, where its first message no longer says it.
    Title(String),
}

/// What is known about a message beside the message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// When it was whole.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// The step of its turn, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// Tokens spent on it: of a reply, its own; of a result, those that the tool spent; of a summary, all before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// A user message that autocode wrote in the person's place.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own: bool,
    /// It stood in the transcript that a summary replaced, word for word or shortened.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// How a tool call ended (`exit 1`, `timed out`), if not well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
}

impl Meta {
    /// Nothing but the time, which is now.
    pub fn now() -> Self {
        Self { time: Some(Timestamp::now()), ..Self::default() }
    }

    /// The same of words that autocode writes in the person's place.
    pub fn own() -> Self {
        Self { own: true, ..Self::now() }
    }
}

/// Times to the millisecond, as RFC 3339; what is not one is none.
pub(super) mod time {
    use jiff::{Timestamp, Unit};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(in crate::session) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.collect_str(&time.round(Unit::Millisecond).unwrap_or(*time)),
            None => serializer.serialize_none(),
        }
    }

    pub(in crate::session) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        Ok(text.and_then(|text| text.parse().ok()))
    }
}

/// A line as it is written: JSON, then a newline, and no other newline.
pub(super) struct Line(Vec<u8>);

impl Line {
    /// A message, with `_meta` as its last member.
    pub(super) fn message(message: &Message, meta: &Meta) -> Self {
        let mut bytes = json(message);
        bytes.pop();
        bytes.extend_from_slice(b",\"_meta\":");
        bytes.extend(json(meta));
        bytes.extend_from_slice(b"}\n");
        Self(bytes)
    }

    pub(super) fn state(key: &str, value: &str) -> Self {
        Self::other("_state", &State { key: key.to_owned(), value: Some(value.to_owned()) })
    }

    pub(super) fn note(note: &Note) -> Self {
        Self::other("_note", note)
    }

    pub(super) fn title(title: &str) -> Self {
        Self::other("_title", &title)
    }

    fn other(key: &str, value: &impl Serialize) -> Self {
        let mut bytes = format!("{{\"{key}\":").into_bytes();
        bytes.extend(json(value));
        bytes.extend_from_slice(b"}\n");
        Self(bytes)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Strings, numbers and maps with string keys: none of it can fail to become JSON.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"{}".to_vec())
}

#[derive(Serialize, Deserialize)]
struct State {
    key: String,
    value: Option<String>,
}

/// Reads one JSON value that is a record.
impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        raw.record()
            .ok_or_else(|| serde::de::Error::custom("neither a message nor a record of ours"))
    }
}

/// Everything that a line may hold.
#[derive(Deserialize)]
struct Raw {
    role: Option<Role>,
    #[serde(default)]
    content: Text,
    tool_calls: Option<Vec<RawCall>>,
    tool_call_id: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    reasoning_text: Option<String>,
    reasoning_details: Option<Vec<Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
    #[serde(rename = "_state")]
    state: Option<State>,
    #[serde(rename = "_note")]
    note: Option<Note>,
    #[serde(rename = "_title")]
    title: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
    Tool,
}

#[derive(Deserialize)]
struct RawCall {
    #[serde(default)]
    extra_content: Option<Value>,
    id: Option<String>,
    function: RawFunction,
}

#[derive(Deserialize)]
struct RawFunction {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Raw {
    fn record(self) -> Option<Record> {
        let Some(role) = self.role else {
            return match (self.state, self.note, self.title) {
                (Some(State { key, value }), _, _) => Some(Record::State { key, value }),
                (_, Some(note), _) => Some(Record::Note(note)),
                (_, _, Some(title)) => Some(Record::Title(title)),
                _ => None,
            };
        };
        let meta =
            self.meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default();
        let message = match role {
            Role::User => Message::User { content: self.content.0? },
            Role::Tool => Message::Tool {
                tool_call_id: self.tool_call_id.unwrap_or_default(),
                content: self.content.0.unwrap_or_default(),
            },
            Role::Assistant => Message::Assistant(Assistant {
                content: self.content.0,
                tool_calls: self.tool_calls.into_iter().flatten().map(RawCall::call).collect(),
                reasoning: Reasoning {
                    reasoning_content: self.reasoning_content,
                    reasoning: self.reasoning,
                    reasoning_text: self.reasoning_text,
                    reasoning_details: self.reasoning_details.unwrap_or_default(),
                },
            }),
        };
        Some(Record::Message(message, meta))
    }
}

impl RawCall {
    fn call(self) -> ToolCall {
        let arguments = match self.function.arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        };
        let id = self.id.unwrap_or_default();
        let extra_content = self.extra_content;
        ToolCall { extra_content, ..ToolCall::new(id, self.function.name, arguments) }
    }
}

/// A message's content: a string, nothing, or a list of parts whose texts count.
#[derive(Default)]
struct Text(Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, null, or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text(Some(text.to_owned())))
    }

    fn visit_string<E>(self, text: String) -> Result<Text, E> {
        Ok(Text(Some(text)))
    }

    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text, A::Error> {
        let mut text = String::new();
        while let Some(Part(part)) = parts.next_element()? {
            text.push_str(&part);
        }
        Ok(Text(Some(text)))
    }
}

/// `{"type": "text", "text": "…"}`; of a part without text nothing is left.
struct Part(String);

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;
        impl<'de> Visitor<'de> for PartVisitor {
            type Value = Part;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a part of a message")
            }

            fn visit_str<E>(self, text: &str) -> Result<Part, E> {
                Ok(Part(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
                let mut text = String::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "text" {
                        text = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Part(text))
            }
        }
        deserializer.deserialize_any(PartVisitor)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(line: &[u8]) -> Record {
        serde_json::from_slice(line).unwrap()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let meta = Meta {
            time: Some("2026-09-11T01:49:00.123Z".parse().unwrap()),
            step: Some(3),
            usage: Some(Usage { prompt: 10, completion: 2, cost: Some(0.5), ..Usage::default() }),
            own: true,
            kept: true,
            status: Some("exit 1".to_owned()),
            elapsed_ms: Some(12),
        };
        let call = ToolCall::new("a", "bash", r#"{"command":"ls"}"#);
        let reasoning = Reasoning {
            reasoning: Some("hm".to_owned()),
            reasoning_details: vec![serde_json::json!({"type": "x"})],
            ..Reasoning::default()
        };
        for message in [
            Message::user("line\nbreak \u{2028} \"quoted\""),
            Message::tool("a", "out"),
            Message::Assistant(Assistant { content: None, tool_calls: vec![call], reasoning }),
        ] {
            let line = Line::message(&message, &meta);
            assert_eq!(line.as_bytes().iter().filter(|&&b| b == b'\n').count(), 1);
            assert_eq!(read(line.as_bytes()), Record::Message(message, meta.clone()));
        }
        let state = Record::State { key: "k".to_owned(), value: Some("v".to_owned()) };
        assert_eq!(read(Line::state("k", "v").as_bytes()), state);
        assert_eq!(read(Line::title("t").as_bytes()), Record::Title("t".to_owned()));
        let note = Note { kind: "edit".to_owned(), text: "x".to_owned(), ..Note::default() };
        assert_eq!(read(Line::note(&note).as_bytes()), Record::Note(note));
    }

    #[test]
    fn a_line_reads_well_by_eye() {
        let time = Some("2026-09-11T01:49:00.1236Z".parse().unwrap());
        let line = Line::message(&Message::user("hi"), &Meta { time, ..Meta::default() });
        let expected =
            r#"{"role":"user","content":"hi","_meta":{"time":"2026-09-11T01:49:00.124Z"}}"#;
        assert_eq!(std::str::from_utf8(line.as_bytes()).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn other_shapes_of_the_same_message_are_understood() {
        let meta = Meta::default();
        let parts =
            r#"{"content":[{"type":"text","text":"a"},{"type":"image_url"},"b"],"role":"user"}"#;
        assert_eq!(read(parts.as_bytes()), Record::Message(Message::user("ab"), meta.clone()));
        let object = r#"{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}],"x":[]}"#;
        let Record::Message(Message::Assistant(reply), _) = read(object.as_bytes()) else {
            panic!()
        };
        assert_eq!(reply.tool_calls[0].function.arguments, r#"{"a":1}"#);
        let odd_meta = r#"{"role":"user","content":"a","_meta":{"usage":7}}"#;
        assert_eq!(read(odd_meta.as_bytes()), Record::Message(Message::user("a"), meta));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for line in ["7", "{}", "[]", r#"{"role":"user"}"#, r#"{"role":"robot","content":"x"}"#] {
            assert!(serde_json::from_str::<Record>(line).is_err(), "{line}");
        }
    }
}
