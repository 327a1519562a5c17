//! What is known of a project's tools between runs, so that an unchanged tool is not opened before it is called.
//!
//! One file per project in the user's cache, in the order in which the tools were first loaded: the `tools` array of a
//! new session begins like the last one's. Losing it costs time, nothing else.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::cache::{Cache, ContentHash};
use super::describe::Description;
use super::scan::Stamp;

/// One known tool.
#[derive(Clone, Debug, PartialEq)]
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

/// The same in the file.
#[derive(Serialize, Deserialize)]
struct Row<'a> {
    file: &'a str,
    stamp: Stamp,
    hash: [u8; 32],
    name: Option<&'a str>,
    description: &'a str,
    parameters: &'a str,
}

impl<'a> Row<'a> {
    fn of(known: &'a Known) -> Self {
        let tool = &known.tool;
        Self {
            file: &known.file,
            stamp: known.stamp,
            hash: known.hash.bytes(),
            name: tool.name.as_deref(),
            description: &tool.description,
            parameters: tool.parameters.get(),
        }
    }

    fn known(self) -> Option<Known> {
        let tool = Description {
            name: self.name.map(str::to_owned),
            description: self.description.to_owned(),
            parameters: RawValue::from_string(self.parameters.to_owned()).ok()?,
        };
        let hash = ContentHash::from_bytes(self.hash);
        Some(Known { file: self.file.to_owned(), stamp: self.stamp, hash, tool })
    }
}

/// What is known of the tools in `dir`; nothing, when that cannot be read.
pub(crate) fn load(cache: &Cache, dir: &Path) -> Vec<Known> {
    cache.index(dir).and_then(|bytes| read(&bytes)).unwrap_or_default()
}

/// The rows one by one, as they stand behind their number.
fn read(bytes: &[u8]) -> Option<Vec<Known>> {
    let (count, mut rest) = postcard::take_from_bytes::<usize>(bytes).ok()?;
    // A row has more than one byte.
    let mut all = Vec::with_capacity(count.min(bytes.len()));
    for _ in 0..count {
        let (row, after) = postcard::take_from_bytes::<Row<'_>>(rest).ok()?;
        rest = after;
        all.push(row.known()?);
    }
    Some(all)
}

/// Keeps what is known of the tools in `dir`.
pub(crate) fn save(cache: &Cache, dir: &Path, tools: &[Known]) {
    let rows: Vec<Row<'_>> = tools.iter().map(Row::of).collect();
    if let Ok(bytes) = postcard::to_allocvec(&rows) {
        cache.keep_index(dir, &bytes);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_comes_back_and_what_is_damaged_is_not_known() {
        let home = tempfile::tempdir().unwrap();
        let cache = Cache::new(home.path());
        let dir = Path::new("/p/.autocode/tools");
        assert_eq!(load(&cache, dir), []);
        let known = Known {
            file: "one.wasm".into(),
            stamp: Stamp::Unreadable(2),
            hash: ContentHash::of(b"x"),
            tool: Description::parse(
                r#"{"description": "Does.", "parameters": {"type": "object"}}"#,
            )
            .unwrap(),
        };
        save(&cache, dir, std::slice::from_ref(&known));
        assert_eq!(load(&cache, dir), [known]);
        cache.keep_index(dir, b"\x05damaged");
        assert_eq!(load(&cache, dir), []);
    }
}
