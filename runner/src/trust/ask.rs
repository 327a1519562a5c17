//! What the person is shown before they say yes: everything that would be obeyed, the dangerous parts whole.
//!
//! The text is a stranger's: whoever prints it sanitises it.

use super::snapshot::{Snapshot, is_shipped};
use crate::config;
use crate::files;
use crate::project::Project;

/// Lines of one file that are shown.
const LINES: usize = 40;
/// Characters of one line that are shown.
const WIDTH: usize = 400;

/// What would be obeyed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// One a file.
    pub items: Vec<Item>,
}

/// A file and what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its name in `.autocode/`.
    pub file: String,
    /// What it is in a few words.
    pub what: &'static str,
    /// Its content as far as it matters.
    pub lines: Vec<String>,
}

impl Asked {
    pub(super) fn all(project: &Project, now: &Snapshot) -> Self {
        // What autocode itself ships says nothing of where the project came from.
        let strange = now.names().filter(|name| !is_shipped(project, name));
        Self { items: strange.map(|name| item(project, name)).collect() }
    }

    pub(super) fn some(project: &Project, now: &Snapshot, names: &[String]) -> Self {
        let one = |name: &String| {
            if now.names().any(|there| there == name) {
                item(project, name)
            } else {
                Item { file: name.clone(), what: "is gone", lines: Vec::new() }
            }
        };
        Self { items: names.iter().map(one).collect() }
    }

    /// The files in `tools/` among them.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| item.file.strip_prefix("tools/"))
    }

    /// Whether tools or their grants are among them.
    pub fn has_tools(&self) -> bool {
        self.tools().next().is_some()
    }

    /// Plain text for a terminal: a line a file, its content indented.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for Item { file, what, lines } in &self.items {
            text.push_str(&format!(".autocode/{file} {what}\n"));
            for line in lines {
                text.push_str(&format!("    {line}\n"));
            }
        }
        text
    }

    /// One line: the files by name.
    pub fn summary(&self) -> String {
        const NAMED: usize = 6;
        let names: Vec<&str> =
            self.items.iter().take(NAMED).map(|item| item.file.as_str()).collect();
        let more = self.items.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("{}{more}", names.join(", "))
    }
}

fn item(project: &Project, name: &str) -> Item {
    let path = project.file(name);
    let text = || files::read_inside(project.root(), &path, files::SMALL);
    let (what, lines) = match name {
        "config.json" => ("sets", config::described(project)),
        "prompt.md" => ("is the system prompt", shown(text())),
        "compact.md" => ("says how to summarise", shown(text())),
        tool if tool.ends_with(".grants.json") => ("grants a tool", shown(text())),
        _ => ("is a tool", tool(&path)),
    };
    Item { file: name.to_owned(), what, lines }
}

fn shown(text: Result<Option<String>, files::ReadProblem>) -> Vec<String> {
    let text = match text {
        Ok(text) => text.unwrap_or_default(),
        Err(problem) => return vec![problem.to_string()],
    };
    let mut lines: Vec<String> = text.lines().take(LINES).map(cut).collect();
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        lines.push(format!("… +{more} lines"));
    }
    lines
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}… +{} characters", &line[..end], line[end..].chars().count()),
        None => line.to_owned(),
    }
}

fn tool(path: &std::path::Path) -> Vec<String> {
    let size = path.metadata().map(|m| format!("{} bytes", m.len()));
    let link = std::fs::read_link(path).map(|to| format!("a link to {}", to.display()));
    [size, link].into_iter().flatten().collect()
}
