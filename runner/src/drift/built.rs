//! What a build left behind: `.autocode/src/NAME/.built` holds the hash of the module and of the source it came from,
//! so that both can be told to have changed since, on any machine.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files;
use crate::project::Project;

/// How a module relates to its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Build {
    AsBuilt,
    ModuleChanged,
    SourceNewer,
    NoSource,
}

#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    module: String,
    source: String,
}

/// Source files that are looked at; what compilers leave behind is not source.
const FILES: usize = 2000;
const LARGEST: u64 = 16 << 20;
const MODULE: u64 = 256 << 20;
const LEFT_BEHIND: [&str; 2] = ["target", "node_modules"];

/// Notes that `tools/NAME.wasm` was just built from `src/NAME/`.
///
/// # Errors
/// When either cannot be read or the note not be written.
pub fn record(project: &Project, name: &str) -> io::Result<()> {
    let record = now(project, name)
        .ok_or_else(|| io::Error::other("the module or its source cannot be read"))?;
    if files::is_link(&mark(project, name)) {
        return Err(io::Error::other("the note's place is a link"));
    }
    files::write_whole(&mark(project, name), &serde_json::to_string(&record)?, 0o644)
}

pub(super) fn state(project: &Project, name: &str) -> Build {
    let source = project.sources().join(name);
    if !source.is_dir() || files::is_link(&source) {
        return Build::NoSource;
    }
    let noted = files::read_inside(project.root(), &mark(project, name), files::SMALL);
    let noted: Option<Record> =
        noted.ok().flatten().and_then(|text| serde_json::from_str(&text).ok());
    match (noted, now(project, name)) {
        (Some(noted), Some(now)) if noted == now => Build::AsBuilt,
        (Some(noted), Some(now)) if noted.source == now.source => Build::ModuleChanged,
        _ => Build::SourceNewer,
    }
}

fn mark(project: &Project, name: &str) -> PathBuf {
    project.sources().join(name).join(".built")
}

fn now(project: &Project, name: &str) -> Option<Record> {
    let mut module = Sha256::new();
    add(&mut module, &project.tools().join(format!("{name}.wasm")), MODULE)?;
    let root = project.sources().join(name);
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    let mut source = Sha256::new();
    for file in files {
        source.update(file.strip_prefix(&root).ok()?.as_os_str().as_encoded_bytes());
        source.update([0]);
        add(&mut source, &file, LARGEST)?;
    }
    Some(Record {
        module: format!("{:x}", module.finalize()),
        source: format!("{:x}", source.finalize()),
    })
}

/// Files below `dir` that are source; `None` when there are more than anyone writes. Links are not followed.
fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Option<()> {
    for entry in dir.read_dir().ok()?.flatten() {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else { continue };
        if name.as_encoded_bytes().starts_with(b".") || LEFT_BEHIND.iter().any(|left| name == *left)
        {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
        if files.len() > FILES {
            return None;
        }
    }
    Some(())
}

fn add(sum: &mut Sha256, path: &Path, limit: u64) -> Option<()> {
    let mut file = files::open_file(path, limit).ok()?;
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece).ok()? {
            0 => return Some(()),
            n => sum.update(&piece[..n]),
        }
    }
}
