//! What the person has allowed for good: commands and tools, for the session or for the project.
//!
//! A rule is compared with each simple command word by word, never with the line as a string. Rules of a project are
//! kept in the user's config directory: the project itself cannot bring any.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::line::{Deed, Run};
use super::word::Word;
use crate::env::Env;
use crate::files;

/// One thing that is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// This command with exactly these words; assignments before it are words too.
    Exactly(Vec<String>),
    /// Commands that begin with these words, whatever follows.
    Starting(Vec<String>),
    /// Writing to this file.
    Write(String),
    /// Setting this variable to this value, `NAME=value`.
    Set(String),
    /// This tool.
    Tool(String),
}

impl Rule {
    /// How a person reads it.
    pub fn shown(&self) -> String {
        match self {
            Self::Exactly(words) => words.join(" "),
            Self::Starting(words) => format!("{} …", words.join(" ")),
            Self::Write(file) => format!("> {file}"),
            Self::Set(assignment) => assignment.clone(),
            Self::Tool(name) => format!("the tool {name}"),
        }
    }

    fn allows(&self, deed: &Deed) -> bool {
        match (self, deed) {
            (Self::Exactly(words), Deed::Run(run)) => exact(run).as_ref() == Some(words),
            (Self::Starting(words), Deed::Run(run)) => {
                run.sets.is_empty()
                    && run.words.len() >= words.len()
                    && words.iter().zip(&run.words).all(|(rule, word)| known(word) == Some(rule))
            }
            (Self::Write(file), Deed::Write(word)) | (Self::Set(file), Deed::Set(word)) => {
                known(word) == Some(file)
            }
            _ => false,
        }
    }

    /// The rule that allows this deed and nothing else; none for what is not known in advance.
    pub(super) fn exactly(deed: &Deed) -> Option<Self> {
        match deed {
            Deed::Run(run) => exact(run).map(Self::Exactly),
            Deed::Write(word) => known(word).map(|text| Self::Write(text.to_owned())),
            Deed::Set(word) => known(word).map(|text| Self::Set(text.to_owned())),
            Deed::Unclear(_) => None,
        }
    }

    /// A rule for all uses of the same subcommand, where programs have them and the name tells what they do.
    pub(super) fn broadly(deed: &Deed) -> Option<Self> {
        const MANY: [&str; 14] = [
            "bun", "cargo", "deno", "docker", "dotnet", "go", "gradle", "just", "make", "npm",
            "pnpm", "poetry", "uv", "yarn",
        ];
        const DEEPER: [&str; 4] = ["run", "tool", "compose", "mod"];
        let Deed::Run(run) = deed else { return None };
        let name = |at: usize| known(run.words.get(at)?).filter(|text| !text.starts_with('-'));
        let program = name(0).filter(|name| run.sets.is_empty() && MANY.contains(name))?;
        let sub = name(1)?;
        let mut words = vec![program.to_owned(), sub.to_owned()];
        if DEEPER.contains(&sub) {
            words.push(name(2)?.to_owned());
        }
        Some(Self::Starting(words))
    }
}

fn known(word: &Word) -> Option<&str> {
    word.text().filter(|_| !word.is_loose())
}

fn exact(run: &Run) -> Option<Vec<String>> {
    run.sets.iter().chain(&run.words).map(|word| known(word).map(str::to_owned)).collect()
}

/// The rules in force.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    session: Vec<Rule>,
    project: Vec<Rule>,
}

/// Rules by the project's directory.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
struct Kept(BTreeMap<String, Vec<Rule>>);

impl Rules {
    /// Those kept for the project at `root`. A file that cannot be read allows nothing.
    pub fn load(env: &Env, root: &Path) -> Self {
        let mut kept = read(env).unwrap_or_default();
        let project = root.to_str().and_then(|root| kept.0.remove(root)).unwrap_or_default();
        Self { session: Vec::new(), project }
    }

    /// Allows more for this session.
    pub fn allow(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.session.extend(rules);
    }

    /// Allows more for this project, from now on.
    ///
    /// # Errors
    /// When the file cannot be written; the rules hold for the session all the same.
    pub fn keep(&mut self, rules: Vec<Rule>, env: &Env, root: &Path) -> io::Result<()> {
        self.project.extend(rules);
        let root =
            root.to_str().ok_or_else(|| io::Error::other("the project's path is not UTF-8"))?;
        let mut kept = read(env)?;
        let there = kept.0.entry(root.to_owned()).or_default();
        let new: Vec<Rule> =
            self.project.iter().filter(|rule| !there.contains(rule)).cloned().collect();
        there.extend(new);
        files::write_whole(&path(env), &serde_json::to_string_pretty(&kept)?, 0o600)
    }

    /// Whether a rule allows it.
    pub(super) fn allow_deed(&self, deed: &Deed) -> bool {
        self.all().any(|rule| rule.allows(deed))
    }

    pub(super) fn allow_tool(&self, name: &str) -> bool {
        self.all().any(|rule| matches!(rule, Rule::Tool(tool) if tool == name))
    }

    /// All of them, for showing.
    pub fn all(&self) -> impl Iterator<Item = &Rule> {
        self.session.iter().chain(&self.project)
    }
}

fn path(env: &Env) -> std::path::PathBuf {
    env.config_dir.join("approvals.json")
}

fn read(env: &Env) -> io::Result<Kept> {
    let text = files::read_small(&path(env), files::SMALL)
        .map_err(|e| io::Error::other(format!("{} {e}", env.short(&path(env)))))?;
    match text {
        None => Ok(Kept::default()),
        Some(text) => serde_json::from_str(&text).map_err(io::Error::other),
    }
}
