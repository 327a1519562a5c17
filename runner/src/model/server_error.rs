//! What a server says when it says no, out of every shape that servers say it in.
//!
//! Invariants: everything that can reach a screen is one line, clipped, without control characters; words that only
//! echo the request (a validator's `input`) never take part in the classification.

use std::time::Duration;

use serde_json::Value;

/// Longest message that is shown, in characters.
const SHOWN: usize = 400;
/// Longest text that is looked at for classification, in bytes.
const READ: usize = 16 * 1024;

/// An error, as told by a server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ServerError {
    /// HTTP status; of an error inside a 200, the status that it names.
    pub status: Option<u16>,
    /// For a person: one clean line.
    pub message: String,
    /// For classification: message, type and codes in lower case.
    pub words: String,
    /// The request field that it is about (`param`, or the place that a validator names).
    pub field: Option<String>,
    /// The body is a web page: nothing that speaks the API answered.
    pub web_page: bool,
    /// How long the server asks to wait.
    pub retry_after: Option<Duration>,
}

impl ServerError {
    /// The body of an answer with an error status.
    pub fn from_body(status: u16, body: &[u8]) -> Self {
        let error = Self::from_event(&String::from_utf8_lossy(body));
        Self { status: Some(status), ..error }
    }

    /// The data of an event that is an error, JSON or not.
    pub fn from_event(data: &str) -> Self {
        match serde_json::from_str::<Value>(data) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self::from_text(data),
        }
    }

    /// An error object inside a stream or a plain reply.
    pub fn from_value(value: &Value) -> Self {
        let mut found = Found::default();
        found.read(value, 0);
        let message = found.messages.join(": ");
        let mut words = format!("{message} {}", found.codes.join(" ")).to_lowercase();
        truncate(&mut words, READ);
        Self {
            status: found.status,
            retry_after: found.retry_after.or_else(|| asked_wait(&words)),
            message: line(&message, SHOWN),
            words,
            field: found.field,
            web_page: false,
        }
    }

    fn from_text(text: &str) -> Self {
        let web_page = text.trim_start().starts_with('<');
        let message = if web_page { page_title(text) } else { line(text, SHOWN) };
        let mut words = if web_page { message.clone() } else { text.to_owned() };
        truncate(&mut words, READ);
        words.make_ascii_lowercase();
        Self { retry_after: asked_wait(&words), message, words, web_page, ..Self::default() }
    }
}

/// What a JSON error is made of.
#[derive(Default)]
struct Found {
    status: Option<u16>,
    messages: Vec<String>,
    codes: Vec<String>,
    field: Option<String>,
    retry_after: Option<Duration>,
}

impl Found {
    /// Looks for the fields that servers use, a few levels deep, and at no others.
    fn read(&mut self, value: &Value, depth: usize) {
        const WRAPPERS: [&str; 6] = ["error", "errors", "detail", "details", "metadata", "raw"];
        const MESSAGES: [&str; 4] = ["message", "msg", "title", "error_description"];
        const CODES: [&str; 6] = ["code", "type", "status", "error_type", "error_code", "reason"];

        let object = match value {
            Value::String(text) => return self.read_text(text, depth),
            Value::Array(items) if depth < 6 => {
                return items.iter().take(4).for_each(|item| self.read(item, depth + 1));
            }
            Value::Object(object) if depth < 6 => object,
            _ => return,
        };
        for key in MESSAGES {
            match object.get(key) {
                Some(Value::String(text)) => self.read_text(text, depth),
                Some(inner @ Value::Object(_)) => self.read(inner, depth + 1),
                _ => {}
            }
        }
        for key in CODES {
            match object.get(key) {
                Some(Value::String(code)) => {
                    self.status = self.status.or_else(|| code.parse().ok().filter(is_error));
                    self.codes.push(code.clone());
                }
                Some(Value::Number(code)) => {
                    let code = code.as_u64().and_then(|code| u16::try_from(code).ok());
                    self.status = self.status.or(code.filter(is_error));
                }
                _ => {}
            }
        }
        self.read_field(object);
        if let Some(delay) = object.get("retryDelay").and_then(Value::as_str) {
            self.retry_after = self.retry_after.or_else(|| duration(delay));
        }
        for key in WRAPPERS {
            if let Some(inner) = object.get(key) {
                self.read(inner, depth + 1);
            }
        }
    }

    /// A message; a gateway's may hold the JSON of the server behind it.
    fn read_text(&mut self, text: &str, depth: usize) {
        if text.trim_start().starts_with(['{', '['])
            && let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.read(&inner, depth + 1);
        }
        if !text.is_empty() && !self.messages.iter().any(|known| known.contains(text)) {
            self.messages.push(text.to_owned());
        }
    }

    /// OpenAI's `param`, or the place in a validator's `loc`: `["body", FIELD]`, perhaps with a part of the field.
    fn read_field(&mut self, object: &serde_json::Map<String, Value>) {
        let param = object.get("param").and_then(Value::as_str);
        let place = object.get("loc").and_then(Value::as_array).and_then(|loc| {
            // A number is the place in a list: one message or one tool, not the field.
            let names: Option<Vec<&str>> = loc.iter().map(Value::as_str).collect();
            names?.into_iter().find(|name| *name != "body")
        });
        if let (Some(field), Some(message)) = (place, self.messages.last_mut()) {
            *message = format!("{field}: {message}");
        }
        let field = param.or(place).filter(|field| !field.is_empty());
        self.field = self.field.take().or_else(|| field.map(str::to_owned));
    }
}

