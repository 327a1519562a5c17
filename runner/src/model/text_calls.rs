//! Tool calls that a model wrote into its answer, because its server has no parser for them.
//!
//! Invariants: a call counts only if its tool was offered and it is whole; the same letters in a code block, in
//! backticks, in a quotation or in the middle of a sentence are an explanation. Whether a call found here runs is for
//! the caller to say.

use std::ops::Range;

use serde_json::{Map, Value};

/// Tags and tokens around `{"name": …, "arguments": {…}}` or around a name and its arguments.
const WRAPPED: [(&str, &str); 5] = [
    ("<tool_call>", "</tool_call>"),
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    ("<|python_tag|>", ""),
    ("[TOOL_CALLS]", ""),
];

/// Openings that are looked at; each costs a look at the rest of the answer.
const MAX_OPENINGS: usize = 64;
/// Longest opening tag.
const MAX_TAG: usize = 200;

/// The calls in `content`: name and arguments, a JSON object as text.
pub fn find(content: &str, tool_names: &[&str]) -> Vec<(String, String)> {
    let offered = |name: &str| tool_names.contains(&name);
    if let Some(calls) = whole_answer(content) {
        return calls.into_iter().filter(|(name, _)| offered(name)).collect();
    }
    let shown = shown_ranges(content);
    let mut calls = Vec::new();
    let mut at = 0;
    // Behind a call, another one may follow on the same line.
    let mut settled = 0;
    for _ in 0..MAX_OPENINGS {
        let Some(start) = next_opening(content, at) else { break };
        at = start + 1;
        if let Some(range) = shown.iter().find(|range| range.contains(&start)) {
            at = range.end;
            continue;
        }
        let Some((found, end)) = parse_call(&content[start..], tool_names) else {
            continue;
        };
        let end = start + end;
        let line_start = content[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let begins_line = is_filler(&content[line_start.max(settled).min(start)..start]);
        if begins_line || ends_answer(&content[end..], tool_names) {
            calls.extend(found.into_iter().filter(|(name, _)| offered(name)));
            (at, settled) = (end, end);
        }
    }
    calls
}

/// The whole answer is one JSON call or a list of them, bare or in one fence.
fn whole_answer(content: &str) -> Option<Vec<(String, String)>> {
    let text = content.trim();
    let inner = match text.strip_prefix("```") {
        Some(fenced) => {
            let (language, body) = fenced.strip_suffix("```")?.split_once('\n')?;
            let known = ["", "json", "tool_call", "tool_code", "tool"].contains(&language.trim());
            Some(body).filter(|_| known)?
        }
        None => text,
    };
    json_calls(serde_json::from_str(inner).ok()?)
}

/// `{"name", "arguments"}`, or a list of such objects and nothing else.
fn json_calls(value: Value) -> Option<Vec<(String, String)>> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let calls: Option<Vec<_>> = items.into_iter().map(json_call).collect();
            calls
        }
        value => Some(vec![json_call(value)?]),
    }
}

fn json_call(mut value: Value) -> Option<(String, String)> {
    if let Some(inner) = value.get_mut("function").filter(|inner| inner.is_object()) {
        value = inner.take();
    }
    let name = value.get("name")?.as_str()?.to_owned();
    let arguments = match value.get("arguments").or_else(|| value.get("parameters"))? {
        Value::String(text) => serde_json::from_str::<Map<String, Value>>(text).ok()?,
        Value::Object(object) => object.clone(),
        _ => return None,
    };
    Some((name, Value::Object(arguments).to_string()))
}

/// The next place at which a call may begin.
fn next_opening(content: &str, from: usize) -> Option<usize> {
    let from = (from..=content.len()).find(|at| content.is_char_boundary(*at))?;
    let found = content[from..].char_indices().find(|(at, c)| {
        let rest = &content[from + at..];
        matches!(c, '<' | '[') && (wrapper(rest).is_some() || xml_opening(rest).is_some())
    });
    found.map(|(at, _)| from + at)
}

fn wrapper(text: &str) -> Option<(&'static str, &'static str)> {
    WRAPPED.into_iter().find(|(open, _)| text.starts_with(open))
}

