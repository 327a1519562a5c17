//! What is known of a project's tools between runs, so that an unchanged tool is not opened before it is called.
//!
//! One file per project in the user's cache, in the order in which the tools were first loaded: the `tools` array of a
//! new session begins like the last one's. Losing it costs time, nothing else.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cache::{Cache, ContentHash};
use super::describe::Description;
use super::scan::Stamp;

/// One known tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The file's name.
    pub file: String,
    /// As it was when it was read.
    pub stamp: Stamp,
    /// Of its bytes.
    pub hash: ContentHash,
    /// What it says of itself.
    pub tool: Description,
}

/// What is known of the tools in `dir`; nothing, when that cannot be read.
pub(crate) fn load(cache: &Cache, dir: &Path) -> Vec<Known> {
    cache.index(dir).and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

/// Keeps what is known of the tools in `dir`.
pub(crate) fn save(cache: &Cache, dir: &Path, tools: &[Known]) {
    if let Ok(text) = serde_json::to_vec(tools) {
        cache.keep_index(dir, &text);
    }
}
