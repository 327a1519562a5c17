//! Fields that a server turned out not to take, remembered for the session.
//!
//! Invariants: a field is dropped only after this server named it in a refusal, only for this endpoint and model, and
//! never one that the request cannot do without (`model`, `messages`).

use std::cell::RefCell;

use super::classify::matches;
use super::server_error::ServerError;

/// What is left out of, or renamed in, requests to one model of one endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Quirks {
    /// Fields that are not sent.
    pub dropped: Vec<String>,
    /// `max_tokens` goes by the name of `max_completion_tokens`.
    pub max_completion_tokens: bool,
}

/// The quirks of every endpoint and model of the session.
#[derive(Default)]
pub(crate) struct Memory {
    known: RefCell<Vec<((String, String), Quirks)>>,
}

/// What makes a field acceptable to the server.
#[derive(Debug, PartialEq)]
pub(crate) enum Remedy {
    /// Leave the field out.
    Drop(String),
    /// Send `max_tokens` as `max_completion_tokens`.
    RenameMaxTokens,
}

impl Memory {
    /// What is known of this model at this endpoint.
    pub fn of(&self, base_url: &str, model: &str) -> Quirks {
        let known = self.known.borrow();
        let found = known.iter().find(|((url, name), _)| url == base_url && name == model);
        found.map(|(_, quirks)| quirks.clone()).unwrap_or_default()
    }

    /// Remembers a remedy; gives what to tell the person.
    pub fn learn(&self, base_url: &str, model: &str, remedy: Remedy) -> String {
        let mut known = self.known.borrow_mut();
        let at = known.iter().position(|((url, name), _)| url == base_url && name == model);
        let at = at.unwrap_or_else(|| {
            known.push(((base_url.to_owned(), model.to_owned()), Quirks::default()));
            known.len() - 1
        });
        let quirks = &mut known[at].1;
        match remedy {
            Remedy::RenameMaxTokens => {
                quirks.max_completion_tokens = true;
                "the server wants `max_completion_tokens` in place of `max_tokens`; \
                 it is sent so for this session"
                    .to_owned()
            }
            Remedy::Drop(field) if field == "tools" => {
                quirks.dropped.push(field);
                "the server does not take tools; for this session the model can only talk, \
                 not run anything"
                    .to_owned()
            }
            Remedy::Drop(field) => {
                let note =
                    format!("the server does not take `{field}`; it is left out for this session");
                quirks.dropped.push(field);
                note
            }
        }
    }
}

/// Words that say of a field that it is not taken (as opposed to a value that is wrong).
const REFUSALS: &[&[&str]] = &[
    &["unsupported"],
    &["not supported"],
    &["does not support"],
    &["doesn't support"],
    &["not currently support"],
    &["unknown"],
    &["unrecognized"],
    &["unrecognised"],
    &["not recognized"],
    &["unexpected"],
    &["extra_forbidden"],
    &["extra inputs"],
    &["extra fields"],
    &["extra field"],
    &["additional propert"],
    &["not permitted"],
    &["not allowed"],
    &["no such field"],
    &["cannot find field"],
    &["not a valid parameter"],
    &["invalid parameter"],
    &["invalid argument"],
    &["unexpected keyword argument"],
    &["deprecated"],
    &["only the default"],
    &["may only be set"],
    &["cannot both be specified"],
    &["is not available"],
];

/// How servers say that a model has no tools, without naming the field as such.
const NO_TOOLS: &[&[&str]] = &[
    &["not support tools"],
    &["not support tool use"],
    &["not support tool call"],
    &["not support function call"],
    &["support for tools"],
    &["tools are not supported"],
    &["tool use is not supported"],
    &["tool calling is not supported"],
    &["function calling is not supported"],
    &["function calling is not enabled"],
    &["tools", "not supported"],
];

/// Fields that are sent unasked, and that nobody misses: to be named in a refusal is enough.
const OURS: [&str; 2] = ["stream_options", "tool_choice"];

/// The field of the request that `error` refuses, if it is one of those `sent`.
pub(crate) fn refused(error: &ServerError, sent: &[&str]) -> Option<Remedy> {
    if !matches!(error.status, Some(400 | 422)) {
        return None;
    }
    let says = |patterns: &[&[&str]]| patterns.iter().any(|p| matches(&error.words, p));
    let refuses = says(REFUSALS);
    let optional = sent.iter().copied().filter(|field| !matches!(*field, "model" | "messages"));
    let candidates = optional.filter(|field| refuses || OURS.contains(field));
    // The field that the error is about, or else the one that it names first: others may be advice.
    let place = |field: &str| match error.field.as_deref() {
        Some(about) if about == field => Some(0),
        _ => Some(1 + position(&error.words, field)?),
    };
    let named = candidates.filter_map(|field| Some((place(field)?, field))).min();
    let field = match named {
        Some((_, field)) => field,
        None if sent.contains(&"tools") && says(NO_TOOLS) => "tools",
        None => return None,
    };
    let renamed = field == "max_tokens" && error.words.contains("max_completion_tokens");
    Some(if renamed { Remedy::RenameMaxTokens } else { Remedy::Drop(field.to_owned()) })
}

