//! Every setting, once: its name, what it takes, what it does, how it enters [`Settings`] and comes out again.
//!
//! Validation, `/config`, `AUTOCODE_<KEY>` and the warnings about unknown keys all read this table; a setting that is
//! not in it does not exist.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::settings::{Approve, Settings};

/// One setting.
pub struct Key {
    /// Its name in `config.json`; `AUTOCODE_` and this in capitals in the environment.
    pub name: &'static str,
    /// One line for `/config`.
    pub doc: &'static str,
    /// What a value must be; completes "NAME must be …".
    pub expects: &'static str,
    /// Never shown whole.
    pub secret: bool,
    /// Text stands for itself where a person types it; everything else is JSON there.
    text: bool,
    set: fn(&mut Settings, &Value) -> Option<()>,
    get: fn(&Settings) -> Value,
}

/// All settings, in the order `/config` lists them.
pub static KEYS: &[Key] = &[
    Key {
        name: "base_url",
        doc: "endpoint of the API, up to and including /v1",
        expects: "a URL that starts with http:// or https://",
        secret: false,
        text: true,
        set: |s, v| put(&mut s.base_url, url(v)),
        get: |s| s.base_url.as_str().into(),
    },
    Key {
        name: "api_key",
        doc: "bearer token; $VAR is read from the environment, empty sends none",
        expects: "text",
        secret: true,
        text: true,
        set: |s, v| put(&mut s.api_key, text(v)),
        get: |s| s.api_key.as_str().into(),
    },
    Key {
        name: "model",
        doc: "the model's name at the endpoint",
        expects: "text",
        secret: false,
        text: true,
        set: |s, v| put(&mut s.model, text(v)),
        get: |s| s.model.as_str().into(),
    },
    Key {
        name: "context_window",
        doc: "tokens the model can hold",
        expects: "a whole number of tokens, 1024 or more",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.context_window, whole(v).filter(|n| *n >= 1024)),
        get: |s| s.context_window.into(),
    },
    Key {
        name: "compact_at",
        doc: "share of the window at which the conversation is summarised",
        expects: "a number between 0 and 1",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.compact_at, v.as_f64().filter(|n| *n > 0.0 && *n <= 1.0)),
        get: |s| s.compact_at.into(),
    },
    Key {
        name: "output_limit",
        doc: "characters of one tool result that the model gets to see",
        expects: "a whole number of characters, 200 or more",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.output_limit, whole(v).filter(|n| *n >= 200)?.try_into().ok()),
        get: |s| s.output_limit.into(),
    },
    Key {
        name: "timeout",
        doc: "seconds the server may stay silent",
        expects: "a number of seconds above 0",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.timeout, seconds(v)),
        get: |s| number(s.timeout.as_secs_f64()),
    },
    Key {
        name: "temperature",
        doc: "sampling temperature; null leaves it to the server",
        expects: "a number, 0 or more, or null",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.temperature, or_null(v, |v| v.as_f64().filter(|n| *n >= 0.0))),
        get: |s| s.temperature.map_or(Value::Null, number),
    },
    Key {
        name: "max_tokens",
        doc: "longest reply in tokens; null leaves it to the server",
        expects: "a whole number of tokens above 0, or null",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.max_tokens, or_null(v, |v| whole(v).filter(|n| *n > 0))),
        get: |s| s.max_tokens.map_or(Value::Null, Value::from),
    },
    Key {
        name: "keep_reasoning",
        doc: "send the model's thinking back to it",
        expects: "true or false",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.keep_reasoning, v.as_bool()),
        get: |s| s.keep_reasoning.into(),
    },
    Key {
        name: "headers",
        doc: "extra HTTP headers; $VAR is read from the environment",
        expects: "an object of header names and their text",
        secret: true,
        text: false,
        set: |s, v| put(&mut s.headers, headers(v)),
        get: |s| json!(s.headers),
    },
    Key {
        name: "extra_body",
        doc: "merged into every request; null removes a field",
        expects: "an object",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.extra_body, v.as_object().cloned()),
        get: |s| Value::Object(s.extra_body.clone()),
    },
    Key {
        name: "text_tool_calls",
        doc: "run tool calls that the model writes as text",
        expects: "true or false",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.text_tool_calls, v.as_bool()),
        get: |s| s.text_tool_calls.into(),
    },
    Key {
        name: "approve",
        doc: "ask before running: never, what writes, always",
        expects: "never, writes or always",
        secret: false,
        text: true,
        set: |s, v| put(&mut s.approve, Approve::named(v.as_str()?)),
        get: |s| s.approve.name().into(),
    },
    Key {
        name: "reflect",
        doc: "remind the model that it may make a tool of what it does often",
        expects: "true or false",
        secret: false,
        text: false,
        set: |s, v| put(&mut s.reflect, v.as_bool()),
        get: |s| s.reflect.into(),
    },
];

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Key {
    /// The setting of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The known name that `name` was most likely meant to be.
    pub fn nearest(name: &str) -> Option<&'static str> {
        let name = name.to_lowercase().replace('-', "_");
        KEYS.iter()
            .map(|key| (key.name, strsim::jaro_winkler(key.name, &name)))
            .filter(|(_, likeness)| *likeness > 0.8)
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(name, _)| name)
    }

    /// The variable that sets it: `AUTOCODE_COMPACT_AT`.
    pub fn variable(&self) -> String {
        format!("AUTOCODE_{}", self.name.to_uppercase())
    }

    /// The value that a person means by typing `text`.
    pub fn typed(&self, text: &str) -> Value {
        let verbatim = || Value::String(text.to_owned());
        if self.text {
            verbatim()
        } else {
            serde_json::from_str(text).unwrap_or_else(|_| verbatim())
        }
    }

    /// Puts `value` into `settings`, `$VAR`s as they are.
    ///
    /// # Errors
    /// A sentence without its place when the value is not what the setting takes.
    pub fn apply(&self, settings: &mut Settings, value: &Value) -> Result<(), String> {
        (self.set)(settings, value).ok_or_else(|| {
            format!("{} must be {}, got {}", self.name, self.expects, self.got(value))
        })
    }

    /// Whether `value` is what the setting takes.
    ///
    /// # Errors
    /// As [`Key::apply`].
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.apply(&mut Settings::default(), value)
    }

    /// The value in `settings`.
    pub fn value(&self, settings: &Settings) -> Value {
        (self.get)(settings)
    }

    /// `value` as people may see it: secrets masked, references to variables whole.
    pub fn shown(&self, value: &Value) -> String {
        match value {
            Value::String(text) if self.secret => masked(text),
            Value::Object(map) if self.secret => {
                let masked: Map<String, Value> =
                    map.iter().map(|(k, v)| (k.clone(), mask_value(v))).collect();
                Value::Object(masked).to_string()
            }
            Value::String(text) if !text.is_empty() => text.clone(),
            other => other.to_string(),
        }
    }

    fn got(&self, value: &Value) -> String {
        const SHOWN: usize = 60;
        match value {
            Value::Object(_) => "an object".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::String(_) if self.secret => "text".to_owned(),
            other => {
                let mut text = other.to_string();
                if let Some((end, _)) = text.char_indices().nth(SHOWN) {
                    text.truncate(end);
                    text.push('…');
                }
                text
            }
        }
    }
}

