//! Puts tool calls together from deltas, in every shape that servers send them.
//!
//! By the OpenAI API reference a delta belongs to the call with its `index`. In the wild the index is missing, or 0 for
//! every call; the id is missing, empty, or another one in every delta; arguments are an object instead of text.
//! Invariant: bytes of two calls are never joined where an id, a name or a finished JSON value tells them apart.

use serde_json::Value;
use serde_json::value::RawValue;

use super::ModelEvent;
use super::calls::mint_id;
use super::message::ToolCall;
use super::wire::{self, CallDelta, FunctionDelta};

/// The calls of one reply so far.
#[derive(Default)]
pub(crate) struct CallDeltas {
    calls: Vec<Growing>,
}

#[derive(Default)]
struct Growing {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    nesting: Nesting,
    extra_content: Option<Value>,
}

impl CallDeltas {
    /// Takes the `tool_calls` of one delta. Gives the number of bytes that were added.
    pub fn push(
        &mut self,
        deltas: &[CallDelta<'_>],
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> usize {
        let mut bytes = 0;
        let mut before = None;
        for delta in deltas {
            let at = self.call_of(delta, before);
            before = Some(at);
            bytes += self.calls[at].extend(delta, on_event);
        }
        bytes
    }

    /// Takes a `function_call`, the single call of the time before `tool_calls`.
    pub fn push_legacy(
        &mut self,
        function: FunctionDelta<'_>,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> usize {
        let delta =
            CallDelta { index: None, id: None, function: Some(function), extra_content: None };
        self.push(&[delta], on_event)
    }

    /// The calls, each with an id. A call that never got a name is left out: nothing can be said about it.
    pub fn finish(self) -> Vec<ToolCall> {
        let named = self.calls.into_iter().filter(|call| !call.name.is_empty());
        named
            .map(|call| {
                let id = if call.id.is_empty() { mint_id() } else { call.id };
                let extra_content = call.extra_content;
                ToolCall { extra_content, ..ToolCall::new(id, call.name, call.arguments) }
            })
            .collect()
    }

    /// The call that `delta` continues or begins. `before` is the call of the delta before it in the same chunk.
    fn call_of(&mut self, delta: &CallDelta<'_>, before: Option<usize>) -> usize {
        let index = wire::number(delta.index);
        let id = wire::text(delta.id);
        let name = delta.function.as_ref().and_then(|f| wire::text(f.name));
        let candidate = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_some() => self
                .calls
                .iter()
                .rposition(|call| Some(call.id.as_str()) == id.as_deref())
                // An id that comes later than its call.
                .or_else(|| self.calls.iter().rposition(|c| c.id.is_empty() && name.is_none())),
            None => self.calls.len().checked_sub(1),
        };
        let continued = candidate.filter(|&at| {
            let call = &self.calls[at];
            let other_id = id.as_deref().is_some_and(|id| !call.id.is_empty() && call.id != id);
            // Some servers make up an id for every delta, so a new one counts only together with a name.
            let begins = name.as_ref().is_some_and(|n| other_id || call.is_over(n, delta));
            let sibling = index.is_none() && id.is_none() && name.is_some() && before == Some(at);
            !begins && !sibling
        });
        continued.unwrap_or_else(|| {
            self.calls.push(Growing { index, ..Growing::default() });
            self.calls.len() - 1
        })
    }
}

impl Growing {
    fn extend(&mut self, delta: &CallDelta<'_>, on_event: &mut dyn FnMut(ModelEvent)) -> usize {
        if self.id.is_empty()
            && let Some(id) = wire::text(delta.id)
        {
            self.id = id.into_owned();
        }
        if let Some(extra) = wire::parse(delta.extra_content) {
            self.extra_content = Some(extra);
        }
        let Some(function) = &delta.function else {
            return 0;
        };
        if let Some(name) = wire::text(function.name) {
            self.take_name(&name, on_event);
        }
        let bytes = self.take_arguments(function.arguments);
        if bytes > 0 {
            on_event(ModelEvent::ToolCallBytes(bytes));
        }
        bytes
    }

