//! Drift as text: unified diff, statistics, JSON. Secrets masked; control characters made visible, since the text may
//! be a stranger's.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use super::tools::BROKEN_DIR;
use super::{Drift, FileState};
use crate::config::Key;
use crate::plain::visible;

/// Two long texts that have nothing in common are not compared to the end.
const PATIENCE: Duration = Duration::from_millis(500);

/// The state of a file whose text is `ours`; `None` when it is the shipped one.
pub(super) fn changed(file: &str, shipped: &str, ours: &str) -> Option<FileState> {
    if ours == shipped {
        return None;
    }
    let shown = if file == "config.json" { without_secrets(ours) } else { ours.to_owned() };
    let shown = visible(&shown);
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(shipped, &shown);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    Some(FileState::Changed {
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        diff: diff
            .unified_diff()
            .header(&format!("pristine/{file}"), &format!(".autocode/{file}"))
            .to_string(),
    })
}

impl Drift {
    /// The whole of it; with `colour` for a terminal.
    pub fn text(&self, colour: bool) -> String {
        let mut out = String::new();
        for file in &self.files {
            match &file.state {
                FileState::Changed { diff, .. } => {
                    diff.lines().for_each(|line| painted(&mut out, line, colour));
                }
                FileState::Broken { .. } => painted(
                    &mut out,
                    &format!("! {}", self::broken(file.file, &file.state)),
                    colour,
                ),
            }
        }
        for tool in &self.tools {
            painted(&mut out, &tool_line(tool), colour);
        }
        out
    }

    /// A line a file or tool.
    pub fn stat(&self, colour: bool) -> String {
        let mut out = String::new();
        for file in &self.files {
            let line = match &file.state {
                FileState::Changed { added, removed, .. } => {
                    format!(".autocode/{} +{added} −{removed} lines", file.file)
                }
                FileState::Broken { .. } => format!("! {}", broken(file.file, &file.state)),
            };
            painted(&mut out, &line, colour);
        }
        for tool in &self.tools {
            painted(&mut out, &tool_line(tool), colour);
        }
        out
    }

    /// One JSON object: `files` with their state, `tools`, and whether there is any `drift`.
    pub fn json(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(map) = &mut value {
            map.insert("drift".to_owned(), (!self.is_none()).into());
        }
        value.to_string()
    }
}

fn broken(file: &str, state: &FileState) -> String {
    let FileState::Broken { problem } = state else { return String::new() };
    let place = if file.is_empty() { ".autocode".to_owned() } else { format!(".autocode/{file}") };
    format!("{place} {}; what comes with autocode is used instead", visible(problem))
}

fn tool_line(tool: &super::ToolDrift) -> String {
    let mut line = match tool.name.as_str() {
        BROKEN_DIR => "! .autocode/tools".to_owned(),
        name => format!("+ .autocode/tools/{name}"),
    };
    if let Some(bytes) = tool.bytes {
        let _ = write!(line, " {} KiB", bytes.div_ceil(1024));
    }
    let grants = tool.grants.as_ref().map(|grants| format!("grants {grants}"));
    for note in tool.notes.iter().chain(&grants) {
        let _ = write!(line, " · {note}");
    }
    visible(&line)
}

fn painted(out: &mut String, line: &str, colour: bool) {
    let code = match line.as_bytes().first() {
        _ if !colour => None,
        Some(b'+') if line.starts_with("+++") => Some("1"),
        Some(b'-') if line.starts_with("---") => Some("1"),
        Some(b'+') => Some("32"),
        Some(b'-') => Some("31"),
        Some(b'@') => Some("36"),
        Some(b'!') => Some("33"),
        _ => None,
    };
    match code {
        Some(code) => out.push_str(&format!("\u{1b}[{code}m{line}\u{1b}[0m\n")),
        None => {
            out.push_str(line);
            out.push('\n');
        }
    }
}

/// A config's text with the values of secret settings masked. Where it does not parse, everything that looks like a
/// key is.
fn without_secrets(text: &str) -> String {
    let Ok(Value::Object(settings)) = serde_json::from_str(text) else {
        return text.split_inclusive(|c: char| !is_key_like(c)).map(mask_word).collect();
    };
    let mut out = text.to_owned();
    for (name, value) in &settings {
        if let Some(key) = Key::named(name).filter(|key| key.secret) {
            for secret in strings(value) {
                let shown = key.shown(&Value::from(secret));
                // JSON has more than one way to write a character; the usual one is found, the rest is rewritten.
                let written = Value::from(secret).to_string();
                if shown == secret || secret.is_empty() {
                    continue;
                }
                if !out.contains(&written) {
                    return masked_whole(&settings);
                }
                out = out.replace(&written, &Value::from(shown).to_string());
            }
        }
    }
    out
}

fn masked_whole(settings: &serde_json::Map<String, Value>) -> String {
    let mut out = String::from("{\n");
    for (name, value) in settings {
        let shown = match Key::named(name) {
            Some(key) if key.secret => Value::from(key.shown(value)).to_string(),
            _ => value.to_string(),
        };
        let _ = writeln!(out, "  {}: {shown}", Value::from(name.as_str()));
    }
    out.push_str("}\n");
    out
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Object(map) => map.values().flat_map(strings).collect(),
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

fn is_key_like(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_+/=.".contains(c)
}

fn mask_word(word: &str) -> String {
    const SHORTEST: usize = 16;
    let body = word.trim_end_matches(|c: char| !is_key_like(c));
    let setting = Key::named(body).is_some();
    if body.len() < SHORTEST || setting {
        word.to_owned()
    } else {
        format!("•••{}", &word[body.len()..])
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_however_they_are_written() {
        let secret = "sk-abcdefghijklmnopqrstuvwxyz";
        let cases = [
            format!("{{\n  \"api_key\": \"{secret}\",\n  \"model\": \"m\"\n}}"),
            format!("{{\"api_key\": \"\\u0073{}\"}}", &secret[1..]),
            format!("{{\"headers\": {{\"Authorization\": \"Bearer {secret}\"}}}}"),
            format!("{{\"headers\": [\"{secret}\"]}}"),
            format!("{{\"api_key\": \"{secret}\""),
            format!("{{'api_key': {secret}, // mine\n"),
            format!("api_key: {secret}"),
        ];
        for text in cases {
            let shown = without_secrets(&text);
            assert!(!shown.contains("abcdefghijkl"), "{shown}");
        }
        let kept = "{\"api_key\": \"$OPENAI_API_KEY\", \"base_url\": \"http://localhost:8080/v1\"}";
        assert_eq!(without_secrets(kept), kept);
    }
}
