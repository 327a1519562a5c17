//! What is known of a project's tools between runs, so that an unchanged tool is not opened before it is called.
//!
//! One file per project in the user's cache, in the order in which the tools were first loaded: the `tools` array of a
//! new session begins like the last one's. Losing it costs time, nothing else.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cache::{Cache, ContentHash, replace};
use super::describe::Description;
use super::scan::Stamp;

/// Changes when what a description is checked for does: what was kept before counts no more.
const FORMAT: u32 = 1;

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

/// The known tools of one project.
#[derive(Serialize, Deserialize)]
pub(crate) struct Index {
    format: u32,
    tools: Vec<Known>,
}

impl Index {
    /// What is known of the tools in `dir`; nothing, when that cannot be read.
    pub fn load(cache: &Cache, dir: &Path) -> Vec<Known> {
        let text = cache.index(dir).ok().and_then(|path| std::fs::read(path).ok());
        let index: Option<Self> = text.and_then(|text| serde_json::from_slice(&text).ok());
        index.filter(|index| index.format == FORMAT).map(|index| index.tools).unwrap_or_default()
    }

    /// Keeps what is known.
    pub fn save(cache: &Cache, dir: &Path, tools: Vec<Known>) {
        let index = Self { format: FORMAT, tools };
        if let (Ok(path), Ok(text)) = (cache.index(dir), serde_json::to_vec(&index)) {
            _ = replace(&path, &text);
        }
    }
}
