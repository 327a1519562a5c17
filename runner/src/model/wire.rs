//! What a server sends, as loosely as servers send it.
//!
//! Source: OpenAI API reference, "The chat completion chunk object" and "The chat completion object"; both are read by
//! the same types. Invariant: a leaf of a strange type is absent, it never spoils the rest of the chunk.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::message::Usage;

/// One streamed chunk, or a whole plain reply.
#[derive(Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
    /// `"error"` in vLLM's former shape, which has no `error` field.
    #[serde(borrow, default)]
    pub object: Option<&'a RawValue>,
    /// Groq's former place of `usage`.
    #[serde(borrow, default)]
    pub x_groq: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct Choice<'a> {
    #[serde(borrow, default)]
    pub index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub delta: Option<Delta<'a>>,
    /// In place of `delta` in a plain reply.
    #[serde(borrow, default)]
    pub message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(crate) struct Delta<'a> {
    #[serde(borrow, default)]
    pub content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub reasoning_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub tool_calls: Option<&'a RawValue>,
    /// The field before `tool_calls`: one call, no id.
    #[serde(borrow, default)]
    pub function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(crate) struct CallDelta<'a> {
    #[serde(borrow, default)]
    pub index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub function: Option<FunctionDelta<'a>>,
    #[serde(borrow, default)]
    pub extra_content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(crate) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

/// A string that says something: absent, `null`, empty and every other type are the same as nothing.
pub(crate) fn text(raw: Option<&RawValue>) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let json = raw?.get();
    if !json.starts_with('"') || json == "\"\"" {
        return None;
    }
    match serde_json::from_str::<Text<'_>>(json) {
        Ok(Text(text)) => Some(text),
        // Half of a surrogate pair, left by a server that cut an escaped character in two.
        Err(_) => serde_json::from_str(&without_surrogates(json)).ok().map(Cow::Owned),
    }
}

/// A whole number, also as `3.0` and `"3"`.
pub(crate) fn number(raw: Option<&RawValue>) -> Option<u64> {
    let json = raw?.get().trim_matches('"');
    match json.parse() {
        Ok(number) => Some(number),
        Err(_) => json.parse::<f64>().ok().filter(|n| *n >= 0.0 && *n < 1e15).map(|n| n as u64),
    }
}

/// Parses `raw`; a strange shape is the same as nothing.
pub(crate) fn parse<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Text and thinking of a `content` that is a list of parts, as Mistral's thinking models send it.
pub(crate) fn parts(raw: Option<&RawValue>) -> Option<(String, String)> {
    #[derive(Deserialize)]
    struct Part<'a> {
        #[serde(borrow, default)]
        text: Option<&'a RawValue>,
        #[serde(borrow, default)]
        thinking: Option<&'a RawValue>,
    }

    if !raw?.get().starts_with('[') {
        return None;
    }
    let (mut words, mut thoughts) = (String::new(), String::new());
    for part in parse::<Vec<Part<'_>>>(raw)? {
        words.push_str(&text(part.text).unwrap_or_default());
        thoughts.push_str(&text(part.thinking).unwrap_or_default());
        for inner in parse::<Vec<Part<'_>>>(part.thinking).unwrap_or_default() {
            thoughts.push_str(&text(inner.text).unwrap_or_default());
        }
    }
    Some((words, thoughts))
}