fn mask_value(value: &Value) -> Value {
    match value {
        Value::String(text) => masked(text).into(),
        _ => "•••".into(),
    }
}

/// A secret as people may see it. A reference to a variable is none; of a long key the ends tell which one it is.
fn masked(text: &str) -> String {
    const LONG: usize = 20;
    if text.is_empty() {
        return "\"\"".to_owned();
    }
    if super::expand::is_reference(text) {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    if chars.len() < LONG {
        return "•••".to_owned();
    }
    let (first, last) = (&chars[..3], &chars[chars.len() - 4..]);
    first.iter().chain(&['…']).chain(last).collect()
}

fn put<T>(field: &mut T, value: Option<T>) -> Option<()> {
    *field = value?;
    Some(())
}

fn or_null<T>(value: &Value, parse: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { parse(value).map(Some) }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(|text| text.trim().to_owned())
}

fn url(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim().trim_end_matches('/');
    let text = text.strip_suffix("/chat/completions").unwrap_or(text).trim_end_matches('/');
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let sound = !rest.is_empty()
        && !rest.starts_with(['/', ':', '?', '#'])
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control());
    sound.then(|| text.to_owned())
}

/// `128000`, and `128000.0`, which some editors and models write.
fn whole(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    value.as_u64().or_else(|| {
        let n = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..EXACT).contains(n))?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(n as u64)
    })
}

fn seconds(value: &Value) -> Option<Duration> {
    const YEAR: f64 = 31_536_000.0;
    let n = value.as_f64().filter(|n| *n > 0.0)?;
    Duration::try_from_secs_f64(n.min(YEAR)).ok()
}

fn headers(value: &Value) -> Option<BTreeMap<String, String>> {
    value.as_object()?.iter().map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned()))).collect()
}

/// Whole numbers without a decimal point.
fn number(n: f64) -> Value {
    let as_whole = whole(&Value::from(n));
    as_whole.map_or_else(|| Value::from(n), Value::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
