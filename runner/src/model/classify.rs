//! What kind of no a server's no is, by the words of real servers.
//!
//! A pattern is a row of fragments that must follow each other within [`GAP`] bytes. Invariant: a rate limit that
//! speaks of tokens is no overflow, since compaction cannot help there and would destroy the conversation for nothing.

mod words;

use self::words::{
    AUTH, FINAL, HISTORY, NO_MODEL, NO_OVERFLOW, OVERFLOW, OVERFLOW_CODES, QUOTA, RATE_LIMIT,
    REASONING,
};
use super::server_error::ServerError;

/// Most bytes between two fragments of a pattern; enough for a few numbers, too little to join two sentences.
const GAP: usize = 60;

/// What can be done about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The request is longer than the window: compact.
    Overflow,
    /// Too fast: wait.
    RateLimit,
    /// Nothing left to spend: the person must act.
    Quota,
    /// The key is missing or wrong.
    Auth,
    /// No such model.
    NoModel,
    /// Thinking must be sent back.
    ReasoningRequired,
    /// The messages do not follow each other as the server wants them.
    History,
    /// The server is in trouble: try again.
    Trouble,
    /// Anything else.
    Other,
}

/// The class of an error by its status and its words.
pub(crate) fn classify(error: &ServerError) -> Class {
    let words = error.words.as_str();
    let says = |patterns: &[&[&str]]| patterns.iter().any(|pattern| matches(words, pattern));
    if OVERFLOW_CODES.iter().any(|code| words.contains(code)) && !says(RATE_LIMIT) {
        return Class::Overflow;
    }
    // Gemini words its rate limit as a quota, but says when to come back.
    let final_quota = words.contains("insufficient_quota") || error.retry_after.is_none();
    let status = error.status.unwrap_or(0);
    if status == 402 || says(QUOTA) && final_quota && !matches!(status, 401 | 500..) {
        return Class::Quota;
    }
    if status == 429 || says(RATE_LIMIT) && status != 401 {
        return Class::RateLimit;
    }
    if says(REASONING) && !words.contains("not allowed") {
        return Class::ReasoningRequired;
    }
    if !matches!(status, 401 | 403 | 404) && (status == 413 || says(OVERFLOW) && !says(NO_OVERFLOW))
    {
        return Class::Overflow;
    }
    if status == 401 || status < 500 && says(AUTH) {
        return Class::Auth;
    }
    if says(HISTORY) {
        return Class::History;
    }
    if status < 500 && says(NO_MODEL) {
        return Class::NoModel;
    }
    match status {
        403 => Class::Auth,
        408 | 409 | 425 | 500..=599 if !matches!(status, 501 | 505) => Class::Trouble,
        0 if !says(FINAL) => Class::Trouble,
        _ => Class::Other,
    }
}

/// The fragments follow each other, each within [`GAP`] bytes of the one before.
pub(crate) fn matches(words: &str, pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return true;
    };
    let mut from = 0;
    while let Some(found) = words[from..].find(first) {
        let end = from + found + first.len();
        if follow(&words.as_bytes()[end..], rest) {
            return true;
        }
        from = end;
    }
    false
}

