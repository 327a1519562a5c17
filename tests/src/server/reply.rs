//! What the server answers to one request, built up in words: what is said, in which shape, and what goes wrong.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::completion::{Call, CallShape, Completion, Event, Part, ReasoningField, UsagePlace};
use super::delivery::{Delivery, Fault, Framing, Spot, Step};
use super::gate::Gate;

/// One reply. Starts as a well-behaved stream; every method changes one thing about it.
#[derive(Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    framing: Option<Framing>,
    piece: usize,
    faults: Vec<(Spot, Fault)>,
    ready: Option<Arc<Vec<Step>>>,
}

#[derive(Clone)]
enum Body {
    /// A completion, streamed.
    Stream(Completion),
    /// A completion as one JSON document.
    Plain(Completion),
    /// Bytes of this content type.
    Bytes(String, Vec<u8>),
    /// The whole reply as it goes over the wire, status line included.
    Wire(Vec<u8>),
}

impl Reply {
    fn new(body: Body) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body,
            framing: None,
            piece: 0,
            faults: Vec::new(),
            ready: None,
        }
    }

    fn completion(completion: Completion) -> Self {
        let finish = Some(completion.natural_finish());
        Self::new(Body::Stream(Completion { finish, ..completion }))
    }

    // What is said.

    /// The model says something and stops.
    pub fn text(text: &str) -> Self {
        Self::completion(Completion { text: text.to_owned(), ..Completion::default() })
    }

    /// The model calls a tool.
    pub fn call(name: &str, arguments: Value) -> Self {
        Self::call_raw(name, &arguments.to_string())
    }

    /// The model calls a tool with these characters as arguments, JSON or not.
    pub fn call_raw(name: &str, arguments: &str) -> Self {
        let calls = vec![Call::new(name, arguments.to_owned())];
        Self::completion(Completion { calls, ..Completion::default() })
    }

    /// The model runs a command.
    pub fn bash(command: &str) -> Self {
        Self::call("bash", json!({ "command": command }))
    }

    /// One more call in the same reply.
    #[must_use]
    pub fn and_call(self, name: &str, arguments: Value) -> Self {
        self.change(|c| c.calls.push(Call::new(name, arguments.to_string()))).natural_finish()
    }

    /// Words before the calls.
    #[must_use]
    pub fn saying(self, text: &str) -> Self {
        self.change(|c| c.text = text.to_owned())
    }

    /// Thinking before everything else.
    #[must_use]
    pub fn thinking(self, field: ReasoningField, thought: &str) -> Self {
        self.change(|c| c.reasoning = Some((field, thought.to_owned())))
    }

    // In which shape.

    /// How tool calls are spread over deltas.
    #[must_use]
    pub fn shape(self, shape: CallShape) -> Self {
        self.change(|c| c.shape = shape)
    }

    /// The ids of the calls, in order, instead of fresh ones.
    #[must_use]
    pub fn ids(self, ids: &[&str]) -> Self {
        self.change(|c| {
            c.calls.iter_mut().zip(ids).for_each(|(call, id)| call.id = (*id).to_owned())
        })
    }

    /// Tokens of the request and of the reply.
    #[must_use]
    pub fn usage(self, prompt: u64, completion: u64) -> Self {
        self.change(|c| c.usage = (prompt, completion))
    }

    /// Where the token counts are.
    #[must_use]
    pub fn usage_in(self, place: UsagePlace) -> Self {
        self.change(|c| c.usage_place = place)
    }

    /// The `finish_reason`.
    #[must_use]
    pub fn finish(self, reason: &str) -> Self {
        self.change(|c| c.finish = Some(reason.to_owned()))
    }

    /// No `finish_reason` at all.
    #[must_use]
    pub fn without_finish(self) -> Self {
        self.change(|c| c.finish = None)
    }

    /// No `[DONE]`.
    #[must_use]
    pub fn without_done(self) -> Self {
        self.change(|c| c.done = false)
    }

    /// Deltas of `n` characters of text instead of a word each.
    #[must_use]
    pub fn pieces(self, n: usize) -> Self {
        self.change(|c| c.piece = n)
    }

    /// CRLF line ends.
    #[must_use]
    pub fn crlf(self) -> Self {
        self.change(|c| c.line_end = "\r\n")
    }

    /// Comment lines between the events, as keep-alive.
    #[must_use]
    pub fn comments(self) -> Self {
        self.change(|c| c.comments = true)
    }

    /// One JSON document, although streaming was asked for.
    #[must_use]
    pub fn plain(mut self) -> Self {
        if let Body::Stream(completion) = self.body {
            self.body = Body::Plain(completion);
        }
        self
    }

    // Not a completion.

    /// An empty reply with this status.
    pub fn status(status: u16) -> Self {
        let mut reply = Self::bytes("text/plain", b"");
        reply.status = status;
        reply
    }

    /// An error as OpenAI words it.
    pub fn error(status: u16, message: &str) -> Self {
        Self::json(
            status,
            &json!({ "error": { "message": message, "type": "error", "code": status } }),
        )
    }

    /// A JSON document.
    pub fn json(status: u16, body: &Value) -> Self {
        let mut reply = Self::bytes("application/json", body.to_string().as_bytes());
        reply.status = status;
        reply
    }

    /// A web page, as a login portal or a wrong port answers.
    pub fn html() -> Self {
        Self::bytes(
            "text/html; charset=utf-8",
            b"<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n",
        )
    }

    /// A body of this content type.
    pub fn bytes(content_type: &str, body: &[u8]) -> Self {
        Self::new(Body::Bytes(content_type.to_owned(), body.to_vec()))
    }

    /// An event stream with these bytes.
    pub fn events(body: impl AsRef<[u8]>) -> Self {
        Self::bytes("text/event-stream", body.as_ref())
    }

    /// These bytes and nothing else, status line included; then the connection is closed.
    pub fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self::new(Body::Wire(bytes.as_ref().to_vec()))
    }

    /// One more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The status of a reply that says something else.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    // How it goes over the wire.

    /// The body in pieces of `n` bytes, which the client reads apart.
    #[must_use]
    pub fn chunked(mut self, n: usize) -> Self {
        self.piece = n;
        self.framed(Framing::Chunked)
    }

    /// How the body's end is told.
    #[must_use]
    pub fn framed(mut self, framing: Framing) -> Self {
        self.framing = Some(framing);
        self
    }

    /// Something goes wrong somewhere. May be said more than once.
    #[must_use]
    pub fn fault(mut self, spot: Spot, fault: Fault) -> Self {
        self.faults.push((spot, fault));
        self
    }

    /// The connection is closed after `n` bytes of the body.
    #[must_use]
    pub fn cut_at(self, n: usize) -> Self {
        self.fault(Spot::AtByte(n), Fault::Cut)
    }

    /// The connection is closed without a reply.
    pub fn hang_up() -> Self {
        Self::text("").fault(Spot::BeforeHeaders, Fault::Cut)
    }

    /// The connection is reset without a reply.
    pub fn reset() -> Self {
        Self::text("").fault(Spot::BeforeHeaders, Fault::Reset)
    }

    /// The request is read and never answered.
    pub fn stall() -> Self {
        Self::text("").fault(Spot::BeforeHeaders, Fault::Stall)
    }

    /// The reply stops at `spot` until the gate is opened.
    #[must_use]
    pub fn hold(self, spot: Spot, gate: &Gate) -> Self {
        self.fault(spot, Fault::Hold(gate.clone()))
    }

    /// One byte at a time.
    #[must_use]
    pub fn slow_drip(self, pause: Duration) -> Self {
        self.fault(Spot::BeforeBody, Fault::Drip(pause))
    }

    /// Serialises now what would be serialised at the request, for measuring: clones share the bytes.
    #[must_use]
    pub fn ready(mut self) -> Self {
        self.ready = Some(self.steps());
        self
    }

    /// What the connection does.
    pub(super) fn steps(&self) -> Arc<Vec<Step>> {
        self.ready.clone().unwrap_or_else(|| Arc::new(self.compile()))
    }

    fn compile(&self) -> Vec<Step> {
        let (content_type, events) = match &self.body {
            Body::Wire(bytes) => return vec![Step::Send(bytes.clone()), Step::Close],
            Body::Stream(completion) => ("text/event-stream", completion.events()),
            Body::Plain(completion) => {
                ("application/json", whole(completion.plain().to_string().as_bytes()))
            }
            Body::Bytes(content_type, bytes) => (content_type.as_str(), whole(bytes)),
        };
        let streamed = matches!(self.body, Body::Stream(_));
        let default = if streamed { Framing::Chunked } else { Framing::Length };
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, phrase(self.status));
        head.push_str(&format!("Content-Type: {content_type}\r\n"));
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let framing = self.framing.unwrap_or(default);
        Delivery { framing, piece: self.piece, faults: &self.faults }.steps(&head, &events)
    }

    fn change(mut self, change: impl FnOnce(&mut Completion)) -> Self {
        match &mut self.body {
            Body::Stream(completion) | Body::Plain(completion) => change(completion),
            Body::Bytes(..) | Body::Wire(_) => panic!("only a completion can be changed so"),
        }
        self
    }

    fn natural_finish(self) -> Self {
        self.change(|c| c.finish = Some(c.natural_finish()))
    }
}

fn whole(bytes: &[u8]) -> Vec<Event> {
    vec![Event { part: Part::Other, bytes: bytes.to_vec() }]
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        _ => "Status",
    }
}