    /// A name comes whole, again and again, longer each time, or in pieces.
    fn take_name(&mut self, name: &str, on_event: &mut dyn FnMut(ModelEvent)) {
        if self.name.is_empty() {
            on_event(ModelEvent::ToolCallStarted(name.to_owned()));
        }
        if name.starts_with(&self.name) {
            self.name = name.to_owned();
        } else if self.arguments.is_empty() {
            self.name.push_str(name);
        }
    }

    fn take_arguments(&mut self, raw: Option<&RawValue>) -> usize {
        if let Some(text) = wire::text(raw) {
            self.nesting.read(text.as_bytes());
            self.arguments.push_str(&text);
            return text.len();
        }
        let object = raw.map(RawValue::get).filter(|json| json.starts_with('{')).unwrap_or("");
        self.nesting.read(object.as_bytes());
        self.arguments.push_str(object);
        object.len()
    }

    /// The arguments are a whole JSON value, and `delta` brings another call rather than this one's name again.
    fn is_over(&self, name: &str, delta: &CallDelta<'_>) -> bool {
        let more = || {
            let arguments = delta.function.as_ref()?.arguments?.get();
            Some(arguments.trim_start_matches('"').trim_start().starts_with('{'))
        };
        self.nesting.closed && (name != self.name || more().unwrap_or(false))
    }
}

/// Follows the brackets of JSON that comes in pieces.
#[derive(Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The outermost bracket was closed.
    closed: bool,
}

impl Nesting {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Ids, names and arguments out of deltas, each a `tool_calls` array; minted ids become `?`.
    fn calls(deltas: &[&str]) -> Vec<(String, String, String)> {
        let mut growing = CallDeltas::default();
        let mut given = Vec::new();
        for json in deltas {
            let parsed: Vec<CallDelta<'_>> = serde_json::from_str(json).unwrap();
            given.extend(parsed.iter().filter_map(|d| wire::text(d.id)).map(|id| id.into_owned()));
            growing.push(&parsed, &mut |_| ());
        }
        let known = |id: String| if given.contains(&id) { id } else { "?".to_owned() };
        let finished = growing.finish().into_iter();
        finished.map(|c| (known(c.id), c.function.name, c.function.arguments)).collect()
    }