fn follow(words: &[u8], pattern: &[&str]) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return true;
    };
    let near = &words[..words.len().min(GAP + first.len())];
    match memchr::memmem::find(near, first.as_bytes()) {
        Some(at) => follow(&words[at + first.len()..], rest),
        None => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn class(status: u16, body: &str) -> Class {
        classify(&ServerError::from_body(status, body.as_bytes()))
    }

    #[test]
    fn a_pattern_needs_its_fragments_in_order_and_near() {
        assert!(matches("the input exceeds the big context window", &["exceed", "context window"]));
        assert!(!matches("context window, exceed", &["exceed", "context window"]));
        let far = format!("exceed {} context window", "x".repeat(GAP));
        assert!(!matches(&far, &["exceed", "context window"]));
        assert!(matches(&format!("{far} exceeds context window"), &["exceed", "context window"]));
    }

    #[test]
    fn overflows_of_servers_are_known() {
        for (status, text) in [
            (
                400,
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
            ),
            (400, "prompt token count of 130000 exceeds the limit of 128000"),
            (
                400,
                "Requested token count exceeds the model's maximum context length of 4096 tokens.",
            ),
            (
                400,
                "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
            ),
            (
                400,
                "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
            ),
            (
                400,
                "InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]",
            ),
            (400, "invalid params, context window exceeds limit (2013)"),
            (413, "Request body too large for gpt-4o model. Max size: 8000 tokens."),
            (413, ""),
            (
                500,
                "{\"error\":{\"code\":500,\"message\":\"Context size has been exceeded.\",\"type\":\"server_error\"}}",
            ),
            (400, "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)"),
            (
                400,
                "Input does not fit in context length. The input has 31430 tokens, but the context length only supports 30000 tokens.",
            ),
            (
                400,
                "The estimated number of input and maximum output tokens (30000) exceeded this model context window limit (24000).",
            ),
            (
                400,
                "Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.",
            ),
            (
                400,
                "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            ),
            (
                400,
                "The prompt (total length 5000) is too long to fit into the model (context length 4096).",
            ),
            (400, "Input length (5000 tokens) exceeds the maximum allowed length (4090 tokens)."),
            (
                400,
                "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
            ),
            (400, "Prompt length 5000 is greater than max_seq_len 4096"),
            (400, "{\"error\":{\"code\":\"1261\",\"message\":\"Prompt exceeds max length\"}}"),
        ] {
            assert_eq!(class(status, text), Class::Overflow, "{status} {text}");
        }
    }

    #[test]
    fn what_speaks_of_tokens_or_length_is_not_always_an_overflow() {
        for (status, text, expected) in [
            (
                429,
                "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.",
                Class::RateLimit,
            ),
            (
                413,
                "{\"error\":{\"message\":\"Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7129, please reduce your message size\",\"type\":\"tokens\",\"code\":\"rate_limit_exceeded\"}}",
                Class::RateLimit,
            ),
            (
                429,
                "This request would exceed your organization's rate limit of 40,000 input tokens per minute.",
                Class::RateLimit,
            ),
            (
                400,
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
                Class::Other,
            ),
            (
                400,
                "Prefill would require ~15.27 GB peak but the ceiling is 13.50 GB; reduce the length of the context",
                Class::Other,
            ),
            (
                400,
                "{\"error\":{\"message\":\"Invalid schema for function 'x'\",\"param\":\"tools[3].function.parameters\"}}",
                Class::Other,
            ),
            (403, "Your plan does not include the maximum context length", Class::Auth),
        ] {
            assert_eq!(class(status, text), expected, "{status} {text}");
        }
    }

    #[test]
    fn a_quota_that_comes_back_is_a_rate_limit() {
        let body = r#"[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 36.2s.","status":"RESOURCE_EXHAUSTED"}}]"#;
        assert_eq!(class(429, body), Class::RateLimit);
        assert_eq!(
            class(429, r#"{"error":{"code":"insufficient_quota","message":"try again in 2s"}}"#),
            Class::Quota
        );
        assert_eq!(class(402, "{}"), Class::Quota);
    }

    #[test]
    fn other_classes_are_told_apart() {
        for (status, text, expected) in [
            (400, "API key not valid. Please pass a valid API key.", Class::Auth),
            (404, "model \"x\" not found, try pulling it first", Class::NoModel),
            (400, "x/y is not a valid model ID", Class::NoModel),
            (400, "litellm: Invalid model name passed in model=nope", Class::NoModel),
            (404, "page not found", Class::Other),
            (
                400,
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
                Class::ReasoningRequired,
            ),
            (
                400,
                "Missing `reasoning_content` field in the assistant message at message index 1",
                Class::ReasoningRequired,
            ),
            (500, "{\"error\":{\"message\":\"model not found\"}}", Class::Trouble),
            (
                503,
                "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}",
                Class::Trouble,
            ),
            (
                529,
                "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}",
                Class::Trouble,
            ),
            (501, "This server does not support tools", Class::Other),
        ] {
            assert_eq!(class(status, text), expected, "{status} {text}");
        }
        let streamed = |json| classify(&ServerError::from_value(&json));
        assert_eq!(
            streamed(serde_json::json!({"message": "Provider disconnected", "code": 502})),
            Class::Trouble
        );
        assert_eq!(streamed(serde_json::json!({"message": "Upstream error"})), Class::Trouble);
        assert_eq!(
            streamed(serde_json::json!({"message": "bad", "type": "invalid_request_error"})),
            Class::Other
        );
    }

    #[test]
    fn the_corpus_is_classified() {
        let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
            eprintln!(
                "left out: AUTOCODE_CORPUS is unset, the table of real errors is not checked"
            );
            return;
        };
        let table = std::fs::read_to_string(std::path::Path::new(&dir).join("errors.tsv")).unwrap();
        let mut rows = 0;
        for row in table.lines().skip(1) {
            let fields: Vec<_> = row.splitn(4, '\t').collect();
            let [_, status, expected, text] = fields[..] else { panic!("not four fields: {row}") };
            let expected = match expected {
                "overflow" => Class::Overflow,
                "rate_limit" => Class::RateLimit,
                "quota" => Class::Quota,
                "auth" => Class::Auth,
                "no_model" => Class::NoModel,
                "reasoning_required" => Class::ReasoningRequired,
                "history" => Class::History,
                // Which field, is for the quirks to say.
                "bad_field" => Class::Other,
                other => panic!("unknown class {other}"),
            };
            assert_eq!(class(status.parse().unwrap(), text), expected, "{row}");
            rows += 1;
        }
        assert!(rows > 20);
    }
}
