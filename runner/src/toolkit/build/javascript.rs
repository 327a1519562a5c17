//! JavaScript: the engine that autocode carries and the script, joined.

use std::fs;
use std::path::Path;

use super::super::place::ToolName;
use super::super::{Language, Result, ToolkitError};
use crate::tools::wasm::javascript;

pub(super) fn build(name: &ToolName, source: &Path) -> Result<Vec<u8>> {
    let entry = Language::JavaScript.entry();
    // The path as errors of the script show it.
    let shown = format!(".autocode/src/{name}/{entry}");
    let bytes = fs::read(source.join(entry))
        .map_err(|error| ToolkitError::io(format_args!("cannot read {shown}"), &error))?;
    let script = String::from_utf8(bytes)
        .map_err(|_| ToolkitError::Failed(format!("{shown} is not UTF-8")))?;
    module(&script, &shown).map_err(|error| ToolkitError::Failed(format!("{shown}: {error}")))
}

/// A module of a script that is called `shown` in the lines of its errors.
pub(in super::super) fn module(
    script: &str,
    shown: &str,
) -> std::result::Result<Vec<u8>, javascript::JoinError> {
    if script.trim().is_empty() {
        return Err(javascript::JoinError::Empty);
    }
    let named = format!("{}\n//# sourceURL={shown}\n", script.trim_end());
    javascript::join(javascript::ENGINE, &named)
}
