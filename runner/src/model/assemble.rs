//! Chunks of a streamed reply, or one plain reply, to a message.
//!
//! Invariant: nothing half leaves here. A reply without `finish_reason` and without `[DONE]` is [`Broken::Cut`], an
//! `error` object is [`Broken::Error`], and text that is no JSON is [`Broken::Malformed`].

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call_deltas::CallDeltas;
use super::message::{Assistant, Reasoning, Usage};
use super::server_error::{ServerError, line};
use super::sse::{Event, TooLong};
use super::think::{Piece, Splitter};
use super::wire::{self, Choice, Chunk, Delta};
use super::{Completion, Finish, ModelEvent};

/// Most bytes of one reply. No model writes this much; a server that loops does.
const MAX_REPLY: usize = 64 << 20;

/// Why a reply is none.
#[derive(Debug, PartialEq)]
pub(crate) enum Broken {
    /// It ended in the middle.
    Cut,
    /// The server says that something went wrong.
    Error(Box<ServerError>),
    /// Not what the API speaks; the words it began with.
    Malformed(String),
    /// Longer than any reply.
    TooLong,
}

impl From<TooLong> for Broken {
    fn from(_: TooLong) -> Self {
        Self::TooLong
    }
}

/// A reply that grows.
#[derive(Default)]
pub(crate) struct Assembler {
    content: String,
    think: Splitter,
    reasoning: String,
    source: Option<Source>,
    details: Vec<Map<String, Value>>,
    calls: CallDeltas,
    usage: Option<Usage>,
    finish: Option<Finish>,
    done: bool,
    size: usize,
}

/// The field that thinking came in.
#[derive(Clone, Copy)]
enum Source {
    Content,
    Reasoning,
    Text,
}

impl Assembler {
    /// Takes one event of a stream.
    pub fn push(
        &mut self,
        event: &Event<'_>,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), Broken> {
        let data = event.data.trim();
        if self.done || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        if event.error {
            return Err(Broken::Error(Box::new(ServerError::from_event(data))));
        }
        self.push_json(data, on_event)
    }

    /// Takes a whole plain reply: the server ignored that streaming was asked for.
    pub fn push_plain(
        &mut self,
        json: &str,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), Broken> {
        self.push_json(json.trim(), on_event)?;
        self.done = true;
        Ok(())
    }

    /// The model is done; at most figures can follow.
    pub fn is_finished(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// The stream is done, nothing can follow.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Nothing of a reply has come.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// The reply, if it is whole.
    pub fn finish(mut self, on_event: &mut dyn FnMut(ModelEvent)) -> Result<Completion, Broken> {
        if !self.is_finished() {
            return Err(Broken::Cut);
        }
        let mut pieces = Vec::new();
        std::mem::take(&mut self.think).finish(|piece| pieces.push(own(&piece)));
        for piece in pieces {
            self.take_piece(piece, on_event);
        }
        let tool_calls = self.calls.finish();
        let finish = match self.finish {
            None | Some(Finish::Stop | Finish::ToolCalls) if !tool_calls.is_empty() => {
                Finish::ToolCalls
            }
            None | Some(Finish::ToolCalls) => Finish::Stop,
            Some(finish) => finish,
        };
        let content = (!self.content.is_empty() || tool_calls.is_empty()).then_some(self.content);
        let reasoning = reasoning(self.source, self.reasoning, self.details);
        let message = Assistant { content, tool_calls, reasoning };
        Ok(Completion { message, usage: self.usage, finish })
    }

    fn push_json(
        &mut self,
        json: &str,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), Broken> {
        let chunk: Chunk<'_> =
            serde_json::from_str(json).map_err(|_| Broken::Malformed(line(json, 80)))?;
        if let Some(error) = chunk.error.filter(|error| !matches!(error.get(), "false" | "\"\"")) {
            // Beside `error` there may be codes that say more.
            let whole = serde_json::from_str(json).or_else(|_| serde_json::from_str(error.get()));
            return Err(server_error(&whole.unwrap_or_default()));
        }
        if wire::text(chunk.object).is_some_and(|object| object == "error") {
            return Err(server_error(&serde_json::from_str(json).unwrap_or_default()));
        }
        self.take_usage(chunk.usage);
        if let Some(groq) = wire::parse::<Choice<'_>>(chunk.x_groq) {
            self.take_usage(groq.usage);
        }
        for choice in chunk.choices.into_iter().flatten() {
            // `n` above 1 is nothing that an agent can use.
            if wire::number(choice.index).unwrap_or(0) == 0 {
                self.take_choice(choice, on_event)?;
            }
        }
        if self.size > MAX_REPLY { Err(Broken::TooLong) } else { Ok(()) }
    }