/// The calls at the beginning of `text` and where they end.
fn parse_call(text: &str, tool_names: &[&str]) -> Option<(Vec<(String, String)>, usize)> {
    let Some((open, close)) = wrapper(text) else {
        let (call, end) = xml_call(text)?;
        return Some((vec![call], end));
    };
    let body = &text[open.len()..];
    let lead = body.len() - body.trim_start().len();
    let (calls, end) = if xml_opening(body.trim_start()).is_some() {
        let (call, end) = xml_call(body.trim_start())?;
        (vec![call], lead + end)
    } else if let Some(found) = key_value_call(body, close) {
        found
    } else {
        named_json(body, tool_names)?
    };
    let rest = &body[end..];
    let gap = rest.len() - rest.trim_start().trim_start_matches('`').trim_start().len();
    let closed = rest[gap..].starts_with(close);
    // A stop sequence may have eaten the closing tag, but then nothing follows.
    (closed || rest.trim().is_empty())
        .then(|| (calls, open.len() + end + if closed { gap + close.len() } else { rest.len() }))
}

/// JSON that holds the name, or a name in front of its JSON arguments (`functions.bash:0 … {`, `bash[ARGS]{`).
fn named_json(body: &str, tool_names: &[&str]) -> Option<(Vec<(String, String)>, usize)> {
    let start = memchr::memchr2(b'{', b'[', body.as_bytes())?;
    let head = body[..start].trim();
    if head.is_empty() {
        let (value, end) = json_value(&body[start..])?;
        return Some((json_calls(value)?, start + end));
    }
    let start = body.find('{')?;
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut words = body[..start].split(|c| !word(c));
    let name = words.find(|word| tool_names.contains(word))?;
    let (value, end) = json_value(&body[start..])?;
    value.is_object().then(|| (vec![(name.to_owned(), value.to_string())], start + end))
}

/// The JSON value at the beginning of `text` and its length.
fn json_value(text: &str) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, values.byte_offset()))
}

/// GLM's form: the name, then `<arg_key>` and `<arg_value>` in turn.
fn key_value_call(body: &str, close: &str) -> Option<(Vec<(String, String)>, usize)> {
    let end =
        memchr::memmem::find(body.as_bytes(), close.as_bytes()).filter(|_| !close.is_empty())?;
    let (name, mut rest) = body[..end].split_once("<arg_key>")?;
    let mut arguments = Map::new();
    loop {
        let (key, after) = rest.split_once("</arg_key>")?;
        let (_, value) = after.split_once("<arg_value>")?;
        let (value, after) = value.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), scalar(value));
        match after.split_once("<arg_key>") {
            Some((_, more)) => rest = more,
            None => break,
        }
    }
    let call = (name.trim().to_owned(), Value::Object(arguments).to_string());
    Some((vec![call], end))
}

/// Kind, name and length of an opening tag: `<function=NAME>` or `<invoke name="NAME">`, a prefix allowed.
fn xml_opening(text: &str) -> Option<(&'static str, &str, usize)> {
    let near = text.char_indices().take(MAX_TAG).find(|(_, c)| *c == '>')?.0;
    let (tag, end) = (text.get(1..near).filter(|_| text.starts_with('<'))?, near + 1);
    if let Some(name) = tag.strip_prefix("function=") {
        return Some(("function", name.trim_matches(['"', ' ']), end));
    }
    let (head, name) = tag.split_once(" name=")?;
    let plain = head.rsplit([':', '｜']).next()?;
    let kind = ["invoke", "function"].into_iter().find(|kind| *kind == plain)?;
    Some((kind, name.trim().trim_matches(['"', '\'']), end))
}

/// `<function=NAME>` or `<invoke name="NAME">` with parameters, or with a JSON object inside.
fn xml_call(text: &str) -> Option<((String, String), usize)> {
    let (kind, name, open) = xml_opening(text)?;
    let prefix = text[1..].split_once(kind)?.0;
    let close = format!("</{prefix}{kind}>");
    let mut arguments = Map::new();
    let mut at = open;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if rest.is_empty() || rest.starts_with(&close) {
            at += close.len().min(rest.len());
            break;
        }
        if rest.starts_with('{') && arguments.is_empty() {
            let (Value::Object(object), end) = json_value(rest)? else { return None };
            arguments = object;
            at += end;
            continue;
        }
        let (key, value, end) = xml_parameter(rest, prefix)?;
        arguments.insert(key.to_owned(), value);
        at += end;
    }
    Some(((name.to_owned(), Value::Object(arguments).to_string()), at))
}

