//! A model that answers from a script: for the demo, for replaying a session, and for tests.
//!
//! Invariant: a reply is used up only when it was given whole, so that an interrupted one comes again. Must never claim
//! to think: where the script has nothing to say, it says just that.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::assemble::Assembler;
use super::message::{Assistant, Usage};
use super::server_error::line;
use super::{Completion, Finish, Model, ModelError, ModelEvent, Request};

/// Characters that come at once.
const PIECE: usize = 12;
/// What is said when the script is over.
const OVER: &str = "The script of this scripted model is over: it has no further reply.";

/// Answers each request with the next reply of a script, whatever was asked.
pub struct ScriptedModel {
    replies: RefCell<VecDeque<Reply>>,
    /// One line a reply that was given, for a summary.
    given: RefCell<Vec<String>>,
    pace: Duration,
}

#[derive(Clone)]
struct Reply {
    message: Assistant,
    delay: Option<Duration>,
}

/// Why a script cannot be used.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ScriptError {
    /// Something in it is no message.
    #[error("reply {number} of the script is no message of an assistant: {why}")]
    Reply {
        /// Counted from 1.
        number: usize,
        /// What is wrong.
        why: String,
    },
    /// Nothing in it can be replayed.
    #[error("there is no message of an assistant in it, so there is nothing to replay")]
    Empty,
}

impl ScriptedModel {
    /// Replies from the text of a saved session: the assistant's messages, in order. Lines that are something else, or
    /// torn, are left out.
    ///
    /// # Errors
    /// [`ScriptError::Empty`] when no line is a message of an assistant.
    pub fn from_session(text: &str) -> Result<Self, ScriptError> {
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let replies = lines
            .filter(|message| message.get("role").and_then(Value::as_str) == Some("assistant"))
            .filter_map(|message| reply(message).ok());
        Self::new(replies.collect())
    }

    /// Replies from a script: a JSON array, or one JSON object a line, of messages as the chat API has them.
    ///
    /// Two things are easier to write than there: `arguments` may be an object, and a call may be just
    /// `{"name": "bash", "arguments": {…}}`. `delay_ms` sets the wait before each piece of this reply.
    ///
    /// # Errors
    /// When something in it is no such message, or there is none.
    pub fn from_json(text: &str) -> Result<Self, ScriptError> {
        let values: Result<Vec<Value>, _> = match serde_json::from_str(text) {
            Ok(list) => Ok(list),
            Err(_) => serde_json::Deserializer::from_str(text).into_iter().collect(),
        };
        let not_json =
            |error: serde_json::Error| ScriptError::Reply { number: 1, why: error.to_string() };
        let numbered = values.map_err(not_json)?.into_iter().zip(1..);
        let replies = numbered
            .map(|(value, number)| reply(value).map_err(|why| ScriptError::Reply { number, why }));
        Self::new(replies.collect::<Result<_, _>>()?)
    }

    /// This model, waiting `pace` before each piece, so that a person can read along.
    #[must_use]
    pub fn with_pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    fn new(replies: VecDeque<Reply>) -> Result<Self, ScriptError> {
        if replies.is_empty() {
            return Err(ScriptError::Empty);
        }
        Ok(Self {
            replies: RefCell::new(replies),
            given: RefCell::new(Vec::new()),
            pace: Duration::ZERO,
        })
    }

    /// What is said next, and whether that uses up a reply.
    fn next(&self, request: &Request<'_>) -> (Reply, bool) {
        let say = |text: String| {
            let message = Assistant { content: Some(text), ..Assistant::default() };
            (Reply { message, delay: None }, false)
        };
        if request.forbid_tools {
            return say(self.summary());
        }
        let next = self.replies.borrow().front().cloned();
        next.map_or_else(|| say(OVER.to_owned()), |reply| (reply, true))
    }

    fn summary(&self) -> String {
        let given = self.given.borrow();
        if given.is_empty() {
            return "Summary by a scripted model: nothing has happened yet.".to_owned();
        }
        format!("Summary by a scripted model. So far:\n{}", given.join("\n"))
    }

