//! `trusted.json` in the user's config directory: which projects are obeyed, and in which state.
//!
//! A file that cannot be read trusts nothing. Writers take turns and replace the file whole.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::snapshot::Snapshot;
use crate::env::Env;
use crate::files;
use crate::git::Mark;
use crate::project::Project;

/// Room for hundreds of projects with as many tools.
const LIMIT: u64 = 32 << 20;

/// How a project came to be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Its `.autocode/` was made here.
    Here,
    /// It came from elsewhere, and the person approved it.
    Approved,
}

/// One row of `autocode trust --list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trusted {
    /// The project's directory.
    pub root: PathBuf,
    /// When it was trusted, RFC 3339.
    pub since: String,
    /// Why.
    pub origin: Origin,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) since: String,
    pub(super) origin: Origin,
    pub(super) git: Mark,
    pub(super) identity: Identity,
    /// Not looked into where nothing can have changed, and so in digits, which are skipped soonest.
    files: Box<RawValue>,
}

impl Entry {
    pub(super) fn new(
        env: &Env,
        origin: Origin,
        git: Mark,
        identity: Identity,
        files: &Snapshot,
    ) -> io::Result<Self> {
        Ok(Self { since: env.now().to_string(), origin, git, identity, files: packed(files)? })
    }

    /// What was trusted.
    pub(super) fn files(&self) -> Snapshot {
        unpacked(self.files.get()).unwrap_or_default()
    }

    /// The same with other files.
    pub(super) fn with_files(self, files: &Snapshot) -> io::Result<Self> {
        Ok(Self { files: packed(files)?, ..self })
    }

    /// The same at another time.
    pub(super) fn renewed(
        self,
        files: &Snapshot,
        git: Mark,
        identity: Identity,
    ) -> io::Result<Self> {
        Self { git, identity, ..self }.with_files(files)
    }
}

fn packed(files: &Snapshot) -> io::Result<Box<RawValue>> {
    let bytes = postcard::to_allocvec(files).map_err(io::Error::other)?;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    Ok(RawValue::from_string(format!("\"{}\"", digits.collect::<String>()))?)
}

fn unpacked(text: &str) -> Option<Snapshot> {
    let digits = text.strip_prefix('"')?.strip_suffix('"')?.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    postcard::from_bytes(&bytes?).ok()
}

/// Tells this `.autocode/` from a later one at the same path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Identity {
    inode: u64,
    born: Option<u64>,
}

impl Identity {
    pub(super) fn of(project: &Project) -> Self {
        let metadata = project.home().metadata().ok();
        let born =
            metadata.as_ref().and_then(|m| m.created().ok()?.duration_since(UNIX_EPOCH).ok());
        Self {
            inode: metadata.map_or(0, |m| m.ino()),
            born: born.and_then(|age| u64::try_from(age.as_millis()).ok()),
        }
    }
}

/// The file's content; entries other than the one asked for are never looked into.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Store {
    projects: BTreeMap<String, Box<RawValue>>,
}

impl Store {
    pub(super) fn read(env: &Env) -> Self {
        Self::parse(env).unwrap_or_default()
    }

    fn parse(env: &Env) -> Option<Self> {
        let text = files::read_small(&path(env), LIMIT).ok()??;
        serde_json::from_str(&text).ok()
    }

    pub(super) fn entry(&self, root: &Path) -> Option<Entry> {
        serde_json::from_str(self.projects.get(root.to_str()?)?.get()).ok()
    }

    pub(super) fn list(&self) -> Vec<Trusted> {
        let rows = self.projects.iter().filter_map(|(root, raw)| {
            let entry: Entry = serde_json::from_str(raw.get()).ok()?;
            Some(Trusted { root: root.into(), since: entry.since, origin: entry.origin })
        });
        rows.collect()
    }
}

/// What is wrong with the file.
pub(super) fn problem(env: &Env) -> Option<String> {
    let place = env.short(&path(env));
    let text = match files::read_small(&path(env), LIMIT) {
        Ok(text) => text?,
        Err(problem) => return Some(format!("{place} {problem}")),
    };
    let error = serde_json::from_str::<Store>(&text).err()?;
    Some(format!("{place} cannot be read: {error}"))
}

fn path(env: &Env) -> PathBuf {
    env.config_dir.join("trusted.json")
}

pub(super) fn put(env: &Env, root: &Path, entry: &Entry) -> io::Result<()> {
    let root = root.to_str().ok_or_else(|| io::Error::other("the project's path is not UTF-8"))?;
    let raw = serde_json::value::to_raw_value(entry)?;
    change(env, |projects| {
        projects.insert(root.to_owned(), raw);
        true
    })
    .map(|_| ())
}

pub(super) fn remove(env: &Env, root: &Path) -> io::Result<bool> {
    let Some(root) = root.to_str() else { return Ok(false) };
    change(env, |projects| projects.remove(root).is_some())
}

/// Changes the file if `change` says that it did something.
fn change(
    env: &Env,
    change: impl FnOnce(&mut BTreeMap<String, Box<RawValue>>) -> bool,
) -> io::Result<bool> {
    std::fs::create_dir_all(&env.config_dir)?;
    let lock =
        File::options().create(true).append(true).open(env.config_dir.join("trusted.lock"))?;
    lock.lock()?;
    let path = path(env);
    let mut store = match Store::parse(env) {
        Some(store) => store,
        None if !path.exists() && !files::is_link(&path) => Store::default(),
        None => {
            std::fs::rename(&path, env.config_dir.join("trusted.json.broken"))?;
            Store::default()
        }
    };
    if !change(&mut store.projects) {
        return Ok(false);
    }
    files::write_whole(&path, &serde_json::to_string(&store)?, 0o600)?;
    Ok(true)
}
