//! Why a file in the tools directory is not a tool, in words that let the model mend it.
//!
//! Every report is bounded: it stands in the `tools` array of each request until the file is fixed.

use std::fmt::{self, Write};

use serde::{Deserialize, Serialize};

/// Longest report, in bytes.
pub(crate) const MAX_REPORT: usize = 1500;
/// Names listed of missing imports and of exports.
const MAX_NAMES: usize = 12;
/// Longest cause, hint and name within a report, in bytes.
const MAX_CAUSE: usize = 500;
const MAX_HINT: usize = 240;
const MAX_NAME: usize = 60;

/// How far a file got on its way to being a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Reading the file.
    Read,
    /// Understanding it as WebAssembly.
    Parse,
    /// Meeting its imports and finding its exports.
    Link,
    /// Asking it to describe itself.
    Schema,
    /// Running it.
    Run,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Parse => "parse",
            Self::Link => "link",
            Self::Schema => "schema",
            Self::Run => "run",
        })
    }
}

/// A file that did not become a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// Where it stopped.
    pub phase: Phase,
    /// What happened there, one sentence.
    pub cause: String,
    /// Imports that nothing here provides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What the module exports, when it is not what a tool exports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exports: Vec<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// It may go better next time with the same bytes (a time limit on a busy machine, say).
    #[serde(default)]
    pub passing: bool,
}

impl Broken {
    /// Broken in `phase` because of `cause`.
    pub(crate) fn new(phase: Phase, cause: impl Into<String>) -> Self {
        Self {
            phase,
            cause: cause.into(),
            missing: Vec::new(),
            exports: Vec::new(),
            hint: None,
            passing: false,
        }
    }

    /// With what to do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// With the names of what the module exports.
    pub(crate) fn exports(mut self, exports: Vec<String>) -> Self {
        self.exports = exports;
        self
    }

    /// With the imports that nothing provides.
    pub(crate) fn missing(mut self, missing: Vec<String>) -> Self {
        self.missing = missing;
        self
    }

    /// Worth another try with the same bytes.
    pub(crate) fn passing(mut self) -> Self {
        self.passing = true;
        self
    }

    /// The cause as one bounded line.
    pub fn line(&self) -> String {
        format!("{}: {}", self.phase, one_line(&self.cause, MAX_CAUSE))
    }

    /// The whole report on `file`, at most 1.5 KB.
    pub fn report(&self, file: &str) -> String {
        let mut text =
            format!("BROKEN: {} fails in phase {}", clip(file, 2 * MAX_NAME), self.line());
        let mut list = |label: &str, names: &[String]| {
            if !names.is_empty() {
                _ = write!(text, "\n{label}: {}", names_line(names));
            }
        };
        list("missing imports", &self.missing);
        list("exports found", &self.exports);
        if let Some(hint) = &self.hint {
            _ = write!(text, "\nhint: {}", clip(hint, MAX_HINT));
        }
        clip(&text, MAX_REPORT).to_owned()
    }
}

fn names_line(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(|name| clip(name, MAX_NAME)).collect();
    match names.len().checked_sub(MAX_NAMES) {
        Some(more) if more > 0 => format!("{} and {more} more", shown.join(", ")),
        _ => shown.join(", "),
    }
}

/// `text` on one line of at most `max` bytes.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.len() <= max { line } else { format!("{}…", clip(&line, max - '…'.len_utf8())) }
}

/// The beginning of `text`, at most `max` bytes, cut between characters.
pub(crate) fn clip(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_phase_cause_names_and_hint() {
        let broken = Broken::new(Phase::Link, "the module\nimports what nothing provides")
            .missing(vec!["env.puts".into()])
            .exports(vec!["memory".into(), "run".into()])
            .hint("link it");
        assert_eq!(
            broken.report(".autocode/tools/a.wasm"),
            "BROKEN: .autocode/tools/a.wasm fails in phase link: the module imports what nothing provides\n\
             missing imports: env.puts\nexports found: memory, run\nhint: link it"
        );
    }

    #[test]
    fn a_report_is_bounded_whatever_it_is_made_of() {
        let names: Vec<String> = (0..5000).map(|i| format!("é{i}{}", "ü".repeat(500))).collect();
        let broken = Broken::new(Phase::Parse, "ß".repeat(10_000))
            .missing(names.clone())
            .exports(names)
            .hint("→".repeat(9000));
        let report = broken.report(&"ö".repeat(4000));
        assert!(report.len() <= MAX_REPORT);
        assert!(report.contains("and 4988 more"));
        assert!(broken.line().len() < 600);
    }
}
