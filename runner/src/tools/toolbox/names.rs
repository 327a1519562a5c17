//! Which file holds which name, and what stands in the `tools` array for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::slot::{Slot, State};
use crate::tools::ToolChange;
use crate::tools::wasm::{Broken, Phase, Tool, is_name};

/// One entry of the `tools` array.
pub(super) struct Entry {
    /// What the model calls it by.
    pub name: String,
    /// The file's name, and the place of its slot.
    pub file: String,
    pub slot: usize,
    /// A tool or a report.
    pub standing: Standing,
    /// The entry's JSON text.
    pub schema: String,
}

/// What an entry is.
pub(super) enum Standing {
    /// A tool.
    Ready(Arc<Tool>),
    /// The report of a file that is none.
    Broken(Broken),
}

/// The entries for these files. A name that a file holds (`held`: name to file) stays its own; others get theirs in the
/// order of first load.
pub(super) fn assign(
    slots: &[Slot],
    held: &HashMap<String, String>,
    shown: impl Fn(&Slot) -> String,
) -> Vec<Entry> {
    let wanted: Vec<Option<Result<String, Broken>>> = slots.iter().map(wanted).collect();
    let mut holder: HashMap<&str, usize> = HashMap::new();
    for keeps in [true, false] {
        for (index, name) in wanted.iter().enumerate() {
            if let Some(Ok(name)) = name
                && (held.get(name) == Some(&slots[index].file)) == keeps
            {
                holder.entry(name).or_insert(index);
            }
        }
    }
    let mut taken: HashSet<String> = holder.keys().map(|name| (*name).to_owned()).collect();
    taken.insert("bash".into());
    let mut entries = Vec::new();
    for (index, (slot, wanted)) in slots.iter().zip(&wanted).enumerate() {
        let standing = match (wanted, &slot.state) {
            (None, _) => continue,
            (Some(Ok(name)), State::Ready(tool)) => match holder.get(name.as_str()) {
                Some(&other) if other != index => {
                    Standing::Broken(duplicate(name, &shown(&slots[other])))
                }
                _ => Standing::Ready(tool.clone()),
            },
            (Some(Err(broken)), _) => Standing::Broken(broken.clone()),
            (Some(Ok(_)), _) => continue,
        };
        let name = match (&standing, wanted) {
            (Standing::Ready(_), Some(Ok(name))) => name.clone(),
            _ => stand_in(&slot.stem, &mut taken),
        };
        let schema = match &standing {
            Standing::Ready(tool) => {
                render(&name, &tool.description.description, tool.description.parameters.get())
            }
            Standing::Broken(broken) => {
                render(&name, &broken.report(&shown(slot)), r#"{"type":"object","properties":{}}"#)
            }
        };
        entries.push(Entry { name, file: slot.file.clone(), slot: index, standing, schema });
    }
    entries
}

/// The name that a file is to have, or why it gets none; nothing while it is not loaded.
fn wanted(slot: &Slot) -> Option<Result<String, Broken>> {
    match &slot.state {
        State::Unknown => None,
        State::Broken(broken) => Some(Err(broken.clone())),
        State::Ready(tool) => {
            let name = tool.description.name.as_ref().unwrap_or(&slot.stem);
            Some(match name.as_str() {
                "bash" => {
                    Err(Broken::new(Phase::Schema, "the name `bash` is taken by the built-in tool")
                        .hint("rename the file, or give the tool another name in its schema"))
                }
                name if is_name(name) => Ok(name.to_owned()),
                name => Err(Broken::new(Phase::Schema, format!("`{name}` is not a tool's name"))
                    .hint(
                        "rename the file: a lowercase letter, then at most 63 of a-z, 0-9, _ and -",
                    )),
            })
        }
    }
}

fn duplicate(name: &str, holder: &str) -> Broken {
    Broken::new(Phase::Schema, format!("the name `{name}` is taken by {holder}"))
        .hint("give one of the two another name, or remove it")
}

/// A free name for a file that has none of its own.
fn stand_in(stem: &str, taken: &mut HashSet<String>) -> String {
    let mut base: String = stem
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| {
            if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-' {
                c
            } else {
                '_'
            }
        })
        .take(56)
        .collect();
    if !base.starts_with(|c: char| c.is_ascii_lowercase()) {
        base.insert_str(0, "tool_");
    }
    let numbered = (2u32..).map(|number| format!("{base}_{number}"));
    let name = std::iter::once(base.clone())
        .chain(numbered)
        .find(|name| !taken.contains(name))
        .unwrap_or(base);
    taken.insert(name.clone());
    name
}

fn render(name: &str, description: &str, parameters: &str) -> String {
    let description = serde_json::Value::from(description);
    format!(
        r#"{{"type":"function","function":{{"name":"{name}","description":{description},"parameters":{parameters}}}}}"#
    )
}

/// What changed between two sets of entries.
pub(super) fn compare(old: &[Entry], new: &[Entry]) -> Vec<ToolChange> {
    let before: HashMap<&str, &Entry> =
        old.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let after: HashSet<&str> = new.iter().map(|entry| entry.name.as_str()).collect();
    let mut changes: Vec<ToolChange> = old
        .iter()
        .filter(|entry| !after.contains(entry.name.as_str()))
        .map(|entry| ToolChange::Removed(entry.name.clone()))
        .collect();
    for entry in new {
        let name = || entry.name.clone();
        let change =
            match (before.get(entry.name.as_str()).map(|old| &old.standing), &entry.standing) {
                (None, Standing::Ready(_)) => Some(ToolChange::Added(name())),
                (Some(Standing::Ready(old)), Standing::Ready(new)) => {
                    (old.hash != new.hash).then(|| ToolChange::Updated(name()))
                }
                (Some(Standing::Broken(_)), Standing::Ready(_)) => {
                    Some(ToolChange::Updated(name()))
                }
                (Some(Standing::Broken(old)), Standing::Broken(new)) if old == new => None,
                (_, Standing::Broken(broken)) => Some(ToolChange::Broken(name(), broken.line())),
            };
        changes.extend(change);
    }
    changes
}