/// Where `words` names the field: as a whole word, and in quotes if it is a word of plain English.
fn position(words: &str, field: &str) -> Option<usize> {
    let part_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut from = 0;
    while let Some(found) = words[from..].find(field) {
        let (at, end) = (from + found, from + found + field.len());
        let (before, after) = (words[..at].trim_end_matches("body."), &words[end..]);
        let (left, right) = (before.chars().next_back(), after.chars().next());
        // `tools[3]` and `tools.3.name` are one of the tools, not the field.
        let inside = left.is_some_and(part_of_name)
            || right.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
            || field == "tools"
                && after.trim_start_matches(['.', '[']).starts_with(|c: char| c.is_ascii_digit());
        let quote = |c: char| "'\"`".contains(c);
        let quoted = left.is_some_and(quote) && right.is_some_and(quote);
        let introduced = before.trim_end().ends_with([':', '=']);
        if !inside && (quoted || introduced || field.contains('_')) {
            return Some(at);
        }
        from = end;
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const SENT: [&str; 8] = [
        "model",
        "stream",
        "stream_options",
        "temperature",
        "max_tokens",
        "parallel_tool_calls",
        "tools",
        "tool_choice",
    ];

    fn remedy(status: u16, body: &str) -> Option<Remedy> {
        refused(&ServerError::from_body(status, body.as_bytes()), &SENT)
    }

    fn dropped(field: &str) -> Option<Remedy> {
        Some(Remedy::Drop(field.to_owned()))
    }

    #[test]
    fn the_field_that_a_server_refuses_is_found() {
        for (body, field) in [
            (
                r#"{"error":{"message":"Unknown parameter: 'stream_options'. (request id: 1)","param":"stream_options","code":"unknown_parameter"}}"#,
                "stream_options",
            ),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}"#,
                "stream_options",
            ),
            (
                r#"{"detail":[{"loc":["body","tool_choice"],"msg":"extra fields not permitted"}]}"#,
                "tool_choice",
            ),
            ("Argument not supported: stream_options", "stream_options"),
            (
                "[{'type': 'extra_forbidden', 'loc': ('body', 'parallel_tool_calls'), 'msg': 'Extra inputs are not permitted'}]",
                "parallel_tool_calls",
            ),
            (
                r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.","param":"temperature","code":"unsupported_value"}}"#,
                "temperature",
            ),
            ("`temperature` is deprecated for this model.", "temperature"),
            (
                r#"{"error":{"message":"Your organization must be verified to stream this model.","param":"stream","code":"unsupported_value"}}"#,
                "stream",
            ),
            (
                r#"{"error":{"message":"deepseek-reasoner does not support this tool_choice"}}"#,
                "tool_choice",
            ),
            (
                r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools"}}"#,
                "tools",
            ),
            (
                r#"Invalid JSON payload received. Unknown name "stream_options": Cannot find field."#,
                "stream_options",
            ),
            (
                "ChatCompletionRequest.__init__() got an unexpected keyword argument 'stream_options'",
                "stream_options",
            ),
            ("Invalid value for stream_options", "stream_options"),
            (
                r#"{"detail":[{"loc":["body","stream_options","include_usage"],"msg":"value is not valid"}]}"#,
                "stream_options",
            ),
            ("body.stream_options.include_usage: not expected here", "stream_options"),
            ("The parameter max_tokens is not supported.", "max_tokens"),
        ] {
            assert_eq!(remedy(400, body), dropped(field), "{body}");
        }
    }

    #[test]
    fn max_tokens_gets_its_new_name_where_the_server_tells_it() {
        let body = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert_eq!(remedy(400, body), Some(Remedy::RenameMaxTokens));
    }

    #[test]
    fn what_is_wrong_with_a_value_or_with_the_messages_drops_nothing() {
        for body in [
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
            "Invalid 'temperature': decimal above maximum value.",
            r#"{"error":{"message":"Invalid schema for function 'x': unknown type","param":"tools[3].function.parameters"}}"#,
            r#"{"detail":[{"loc":["body","tools",3,"function"],"msg":"Extra inputs are not permitted"}]}"#,
            "Unexpected role 'tool': messages with tool_calls must come first",
            "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
            "The model `x` does not exist and is not supported",
        ] {
            assert_eq!(remedy(400, body), None, "{body}");
        }
        assert_eq!(remedy(500, "Unknown parameter: 'stream_options'"), None);
        assert_eq!(remedy(400, "Unknown parameter: 'seed'"), None);
    }

    #[test]
    fn what_is_learned_holds_for_one_model_of_one_endpoint() {
        let memory = Memory::default();
        let note = memory.learn("http://a", "m", Remedy::Drop("stream_options".to_owned()));
        assert!(note.contains("`stream_options`"), "{note}");
        memory.learn("http://a", "m", Remedy::RenameMaxTokens);
        let expected =
            Quirks { dropped: vec!["stream_options".to_owned()], max_completion_tokens: true };
        assert_eq!(memory.of("http://a", "m"), expected);
        assert_eq!(memory.of("http://a", "n"), Quirks::default());
        assert_eq!(memory.of("http://b", "m"), Quirks::default());
    }

    #[test]
    fn the_corpus_names_fields_where_it_says_so_and_nowhere_else() {
        let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
            eprintln!(
                "left out: AUTOCODE_CORPUS is unset, the table of real errors is not checked"
            );
            return;
        };
        let table = std::fs::read_to_string(std::path::Path::new(&dir).join("errors.tsv")).unwrap();
        let rows = table.lines().skip(1).map(|row| row.splitn(4, '\t').collect::<Vec<_>>());
        for row in rows {
            let remedy = remedy(row[1].parse().unwrap(), row[3]);
            assert_eq!(remedy.is_some(), row[2] == "bad_field", "{row:?}: {remedy:?}");
        }
    }
}