fn is_error(status: &u16) -> bool {
    (400..600).contains(status)
}

/// One line for a person: control, format and direction characters gone, white space single, at most `max` characters.
pub(crate) fn line(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let clean = text.chars().map(|c| if c.is_control() || c.is_whitespace() { ' ' } else { c });
    for c in clean.filter(|c| !is_invisible(*c)) {
        if c == ' ' && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if count == max {
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        out.push(c);
        count += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// Zero-width characters, and those that turn the direction of text around.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The title of a web page, or the first words on it.
pub(crate) fn page_title(html: &str) -> String {
    let lower = html.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|tag| {
        let start = tag + lower[tag..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(line(&html[start..end], 80)).filter(|title| !title.is_empty())
    });
    title.unwrap_or_else(|| {
        let mut words = String::new();
        for piece in html.split('<') {
            words.push_str(piece.split_once('>').map_or("", |(_, text)| text));
            words.push(' ');
        }
        line(&words, 80)
    })
}

/// "try again in 1m2.5s", "retry after 20 seconds": a wait that is told in words.
fn asked_wait(words: &str) -> Option<Duration> {
    ["again in ", "retry in ", "retry after ", "again after "].iter().find_map(|phrase| {
        let at = words.find(phrase)? + phrase.len();
        duration(&words[at..])
    })
}

/// `36s`, `1m2.5s`, `20 seconds`, `350ms` at the beginning of `text`.
fn duration(text: &str) -> Option<Duration> {
    let mut seconds = None;
    let mut rest = text.trim_start();
    while let Some(end) = rest.find(|c: char| !c.is_ascii_digit() && c != '.') {
        let Ok(number) = rest[..end].parse::<f64>() else { break };
        let unit = rest[end..].trim_start();
        let letters = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        let scale = match &unit[..letters] {
            "ms" | "milliseconds" => 0.001,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "m" | "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            _ => break,
        };
        seconds = Some(seconds.unwrap_or(0.0) + number * scale);
        rest = &unit[letters..];
    }
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

fn truncate(text: &mut String, max: usize) {
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(body: &str) -> String {
        ServerError::from_body(400, body.as_bytes()).message
    }

    #[test]
    fn the_message_is_found_in_every_shape() {
        for body in [
            r#"{"error":{"message":"no","type":"t","param":null,"code":"400"}}"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no"}"#,
            r#"{"detail":"no"}"#,
            r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#,
            r#"{"object":"error","message":"no","code":400}"#,
            r#"{"errors":[{"message":"no"}]}"#,
            r#"{"error":{"message":"{\"error\":{\"message\":\"no\"}}"}}"#,
            "no\n",
        ] {
            assert_eq!(message(body), "no", "{body}");
        }
    }

    #[test]
    fn a_gateway_tells_what_the_server_behind_it_said() {
        let body = r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long\"}}"}}}"#;
        assert_eq!(message(body), "Provider returned error: prompt is too long");
    }

    #[test]
    fn a_validator_is_quoted_without_the_request_that_it_echoes() {
        let body = r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted","input":"maximum context length"}]}"#;
        let error = ServerError::from_body(422, body.as_bytes());
        assert_eq!(error.message, "stream_options: Extra inputs are not permitted");
        assert_eq!(error.field.as_deref(), Some("stream_options"));
        assert!(!error.words.contains("maximum context length"));
        assert!(error.words.contains("extra_forbidden"));
    }

    #[test]
    fn what_is_shown_is_one_short_clean_line() {
        let text = "a\x1b]52;c;eA==\x07\r\n\t b\u{9b}31m \u{202e}c";
        assert_eq!(line(text, 100), "a ]52;c;eA== b 31m c");
        assert_eq!(line("żółć żółć", 5), "żółć…");
        assert_eq!(message(&"x".repeat(5000)).chars().count(), SHOWN + 1);
    }

    #[test]
    fn a_web_page_is_told_by_its_title_or_its_first_words() {
        let error = ServerError::from_body(502, b"<html><TITLE>Bad\n Gateway</TITLE><body>x");
        assert!(error.web_page);
        assert_eq!(error.message, "Bad Gateway");
        assert_eq!(page_title("<!doctype html><h1>It works</h1><p>now"), "It works now");
    }

    #[test]
    fn a_wait_told_in_the_body_counts() {
        let wait = |body: &str| ServerError::from_body(429, body.as_bytes()).retry_after;
        let seconds = |s| Some(Duration::from_secs_f64(s));
        assert_eq!(wait(r#"{"error":{"message":"Please try again in 2s."}}"#), seconds(2.0));
        assert_eq!(
            wait(r#"{"error":{"message":"Please try again in 1m2.5s. Visit"}}"#),
            seconds(62.5)
        );
        assert_eq!(wait(r#"{"error":{"message":"try again in 350ms"}}"#), seconds(0.35));
        assert_eq!(wait(r#"[{"error":{"details":[{"retryDelay":"36s"}]}}]"#), seconds(36.0));
        assert_eq!(wait("retry after 20 seconds"), seconds(20.0));
        assert_eq!(wait("try again in a while"), None);
    }

    #[test]
    fn an_error_inside_a_reply_names_its_status() {
        let status = |json: Value| ServerError::from_value(&json).status;
        assert_eq!(status(serde_json::json!({"code": 502, "message": "x"})), Some(502));
        assert_eq!(status(serde_json::json!({"code": "429"})), Some(429));
        assert_eq!(status(serde_json::json!({"code": 1261})), None);
    }
}