    fn take_choice(
        &mut self,
        choice: Choice<'_>,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<(), Broken> {
        self.take_usage(choice.usage);
        if let Some(delta) = choice.delta.or(choice.message) {
            self.take_delta(delta, on_event);
        }
        let Some(reason) = wire::text(choice.finish_reason) else {
            return Ok(());
        };
        match finish_of(&reason) {
            Some(finish) => self.finish = Some(finish),
            None => return Err(broken_off(&reason)),
        }
        Ok(())
    }

    fn take_delta(&mut self, delta: Delta<'_>, on_event: &mut dyn FnMut(ModelEvent)) {
        self.take_reasoning(&delta, on_event);
        if let Some((words, thoughts)) = wire::parts(delta.content) {
            self.think_aloud(&thoughts, Source::Content, on_event);
            self.say(&words, on_event);
        }
        for text in [delta.content, delta.refusal] {
            if let Some(text) = wire::text(text) {
                self.say(&text, on_event);
            }
        }
        if let Some(calls) = wire::parse::<Vec<_>>(delta.tool_calls) {
            self.size += self.calls.push(&calls, on_event);
        }
        if let Some(function) = wire::parse(delta.function_call)
            && delta.tool_calls.is_none()
        {
            self.size += self.calls.push_legacy(function, on_event);
        }
    }

    /// Some servers send the same thought in two fields: the first counts.
    fn take_reasoning(&mut self, delta: &Delta<'_>, on_event: &mut dyn FnMut(ModelEvent)) {
        let fields = [
            (delta.reasoning_content, Source::Content),
            (delta.reasoning, Source::Reasoning),
            (delta.reasoning_text, Source::Text),
        ];
        let thought = fields.into_iter().find_map(|(raw, source)| Some((wire::text(raw)?, source)));
        let mut in_details = String::new();
        for detail in
            wire::parse::<Vec<Map<String, Value>>>(delta.reasoning_details).unwrap_or_default()
        {
            for text in ["text", "summary"].iter().filter_map(|key| detail.get(*key)?.as_str()) {
                in_details.push_str(text);
            }
            self.size += merge_detail(&mut self.details, detail);
        }
        match thought {
            Some((text, source)) => self.think_aloud(&text, source, on_event),
            None => self.think_aloud(&in_details, Source::Reasoning, on_event),
        }
    }

    fn think_aloud(&mut self, text: &str, source: Source, on_event: &mut dyn FnMut(ModelEvent)) {
        if !text.is_empty() {
            self.source.get_or_insert(source);
            self.take_piece(Settled::Thought(text.to_owned()), on_event);
        }
    }

    fn say(&mut self, text: &str, on_event: &mut dyn FnMut(ModelEvent)) {
        let mut think = std::mem::take(&mut self.think);
        think.push(text, |piece| self.take_piece(own(&piece), on_event));
        self.think = think;
    }

    fn take_piece(&mut self, piece: Settled, on_event: &mut dyn FnMut(ModelEvent)) {
        match piece {
            Settled::Thought(text) => {
                self.source.get_or_insert(Source::Content);
                self.size += text.len();
                self.reasoning.push_str(&text);
                on_event(ModelEvent::Reasoning(text));
            }
            Settled::Word(text) => {
                self.size += text.len();
                self.content.push_str(&text);
                on_event(ModelEvent::Text(text));
            }
        }
    }