/// `<parameter=KEY>…</parameter>` or `<parameter name="KEY">…</parameter>`: key, value and length.
fn xml_parameter<'a>(text: &'a str, prefix: &str) -> Option<(&'a str, Value, usize)> {
    let open = text.find('>')?;
    let tag = text[..open].strip_prefix('<')?.strip_prefix(prefix)?.strip_prefix("parameter")?;
    let (as_string, key) = match tag.strip_prefix('=') {
        Some(key) => (false, key),
        None => {
            let (key, more) = tag.trim_start().strip_prefix("name=\"")?.split_once('"')?;
            (more.contains("string=\"true\""), key)
        }
    };
    let close = format!("</{prefix}parameter>");
    let length = text[open + 1..].find(&close)?;
    let value = &text[open + 1..open + 1 + length];
    let value = if as_string { Value::String(value.to_owned()) } else { scalar(value) };
    Some((key.trim_matches(['"', ' ']), value, open + 1 + length + close.len()))
}

/// A number or a truth value as such, everything else as text, without the line ends that frame it.
fn scalar(text: &str) -> Value {
    let text = text.strip_prefix('\n').unwrap_or(text);
    let text = text.strip_suffix('\n').unwrap_or(text);
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Nothing but white space and the tags that surround calls.
fn is_filler(text: &str) -> bool {
    let mut rest = text.trim();
    while !rest.is_empty() {
        let Some(inner) = rest.strip_prefix('<') else { return false };
        let Some((tag, after)) = inner.split_once('>') else { return false };
        let words = [
            "function_calls",
            "tool_call",
            "tool_calls",
            "tool▁call",
            "eom_id",
            "eot_id",
            "im_end",
        ];
        if !words.iter().any(|word| tag.contains(word)) {
            return false;
        }
        rest = after.trim_start();
    }
    true
}

/// Behind a call that began in the middle of a line, only more calls may come.
fn ends_answer(rest: &str, tool_names: &[&str]) -> bool {
    let mut rest = rest;
    for _ in 0..MAX_OPENINGS {
        let Some(start) = next_opening(rest, 0) else { break };
        let Some((_, end)) = parse_call(&rest[start..], tool_names) else { return false };
        if !is_filler(&rest[..start]) {
            return false;
        }
        rest = &rest[start + end..];
    }
    is_filler(rest)
}

/// Where text is shown rather than said: fenced blocks, backticks, quotations.
fn shown_ranges(content: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut fence: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in content.split_inclusive('\n') {
        let text = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|marker| text.starts_with(marker));
        match (fence, marker) {
            (Some((open, start)), Some(marker)) if open == marker && closes(text, marker) => {
                ranges.push(start..at + line.len());
                fence = None;
            }
            (Some(_), _) => {}
            (None, Some(marker)) => fence = Some((marker, at)),
            (None, None) if text.starts_with('>') => ranges.push(at..at + line.len()),
            (None, None) => inline_code(line, at, &mut ranges),
        }
        at += line.len();
    }
    ranges.extend(fence.map(|(_, start)| start..content.len()));
    ranges
}

/// Nothing follows the marker, or a token that closes a call.
fn closes(line: &str, marker: &str) -> bool {
    let rest = line.trim_start_matches(&marker[..1]);
    rest.is_empty() || rest.starts_with('<')
}

/// Backticks that are closed on their line.
fn inline_code(line: &str, offset: usize, ranges: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(start) = line[at..].find('`').map(|found| at + found) {
        let ticks = line[start..].bytes().take_while(|byte| *byte == b'`').count();
        let (marker, inner) = line[start..].split_at(ticks);
        let Some(length) = inner.find(marker) else { return };
        at = start + ticks + length + ticks;
        ranges.push(offset + start..offset + at);
    }
}

#[cfg(test)]
mod tests;
