//! What kind of no a server's no is, by the words of real servers.
//!
//! A pattern is a row of fragments that must follow each other within [`GAP`] bytes. Invariant: a rate limit that
//! speaks of tokens is no overflow, since compaction cannot help there and would destroy the conversation for nothing.

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

/// Names of the error itself, given by servers that say exactly what is wrong: they win over everything.
const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",
    "context_window_exceeded",
    "contextwindowexceeded",
    "context_limit_exceeded",
    "exceed_context_size",
    "max_prompt_tokens_exceeded",
    "tokens_limit_reached",
    "request_too_large",
    "string_above_max_length",
];

const OVERFLOW: &[&[&str]] = &[
    // A verb of excess on either side of the name of the window.
    &["exceed", "context length"],
    &["exceed", "context window"],
    &["exceed", "context size"],
    &["exceed", "context limit"],
    &["exceed", "model token limit"],
    &["exceed", "maximum number of tokens"],
    &["exceed", "maximum allowed number of"],
    &["exceed", "maximum", "input length"],
    &["exceed", "maximum", "input token"],
    &["exceed", "maximum", "prompt length"],
    &["exceed", "max length"],
    &["exceed", "maximum length"],
    &["exceed", "max input"],
    &["exceed", "max_model_len"],
    &["exceed", "n_ctx"],
    &["exceed", "maximum size"],
    &["tokens exceed", "limit"],
    &["token count", "exceed"],
    &["token limit exceeded"],
    &["context length", "exceed"],
    &["context window", "exceed"],
    &["context size", "exceed"],
    &["context limit", "exceed"],
    &["greater than the context length"],
    &["longer than", "context"],
    &["larger than", "context"],
    &["greater than", "context window"],
    &["does not fit", "context"],
    &["doesn't fit", "context"],
    &["not fit in", "context"],
    &["context overflow"],
    &["overflows the context"],
    &["context is full"],
    &["n_keep", "n_ctx"],
    &["tokens when context the overflows"],
    &["prompt has", "context size is"],
    // The limit is named in a complaint about a request.
    &["maximum context length"],
    &["max context length"],
    &["maximum context window"],
    &["maximum prompt length"],
    &["maximum input length"],
    &["reached context length"],
    &["input validation error", "tokens", "must be <="],
    &["tokens must be <="],
    &["inputs` must have less than"],
    &["range of input length should be"],
    // "Too long" or "too large" said of what was sent.
    &["prompt is too long"],
    &["prompt too long"],
    &["prompt is too large"],
    &["input is too long"],
    &["input too long"],
    &["inputs are too long"],
    &["request is too long"],
    &["request too large"],
    &["request body too large"],
    &["request entity too large"],
    &["payload too large"],
    &["conversation is too long"],
    &["messages are too long"],
    &["too large for model with"],
    &["string too long"],
    &["too many tokens"],
    &["too many input tokens"],
    &["reduce the length of"],
    &["reduce your prompt"],
    &["reduce the number of tokens"],
    &["上下文长度"],
    &["prompt 超长"],
    &["prompt超长"],
    &["输入过长"],
];

/// What looks like an overflow by its words and is not one.
const NO_OVERFLOW: &[&[&str]] = &[
    // Not the window but the memory of the machine.
    &["memory guard"],
    &["out of memory"],
    &["insufficient memory"],
    &["peak", " gb"],
];

const RATE_LIMIT: &[&[&str]] = &[
    &["rate limit"],
    &["rate_limit"],
    &["rate-limit"],
    &["ratelimit"],
    &["tokens per min"],
    &["tokens per day"],
    &["tokens per hour"],
    &["tokens per second"],
    &["requests per"],
    &["(tpm)"],
    &["(rpm)"],
    &["throttl"],
    &["too many requests"],
    &["too many tokens, please wait"],
    &["resource_exhausted"],
    &["concurrency limit"],
];

const QUOTA: &[&[&str]] = &[
    &["insufficient_quota"],
    &["insufficient balance"],
    &["insufficient credit"],
    &["insufficient_balance"],
    &["insufficient funds"],
    &["exceeded your current quota"],
    &["quota exceeded"],
    &["exceeded", "quota"],
    &["billing_hard_limit"],
    &["billing hard limit"],
    &["billing_not_active"],
    &["credit balance is too low"],
    &["requires more credits"],
    &["out of credits"],
    &["account is not active"],
    &["in arrears"],
];

const AUTH: &[&[&str]] = &[
    &["incorrect api key"],
    &["invalid api key"],
    &["invalid_api_key"],
    &["api key not valid"],
    &["api_key_invalid"],
    &["no api key"],
    &["api key is missing"],
    &["missing api key"],
    &["invalid x-api-key"],
    &["missing authentication"],
    &["authentication_error"],
    &["authentication error"],
    &["unauthenticated"],
    &["no auth credentials"],
    &["invalid authentication"],
    &["invalid token"],
];

const NO_MODEL: &[&[&str]] = &[
    &["model_not_found"],
    &["model", "does not exist"],
    &["model", "not found"],
    &["model not exist"],
    &["model", "not a valid model"],
    &["not a valid model"],
    &["invalid model"],
    &["unknown model"],
    &["unknown_model"],
    &["no such model"],
    &["no models loaded"],
    &["unable to access model"],
    &["model", "is not available"],
    &["no endpoints found for"],
];

const REASONING: &[&[&str]] = &[
    &["reasoning_content", "passed back"],
    &["reasoning_content", "missing"],
    &["missing", "reasoning_content"],
    &["reasoning_content", "required"],
    &["reasoning_content", "must be"],
    &["must", "reasoning_content"],
    &["reasoning", "must be passed back"],
    &["reasoning", "must be sent back"],
    &["reasoning_details", "must"],
    &["missing", "reasoning_details"],
    &["expected `thinking`", "found"],
    &["must start with a thinking block"],
];

const HISTORY: &[&[&str]] = &[
    &["tool_calls", "must be followed by tool messages"],
    &["must be a response to", "tool_calls"],
    &["same number of function calls and responses"],
    &["tool_use", "without", "tool_result"],
    &["tool_result", "without", "tool_use"],
    &["unexpected", "tool_use_id"],
    &["roles must alternate"],
    &["expected last role"],
    &["unexpected role"],
];

/// What makes an error inside a 200 final. Everything else there is taken as trouble: a request that is wrong is
/// refused before the stream begins.
const FINAL: &[&[&str]] = &[
    &["invalid"],
    &["badrequest"],
    &["bad request"],
    &["unexpected endpoint"],
    &["not supported"],
];

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
