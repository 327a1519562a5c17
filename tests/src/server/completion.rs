//! A chat completion as servers stream it: the events of one reply, each labelled with the part it carries.
//!
//! The shapes are those that real servers send. OpenAI API reference, "The chat completion chunk object"; the
//! variants are named where they are defined.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};

/// The field that carries thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReasoningField {
    /// `reasoning_content`: DeepSeek, Kimi, llama.cpp.
    Content,
    /// `reasoning`: vLLM, OpenRouter.
    Plain,
    /// `reasoning_text`: some proxies.
    Text,
    /// `reasoning_details`: OpenRouter's blocks.
    Details,
    /// `<think>…</think>` at the start of the content: servers without a reasoning parser.
    Tags,
}

/// How tool calls are spread over deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallShape {
    /// As OpenAI does: `index` everywhere, id and name first, then pieces of the arguments.
    Indexed,
    /// One delta a call, everything in it (Gemini, Ollama).
    Whole,
    /// No `index`; a new `id` begins a new call, later deltas repeat it.
    IdOnly,
    /// No `index`, and the later deltas have no `id` either.
    FirstIdOnly,
    /// `index`, but no `id` in any delta.
    NoId,
    /// Later deltas carry `id: ""` and `name: ""`.
    EmptyLater,
    /// Id, name and type repeated in every delta (litellm).
    Repeated,
    /// One delta a character of the arguments.
    Bytewise,
    /// All calls begun first, then the pieces of their arguments in turns.
    Interleaved,
}

/// Where the token counts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsagePlace {
    /// A last chunk with `choices: []` (OpenAI).
    LastChunk,
    /// A last chunk whose `choices` hold an empty delta (litellm).
    LastChunkWithChoice,
    /// In the choice of the finishing chunk (Moonshot).
    Choice,
    /// In every chunk, growing.
    EveryChunk,
    /// Nowhere.
    Nowhere,
}

/// What an event carries, so that a fault can be put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Role,
    Reasoning,
    Text,
    Arguments,
    Finish,
    Usage,
    Done,
    Other,
}

/// One `data:` line, or a comment.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Event {
    pub part: Part,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

impl Call {
    pub(super) fn new(name: &str, arguments: String) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(1);
        let id = format!("call_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        Self { id, name: name.to_owned(), arguments }
    }
}

/// A reply of the model and how the server writes it.
#[derive(Clone, Debug)]
pub(super) struct Completion {
    pub reasoning: Option<(ReasoningField, String)>,
    pub text: String,
    pub calls: Vec<Call>,
    pub shape: CallShape,
    pub finish: Option<String>,
    pub done: bool,
    pub usage: (u64, u64),
    pub usage_place: UsagePlace,
    /// Characters a delta of text; 0: a word each.
    pub piece: usize,
    pub comments: bool,
    pub line_end: &'static str,
}

impl Default for Completion {
    fn default() -> Self {
        Self {
            reasoning: None,
            text: String::new(),
            calls: Vec::new(),
            shape: CallShape::Indexed,
            finish: None,
            done: true,
            usage: (100, 10),
            usage_place: UsagePlace::LastChunk,
            piece: 0,
            comments: false,
            line_end: "\n",
        }
    }
}

impl Completion {
    /// The finish reason that goes with what the reply holds.
    pub(super) fn natural_finish(&self) -> String {
        if self.calls.is_empty() { "stop" } else { "tool_calls" }.to_owned()
    }

    fn usage_json(&self) -> Value {
        let (prompt, completion) = self.usage;
        json!({
            "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion,
        })
    }

    /// The reply as one JSON document.
    pub(super) fn plain(&self) -> Value {
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        let mut text = self.text.clone();
        match &self.reasoning {
            Some((ReasoningField::Tags, thought)) => {
                text = format!("<think>{thought}</think>{text}")
            }
            Some((field, thought)) => message.extend(reasoning_delta(*field, thought)),
            None => {}
        }
        let content = if text.is_empty() { Value::Null } else { text.into() };
        message.insert("content".into(), content);
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                json!({
                    "id": call.id, "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments },
                })
            });
            message.insert("tool_calls".into(), calls.collect());
        }
        json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish }],
            "usage": self.usage_json(),
        })
    }

    /// The reply as a stream of events.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut writer = Writer { completion: self, events: Vec::new() };
        writer.comment(": keep-alive");
        writer.delta(Part::Role, json!({ "role": "assistant", "content": null }));
        writer.reasoning();
        writer.comment(":");
        writer.text();
        writer.calls();
        writer.end();
        writer.events
    }
}

struct Writer<'a> {
    completion: &'a Completion,
    events: Vec<Event>,
}

