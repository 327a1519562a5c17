//! The renderer: processor time for a document that arrives in small pieces, and how it grows with the length.

use std::fmt::Write;
use std::process::Command;

use anyhow::Result;

use crate::Effort;
use crate::child::{Input, usage_of};
use crate::rounds::median;
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

/// Bytes a piece, about what a token is.
const PIECE: usize = 7;

/// Less processor time than that drowns in the cost of a start.
const MEASURABLE: f64 = 0.02;

/// Writes a document of about so many bytes.
type Document = fn(usize) -> String;

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    if !subjects.knows(&["render"], "FILE") {
        table.left_out("render", "this build has no render command");
        return Ok(());
    }
    let size = effort.document_kb * 1000;
    let documents: [(&str, Document); 5] = [
        ("answers with code, tables and formulas", answers),
        ("prose", prose),
        ("one long list", list),
        ("one long code block", code),
        ("one long table", long_table),
    ];
    for (name, document) in documents {
        let seconds = |size: usize| cpu_seconds(subjects, document(size).as_bytes());
        let long = seconds(size)?;
        let goals: &[Goal] = if name.starts_with("answers") { &[Goal::AtMost(0.3)] } else { &[] };
        table.single(&format!("render, {name}"), Unit::SecondsPerMB, long / mb(size), goals);
        // What is quick is compared at lengths that take long enough to be told from the start-up.
        let ratio = match seconds(size / 10)? {
            short if short < MEASURABLE => seconds(size * 10)? / long,
            short => long / short,
        };
        let what = format!("render, {name}: ten times the length");
        table.single(&what, Unit::Times, ratio, &[Goal::AtMost(12.0)]);
    }
    Ok(())
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// The median of three runs, less what an empty document costs.
fn cpu_seconds(subjects: &Subjects, document: &[u8]) -> Result<f64> {
    let run = |input: &[u8]| {
        let mut command = Command::new(&subjects.autocode);
        command.args(["render", "-"]).env("FORCE_COLOR", "1").env("COLUMNS", "80");
        command.env("TERM", "xterm-256color");
        usage_of(&command, Some(Input { bytes: input, piece: PIECE })).map(|usage| usage.cpu_s)
    };
    let three =
        |input: &[u8]| Ok::<_, anyhow::Error>(median(&[run(input)?, run(input)?, run(input)?]));
    Ok((three(document)? - three(b"")?).max(1e-4))
}

/// Repeats `part`, told its number, until the document is long enough.
fn repeated(size: usize, start: &str, part: impl Fn(usize, &mut String)) -> String {
    let mut text = start.to_owned();
    for n in 0.. {
        if text.len() >= size {
            break;
        }
        part(n, &mut text);
    }
    text
}

fn answers(size: usize) -> String {
    repeated(size, "", |n, text| {
        let _ = write!(
            text,
            "## Step {n}\n\nThe **cache** in `src/cache.rs` keeps *every* entry, so memory grows ([why](https://a.b/{n})).\n\n\
             - first, bound it: $O(n \\log n)$ lookups\n- then measure again\n  1. with one thread\n  2. with eight\n\n\
             ```rust\nfn evict(&mut self, now: u64) -> usize {{\n    let before = self.map.len();\n    \
             self.map.retain(|_, entry| entry.until > now); // {n}\n    before - self.map.len()\n}}\n```\n\n\
             | size | time | ratio |\n|-----:|------|:-----:|\n| {n} | 1.25 ms | 0.8 |\n| 20 | 漢字 | 1 |\n\n\
             $$\\sum_{{i=0}}^{{n}} \\frac{{x_i^2}}{{2}} \\ge \\sqrt{{\\alpha}}$$\n\n"
        );
    })
}

fn prose(size: usize) -> String {
    repeated(size, "", |n, text| {
        let _ = write!(
            text,
            "Paragraph {n} says that a renderer which reads every byte again for each piece that arrives is quick \
             on short answers, *slow* on long ones, and useless on the `largest`; 日本語 and émigrés included.\n\n"
        );
    })
}

fn list(size: usize) -> String {
    repeated(size, "", |n, text| {
        let _ = writeln!(text, "- item {n} of a list that never ends");
    })
}

fn code(size: usize) -> String {
    repeated(size, "```rust\n", |n, text| {
        let _ = writeln!(text, "let value_{n} = compute(\"text\", {n})?; // why");
    }) + "```\n"
}

fn long_table(size: usize) -> String {
    repeated(size, "| n | name | what it is |\n|--:|------|------------|\n", |n, text| {
        let _ = writeln!(text, "| {n} | name{n} | a row with some words in it |");
    })
}
