//! The bytes of a request, as shared pieces.
//!
//! Source: OpenAI API reference, "Create chat completion". Invariants: only what is needed or configured is sent; a body
//! up to the end of its messages is the beginning of the next one, and of one that forbids calls; the conversation is
//! never copied; the length is known before the first byte goes out.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use serde_json::{Value, json};

use super::Request;
use super::quirks::Quirks;

/// A request body and the names of the fields in it.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    pieces: Pieces,
    /// Top-level fields, `messages` left out.
    pub fields: Vec<String>,
}

/// Shared bytes that are sent one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    queue: VecDeque<Bytes>,
    left: u64,
}

enum Part {
    Json(Value),
    Raw(Bytes),
}

impl RequestBody {
    /// Builds the body of `request`, without what the server is known not to take.
    pub fn new(request: &Request<'_>, quirks: &Quirks) -> Self {
        let mut body =
            Self { pieces: Pieces { queue: VecDeque::new(), left: 0 }, fields: Vec::new() };
        let mut text = String::from("{");
        for (name, part) in fields(request, quirks) {
            text.push_str(&format!("{}:", json!(name)));
            match part {
                Part::Json(value) => text.push_str(&value.to_string()),
                Part::Raw(bytes) => {
                    body.pieces.push(std::mem::take(&mut text).into());
                    body.pieces.push(bytes);
                }
            }
            text.push(',');
            body.fields.push(name);
        }
        text.push_str("\"messages\":[");
        if !request.system.is_empty() {
            text.push_str(&json!({"role": "system", "content": request.system}).to_string());
            text.push_str(if request.messages.is_empty() { "" } else { "," });
        }
        body.pieces.push(text.into());
        body.pieces.push(request.messages.clone());
        body.pieces.push(Bytes::from_static(b"]"));
        if forbids_calls(request, &body.fields, quirks) {
            body.fields.push("tool_choice".to_owned());
            body.pieces.push(Bytes::from_static(b",\"tool_choice\":\"none\""));
        }
        body.pieces.push(Bytes::from_static(b"}"));
        body
    }

    /// The bytes, to be sent.
    pub fn pieces(&self) -> Pieces {
        self.pieces.clone()
    }
}

/// Whether `tool_choice` is to be said. It comes last, where it leaves the bytes before it as they are without it.
fn forbids_calls(request: &Request<'_>, fields: &[String], quirks: &Quirks) -> bool {
    let refused = quirks.dropped.iter().any(|field| field == "tool_choice");
    request.forbid_tools && !refused && fields.iter().any(|field| field == "tools")
}

/// The fields before `messages`: ours, then the person's, less what the server does not take.
fn fields(request: &Request<'_>, quirks: &Quirks) -> Vec<(String, Part)> {
    let settings = request.settings;
    let mut fields: Vec<(String, Part)> = Vec::new();
    let mut set = |name: &str, part: Part| fields.push((name.to_owned(), part));
    set("model", Part::Json(json!(settings.model)));
    set("stream", Part::Json(json!(true)));
    set("stream_options", Part::Json(json!({"include_usage": true})));
    if let Some(temperature) = settings.temperature {
        set("temperature", Part::Json(json!(temperature)));
    }
    if let Some(max_tokens) = settings.max_tokens {
        set("max_tokens", Part::Json(json!(max_tokens)));
    }
    if !request.tools.is_empty() {
        set("tools", Part::Raw(request.tools.clone()));
    }
    // A summary must not be turned into a call by a choice that is meant for the work.
    let is_ours = |name: &str| name == "messages" || name == "tool_choice" && request.forbid_tools;
    for (name, value) in settings.extra_body.iter().filter(|(name, _)| !is_ours(name)) {
        match (value, fields.iter_mut().find(|(known, _)| known == name)) {
            (Value::Null, _) => fields.retain(|(known, _)| known != name),
            (value, Some((_, part))) => *part = Part::Json(value.clone()),
            (value, None) => fields.push((name.clone(), Part::Json(value.clone()))),
        }
    }
    fields.retain(|(name, _)| !quirks.dropped.contains(name));
    if quirks.max_completion_tokens && !has(&fields, "max_completion_tokens") {
        for (name, _) in fields.iter_mut().filter(|(name, _)| name == "max_tokens") {
            "max_completion_tokens".clone_into(name);
        }
    }
    drop_dependents(&mut fields, settings.extra_body.contains_key("stream_options"));
    fields
}

fn has(fields: &[(String, Part)], name: &str) -> bool {
    fields.iter().any(|(known, _)| known == name)
}

/// Servers refuse a field that says how to do what is not asked for.
fn drop_dependents(fields: &mut Vec<(String, Part)>, own_stream_options: bool) {
    let streams = fields.iter().any(|(name, part)| {
        name == "stream" && matches!(part, Part::Json(value) if *value == Value::Bool(true))
    });
    if !streams && !own_stream_options {
        fields.retain(|(name, _)| name != "stream_options");
    }
    if !has(fields, "tools") {
        fields.retain(|(name, _)| name != "tool_choice" && name != "parallel_tool_calls");
    }
}

