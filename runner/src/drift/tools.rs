//! Tools as people want to see them compared: which there are, whether they are as built, and what they may do.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::built::{self, Build};
use crate::files;
use crate::project::Project;

/// One tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolDrift {
    /// The stem of its files.
    pub name: String,
    /// The module's size, if there is a readable module.
    pub bytes: Option<u64>,
    /// What is worth knowing, a few words each.
    pub notes: Vec<String>,
    /// The text of its grants, on one line.
    pub grants: Option<String>,
}

/// Stands for all tools where the directory cannot be read; no file has such a stem.
pub(super) const BROKEN_DIR: &str = "tools/";

pub(super) fn drift(project: &Project) -> Vec<ToolDrift> {
    let dir = project.tools();
    let entries = match dir.read_dir() {
        Ok(_) if files::is_link(&dir) && leads_out(project.root(), &dir) => {
            return vec![broken_dir("is a link out of the project")];
        }
        Ok(entries) => entries,
        Err(_) if !dir.exists() && !files::is_link(&dir) => return Vec::new(),
        Err(e) => return vec![broken_dir(&files::reason(&e))],
    };
    let names: BTreeSet<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| {
            let stem = name.strip_suffix(".wasm").or_else(|| name.strip_suffix(".grants.json"))?;
            Some(stem.to_owned())
        })
        .collect();
    names.into_iter().map(|name| one(project, name)).collect()
}

fn broken_dir(problem: &str) -> ToolDrift {
    let notes = vec![format!("the directory cannot be used: {problem}")];
    ToolDrift { name: BROKEN_DIR.to_owned(), bytes: None, notes, grants: None }
}

fn leads_out(root: &Path, link: &Path) -> bool {
    let inside = || Some(link.canonicalize().ok()?.starts_with(root.canonicalize().ok()?));
    inside() != Some(true)
}

fn one(project: &Project, name: String) -> ToolDrift {
    let module = project.tools().join(format!("{name}.wasm"));
    let mut notes = Vec::new();
    let bytes = if files::is_link(&module) && leads_out(project.root(), &module) {
        notes.push("the module is a link out of the project".to_owned());
        None
    } else {
        match files::open_file(&module, u64::MAX).map(|file| file.metadata()) {
            Ok(metadata) => metadata.ok().map(|m| m.len()),
            Err(_) if !module.exists() && !files::is_link(&module) => {
                notes.push("grants without a module".to_owned());
                None
            }
            Err(problem) => {
                notes.push(format!("the module {problem}"));
                None
            }
        }
    };
    if bytes.is_some() {
        notes.push(
            match built::state(project, &name) {
                Build::AsBuilt => "as built from its source",
                Build::ModuleChanged => "changed since it was built here",
                Build::SourceNewer => "its source is newer: build it again",
                Build::NoSource => "has no source here",
            }
            .to_owned(),
        );
    }
    let grants = project.tools().join(format!("{name}.grants.json"));
    let grants = match files::read_inside(project.root(), &grants, files::SMALL) {
        Ok(text) => text.map(|text| one_line(&text)),
        Err(problem) => Some(format!("(the file {problem})")),
    };
    ToolDrift { name, bytes, notes, grants }
}

/// JSON without its line breaks; anything else by its first line.
fn one_line(text: &str) -> String {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) => value.to_string(),
        Err(_) => format!("(not JSON) {}", text.lines().next().unwrap_or_default()),
    }
}