    /// Counts may come once, cumulatively, or spread over chunks: the largest of each is the last one.
    fn take_usage(&mut self, raw: Option<&RawValue>) {
        let Some(new) = wire::usage(raw) else { return };
        let usage = self.usage.get_or_insert_default();
        usage.prompt = usage.prompt.max(new.prompt);
        usage.cached = usage.cached.max(new.cached);
        usage.completion = usage.completion.max(new.completion);
        usage.reasoning = usage.reasoning.max(new.reasoning);
        usage.cost = new.cost.or(usage.cost);
    }
}

/// A [`Piece`] of its own.
enum Settled {
    Thought(String),
    Word(String),
}

fn own(piece: &Piece<'_>) -> Settled {
    match piece {
        Piece::Thought(text) => Settled::Thought((*text).to_owned()),
        Piece::Word(text) => Settled::Word((*text).to_owned()),
    }
}

fn server_error(value: &Value) -> Broken {
    Broken::Error(Box::new(ServerError::from_value(value)))
}

/// `finish_reason` of every dialect; `None`: the server gave up.
fn finish_of(reason: &str) -> Option<Finish> {
    Some(match reason.to_ascii_lowercase().as_str() {
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => Finish::ToolCalls,
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "model_length"
        | "max_length"
        | "model_context_window_exceeded" => Finish::Length,
        "content_filter" | "refusal" | "safety" | "recitation" | "sensitive" | "blocklist"
        | "prohibited_content" | "spii" => Finish::Filtered,
        "error"
        | "abort"
        | "aborted"
        | "cancelled"
        | "canceled"
        | "network_error"
        | "unload"
        | "insufficient_system_resource"
        | "malformed_function_call" => return None,
        _ => Finish::Stop,
    })
}

fn broken_off(reason: &str) -> Broken {
    let message = format!("the server ended the reply with `{}`", line(reason, 40));
    Broken::Error(Box::new(ServerError { message, ..ServerError::default() }))
}

fn reasoning(source: Option<Source>, text: String, details: Vec<Map<String, Value>>) -> Reasoning {
    let mut reasoning = Reasoning {
        reasoning_details: details.into_iter().map(Value::Object).collect(),
        ..Reasoning::default()
    };
    let text = Some(text).filter(|text| !text.trim().is_empty());
    match source {
        Some(Source::Content) => reasoning.reasoning_content = text,
        Some(Source::Reasoning) => reasoning.reasoning = text,
        Some(Source::Text) => reasoning.reasoning_text = text,
        None => {}
    }
    reasoning
}

/// Joins a block of OpenRouter's `reasoning_details` to the one it continues. Gives the bytes added.
fn merge_detail(details: &mut Vec<Map<String, Value>>, new: Map<String, Value>) -> usize {
    let same = |old: &Map<String, Value>, key: &str| match (old.get(key), new.get(key)) {
        (Some(a), Some(b)) => a == b || a.is_null() || b.is_null(),
        _ => true,
    };
    let continued = match new.get("index") {
        Some(Value::Number(_)) => {
            details.iter_mut().rev().find(|old| same(old, "index") && same(old, "type"))
        }
        _ => details.last_mut().filter(|old| {
            new.contains_key("type") && same(old, "type") && same(old, "id") && !is_signed(old)
        }),
    };
    let Some(old) = continued else {
        let size = new.values().filter_map(Value::as_str).map(str::len).sum();
        details.push(new);
        return size;
    };
    let mut size = 0;
    for (key, value) in new {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("text" | "summary", Value::String(more)) => {
                size += more.len();
                match old.get_mut(&key) {
                    Some(Value::String(text)) => text.push_str(&more),
                    _ => drop(old.insert(key, Value::String(more))),
                }
            }
            (_, value) => drop(old.insert(key, value)),
        }
    }
    size
}

fn is_signed(detail: &Map<String, Value>) -> bool {
    detail.get("signature").is_some_and(Value::is_string)
}

#[cfg(test)]
mod tests;
