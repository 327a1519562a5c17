//! The sources of settings, each read and checked by itself.
//!
//! Invariant: a layer is whole or not there at all. Half of a file is never obeyed: its endpoint without its key would
//! send the key of another layer to that endpoint.

use serde::Deserialize as _;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::place::line_of;
use super::schema::{KEYS, Key};
use super::watch::Seen;
use crate::env::Env;

/// Where a layer comes from, lowest priority first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
    OpenAi,
    /// The user's `config.json`.
    User,
    /// The project's `.autocode/config.json`.
    Project,
    /// `AUTOCODE_<KEY>`.
    Variables,
    /// Flags, and what was set for this session only.
    Session,
}

/// What one source sets; values are checked, `$VAR`s are as written. Holds secrets, so it has no `Debug`.
#[derive(Clone)]
pub struct Layer {
    /// Where it comes from.
    pub source: Source,
    /// How to call the source to a person: a path, or words.
    pub place: String,
    values: Vec<(&'static Key, Value)>,
    text: Option<String>,
}

/// Something wrong with a source; one sentence that begins with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Problem(String);

impl Problem {
    /// `message` about something at `place`.
    pub(super) fn at(place: impl std::fmt::Display, message: impl std::fmt::Display) -> Self {
        Self(format!("{place}: {message}"))
    }

