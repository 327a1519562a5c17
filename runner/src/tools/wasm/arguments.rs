//! A call's arguments against the tool's JSON Schema, before the tool runs.
//!
//! What can only have been meant one way is mended (`"3"` for `3`, one value for a list of one); everything else is
//! refused with the place and the reason. Arguments that fit reach the tool as the model wrote them.

use serde_json::{Map, Number, Value};

use super::broken::one_line;

/// Errors told at once.
const MAX_ERRORS: usize = 5;
/// Longest reason, in bytes.
const MAX_REASON: usize = 240;
/// Deepest level that is mended.
const MAX_DEPTH: usize = 64;

/// Checks arguments for one tool.
pub(crate) struct Checker {
    schema: Value,
    validator: jsonschema::Validator,
}

impl Checker {
    /// For a schema as JSON text.
    ///
    /// # Errors
    /// When it is not a JSON Schema; one sentence.
    pub fn new(schema: &str) -> Result<Self, String> {
        let schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        let validator = jsonschema::validator_for(&schema).map_err(|error| error.to_string())?;
        Ok(Self { schema, validator })
    }

    /// The arguments to run with.
    ///
    /// # Errors
    /// Where they do not fit and why, for the model.
    pub fn check(&self, text: &str) -> Result<String, String> {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let mut value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the arguments are not JSON: {error}"))?;
        if !value.is_object() {
            return Err("the arguments are not a JSON object".into());
        }
        let mended = self.mend(&self.schema, &mut value, 0);
        let errors: Vec<String> =
            self.validator.iter_errors(&value).take(MAX_ERRORS).map(|e| explain(&e)).collect();
        if !errors.is_empty() {
            return Err(format!(
                "the arguments do not fit the tool's schema:\n{}",
                errors.join("\n")
            ));
        }
        Ok(if mended { value.to_string() } else { text.to_owned() })
    }

    /// Mends what does not fit and can only have been meant one way; whether anything changed.
    fn mend(&self, schema: &Value, value: &mut Value, depth: usize) -> bool {
        let Some(schema) = self.resolve(schema) else { return false };
        if depth > MAX_DEPTH {
            return false;
        }
        let kinds = Kinds::of(schema);
        let mut mended = false;
        if !kinds.fit(value)
            && let Some(better) = convert(value, &kinds)
        {
            *value = better;
            mended = true;
        }
        if kinds.only_integers()
            && let Some(whole) = whole(value)
        {
            *value = whole;
            mended = true;
        }
        match value {
            Value::Object(fields) => mended |= self.mend_fields(schema, fields, depth),
            Value::Array(items) => {
                if let Some(item_schema) = schema.get("items") {
                    for item in items {
                        mended |= self.mend(item_schema, item, depth + 1);
                    }
                }
            }
            _ => {}
        }
        mended
    }

    fn mend_fields(
        &self,
        schema: &Map<String, Value>,
        fields: &mut Map<String, Value>,
        depth: usize,
    ) -> bool {
        let Some(Value::Object(properties)) = schema.get("properties") else { return false };
        let required = |name: &str| {
            schema
                .get("required")
                .and_then(Value::as_array)
                .is_some_and(|names| names.iter().any(|n| n == name))
        };
        let before = fields.len();
        fields.retain(|name, value| {
            let absent = value.is_null() && !required(name);
            let refuses_null = || {
                properties.get(name).and_then(|s| self.resolve(s)).is_some_and(|s| !allows_null(s))
            };
            !(absent && refuses_null())
        });
        let mut mended = fields.len() != before;
        for (name, value) in fields {
            if let Some(property) = properties.get(name) {
                mended |= self.mend(property, value, depth + 1);
            }
        }
        mended
    }

    /// The schema that `schema` is or refers to within this one.
    fn resolve<'a>(&'a self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        let mut schema = schema.as_object()?;
        for _ in 0..MAX_DEPTH {
            let Some(Value::String(reference)) = schema.get("$ref") else { return Some(schema) };
            schema = self.schema.pointer(reference.strip_prefix('#')?)?.as_object()?;
        }
        None
    }
}

fn explain(error: &jsonschema::ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "arguments" } else { &place };
    format!("{place}: {}", one_line(&error.to_string(), MAX_REASON))
}

/// The types a schema names; none when it names none.
struct Kinds<'a>(Vec<&'a str>);

impl<'a> Kinds<'a> {
    fn of(schema: &'a Map<String, Value>) -> Self {
        Self(match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        })
    }

    fn has(&self, kind: &str) -> bool {
        self.0.contains(&kind)
    }

    fn only_integers(&self) -> bool {
        self.has("integer") && !self.has("number")
    }

    fn fit(&self, value: &Value) -> bool {
        self.0.is_empty()
            || match value {
                Value::Null => self.has("null"),
                Value::Bool(_) => self.has("boolean"),
                Value::Number(_) => self.has("number") || self.has("integer"),
                Value::String(_) => self.has("string"),
                Value::Array(_) => self.has("array"),
                Value::Object(_) => self.has("object"),
            }
    }
}

fn allows_null(schema: &Map<String, Value>) -> bool {
    let kinds = Kinds::of(schema);
    let listed = |key: &str| schema.get(key).and_then(Value::as_array);
    kinds.has("null")
        || listed("enum").is_some_and(|values| values.iter().any(Value::is_null))
        || (kinds.0.is_empty() && listed("enum").is_none())
}

