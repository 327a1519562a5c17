//! Tools as an author writes them, run on the host from JSON to the answer.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use autocode_tool::json::{Value, from_str, json};
use autocode_tool::{Tool, args, run, schema, tool};

/// Add two numbers.
///
/// Exact to sixteen digits.
#[tool]
fn add(
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
) -> f64 {
    a + b
}

/// How to order.
#[args]
enum Order {
    /// A to Z.
    Up,
    /// Z to A.
    FarDown,
}

#[args]
enum Shape {
    Dot,
    Box { width: u32 },
}

/// A range of lines.
#[args]
struct Range {
    /// First line.
    from: u32,
    to: Option<u32>,
}

/// Everything an argument can be.
#[tool(name = "all-kinds")]
#[allow(clippy::too_many_arguments)]
fn all_kinds(
    text: &str,
    file: &Path,
    #[serde(default)] flag: bool,
    order: Option<Order>,
    shape: Shape,
    /// Which lines.
    ranges: &[Range],
    names: Option<Vec<String>>,
    #[schemars(range(min = 1, max = 9))] level: u8,
) -> Result<String, String> {
    let order = order.map(|order| match order {
        Order::Up => "up",
        Order::FarDown => "down",
    });
    let width = match shape {
        Shape::Dot => 0,
        Shape::Box { width } => width,
    };
    let lines: u32 = ranges.iter().map(|r| r.to.unwrap_or(r.from) - r.from).sum();
    Ok(format!("{text} {} {flag} {order:?} {width} {lines} {names:?} {level}", file.display()))
}

/// Divide two whole numbers.
#[tool]
struct Divide {
    /// Above the line.
    dividend: i64,
    /// Below the line.
    divisor: i64,
}

impl Divide {
    fn run(self) -> autocode_tool::Result<i64> {
        if self.divisor == 0 {
            return Err("division by zero".into());
        }
        Ok(self.dividend / self.divisor)
    }
}

/// Read a number.
#[tool]
fn number(text: String) -> autocode_tool::Result<u8> {
    Ok(text.parse()?)
}

/// Nothing to say.
#[tool]
fn nothing() -> &'static str {
    "done"
}

fn parsed<T: Tool>() -> Value {
    from_str(&schema::<T>()).unwrap()
}

#[test]
fn a_function_describes_itself() {
    assert_eq!(
        parsed::<add>(),
        json!({
            "name": "add",
            "description": "Add two numbers.\n\nExact to sixteen digits.",
            "parameters": {
                "type": "object",
                "properties": {
                    "a": {"type": "number", "description": "The first number."},
                    "b": {"type": "number", "description": "The second number."},
                },
                "required": ["a", "b"],
                "additionalProperties": false,
            },
        })
    );
}

#[test]
fn every_kind_of_argument_has_a_plain_schema() {
    let schema = parsed::<all_kinds>();
    assert_eq!(schema["name"], "all-kinds");
    let range = json!({
        "description": "A range of lines.",
        "type": "object",
        "properties": {
            "from": {"type": "integer", "minimum": 0, "description": "First line."},
            "to": {"type": "integer", "minimum": 0},
        },
        "required": ["from"],
        "additionalProperties": false,
    });
    assert_eq!(
        schema["parameters"]["properties"],
        json!({
            "text": {"type": "string"},
            "file": {"type": "string"},
            "flag": {"type": "boolean", "default": false},
            "order": {
                "description": "How to order.\nup: A to Z.\nfar_down: Z to A.",
                "type": "string",
                "enum": ["up", "far_down"],
            },
            "shape": {
                "oneOf": [
                    {"type": "string", "enum": ["dot"]},
                    {
                        "type": "object",
                        "properties": {"box": {
                            "type": "object",
                            "properties": {"width": {"type": "integer", "minimum": 0}},
                            "required": ["width"],
                        }},
                        "required": ["box"],
                        "additionalProperties": false,
                    },
                ],
            },
            "ranges": {"type": "array", "items": range, "description": "Which lines."},
            "names": {"type": "array", "items": {"type": "string"}},
            "level": {"type": "integer", "minimum": 1, "maximum": 9},
        })
    );
    assert_eq!(
        schema["parameters"]["required"],
        json!(["text", "file", "shape", "ranges", "level"])
    );
}

#[test]
fn arguments_arrive_as_the_types_they_were_declared() {
    let arguments = json!({
        "text": "t", "file": "a/b", "order": "far_down", "shape": {"box": {"width": 4}},
        "ranges": [{"from": 1, "to": 3}, {"from": 9}], "names": ["x"], "level": 2,
    });
    let answer = run::<all_kinds>(&arguments.to_string());
    assert_eq!(answer, Ok(r#"t a/b false Some("down") 4 2 Some(["x"]) 2"#.to_owned()));
}

#[test]
fn a_struct_of_arguments_runs() {
    assert_eq!(parsed::<Divide>()["name"], "divide");
    assert_eq!(parsed::<Divide>()["description"], "Divide two whole numbers.");
    assert_eq!(parsed::<Divide>()["parameters"].get("description"), None);
    assert_eq!(run::<Divide>(r#"{"dividend": 7, "divisor": 2}"#), Ok("3".to_owned()));
    assert_eq!(
        run::<Divide>(r#"{"dividend": 7, "divisor": 0}"#),
        Err("division by zero".to_owned())
    );
}

#[test]
fn the_question_mark_takes_every_error() {
    assert_eq!(run::<number>(r#"{"text": "7"}"#), Ok("7".to_owned()));
    assert_eq!(run::<number>(r#"{"text": "x"}"#), Err("invalid digit found in string".to_owned()));
}

#[test]
fn a_tool_without_arguments_takes_an_empty_object() {
    assert_eq!(
        parsed::<nothing>()["parameters"],
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    );
    assert_eq!(run::<nothing>("{}"), Ok("done".to_owned()));
}

#[test]
fn wrong_arguments_are_an_error_not_a_panic() {
    assert!(run::<add>(r#"{"a": 1}"#).unwrap_err().contains("missing field `b`"));
    assert!(run::<add>(r#"{"a": 1, "b": 2, "c": 3}"#).unwrap_err().contains("unknown field `c`"));
    assert!(run::<add>("[").is_err());
}
