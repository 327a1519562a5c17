//! What the model asks bash for, parsed leniently where the meaning is plain.

use std::time::Duration;

use serde_json::Value;

/// How long a command runs when the model does not say.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// More than this is taken as this.
const LONGEST_TIMEOUT: f64 = 7.0 * 24.0 * 3600.0;

/// A command and how long it may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The text that bash runs.
    pub text: String,
    /// When it is killed.
    pub timeout: Duration,
}

impl Command {
    /// `text` with the default time limit.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), timeout: DEFAULT_TIMEOUT }
    }

    /// Reads the arguments of a tool call.
    ///
    /// # Errors
    /// A sentence for the model: what is wrong, and what is expected.
    pub fn parse(arguments: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            r#"bash takes a JSON object such as {"command": "ls", "timeout": 60}"#;
        let arguments: Value =
            serde_json::from_str(arguments).map_err(|error| format!("{EXPECTED}; {error}"))?;
        let Value::Object(mut arguments) = arguments else {
            return Err(format!("{EXPECTED}, got {}", kind(&arguments)));
        };
        let text = match arguments.remove("command") {
            Some(Value::String(text)) => text,
            Some(Value::Array(words)) => from_words(&words)?,
            Some(other) => return Err(format!("command must be a string, got {}", kind(&other))),
            None => return Err(format!("command is missing; {EXPECTED}")),
        };
        if text.contains('\0') {
            return Err("command must not contain NUL characters".to_owned());
        }
        Ok(Self { text, timeout: timeout(arguments.get("timeout"))? })
    }
}

/// `["bash", "-lc", "ls"]`, as models write that were trained on tools that take a list; or one word each.
fn from_words(words: &[Value]) -> Result<String, String> {
    let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
    match words.as_deref() {
        Some(["bash" | "sh" | "/bin/bash" | "/bin/sh", "-c" | "-lc", script]) => {
            Ok((*script).to_owned())
        }
        Some(words @ [_, ..]) => Ok(words.iter().map(|w| quote(w)).collect::<Vec<_>>().join(" ")),
        _ => Err("command must be a string, got a list that is not one of words".to_owned()),
    }
}

/// `word` as bash reads it back.
pub(super) fn quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn timeout(value: Option<&Value>) -> Result<Duration, String> {
    let seconds = match value {
        None | Some(Value::Null) => return Ok(DEFAULT_TIMEOUT),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().trim_end_matches('s').trim_end().parse().ok(),
        Some(_) => None,
    };
    match seconds {
        Some(seconds) if seconds > 0.0 => Ok(Duration::from_secs_f64(seconds.min(LONGEST_TIMEOUT))),
        _ => Err(format!(
            "timeout must be a positive number of seconds, got {}",
            value.unwrap_or(&Value::Null)
        )),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> (String, u64) {
        let command = Command::parse(arguments).unwrap();
        (command.text, command.timeout.as_secs())
    }

    #[test]
    fn a_time_limit_may_be_a_number_a_numeric_string_or_absent() {
        for (timeout, seconds) in [
            ("null", 120),
            ("5", 5),
            ("5.5", 5),
            (r#""30""#, 30),
            (r#""30 s""#, 30),
            ("1e300", 604_800),
        ] {
            let arguments = format!(r#"{{"command": "ls", "timeout": {timeout}}}"#);
            assert_eq!(parsed(&arguments), ("ls".to_owned(), seconds));
        }
        assert_eq!(parsed(r#"{"command": "ls"}"#), ("ls".to_owned(), 120));
    }

    #[test]
    fn a_command_may_be_a_list_of_words() {
        assert_eq!(parsed(r#"{"command": ["bash", "-lc", "ls | wc"]}"#).0, "ls | wc");
        assert_eq!(
            parsed(r#"{"command": ["echo", "it's", "", "a b"]}"#).0,
            r"echo 'it'\''s' '' 'a b'"
        );
    }

    #[test]
    fn what_cannot_be_meant_is_told_in_a_sentence() {
        let errors = [
            ("", "bash takes a JSON object such as"),
            ("[]", "got a list"),
            ("{}", "command is missing; bash takes"),
            (r#"{"command": 5}"#, "command must be a string, got a number"),
            (r#"{"command": []}"#, "command must be a string, got a list"),
            (r#"{"command": "a\u0000b"}"#, "must not contain NUL"),
            (r#"{"command": "ls", "timeout": 0}"#, "positive number of seconds, got 0"),
            (r#"{"command": "ls", "timeout": -3}"#, "got -3"),
            (r#"{"command": "ls", "timeout": "soon"}"#, r#"got "soon""#),
            (r#"{"command": "ls", "timeout": "nan"}"#, r#"got "nan""#),
        ];
        for (arguments, expected) in errors {
            let error = Command::parse(arguments).unwrap_err();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }
}
