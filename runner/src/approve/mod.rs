//! Which commands and tools are asked about before they run. Policy only: asking is the front end's business.
//!
//! Invariant: a line passes only if each simple command in it (in pipelines, lists, subshells, substitutions, function
//! bodies) and each redirection passes by itself. What cannot be read is asked about.

mod git;
mod harmless;
mod line;
mod rules;
mod word;

use std::path::Path;

use crate::config::Approve;
use line::Deed;
pub use rules::{Rule, Rules};

/// What is to happen with a command or tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Run,
    /// The person decides.
    Ask(Offer),
}

/// What the person can be offered besides yes and no.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Why it is asked about, a few words a reason: `runs rm`, `writes notes.txt`.
    pub why: Vec<String>,
    /// Rules that would let exactly this pass from now on; empty when there is no such rule.
    pub exactly: Vec<Rule>,
    /// Rules that would let this and its like pass; empty when there are none or they are the same.
    pub broadly: Vec<Rule>,
}

/// The person's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Run it this time.
    Yes,
    /// Do not run it; the words, if any, go to the model.
    No(Option<String>),
    /// Run it and whatever these rules allow, for the session.
    Session(Vec<Rule>),
    /// Run it and whatever these rules allow, in this project.
    Project(Vec<Rule>),
}

/// Judges a line for bash, to be run in `cwd`.
pub fn judge_command(
    line: &str,
    policy: Approve,
    rules: &Rules,
    root: &Path,
    cwd: &Path,
) -> Verdict {
    if policy == Approve::Never {
        return Verdict::Run;
    }
    let deeds = match line::deeds(line) {
        Ok(deeds) => deeds,
        Err(why) => return Verdict::Ask(Offer { why: vec![why.to_owned()], ..Offer::default() }),
    };
    let own_repository = !moves(&deeds) && git::is_own_repository(root, cwd);
    let passes = |deed: &&Deed| {
        (policy == Approve::Writes && is_harmless(deed, own_repository)) || rules.allow_deed(deed)
    };
    let asked: Vec<&Deed> = deeds.iter().filter(|deed| !passes(deed)).collect();
    if asked.is_empty() && !(policy == Approve::Always && deeds.is_empty()) {
        return Verdict::Run;
    }
    let exactly: Option<Vec<Rule>> = asked.iter().map(|deed| Rule::exactly(deed)).collect();
    let broadly: Option<Vec<Rule>> =
        asked.iter().map(|deed| Rule::broadly(deed).or_else(|| Rule::exactly(deed))).collect();
    let exactly = distinct(exactly.unwrap_or_default());
    let broadly = Some(distinct(broadly.unwrap_or_default()))
        .filter(|rules| *rules != exactly)
        .unwrap_or_default();
    Verdict::Ask(Offer {
        why: distinct(asked.iter().map(|deed| reason(deed)).collect()),
        exactly,
        broadly,
    })
}

/// Judges a call of a wasm tool. Within its sandbox a tool may write to the project.
pub fn judge_tool(name: &str, policy: Approve, rules: &Rules) -> Verdict {
    if policy == Approve::Never || rules.allow_tool(name) {
        return Verdict::Run;
    }
    let rule = vec![Rule::Tool(name.to_owned())];
    Verdict::Ask(Offer {
        why: vec![format!("calls the tool {name}")],
        exactly: rule,
        broadly: Vec::new(),
    })
}

/// The programs that a line runs, in order; `None` where that cannot be told.
#[must_use]
pub fn programs(line: &str) -> Option<Vec<String>> {
    let runs = line::deeds(line).ok()?.into_iter().filter_map(|deed| match deed {
        Deed::Run(run) => Some(run),
        Deed::Write(_) | Deed::Set(_) | Deed::Unclear(_) => None,
    });
    runs.map(|run| Some(run.words.first()?.text()?.to_owned())).collect()
}

fn is_harmless(deed: &Deed, own_repository: bool) -> bool {
    match deed {
        Deed::Run(run) => harmless::is_harmless(run, own_repository),
        Deed::Set(set) => harmless::is_cosmetic(set),
        Deed::Write(_) | Deed::Unclear(_) => false,
    }
}

/// Whether the line goes elsewhere before it ends: git may then read another repository's configuration.
fn moves(deeds: &[Deed]) -> bool {
    let leaves = |text: &str| ["cd", "pushd", "popd"].contains(&text);
    let goes = |run: &line::Run| run.words.iter().any(|word| word.text().is_some_and(leaves));
    deeds.iter().any(|deed| matches!(deed, Deed::Run(run) if goes(run)))
}

fn reason(deed: &Deed) -> String {
    match deed {
        Deed::Run(run) => match run.words.first().and_then(|word| word.text()) {
            Some(name) => format!("runs {name}"),
            None => "runs a program that is not known in advance".to_owned(),
        },
        Deed::Write(word) => {
            format!("writes {}", word.text().unwrap_or("a file that is not known in advance"))
        }
        Deed::Set(word) => {
            let name = word.text().and_then(|text| text.split('=').next());
            format!("sets {}", name.unwrap_or("a variable"))
        }
        Deed::Unclear(what) => format!("has {what}"),
    }
}

fn distinct<T: PartialEq>(list: Vec<T>) -> Vec<T> {
    let mut out = Vec::with_capacity(list.len());
    for item in list {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
