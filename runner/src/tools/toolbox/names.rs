//! Which file holds which name, and what stands in the `tools` array for it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::slot::{Slot, State};
use crate::tools::ToolChange;
use crate::tools::wasm::{Broken, Description, Phase, Tool, is_name};

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
    Broken(Box<Broken>),
}

/// The entries for these files. A name that a file holds (`held`: name to file) stays its own; others get theirs in the
/// order of first load.
pub(super) fn assign(
    slots: &[Slot],
    held: &HashMap<&str, &str>,
    shown: impl Fn(&Slot) -> String,
) -> Vec<Entry> {
    let wanted: Vec<Option<Wanted<'_>>> = slots.iter().map(wanted).collect();
    let mut holder: HashMap<&str, usize> = HashMap::with_capacity(slots.len());
    for keeps in [true, false] {
        for (index, name) in wanted.iter().enumerate() {
            if let Some(Ok(name)) = name
                && (held.get(name) == Some(&slots[index].file.as_str())) == keeps
            {
                holder.entry(name).or_insert(index);
            }
        }
    }
    let mut stand_ins = StandIns { holder: &holder, given: HashSet::new() };
    let mut entries = Vec::with_capacity(slots.len());
    for (index, (slot, wanted)) in slots.iter().zip(&wanted).enumerate() {
        let broken = match (wanted, &slot.state) {
            (Some(Ok(name)), State::Ready(tool)) => match holder.get(name) {
                Some(&other) if other != index => Box::new(duplicate(name, &shown(&slots[other]))),
                _ => {
                    entries.push(Entry::ready(slot, index, name, tool.clone()));
                    continue;
                }
            },
            (Some(Err(broken)), _) => broken.clone(),
            (None | Some(Ok(_)), _) => continue,
        };
        let report = broken.report(&shown(slot));
        entries.push(Entry::broken(slot, index, stand_ins.next(&slot.stem), broken, &report));
    }
    entries
}

impl Entry {
    fn ready(slot: &Slot, index: usize, name: &str, tool: Arc<Tool>) -> Self {
        let Description { description, parameters, .. } = &tool.description;
        let schema = render(name, description, parameters.get());
        let (name, file) = (name.to_owned(), slot.file.clone());
        Self { name, file, slot: index, standing: Standing::Ready(tool), schema }
    }

    fn broken(slot: &Slot, index: usize, name: String, broken: Box<Broken>, report: &str) -> Self {
        let schema = render(&name, report, r#"{"type":"object","properties":{}}"#);
        let file = slot.file.clone();
        Self { name, file, slot: index, standing: Standing::Broken(broken), schema }
    }
}

/// A name, or why there is none.
type Wanted<'a> = Result<&'a str, Box<Broken>>;

/// The name that a file is to have, or why it gets none; nothing while it is not loaded.
fn wanted(slot: &Slot) -> Option<Wanted<'_>> {
    match &slot.state {
        State::Unknown => None,
        State::Broken(broken) => Some(Err(broken.clone())),
        State::Ready(tool) => {
            let name = tool.description.name.as_ref().unwrap_or(&slot.stem);
            Some(allowed(name).map_err(Box::new))
        }
    }
}

fn allowed(name: &str) -> Result<&str, Broken> {
    match name {
        "bash" => Err(Broken::new(Phase::Schema, "the name `bash` is taken by the built-in tool")
            .hint("rename the file, or give the tool another name in its schema")),
        name if is_name(name) => Ok(name),
        name => Err(Broken::new(Phase::Schema, format!("`{name}` is not a tool's name"))
            .hint("rename the file: a lowercase letter, then at most 63 of a-z, 0-9, _ and -")),
    }
}

fn duplicate(name: &str, holder: &str) -> Broken {
    Broken::new(Phase::Schema, format!("the name `{name}` is taken by {holder}"))
        .hint("give one of the two another name, or remove it")
}

/// Names for files that have none of their own.
struct StandIns<'a> {
    /// Names that tools have.
    holder: &'a HashMap<&'a str, usize>,
    given: HashSet<String>,
}

impl StandIns<'_> {
    /// A free one, like the file's.
    fn next(&mut self, stem: &str) -> String {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        let lower = stem.chars().map(|c| c.to_ascii_lowercase());
        let mut base: String = lower.map(|c| if fits(c) { c } else { '_' }).take(56).collect();
        if !base.starts_with(|c: char| c.is_ascii_lowercase()) {
            base.insert_str(0, "tool_");
        }
        let is_free = |name: &str| {
            name != "bash" && !self.holder.contains_key(name) && !self.given.contains(name)
        };
        let numbered = (2u32..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let name = names.find(|name| is_free(name)).unwrap_or(base);
        self.given.insert(name.clone());
        name
    }
}

fn render(name: &str, description: &str, parameters: &str) -> String {
    const AROUND: usize = 100;
    let mut out = String::with_capacity(name.len() + description.len() + parameters.len() + AROUND);
    let description = serde_json::to_string(description).unwrap_or_default();
    for part in [
        r#"{"type":"function","function":{"name":""#,
        name,
        r#"","description":"#,
        &description,
        r#","parameters":"#,
        parameters,
        "}}",
    ] {
        out.push_str(part);
    }
    out
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