/// What a value of a wrong type must have been meant as.
fn convert(value: &Value, kinds: &Kinds<'_>) -> Option<Value> {
    match value {
        Value::String(text) => convert_text(text, kinds),
        Value::Number(_) | Value::Bool(_) if kinds.has("string") && kinds.0.len() == 1 => {
            Some(Value::String(value.to_string()))
        }
        Value::Null => None,
        scalar_or_object if kinds.has("array") => {
            Some(Value::Array(vec![scalar_or_object.clone()]))
        }
        _ => None,
    }
}

fn convert_text(text: &str, kinds: &Kinds<'_>) -> Option<Value> {
    let inner = text.trim();
    let parsed = serde_json::from_str::<Value>(inner).ok();
    match parsed {
        Some(number @ Value::Number(_)) if kinds.fit(&number) => Some(number),
        Some(truth @ Value::Bool(_)) if kinds.fit(&truth) => Some(truth),
        // Lists and objects that were written as text once more.
        Some(nested @ (Value::Array(_) | Value::Object(_))) if kinds.fit(&nested) => Some(nested),
        _ if kinds.has("array") => Some(Value::Array(vec![Value::String(text.to_owned())])),
        _ => None,
    }
}

/// `3.0` where a whole number is wanted; the schema takes it, most languages do not.
fn whole(value: &Value) -> Option<Value> {
    let Value::Number(number) = value else { return None };
    if !number.is_f64() {
        return None;
    }
    let float = number.as_f64()?;
    // Beyond this, not every whole number has a float of its own.
    let exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation)]
    exact.then(|| Value::Number(Number::from(float as i64)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check(property: &str, arguments: &str) -> Result<String, String> {
        let schema = format!(
            r##"{{"type":"object","properties":{{"x":{property}}},"required":["x"],"additionalProperties":false,
                "$defs":{{"count":{{"type":"integer"}}}}}}"##
        );
        Checker::new(&schema).unwrap().check(arguments)
    }

    #[test]
    fn arguments_that_fit_stay_as_they_were_written() {
        let text = r#"{ "x" : 1.50 }"#;
        assert_eq!(check(r#"{"type":"number"}"#, text), Ok(text.to_owned()));
    }

    #[test]
    fn unambiguous_slips_are_mended() {
        let number = r#"{"type":"number"}"#;
        let integer = r#"{"type":"integer"}"#;
        let list = r#"{"type":"array","items":{"type":"integer"}}"#;
        let cases = [
            (number, r#"{"x":"3.5"}"#, r#"{"x":3.5}"#),
            (integer, r#"{"x":" 3 "}"#, r#"{"x":3}"#),
            (integer, r#"{"x":3.0}"#, r#"{"x":3}"#),
            (r##"{"$ref":"#/$defs/count"}"##, r#"{"x":"7"}"#, r#"{"x":7}"#),
            (r#"{"type":"boolean"}"#, r#"{"x":"true"}"#, r#"{"x":true}"#),
            (r#"{"type":"string"}"#, r#"{"x":12}"#, r#"{"x":"12"}"#),
            (list, r#"{"x":3}"#, r#"{"x":[3]}"#),
            (list, r#"{"x":"3"}"#, r#"{"x":[3]}"#),
            (list, r#"{"x":"[1, 2]"}"#, r#"{"x":[1,2]}"#),
            (r#"{"type":"array","items":{"type":"string"}}"#, r#"{"x":"a"}"#, r#"{"x":["a"]}"#),
            (
                r#"{"type":"object","properties":{"y":{"type":"integer"}}}"#,
                r#"{"x":"{\"y\":\"1\"}"}"#,
                r#"{"x":{"y":1}}"#,
            ),
            (
                r#"{"type":"object","properties":{"y":{"type":"string"}}}"#,
                r#"{"x":{"y":null}}"#,
                r#"{"x":{}}"#,
            ),
        ];
        for (property, given, mended) in cases {
            assert_eq!(check(property, given), Ok(mended.to_owned()), "{property} {given}");
        }
    }

    #[test]
    fn what_is_ambiguous_or_wrong_is_refused_with_place_and_reason() {
        let refused = |property: &str, arguments: &str| check(property, arguments).unwrap_err();
        assert_eq!(
            refused(r#"{"type":"number"}"#, r#"{"x":"three"}"#),
            "the arguments do not fit the tool's schema:\n/x: \"three\" is not of type \"number\""
        );
        assert!(
            refused(r#"{"type":"integer"}"#, r#"{"x":"1.5"}"#)
                .contains("/x: 1.5 is not of type \"integer\"")
        );
        assert!(refused(r#"{"type":"boolean"}"#, r#"{"x":"yes"}"#).contains("/x"));
        assert!(
            refused(r#"{"type":"string"}"#, r#"{"x":null}"#).contains("/x: null is not of type")
        );
        assert!(refused(r#"{"type":"number"}"#, "{}").contains("\"x\" is a required property"));
        assert!(refused(r#"{"type":"number"}"#, r#"{"x":1,"y":2}"#).contains("'y' was unexpected"));
        assert!(refused("{}", r#"{"x":"#).contains("not JSON"));
        assert!(refused("{}", "[1]").contains("not a JSON object"));
        assert!(refused("{}", " ").contains("\"x\" is a required property"));
    }

    #[test]
    fn an_error_is_short_whatever_the_value() {
        let arguments = format!(r#"{{"x":"{}"}}"#, "long ".repeat(10_000));
        assert!(check(r#"{"type":"number"}"#, &arguments).unwrap_err().len() < 400);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let checker = Checker::new(
            r##"{"type":"object","properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"type":"array","items":{"$ref":"#/$defs/a"}}}}"##,
        )
        .unwrap();
        assert_eq!(checker.check(r#"{"x":[[[]]]}"#), Ok(r#"{"x":[[[]]]}"#.to_owned()));
    }
}