    async fn run(
        &self,
        request: &Request<'_>,
        cancel: &CancellationToken,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, ModelError> {
        let (Reply { message, delay }, uses_up) = self.next(request);
        let delay = delay.unwrap_or(self.pace);
        for event in events(&message) {
            if !delay.is_zero() {
                let _ = cancel.run_until_cancelled(tokio::time::sleep(delay)).await;
            }
            if cancel.is_cancelled() {
                return Err(ModelError::Cancelled);
            }
            on_event(event);
        }
        if uses_up {
            self.replies.borrow_mut().pop_front();
            self.given.borrow_mut().push(gist(&message));
        }
        let finish = if message.tool_calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        Ok(Completion { usage: Some(usage(request, &message)), message, finish })
    }
}

impl Model for ScriptedModel {
    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        cancel: &'a CancellationToken,
        on_event: &'a mut dyn FnMut(ModelEvent),
    ) -> LocalBoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move { self.run(&request, cancel, on_event).await })
    }
}

/// Reads a message as a server's plain reply is read.
fn reply(mut value: Value) -> Result<Reply, String> {
    #[derive(Deserialize)]
    struct Timing {
        delay_ms: Option<u64>,
    }

    let Some(message) = value.as_object_mut() else {
        return Err("it is not a JSON object".to_owned());
    };
    if message.get("role").is_some_and(|role| role != "assistant") {
        return Err("its role is another one".to_owned());
    }
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(call) = call.as_object_mut() {
            wrap_function(call);
        }
    }
    let timing = Timing::deserialize(&value).map_err(|error| error.to_string())?;
    let plain = json!({"choices": [{"message": value}]}).to_string();
    let mut assembler = Assembler::default();
    let pushed = assembler.push_plain(&plain, &mut |_| ());
    let completion = pushed.and_then(|()| assembler.finish(&mut |_| ()));
    let message = completion.map_err(|broken| format!("{broken:?}"))?.message;
    Ok(Reply { message, delay: timing.delay_ms.map(Duration::from_millis) })
}

/// `{"name", "arguments"}` to `{"function": {"name", "arguments"}}`.
fn wrap_function(call: &mut Map<String, Value>) {
    if call.contains_key("function") {
        return;
    }
    if let (Some(name), arguments) = (call.remove("name"), call.remove("arguments")) {
        let arguments = arguments.unwrap_or_else(|| json!({}));
        call.insert("function".to_owned(), json!({"name": name, "arguments": arguments}));
    }
}

/// The events of a reply that comes in small pieces.
fn events(message: &Assistant) -> Vec<ModelEvent> {
    let thoughts = pieces(message.reasoning.text().unwrap_or_default());
    let words = pieces(message.content.as_deref().unwrap_or_default());
    let mut events: Vec<_> = thoughts.map(|text| ModelEvent::Reasoning(text.to_owned())).collect();
    events.extend(words.map(|text| ModelEvent::Text(text.to_owned())));
    for call in &message.tool_calls {
        events.push(ModelEvent::ToolCallStarted(call.function.name.clone()));
        let arguments = pieces(&call.function.arguments);
        events.extend(arguments.map(|text| ModelEvent::ToolCallBytes(text.len())));
    }
    events
}

/// `text` in pieces of [`PIECE`] characters.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(end, _)| end);
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// A line about a reply, for a summary.
fn gist(message: &Assistant) -> String {
    let calls = message.tool_calls.iter();
    let calls =
        calls.map(|call| format!("called {} {}", call.function.name, call.function.arguments));
    let said = message.content.iter().filter(|text| !text.is_empty());
    let parts = said.map(|text| format!("said {text}")).chain(calls);
    format!("- {}", line(&parts.collect::<Vec<_>>().join("; "), 160))
}