impl Writer<'_> {
    fn comment(&mut self, line: &str) {
        if self.completion.comments {
            self.line(Part::Other, line);
        }
    }

    fn line(&mut self, part: Part, line: &str) {
        let end = self.completion.line_end;
        self.events.push(Event { part, bytes: format!("{line}{end}{end}").into_bytes() });
    }

    fn chunk(&mut self, part: Part, choices: Value, usage: Option<Value>) {
        let mut chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": choices,
        });
        let every = self.completion.usage_place == UsagePlace::EveryChunk;
        if let Some(usage) = usage.or_else(|| every.then(|| self.completion.usage_json())) {
            chunk["usage"] = usage;
        }
        self.line(part, &format!("data: {chunk}"));
    }

    fn delta(&mut self, part: Part, delta: Value) {
        self.chunk(part, json!([{ "index": 0, "delta": delta, "finish_reason": null }]), None);
    }

    fn reasoning(&mut self) {
        let Some((field, thought)) = &self.completion.reasoning else {
            return;
        };
        if *field == ReasoningField::Tags {
            let tagged = format!("<think>{thought}</think>");
            for piece in self.pieces(&tagged) {
                self.delta(Part::Reasoning, json!({ "content": piece }));
            }
            return;
        }
        for piece in self.pieces(thought) {
            self.delta(Part::Reasoning, Value::Object(reasoning_delta(*field, &piece)));
        }
    }

    fn text(&mut self) {
        for piece in self.pieces(&self.completion.text) {
            self.delta(Part::Text, json!({ "content": piece }));
        }
    }

    fn pieces(&self, text: &str) -> Vec<String> {
        match self.completion.piece {
            0 => text.split_inclusive(' ').map(str::to_owned).collect(),
            size => pieces_of(text, size),
        }
    }

    fn calls(&mut self) {
        let calls = &self.completion.calls;
        if self.completion.shape == CallShape::Interleaved {
            return self.interleaved();
        }
        for (index, call) in calls.iter().enumerate() {
            for delta in call_deltas(self.completion.shape, index, call) {
                self.delta(Part::Arguments, json!({ "tool_calls": [delta] }));
            }
        }
    }

    fn interleaved(&mut self) {
        let all: Vec<_> = self
            .completion
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| call_deltas(CallShape::Indexed, index, call))
            .collect();
        for turn in 0..all.iter().map(Vec::len).max().unwrap_or(0) {
            for delta in all.iter().filter_map(|deltas| deltas.get(turn)) {
                self.delta(Part::Arguments, json!({ "tool_calls": [delta] }));
            }
        }
    }

    fn end(&mut self) {
        if let Some(finish) = &self.completion.finish {
            let mut choice = json!({ "index": 0, "delta": {}, "finish_reason": finish });
            if self.completion.usage_place == UsagePlace::Choice {
                choice["usage"] = self.completion.usage_json();
            }
            self.chunk(Part::Finish, json!([choice]), None);
        }
        let usage = self.completion.usage_json();
        match self.completion.usage_place {
            UsagePlace::LastChunk => self.chunk(Part::Usage, json!([]), Some(usage)),
            UsagePlace::LastChunkWithChoice => {
                self.chunk(Part::Usage, json!([{ "index": 0, "delta": {} }]), Some(usage));
            }
            UsagePlace::Choice | UsagePlace::EveryChunk | UsagePlace::Nowhere => {}
        }
        if self.completion.done {
            self.line(Part::Done, "data: [DONE]");
        }
    }
}

fn reasoning_delta(field: ReasoningField, thought: &str) -> Map<String, Value> {
    let (name, value) = match field {
        ReasoningField::Content => ("reasoning_content", thought.into()),
        ReasoningField::Plain => ("reasoning", thought.into()),
        ReasoningField::Text => ("reasoning_text", thought.into()),
        ReasoningField::Details => (
            "reasoning_details",
            json!([{ "type": "reasoning.text", "index": 0, "text": thought }]),
        ),
        ReasoningField::Tags => ("content", format!("<think>{thought}</think>").into()),
    };
    Map::from_iter([(name.to_owned(), value)])
}

/// The entries of `tool_calls` that carry one call, one a delta.
fn call_deltas(shape: CallShape, index: usize, call: &Call) -> Vec<Value> {
    let size = if shape == CallShape::Bytewise { 1 } else { 9 };
    let pieces = match shape {
        CallShape::Whole => vec![call.arguments.clone()],
        _ => pieces_of(&call.arguments, size),
    };
    let entry = |first: bool, arguments: &str| {
        let mut entry = Map::new();
        let indexed = !matches!(shape, CallShape::IdOnly | CallShape::FirstIdOnly);
        let named = first || matches!(shape, CallShape::Repeated);
        let empty = !first && shape == CallShape::EmptyLater;
        if indexed {
            entry.insert("index".into(), index.into());
        }
        if shape != CallShape::NoId && (named || shape == CallShape::IdOnly) {
            entry.insert("id".into(), call.id.as_str().into());
        } else if empty {
            entry.insert("id".into(), "".into());
        }
        if named {
            entry.insert("type".into(), "function".into());
        }
        let mut function = Map::new();
        if named {
            function.insert("name".into(), call.name.as_str().into());
        } else if empty {
            function.insert("name".into(), "".into());
        }
        function.insert("arguments".into(), arguments.into());
        entry.insert("function".into(), Value::Object(function));
        Value::Object(entry)
    };
    if shape == CallShape::Whole {
        return vec![entry(true, &pieces[0])];
    }
    std::iter::once(entry(true, "")).chain(pieces.iter().map(|piece| entry(false, piece))).collect()
}

fn pieces_of(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}