impl Pieces {
    fn push(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.left += bytes.len() as u64;
            self.queue.push_back(bytes);
        }
    }
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = self.queue.pop_front();
        self.left -= next.as_ref().map_or(0, |bytes| bytes.len() as u64);
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.queue.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::config::Settings;

    fn text(body: &RequestBody) -> String {
        let bytes: Vec<u8> = body.pieces.queue.iter().flatten().copied().collect();
        assert_eq!(bytes.len() as u64, body.pieces.left);
        String::from_utf8(bytes).unwrap()
    }

    fn settings() -> Settings {
        Settings { model: "m".to_owned(), ..Settings::default() }
    }

    fn request<'a>(settings: &'a Settings, messages: &str, tools: &str) -> Request<'a> {
        Request {
            settings,
            system: "be \"brief\"",
            messages: Bytes::copy_from_slice(messages.as_bytes()),
            tools: Bytes::copy_from_slice(tools.as_bytes()),
            forbid_tools: false,
        }
    }

    fn extra(json: Value) -> Settings {
        Settings { extra_body: json.as_object().cloned().unwrap(), ..settings() }
    }

    #[test]
    fn the_least_set_of_fields_goes_out_with_messages_last() {
        let settings = settings();
        let body = RequestBody::new(&request(&settings, "{\"a\":1}", "[{}]"), &Quirks::default());
        assert_eq!(
            text(&body),
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{}],"messages":[{"role":"system","content":"be \"brief\""},{"a":1}]}"#
        );
        assert_eq!(body.fields, ["model", "stream", "stream_options", "tools"]);
    }

    #[test]
    fn a_body_is_the_beginning_of_the_next_one() {
        let settings = settings();
        let quirks = Quirks::default();
        let first = text(&RequestBody::new(&request(&settings, "1", "[]"), &quirks));
        let next = text(&RequestBody::new(&request(&settings, "1,2", "[]"), &quirks));
        assert!(next.starts_with(first.strip_suffix("]}").unwrap()));
    }

    #[test]
    fn a_body_that_forbids_calls_begins_as_one_that_does_not() {
        let settings = extra(json!({"tool_choice": "auto", "top_k": 3}));
        let normal = Request { settings: &settings, ..request(&settings, "1", "[{}]") };
        let forbidding = Request { forbid_tools: true, ..normal.clone() };
        let last = text(&RequestBody::new(&forbidding, &Quirks::default()));
        assert!(last.ends_with(r#"1],"tool_choice":"none"}"#), "{last}");
        assert_eq!(last.matches("tool_choice").count(), 1, "{last}");

        let settings = extra(json!({"top_k": 3}));
        let [normal, forbidding] = [normal, forbidding].map(|request| {
            let request = Request { settings: &settings, ..request };
            text(&RequestBody::new(&request, &Quirks::default()))
        });
        assert!(forbidding.starts_with(normal.strip_suffix("}").unwrap()));

        let refused = Quirks { dropped: vec!["tool_choice".to_owned()], ..Quirks::default() };
        let request =
            Request { settings: &settings, forbid_tools: true, ..request(&settings, "1", "[{}]") };
        let body = RequestBody::new(&request, &refused);
        assert!(
            !text(&body).contains("tool_choice")
                && !body.fields.contains(&"tool_choice".to_owned())
        );
    }

    #[test]
    fn the_conversation_is_shared_not_copied() {
        let settings = settings();
        let request = request(&settings, "{\"a\":1}", "[{}]");
        let body = RequestBody::new(&request, &Quirks::default());
        for shared in [&request.messages, &request.tools] {
            assert!(body.pieces.queue.iter().any(|piece| piece.as_ptr() == shared.as_ptr()));
        }
    }

    #[test]
    fn the_body_is_json_in_every_shape() {
        let settings = Settings { temperature: Some(0.5), max_tokens: Some(9), ..settings() };
        for (system, messages, tools) in
            [("", "", ""), ("s", "", "[]"), ("", "{}", ""), ("s", "{},{}", "[{}]")]
        {
            let request = Request { system, ..request(&settings, messages, tools) };
            for forbid_tools in [false, true] {
                let request = Request { forbid_tools, ..request.clone() };
                let body: Value =
                    serde_json::from_str(&text(&RequestBody::new(&request, &Quirks::default())))
                        .unwrap();
                assert_eq!(body["temperature"], 0.5);
                assert_eq!(body["max_tokens"], 9);
                let choice = (forbid_tools && !tools.is_empty()).then_some("none");
                assert_eq!(body.get("tool_choice").and_then(Value::as_str), choice);
            }
        }
    }

    #[test]
    fn the_persons_fields_are_merged_and_null_removes() {
        let settings = extra(json!({
            "stream_options": null, "temperature": 1, "model": "other", "messages": [], "top_k": {"a": null}
        }));
        let body = RequestBody::new(&request(&settings, "1", ""), &Quirks::default());
        assert!(text(&body).starts_with(
            r#"{"model":"other","stream":true,"temperature":1,"top_k":{"a":null},"messages":["#
        ));
    }

    #[test]
    fn fields_that_depend_on_a_missing_one_go_with_it() {
        let settings = extra(json!({"stream": false, "tool_choice": "auto", "tools": null}));
        let body = RequestBody::new(&request(&settings, "1", "[{}]"), &Quirks::default());
        assert_eq!(body.fields, ["model", "stream"]);
    }

    #[test]
    fn what_the_server_does_not_take_is_left_out_or_renamed() {
        let settings = Settings { max_tokens: Some(9), ..settings() };
        let quirks =
            Quirks { dropped: vec!["stream_options".to_owned()], max_completion_tokens: true };
        let body = RequestBody::new(&request(&settings, "1", ""), &quirks);
        assert_eq!(body.fields, ["model", "stream", "max_completion_tokens"]);
    }
}