/// Four bytes a token, as good a guess as any.
fn usage(request: &Request<'_>, message: &Assistant) -> Usage {
    let asked = request.system.len() + request.messages.len() + request.tools.len();
    let calls = message.tool_calls.iter();
    let calls: usize = calls.map(|c| c.function.name.len() + c.function.arguments.len()).sum();
    let thought = message.reasoning.text().map_or(0, str::len);
    let said = message.content.as_deref().map_or(0, str::len) + calls + thought;
    let tokens = |bytes: usize| bytes.div_ceil(4) as u64;
    Usage {
        prompt: tokens(asked),
        completion: tokens(said),
        reasoning: tokens(thought),
        ..Usage::default()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::model::message::ToolCall;

    fn ask(model: &ScriptedModel, forbid_tools: bool) -> (Vec<ModelEvent>, Completion) {
        let settings = Settings::default();
        let messages = bytes::Bytes::from_static(b"12345678");
        let tools = bytes::Bytes::new();
        let request = Request { settings: &settings, system: "", messages, tools, forbid_tools };
        let mut events = Vec::new();
        let cancel = CancellationToken::new();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut on_event = |event| events.push(event);
        let reply = runtime.block_on(model.complete(request, &cancel, &mut on_event)).unwrap();
        (events, reply)
    }

    fn content(model: &ScriptedModel) -> String {
        ask(model, false).1.message.content.unwrap()
    }

    #[test]
    fn the_replies_of_a_session_come_in_order_and_then_it_is_over() {
        let session = concat!(
            r#"{"_meta":{"version":1}}"#,
            "\n",
            r#"{"role":"user","content":"hi"}"#,
            "\n",
            r#"{"role":"assistant","content":"one","_meta":{"t":1}}"#,
            "\n",
            r#"{"role":"tool","tool_call_id":"a","content":"x"}"#,
            "\n",
            r#"{"role":"assistant","content":"two"}"#,
            "\n",
            r#"{"role":"assistant","cont"#,
        );
        let model = ScriptedModel::from_session(session).unwrap();
        assert_eq!(content(&model), "one");
        assert_eq!(content(&model), "two");
        assert_eq!(content(&model), OVER);
        assert!(matches!(ScriptedModel::from_session("{}"), Err(ScriptError::Empty)));
    }

    #[test]
    fn a_reply_comes_in_pieces_with_its_calls_and_figures() {
        let script = r#"[{"content": "Ich schaue nach. ✓", "tool_calls": [{"id": "a", "name": "bash", "arguments": {"command": "ls"}}]}]"#;
        let model = ScriptedModel::from_json(script).unwrap();
        let (events, reply) = ask(&model, false);
        assert_eq!(
            events,
            [
                ModelEvent::Text("Ich schaue n".to_owned()),
                ModelEvent::Text("ach. ✓".to_owned()),
                ModelEvent::ToolCallStarted("bash".to_owned()),
                ModelEvent::ToolCallBytes(12),
                ModelEvent::ToolCallBytes(4),
            ]
        );
        let expected = Assistant {
            content: Some("Ich schaue nach. ✓".to_owned()),
            tool_calls: vec![ToolCall::new("a", "bash", r#"{"command":"ls"}"#)],
            ..Assistant::default()
        };
        assert_eq!((reply.message, reply.finish), (expected, Finish::ToolCalls));
        let usage = reply.usage.unwrap();
        assert_eq!((usage.prompt, usage.completion), (2, 10));
    }

    #[test]
    fn a_script_may_be_lines_and_set_its_own_delay() {
        let model =
            ScriptedModel::from_json("{\"content\":\"a\",\"delay_ms\":1}\n{\"content\":\"b\"}\n")
                .unwrap();
        assert_eq!(model.replies.borrow()[0].delay, Some(Duration::from_millis(1)));
        assert_eq!(content(&model), "a");
        assert_eq!(content(&model), "b");
    }

    #[test]
    fn a_summary_uses_up_no_reply() {
        let model = ScriptedModel::from_json(r#"[{"content":"one"},{"content":"two"}]"#).unwrap();
        assert_eq!(content(&model), "one");
        let (_, reply) = ask(&model, true);
        let summary = "Summary by a scripted model. So far:\n- said one";
        assert_eq!(reply.message.content.as_deref(), Some(summary));
        assert_eq!(content(&model), "two");
    }

    #[test]
    fn an_interrupted_reply_comes_again() {
        let model = ScriptedModel::from_json(r#"[{"content":"one"}]"#).unwrap();
        let settings = Settings::default();
        let request = Request {
            settings: &settings,
            system: "",
            messages: bytes::Bytes::new(),
            tools: bytes::Bytes::new(),
            forbid_tools: false,
        };
        let cancel = CancellationToken::new();
        cancel.cancel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let ended = runtime.block_on(model.complete(request, &cancel, &mut |_| ()));
        assert!(matches!(ended, Err(ModelError::Cancelled)));
        assert_eq!(content(&model), "one");
    }

    #[test]
    fn what_is_wrong_with_a_script_is_said() {
        let error = |text| ScriptedModel::from_json(text).err().unwrap().to_string();
        assert!(error("[{\"content\":\"a\"}, 7]").contains("reply 2 of the script"));
        assert!(error("[{\"role\":\"user\"}]").contains("its role is another one"));
        assert!(error("{oops").contains("reply 1"));
        assert!(error("[]").contains("nothing to replay"));
    }
}