    fn expect(deltas: &[&str], expected: &[(&str, &str, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
            .collect();
        assert_eq!(calls(deltas), expected, "{deltas:#?}");
    }

    #[test]
    fn deltas_with_an_index_are_joined_by_it() {
        expect(
            &[
                r#"[{"index":0,"id":"a","type":"function","function":{"name":"bash","arguments":"{\"x\""}}]"#,
                r#"[{"index":1,"id":"b","function":{"name":"add","arguments":""}}]"#,
                r#"[{"index":0,"type":"function","function":{"arguments":":1}"}},{"index":1,"function":{"arguments":"{}"}}]"#,
            ],
            &[("a", "bash", r#"{"x":1}"#), ("b", "add", "{}")],
        );
    }

    #[test]
    fn without_an_index_a_new_id_is_a_new_call() {
        expect(
            &[
                r#"[{"id":"a","function":{"name":"bash","arguments":"{\"x\""}}]"#,
                r#"[{"function":{"arguments":":1}"}}]"#,
                r#"[{"id":"b","function":{"name":"bash","arguments":"{\"x\""}}]"#,
                r#"[{"id":"b","function":{"arguments":":2}"}}]"#,
                r#"[{"id":"a","function":{"arguments":" "}}]"#,
            ],
            &[("a", "bash", r#"{"x":1} "#), ("b", "bash", r#"{"x":2}"#)],
        );
    }

    #[test]
    fn a_call_without_an_id_gets_one() {
        expect(
            &[
                r#"[{"index":0,"function":{"name":"bash","arguments":"{"}}]"#,
                r#"[{"index":0,"function":{"arguments":"}"}}]"#,
                r#"[{"index":1,"id":null,"function":{"name":"bash","arguments":"{}"}}]"#,
            ],
            &[("?", "bash", "{}"), ("?", "bash", "{}")],
        );
    }

    #[test]
    fn empty_ids_and_names_in_later_deltas_are_absent() {
        expect(
            &[
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":"{"}}]"#,
                r#"[{"index":0,"id":"","function":{"name":"","arguments":"\"x\":1"}}]"#,
                r#"[{"index":0,"id":null,"function":{"name":null,"arguments":"}"}}]"#,
                r#"[{"index":0,"function":null}]"#,
            ],
            &[("a", "bash", r#"{"x":1}"#)],
        );
    }

    #[test]
    fn one_index_for_all_calls_is_told_apart_by_id_or_by_a_finished_value() {
        expect(
            &[
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":1}"}}]"#,
                r#"[{"index":0,"id":"b","function":{"name":"bash","arguments":"{\"x\":"}}]"#,
                r#"[{"index":0,"function":{"arguments":"2}"}}]"#,
            ],
            &[("a", "bash", r#"{"x":1}"#), ("b", "bash", r#"{"x":2}"#)],
        );
        expect(
            &[
                r#"[{"index":0,"function":{"name":"bash","arguments":"{\"x\":1}"}}]"#,
                r#"[{"index":0,"function":{"name":"bash","arguments":"{\"x\":2}"}}]"#,
                r#"[{"index":0,"function":{"name":"add","arguments":""}}]"#,
            ],
            &[("?", "bash", r#"{"x":1}"#), ("?", "bash", r#"{"x":2}"#), ("?", "add", "")],
        );
    }

    #[test]
    fn a_header_that_comes_again_is_the_same_call() {
        expect(
            &[
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":""}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":"{\"x\":{}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":"}"}}]"#,
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":""}}]"#,
            ],
            &[("a", "bash", r#"{"x":{}}"#)],
        );
    }

    #[test]
    fn an_id_made_up_for_every_delta_splits_nothing() {
        expect(
            &[
                r#"[{"index":0,"id":"a","function":{"name":"bash","arguments":"{"}}]"#,
                r#"[{"index":0,"id":"b","function":{"arguments":"}"}}]"#,
            ],
            &[("a", "bash", "{}")],
        );
    }

    #[test]
    fn whole_calls_in_one_array_need_no_index() {
        expect(
            &[
                r#"[{"function":{"name":"a","arguments":{"x":1}}},{"function":{"name":"b","arguments":null}}]"#,
            ],
            &[("?", "a", r#"{"x":1}"#), ("?", "b", "")],
        );
    }

    #[test]
    fn a_name_may_come_in_pieces_or_grow() {
        expect(
            &[
                r#"[{"index":0,"id":"a","function":{"name":"ba"}}]"#,
                r#"[{"index":0,"function":{"name":"sh"}}]"#,
                r#"[{"index":1,"id":"b","function":{"name":"ba"}}]"#,
                r#"[{"index":1,"function":{"name":"bash","arguments":"{}"}}]"#,
            ],
            &[("a", "bash", ""), ("b", "bash", "{}")],
        );
    }

    #[test]
    fn what_the_provider_attached_is_kept() {
        let mut growing = CallDeltas::default();
        let json = r#"[{"index":0,"id":"a","extra_content":{"google":{"thought_signature":"s"}},"function":{"name":"b","arguments":"{}"}}]"#;
        growing.push(&serde_json::from_str::<Vec<CallDelta<'_>>>(json).unwrap(), &mut |_| ());
        let expected = serde_json::json!({"google": {"thought_signature": "s"}});
        assert_eq!(growing.finish()[0].extra_content, Some(expected));
    }
}
