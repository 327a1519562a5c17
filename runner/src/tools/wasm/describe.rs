//! What a tool says of itself, checked before it goes into a request.
//!
//! A single bad entry in the `tools` array makes a provider refuse every request, so that nothing unchecked gets there.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::broken::{Broken, Phase};

/// Longest text a tool may describe itself with, in bytes: it is sent with every request.
const MAX_SCHEMA: usize = 32 << 10;
/// Deepest nesting of a schema.
const MAX_DEPTH: usize = 40;

/// A tool's own description.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Description {
    /// Its name, if it gives one.
    #[serde(default)]
    pub name: Option<String>,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments, an object's.
    pub parameters: Box<RawValue>,
}

impl PartialEq for Description {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.description == other.description
            && self.parameters.get() == other.parameters.get()
    }
}

impl Description {
    /// Reads what `schema()` returned.
    pub fn parse(text: &str) -> Result<Self, Broken> {
        let bad = |cause: String| Broken::new(Phase::Schema, cause).hint(SHAPE);
        if text.len() > MAX_SCHEMA {
            return Err(bad(format!(
                "schema() returned {} bytes; at most {MAX_SCHEMA} are taken",
                text.len()
            )));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| bad(format!("schema() did not return JSON: {error}")))?;
        let Value::Object(mut fields) = value else {
            return Err(bad("schema() did not return a JSON object".into()));
        };
        let name = match fields.remove("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(valid_name(name)?),
            Some(_) => return Err(bad("`name` is not a string".into())),
        };
        let description = match fields.remove("description") {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            Some(Value::String(_)) | None => {
                return Err(bad(
                    "`description` is missing: it is all the model knows of the tool".into()
                ));
            }
            Some(_) => return Err(bad("`description` is not a string".into())),
        };
        let parameters = parameters(fields.remove("parameters")).map_err(bad)?;
        Ok(Self { name, description, parameters })
    }
}

const SHAPE: &str = "schema() returns {\"name\", \"description\", \"parameters\"}, the last a JSON Schema of type object";

/// Checks a name; what holds for it everywhere is that providers accept it.
fn valid_name(name: String) -> Result<String, Broken> {
    if name == "bash" {
        return Err(Broken::new(Phase::Schema, "the name `bash` is taken by the built-in tool")
            .hint("give the tool another name in its schema"));
    }
    if is_name(&name) {
        return Ok(name);
    }
    let cause = format!("`{}` is not a tool's name", super::broken::one_line(&name, 80));
    Err(Broken::new(Phase::Schema, cause)
        .hint("a name begins with a lowercase letter and has at most 64 of a-z, 0-9, _ and -"))
}

/// Whether `name` is one that a tool can have.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

/// The schema of the arguments: an object's, and one that can be checked against.
fn parameters(value: Option<Value>) -> Result<Box<RawValue>, String> {
    let mut schema = match value {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(schema)) => schema,
        Some(_) => return Err("`parameters` is not an object".into()),
    };
    match schema.get("type") {
        None => _ = schema.insert("type".into(), "object".into()),
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => {
            return Err(format!("`parameters` has type {other}; arguments are always an object"));
        }
    }
    // Some providers refuse an object schema without properties.
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let schema = Value::Object(schema);
    if depth(&schema) > MAX_DEPTH {
        return Err(format!("`parameters` is nested deeper than {MAX_DEPTH}"));
    }
    if let Err(error) = jsonschema::validator_for(&schema) {
        return Err(format!("`parameters` is not a JSON Schema: {error}"));
    }
    serde_json::value::to_raw_value(&schema).map_err(|error| error.to_string())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_description_keeps_the_order_of_its_schema() {
        let text = r#"{"name":"add","description":"Adds.","parameters":{"type":"object",
            "properties":{"b":{"type":"number"},"a":{"type":"number"}},"required":["b","a"]}}"#;
        let description = Description::parse(text).unwrap();
        assert_eq!(description.name.as_deref(), Some("add"));
        assert_eq!(
            description.parameters.get(),
            r#"{"type":"object","properties":{"b":{"type":"number"},"a":{"type":"number"}},"required":["b","a"]}"#
        );
    }

    #[test]
    fn name_and_parameters_may_be_left_out() {
        let description = Description::parse(r#"{"description":"Does it."}"#).unwrap();
        assert_eq!(description.name, None);
        assert_eq!(description.parameters.get(), r#"{"type":"object","properties":{}}"#);
    }

    #[test]
    fn what_would_break_a_request_is_refused() {
        let refused = |text: &str| Description::parse(text).unwrap_err().cause;
        assert!(refused("").contains("did not return JSON"));
        assert!(refused("[]").contains("JSON object"));
        assert!(refused(r#"{"name":"x"}"#).contains("`description` is missing"));
        assert!(refused(r#"{"name":"bash","description":"d"}"#).contains("taken"));
        assert!(refused(r#"{"name":"My Tool","description":"d"}"#).contains("`My Tool` is not"));
        assert!(
            refused(r#"{"description":"d","parameters":{"type":"array"}}"#)
                .contains("always an object")
        );
        assert!(
            refused(r#"{"description":"d","parameters":{"properties":{"a":{"type":"nummer"}}}}"#)
                .contains("JSON Schema")
        );
        assert!(
            refused(
                r##"{"description":"d","parameters":{"properties":{"a":{"$ref":"http://x/y"}}}}"##
            )
            .contains("JSON Schema")
        );
        assert!(
            refused(&format!(r#"{{"description":"{}"}}"#, "d".repeat(40_000))).contains("at most")
        );
        let deep = format!("{}{}", r#"{"not":"#.repeat(60), "{}".to_owned() + &"}".repeat(60));
        assert!(
            refused(&format!(r#"{{"description":"d","parameters":{deep}}}"#))
                .contains("nested deeper")
        );
    }
}
