//! What is in `.autocode/` that would be obeyed: settings, prompts, tools and their grants, each with its content's
//! hash. A file whose stamp is the one of last time is not read again.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files::{self, Stamp};
use crate::pristine;
use crate::project::Project;

/// More than a module that loads.
const LARGEST: u64 = 256 << 20;

/// Files by their name in `.autocode/`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Snapshot(BTreeMap<String, Content>);

/// In the record one text, the hash last, for it may be a sentence: the record is read at each start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
struct Content {
    hash: String,
    stamp: Option<Stamp>,
}

impl From<Content> for String {
    fn from(content: Content) -> Self {
        let stamp = content.stamp.map(|stamp| stamp.text()).unwrap_or_default();
        format!("{stamp} {}", content.hash)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        let (stamp, hash) = text.split_once(' ').unwrap_or(("", &text));
        Self { hash: hash.to_owned(), stamp: Stamp::parse(stamp) }
    }
}

impl Snapshot {
    /// The project's state now; hashes of files with an old stamp are taken from `before`.
    pub(super) fn of(project: &Project, before: Option<&Self>) -> Self {
        let mut names: Vec<String> =
            ["config.json", "prompt.md", "compact.md"].map(str::to_owned).into();
        names.extend(tool_files(project));
        let known = |name: &str, stamp: Option<Stamp>| {
            let content = before?.0.get(name)?;
            (stamp.is_some_and(|s| !s.is_fresh()) && content.stamp == stamp)
                .then(|| content.hash.clone())
        };
        let files = names.into_iter().filter_map(|name| {
            let path = project.file(&name);
            let stamp = Stamp::of(&path);
            if stamp.is_none() && !files::is_link(&path) {
                return None;
            }
            let hash = known(&name, stamp).unwrap_or_else(|| hash(project.root(), &path));
            Some((name, Content { hash, stamp }))
        });
        Self(files.collect())
    }

    /// Names of the files in it.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Names of files that are new, different or gone since `before`.
    pub(super) fn differences(&self, before: &Self) -> Vec<String> {
        let hash =
            |snapshot: &Self, name: &str| snapshot.0.get(name).map(|content| content.hash.clone());
        let mut names: Vec<&str> = self.names().chain(before.names()).collect();
        names.sort_unstable();
        names.dedup();
        names
            .into_iter()
            .filter(|name| hash(self, name) != hash(before, name))
            .map(str::to_owned)
            .collect()
    }

    /// Whether there is nothing but what autocode itself ships.
    pub(super) fn is_pristine(&self, project: &Project) -> bool {
        self.names().all(|name| is_shipped(project, name))
    }
}

/// Whether a file is as autocode itself ships it.
pub(super) fn is_shipped(project: &Project, name: &str) -> bool {
    let shipped = match name {
        "config.json" => pristine::CONFIG,
        "prompt.md" => pristine::PROMPT,
        "compact.md" => pristine::COMPACT,
        _ => return false,
    };
    let text = files::read_inside(project.root(), &project.file(name), files::SMALL);
    matches!(text, Ok(Some(text)) if text == shipped)
}

/// `tools/NAME.wasm` and `tools/NAME.grants.json`, whatever they are.
fn tool_files(project: &Project) -> Vec<String> {
    let Ok(entries) = project.tools().read_dir() else { return Vec::new() };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names
        .filter(|name| name.ends_with(".wasm") || name.ends_with(".grants.json"))
        .map(|name| format!("tools/{name}"))
        .collect()
}

/// The content's hash, or what it is instead of a readable file.
fn hash(root: &Path, path: &Path) -> String {
    let inside = || Some(path.canonicalize().ok()?.starts_with(root.canonicalize().ok()?));
    if files::is_link(path) && inside() != Some(true) {
        return "a link out of the project".to_owned();
    }
    sum(path).unwrap_or_else(|e| e.to_string())
}

fn sum(path: &Path) -> Result<String, files::ReadProblem> {
    let mut file = files::open_file(path, LARGEST)?;
    let mut sum = Sha256::new();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece).map_err(files::ReadProblem::Io)? {
            0 => return Ok(format!("{:x}", sum.finalize())),
            n => sum.update(&piece[..n]),
        }
    }
}
