//! Makes a conversation that was read fit to be sent: what a crash, an interruption or another program left undone.
//!
//! Invariants of the result: each tool call is followed by its one result before anything else is said; ids are unique
//! and not empty; arguments are JSON objects. It depends on the input alone, so that a session which is resumed twice
//! makes the same request twice.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::record::Meta;
use crate::model::message::{Assistant, Message, ToolCall};

/// The result of a call that never ended.
const INTERRUPTED: &str = "[interrupted]";

/// A conversation, and what had to be done to it.
#[derive(Debug, Default)]
pub(super) struct Repaired {
    pub(super) messages: Vec<Message>,
    pub(super) meta: Vec<Meta>,
    interrupted: usize,
    orphans: usize,
    renamed: usize,
    arguments: usize,
}

impl Repaired {
    pub(super) fn warnings(&self) -> Vec<String> {
        [
            (self.interrupted, "tool call(s) had no result and are marked as interrupted"),
            (self.orphans, "tool result(s) belonged to no call and were left out"),
            (self.renamed, "tool call(s) had an id that was in use and got a new one"),
            (self.arguments, "tool call(s) had arguments that are no JSON object"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
    }
}

/// Repairs `conversation`.
pub(super) fn repair(conversation: Vec<(Message, Meta)>) -> Repaired {
    let mut repair = Repair::default();
    for (message, meta) in conversation {
        match message {
            Message::Assistant(reply) => repair.reply(reply, meta),
            Message::Tool { tool_call_id, content } => repair.result(&tool_call_id, content, meta),
            user @ Message::User { .. } => repair.user(user, meta),
        }
    }
    repair.settle();
    repair.done
}

#[derive(Default)]
struct Repair {
    done: Repaired,
    ids: HashSet<String>,
    /// The calls of the latest reply.
    open: Vec<Open>,
    /// What was said before these had their results.
    held: Vec<(Message, Meta)>,
}

/// A call that is to have a result.
struct Open {
    /// The id it was written with, by which its result names it.
    written: String,
    id: String,
    result: Option<(String, Meta)>,
}

impl Repair {
    fn reply(&mut self, mut reply: Assistant, meta: Meta) {
        self.settle();
        // No server takes a reply that neither says nor calls anything.
        if reply.tool_calls.is_empty() && reply.content.as_deref().is_none_or(str::is_empty) {
            return;
        }
        for call in &mut reply.tool_calls {
            let written = call.id.clone();
            self.make_unique(call);
            self.mend_arguments(call);
            self.open.push(Open { written, id: call.id.clone(), result: None });
        }
        self.push(Message::Assistant(reply), meta);
    }

    fn result(&mut self, id: &str, content: String, meta: Meta) {
        let waiting = |open: &&mut Open| open.written == id && open.result.is_none();
        match self.open.iter_mut().find(waiting) {
            Some(open) => open.result = Some((content, meta)),
            None => self.done.orphans += 1,
        }
    }

    fn user(&mut self, message: Message, meta: Meta) {
        if self.open.is_empty() {
            self.push(message, meta);
        } else {
            self.held.push((message, meta));
        }
    }

    /// Ends the latest step: its results, then what was said meanwhile.
    fn settle(&mut self) {
        for open in std::mem::take(&mut self.open) {
            let (content, meta) = open.result.unwrap_or_else(|| {
                self.done.interrupted += 1;
                (INTERRUPTED.to_owned(), Meta::default())
            });
            self.push(Message::tool(open.id, content), meta);
        }
        for (message, meta) in std::mem::take(&mut self.held) {
            self.push(message, meta);
        }
    }

    fn push(&mut self, message: Message, meta: Meta) {
        self.done.messages.push(message);
        self.done.meta.push(meta);
    }

    fn make_unique(&mut self, call: &mut ToolCall) {
        if !call.id.is_empty() && self.ids.insert(call.id.clone()) {
            return;
        }
        self.done.renamed += 1;
        let stem = if call.id.is_empty() { "call" } else { &call.id };
        for number in self.done.messages.len().. {
            let id = format!("{stem}_{number}");
            if self.ids.insert(id.clone()) {
                call.id = id;
                return;
            }
        }
    }

    fn mend_arguments(&mut self, call: &mut ToolCall) {
        let arguments = &mut call.function.arguments;
        if serde_json::from_str::<Map<String, Value>>(arguments).is_ok() {
            return;
        }
        *arguments = if arguments.trim().is_empty() {
            "{}".to_owned()
        } else {
            self.done.arguments += 1;
            json!({ "malformed_arguments": arguments }).to_string()
        };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(id: &str, arguments: &str) -> ToolCall {
        ToolCall::new(id, "bash", arguments)
    }

    fn calls(ids: &[&str]) -> Message {
        let tool_calls = ids.iter().map(|id| call(id, "{}")).collect();
        Message::Assistant(Assistant { tool_calls, ..Assistant::default() })
    }

    fn repaired(messages: Vec<Message>) -> (Vec<Message>, Vec<String>) {
        let repaired = repair(messages.into_iter().map(|m| (m, Meta::default())).collect());
        assert_eq!(repaired.messages.len(), repaired.meta.len());
        let warnings = repaired.warnings();
        (repaired.messages, warnings)
    }

    #[test]
    fn a_sound_conversation_stays_as_it_is() {
        let sound = vec![
            Message::user("a"),
            calls(&["1", "2"]),
            Message::tool("1", "x"),
            Message::tool("2", "y"),
            Message::user("b"),
        ];
        assert_eq!(repaired(sound.clone()), (sound, vec![]));
    }

    #[test]
    fn a_call_without_a_result_was_interrupted() {
        let (messages, warnings) =
            repaired(vec![calls(&["1", "2"]), Message::tool("1", "x"), Message::user("continue")]);
        let expected = [
            calls(&["1", "2"]),
            Message::tool("1", "x"),
            Message::tool("2", "[interrupted]"),
            Message::user("continue"),
        ];
        assert_eq!(messages, expected);
        assert_eq!(warnings, ["1 tool call(s) had no result and are marked as interrupted"]);
        let (messages, _) = repaired(vec![calls(&["1"])]);
        assert_eq!(messages, [calls(&["1"]), Message::tool("1", "[interrupted]")]);
    }

    #[test]
    fn a_result_without_a_call_is_left_out() {
        let (messages, warnings) = repaired(vec![
            Message::tool("0", "x"),
            calls(&["1"]),
            Message::tool("1", "y"),
            Message::tool("1", "again"),
        ]);
        assert_eq!(messages, [calls(&["1"]), Message::tool("1", "y")]);
        assert_eq!(warnings, ["2 tool result(s) belonged to no call and were left out"]);
    }

    #[test]
    fn a_result_that_came_late_goes_to_its_call() {
        let (messages, _) = repaired(vec![
            calls(&["1", "2"]),
            Message::tool("2", "y"),
            Message::user("steer"),
            Message::tool("1", "x"),
        ]);
        let expected = [
            calls(&["1", "2"]),
            Message::tool("1", "x"),
            Message::tool("2", "y"),
            Message::user("steer"),
        ];
        assert_eq!(messages, expected);
    }

    #[test]
    fn ids_that_a_provider_used_again_become_unique_with_their_pairs() {
        let step = || {
            vec![
                calls(&["c", "c", ""]),
                Message::tool("c", "1"),
                Message::tool("c", "2"),
                Message::tool("", "3"),
            ]
        };
        let (messages, warnings) = repaired([step(), step()].concat());
        let mut ids = HashSet::new();
        for step in messages.chunks(4) {
            let Message::Assistant(reply) = &step[0] else { panic!() };
            for (n, (call, result)) in reply.tool_calls.iter().zip(&step[1..]).enumerate() {
                assert_eq!(*result, Message::tool(call.id.clone(), (n + 1).to_string()));
                assert!(ids.insert(call.id.clone()));
            }
        }
        assert_eq!(warnings, ["5 tool call(s) had an id that was in use and got a new one"]);
    }

    #[test]
    fn arguments_that_are_no_object_are_replaced() {
        let arguments = ["{\"command\": \"ls", "", "null", "{\"a\":1}"];
        let tool_calls =
            arguments.iter().enumerate().map(|(n, a)| call(&n.to_string(), a)).collect();
        let (messages, warnings) =
            repaired(vec![Message::Assistant(Assistant { tool_calls, ..Assistant::default() })]);
        let Message::Assistant(reply) = &messages[0] else { panic!() };
        let mended: Vec<_> =
            reply.tool_calls.iter().map(|c| c.function.arguments.as_str()).collect();
        let expected = [
            r#"{"malformed_arguments":"{\"command\": \"ls"}"#,
            "{}",
            r#"{"malformed_arguments":"null"}"#,
            r#"{"a":1}"#,
        ];
        assert_eq!(mended, expected);
        assert!(
            warnings.contains(&"2 tool call(s) had arguments that are no JSON object".to_owned())
        );
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let id = "[ab]?";
        prop_oneof![
            "[a-z]{0,3}".prop_map(Message::user),
            (id, "[a-z]").prop_map(|(id, content)| Message::tool(id, content)),
            proptest::collection::vec((id, "\\{\\}|\\{|x"), 0..4).prop_map(|calls| {
                let tool_calls = calls.iter().map(|(id, arguments)| call(id, arguments)).collect();
                Message::Assistant(Assistant { tool_calls, ..Assistant::default() })
            }),
        ]
    }

    proptest! {
        #[test]
        fn any_conversation_becomes_valid_and_stays_so(
            messages in proptest::collection::vec(any_message(), 0..20),
        ) {
            let (once, _) = repaired(messages.clone());
            let mut ids = HashSet::new();
            let mut rest = once.iter();
            while let Some(message) = rest.next() {
                let Message::Assistant(reply) = message else {
                    let is_user = matches!(message, Message::User { .. });
                    prop_assert!(is_user);
                    continue;
                };
                for call in &reply.tool_calls {
                    prop_assert!(!call.id.is_empty() && ids.insert(call.id.clone()));
                    prop_assert_eq!(&call.function.arguments[..1], "{");
                    let answers = matches!(rest.next(), Some(Message::Tool { tool_call_id, .. }) if *tool_call_id == call.id);
                    prop_assert!(answers);
                }
            }
            let users = |messages: &[Message]| {
                messages.iter().filter(|m| matches!(m, Message::User { .. })).cloned().collect::<Vec<_>>()
            };
            prop_assert_eq!(users(&messages), users(&once));
            prop_assert_eq!(repaired(once.clone()), (once, vec![]));
        }
    }
}