    /// `message` with the place as its subject.
    pub(super) fn of(place: impl std::fmt::Display, message: impl std::fmt::Display) -> Self {
        Self(format!("{place} {message}"))
    }
}

/// Settings for this session only, above all others.
#[derive(Clone, Default)]
pub struct Overrides(Vec<(&'static Key, Value)>);

impl Overrides {
    /// Sets one; the last word on a key counts.
    ///
    /// # Errors
    /// When there is no such setting or it does not take the value.
    pub fn set(&mut self, name: &str, value: Value) -> Result<(), Problem> {
        let key = Key::named(name).ok_or_else(|| Problem::at("setting", unknown(name)))?;
        key.check(&value).map_err(|message| Problem::at("setting", message))?;
        self.clear(name);
        self.0.push((key, value));
        Ok(())
    }

    /// Takes one back.
    pub fn clear(&mut self, name: &str) {
        self.0.retain(|(key, _)| key.name != name);
    }

    /// The value of one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }
}

impl Layer {
    /// The layer's value of a setting.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// All that it sets.
    pub fn values(&self) -> impl Iterator<Item = (&'static Key, &Value)> {
        self.values.iter().map(|(key, value)| (*key, value))
    }

    /// The problem `message` with the value at `path`, with its line where the layer is a file.
    pub(super) fn problem(&self, path: &[&str], message: impl std::fmt::Display) -> Problem {
        let line = self.text.as_deref().and_then(|text| line_of(text, path));
        Problem::at(with_line(&self.place, line), message)
    }

    /// `OPENAI_*`. The key stays a reference: it is shown as one and never expanded twice.
    pub(super) fn open_ai(env: &Env) -> Result<Self, Problem> {
        let mut values = Vec::new();
        if let (Some(url), Some(key)) = (env.get("OPENAI_BASE_URL"), Key::named("base_url")) {
            let url = Value::from(url);
            key.check(&url).map_err(|message| Problem::at("OPENAI_BASE_URL", message))?;
            values.push((key, url));
        }
        if let (Some(_), Some(key)) = (env.get("OPENAI_API_KEY"), Key::named("api_key")) {
            values.push((key, "$OPENAI_API_KEY".into()));
        }
        Ok(Self {
            source: Source::OpenAi,
            place: "OPENAI_* variables".to_owned(),
            values,
            text: None,
        })
    }

    /// `AUTOCODE_<KEY>`, for every setting there is.
    pub(super) fn variables(env: &Env, warnings: &mut Vec<String>) -> Result<Self, Problem> {
        let mut values = Vec::new();
        for (variable, text) in env.vars().filter(|(name, _)| name.starts_with("AUTOCODE_")) {
            let name = variable["AUTOCODE_".len()..].to_ascii_lowercase();
            if let Some(key) = Key::named(&name).filter(|key| key.variable() == variable) {
                if text.is_empty() {
                    continue;
                }
                let value = key.typed(text);
                key.check(&value).map_err(|message| Problem::at(variable, message))?;
                values.push((key, value));
            } else if let Some(near) = Key::nearest(&name).and_then(Key::named) {
                warnings
                    .push(format!("{variable} sets nothing, did you mean {}?", near.variable()));
            }
        }
        Ok(Self {
            source: Source::Variables,
            place: "AUTOCODE_* variables".to_owned(),
            values,
            text: None,
        })
    }

    pub(super) fn session(overrides: &Overrides) -> Self {
        let values = overrides.0.clone();
        Self { source: Source::Session, place: "this session".to_owned(), values, text: None }
    }

    /// The settings in a file; `None` when there is none.
    pub(super) fn file(
        source: Source,
        place: &str,
        seen: &Seen,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Self>, Problem> {
        match seen {
            Ok(None) => Ok(None),
            Ok(Some(text)) => Self::parse(source, place, text, warnings).map(Some),
            Err(problem) => Err(Problem::of(place, problem)),
        }
    }

    /// The settings in the JSON text of a file.
    pub(super) fn parse(
        source: Source,
        place: &str,
        text: &str,
        warnings: &mut Vec<String>,
    ) -> Result<Self, Problem> {
        let Entries(entries) = entries(text).map_err(|problem| problem.located(place))?;
        let mut layer = Self {
            source,
            place: place.to_owned(),
            values: Vec::with_capacity(entries.len()),
            text: Some(text.to_owned()),
        };
        for (name, value) in entries {
            let Some(key) = Key::named(&name) else {
                warnings.push(layer.problem(&[&name], unknown(&name)).to_string());
                continue;
            };
            if layer.get(key.name).is_some() {
                return Err(
                    layer.problem(&[&name], format!("{name} is set twice; keep one of the two"))
                );
            }
            if let Err(message) = key.check(&value) {
                let inner = culprit(key, &value);
                let path: Vec<&str> = std::iter::once(key.name).chain(inner).collect();
                return Err(layer.problem(&path, message));
            }
            layer.values.push((key, value));
        }
        Ok(layer)
    }
}

/// Where only one member of an object is wrong, its name.
fn culprit<'a>(key: &Key, value: &'a Value) -> Option<&'a str> {
    let members = value.as_object()?;
    let alone = |name: &String, value: &Value| Value::from_iter([(name.clone(), value.clone())]);
    members
        .iter()
        .find(|(name, value)| key.check(&alone(name, value)).is_err())
        .map(|(n, _)| n.as_str())
}

fn unknown(name: &str) -> String {
    match Key::nearest(name) {
        Some(near) => format!("there is no setting {name:?}, did you mean {near:?}?"),
        None => {
            let all: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
            format!("there is no setting {name:?}; the settings are {}", all.join(", "))
        }
    }
}

fn with_line(place: &str, line: Option<usize>) -> String {
    line.map_or_else(|| place.to_owned(), |line| format!("{place}:{line}"))
}

/// The members of a JSON object in their order, repeated ones included.
struct Entries(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Entries;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a JSON object, {…}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A fault of the text itself and where it is.
struct Syntax {
    line: usize,
    column: usize,
    message: String,
}

impl Syntax {
    fn located(self, place: &str) -> Problem {
        Problem::at(format!("{place}:{}:{}", self.line, self.column), self.message)
    }
}

fn entries(text: &str) -> Result<Entries, Syntax> {
    // An editor's byte order mark is no fault of the person's.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        let message = "the file is empty; write {} for no settings, or delete it".to_owned();
        return Err(Syntax { line: 1, column: 1, message });
    }
    let mut json = serde_json::Deserializer::from_str(text);
    Entries::deserialize(&mut json).and_then(|entries| json.end().map(|()| entries)).map_err(|e| {
        let message = e.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message);
        Syntax {
            line: e.line().max(1),
            column: e.column().max(1),
            message: explain(message, text, e.line(), e.column()),
        }
    })
}

/// The parser's words, or better ones where the slip is a common one.
fn explain(message: &str, text: &str, line: usize, column: usize) -> String {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().as_bytes();
    let here = line.get(column.saturating_sub(1)..).unwrap_or_default();
    if here.starts_with(b"//") || here.starts_with(b"/*") || here.starts_with(b"#") {
        return "JSON has no comments; delete this one".to_owned();
    }
    if here.starts_with(b"'") {
        return "text goes in double quotes".to_owned();
    }
    if message.starts_with("EOF") {
        return "the file ends too early; a quote or bracket is not closed".to_owned();
    }
    match message {
        "trailing comma" => "a comma with nothing after it; delete it".to_owned(),
        "key must be a string" => "a setting's name goes in double quotes".to_owned(),
        "trailing characters" => "there is text after the closing bracket".to_owned(),
        "recursion limit exceeded" => "the values are nested too deeply".to_owned(),
        message if message.starts_with("invalid type") => {
            let got = message.trim_start_matches("invalid type: ");
            let got = got.split(", expected").next().unwrap_or(got);
            format!("the file must hold a JSON object, {{…}}, not {got}")
        }
        message => format!("this is not JSON: {message}"),
    }
}
