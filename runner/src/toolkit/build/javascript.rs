//! JavaScript: the engine that autocode carries and the script, joined.

use std::fs;
use std::path::Path;

use super::super::place::ToolName;
use super::super::{Language, Result, ToolkitError};
use crate::tools::wasm::{Broken, javascript};

/// The script's path as its errors show it.
fn shown(name: &ToolName) -> String {
    format!(".autocode/src/{name}/{}", Language::JavaScript.entry())
}

pub(super) fn build(name: &ToolName, source: &Path) -> Result<Vec<u8>> {
    let entry = Language::JavaScript.entry();
    let shown = shown(name);
    let bytes = fs::read(source.join(entry))
        .map_err(|error| ToolkitError::io(format_args!("cannot read {shown}"), &error))?;
    let script = String::from_utf8(bytes)
        .map_err(|_| ToolkitError::Failed(format!("{shown} is not UTF-8")))?;
    module(&script, &shown).map_err(|error| ToolkitError::Failed(format!("{shown}: {error}")))
}

/// A module of a script that is called `shown` in the lines of its errors.
fn module(script: &str, shown: &str) -> std::result::Result<Vec<u8>, javascript::JoinError> {
    if script.trim().is_empty() {
        return Err(javascript::JoinError::Empty);
    }
    let named = format!("{}\n//# sourceURL={shown}\n", script.trim_end());
    javascript::join(javascript::engine(), &named)
}

/// Why a script does not load, beginning with the place as compilers name it, and with the line itself.
pub(super) fn explain(broken: &Broken, name: &ToolName, source: &Path) -> String {
    let shown = shown(name);
    let Some((line, column)) = place(&broken.cause, &shown) else {
        return format!("{shown}: {}", broken.cause);
    };
    let cause = broken.cause.lines().next().unwrap_or_default();
    let script = fs::read_to_string(source.join(Language::JavaScript.entry())).unwrap_or_default();
    let text = script.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // A minified line helps nobody.
    let context = if text.is_empty() || text.chars().count() > 200 {
        String::new()
    } else {
        let gutter = line.to_string();
        let indent: String = text
            .chars()
            .take(column.saturating_sub(1))
            .map(|c| if c == '\t' { '\t' } else { ' ' })
            .collect();
        format!("\n{gutter} | {text}\n{:width$} | {indent}^", "", width = gutter.len())
    };
    format!("{shown}:{line}:{column}: {cause}{context}")
}

/// The first `shown:LINE:COLUMN` in the lines of an error.
fn place(cause: &str, shown: &str) -> Option<(usize, usize)> {
    let after = cause.split(shown).nth(1)?.strip_prefix(':')?;
    let mut numbers = after.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