/// Token counts under every name that servers use for them.
pub(crate) fn usage(raw: Option<&RawValue>) -> Option<Usage> {
    #[derive(Default, Deserialize)]
    struct Details<'a> {
        #[serde(borrow, default)]
        cached_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        reasoning_tokens: Option<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Counts<'a> {
        #[serde(borrow, default, alias = "input_tokens")]
        prompt_tokens: Option<&'a RawValue>,
        #[serde(borrow, default, alias = "output_tokens")]
        completion_tokens: Option<&'a RawValue>,
        #[serde(borrow, default, alias = "input_tokens_details")]
        prompt_tokens_details: Option<Details<'a>>,
        #[serde(borrow, default, alias = "output_tokens_details")]
        completion_tokens_details: Option<Details<'a>>,
        /// DeepSeek, Moonshot and Anthropic, in this order, when there are no details.
        #[serde(borrow, default)]
        prompt_cache_hit_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        cached_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        cache_read_input_tokens: Option<&'a RawValue>,
        #[serde(borrow, default)]
        cost: Option<&'a RawValue>,
    }

    let counts: Counts<'_> = parse(raw)?;
    let prompt = number(counts.prompt_tokens);
    let completion = number(counts.completion_tokens);
    if prompt.is_none() && completion.is_none() {
        return None;
    }
    let prompt = prompt.unwrap_or(0);
    let cached = number(counts.prompt_tokens_details.unwrap_or_default().cached_tokens)
        .or_else(|| number(counts.prompt_cache_hit_tokens))
        .or_else(|| number(counts.cached_tokens))
        .or_else(|| number(counts.cache_read_input_tokens))
        .unwrap_or(0);
    Some(Usage {
        // Anthropic counts what came from the cache apart; everybody else within.
        prompt: if cached > prompt { prompt + cached } else { prompt },
        cached,
        completion: completion.unwrap_or(0),
        reasoning: number(counts.completion_tokens_details.unwrap_or_default().reasoning_tokens)
            .unwrap_or(0),
        cost: counts.cost.and_then(|raw| raw.get().parse().ok()),
    })
}

/// `json` with every `\uD800`–`\uDFFF` that is not half of a pair turned into the replacement character.
fn without_surrogates(json: &str) -> String {
    let unit = |at: usize| -> Option<u16> {
        let hex = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    let mut out = String::with_capacity(json.len());
    let mut at = 0;
    while let Some(slash) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        let start = at + slash;
        out.push_str(&json[at..start]);
        let length = match (unit(start), unit(start + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push('\u{fffd}');
                at = start + 6;
                continue;
            }
            _ => 2,
        };
        // The character after a backslash may be longer than a byte in text that is no JSON.
        let end = (start + length..=json.len()).find(|end| json.is_char_boundary(*end));
        let end = end.unwrap_or(json.len());
        out.push_str(&json[start..end]);
        at = end;
    }
    out.push_str(&json[at..]);
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn only_a_string_that_says_something_is_text() {
        for json in ["null", "\"\"", "7", "{\"a\":1}", "[]"] {
            assert_eq!(text(Some(&raw(json))), None, "{json}");
        }
        assert_eq!(text(None), None);
        assert!(matches!(text(Some(&raw("\"ab\""))), Some(Cow::Borrowed("ab"))));
        assert_eq!(text(Some(&raw(r#""a\nb""#))).unwrap(), "a\nb");
    }

    #[test]
    fn half_a_surrogate_pair_costs_one_character_only() {
        assert_eq!(text(Some(&raw(r#""a\ud83d""#))).unwrap(), "a\u{fffd}");
        assert_eq!(
            text(Some(&raw(r#""\\ud83d \ude00\ud83d\ude00\n""#))).unwrap(),
            "\\ud83d \u{fffd}😀\n"
        );
    }

    #[test]
    fn numbers_come_in_three_forms() {
        for (json, expected) in
            [("3", Some(3)), ("3.0", Some(3)), ("\"3\"", Some(3)), ("-1", None), ("{}", None)]
        {
            assert_eq!(number(Some(&raw(json))), expected, "{json}");
        }
    }

    #[test]
    fn token_counts_have_many_names() {
        let cases = [
            r#"{"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}"#,
            r#"{"prompt_tokens":9,"completion_tokens":3,"prompt_cache_hit_tokens":4,"completion_tokens_details":{"reasoning_tokens":2},"prompt_tokens_details":null}"#,
            r#"{"input_tokens":9,"output_tokens":3,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}"#,
        ];
        for json in cases {
            let expected = Usage { prompt: 9, cached: 4, completion: 3, reasoning: 2, cost: None };
            assert_eq!(usage(Some(&raw(json))), Some(expected), "{json}");
        }
        let apart = r#"{"input_tokens":9,"output_tokens":3,"cache_read_input_tokens":400}"#;
        let expected = Usage { prompt: 409, cached: 400, completion: 3, ..Usage::default() };
        assert_eq!(usage(Some(&raw(apart))), Some(expected));
        assert_eq!(usage(Some(&raw("{}"))), None);
        assert_eq!(usage(Some(&raw("[]"))), None);
    }
}
