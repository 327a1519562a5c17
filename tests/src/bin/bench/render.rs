//! The renderer: processor time for documents that arrive in small pieces, and how it grows with the length.
//!
//! Documents of people come from the folder in `AUTOCODE_CORPUS`, repeated until they are long enough.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::Effort;
use crate::child::{Input, usage_of, usage_on_terminal};
use crate::rounds::{Samples, median};
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

/// Bytes a piece, about what a token is.
const PIECE: usize = 7;

/// Less processor time than that drowns in the cost of a start.
const MEASURABLE: f64 = 0.02;

/// Seconds of processor time for a megabyte.
const BULK: Goal<'static> = Goal::AtMost(0.3);

/// Beside the Python autocode.
const PEER: Goal<'static> = Goal::Ratio("Python autocode", 0.05);

/// Shorter documents of people say little.
const SHORTEST: usize = 10_000;

/// Documents that both draw on a terminal are of about this length, in bytes: the Python autocode takes its time, and
/// what a language costs once is to count for little.
const ON_TERMINAL: usize = 300_000;

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
        table.single(&format!("render, {name}"), Unit::SecondsPerMB, long / mb(size), &[BULK]);
        // What is quick is compared at lengths that take long enough to be told from the start-up.
        let ratio = match seconds(size / 10)? {
            short if short < MEASURABLE => seconds(size * 10)? / long,
            short => long / short,
        };
        let what = format!("render, {name}: ten times the length");
        table.single(&what, Unit::Times, ratio, &[Goal::AtMost(12.0)]);
    }
    let real = real_documents()?;
    if real.is_empty() {
        table.left_out("render, documents of people", "AUTOCODE_CORPUS is not set");
    }
    for (name, text) in &real {
        let long = repeated(size, "", |_, long| long.push_str(text));
        let seconds = cpu_seconds(subjects, long.as_bytes())?;
        table.single(
            &format!("render, {name}"),
            Unit::SecondsPerMB,
            seconds / mb(long.len()),
            &[BULK],
        );
    }
    on_terminal(subjects, &real, table)
}

/// Both draw on a terminal, the open end with them.
fn on_terminal(subjects: &Subjects, real: &[(String, String)], table: &mut Table) -> Result<()> {
    let prose = prose(ON_TERMINAL);
    let input = Input { bytes: prose.as_bytes(), piece: PIECE };
    let written = usage_on_terminal(&ours(subjects), input)?.written / prose.len() as f64;
    table.single(
        "render, bytes to the terminal for one of prose",
        Unit::Times,
        written,
        &[Goal::AtMost(4.0)],
    );

    let answers = answers(ON_TERMINAL);
    let real = real.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    for (name, text) in [("answers", answers.as_str())].into_iter().chain(real) {
        let end = text.floor_char_boundary(ON_TERMINAL);
        let text = repeated(ON_TERMINAL, "", |_, long| long.push_str(&text[..end]));
        let per_mb = |command: &Command| -> Result<f64> {
            let run = |bytes: &[u8]| {
                let input = Input { bytes, piece: PIECE };
                usage_on_terminal(command, input).map(|usage| usage.cpu_s)
            };
            Ok((run(text.as_bytes())? - run(b"x\n")?).max(1e-4) / mb(text.len()))
        };
        let what = format!("render on a terminal, {name}");
        let own = [per_mb(&ours(subjects))?, per_mb(&ours(subjects))?, per_mb(&ours(subjects))?];
        let mut samples = vec![Samples { name: "autocode", values: vec![median(&own)] }];
        if let Some(python) = &subjects.python {
            match per_mb(&theirs(python)?) {
                Ok(theirs) => {
                    samples.push(Samples { name: "Python autocode", values: vec![theirs] });
                }
                Err(_) => table.left_out(&what, "the Python autocode does not get through it"),
            }
        }
        table.row(&what, Unit::SecondsPerMB, &samples, &[PEER]);
    }
    Ok(())
}

fn ours(subjects: &Subjects) -> Command {
    let mut command = Command::new(&subjects.autocode);
    command.args(["render", "-"]);
    with_colours(&mut command);
    command
}

/// The Python autocode's renderer alone, fed as its reply view feeds it.
fn theirs(python: &Path) -> Result<Command> {
    const SCRIPT: &str = "\
import codecs, os
from autocode.tui import Markdown
view, decoder = Markdown(), codecs.getincrementaldecoder('utf8')('replace')
while data := os.read(0, 7):
    view.feed(decoder.decode(data))
view.end()
";
    let script = std::fs::read_to_string(python)?;
    let interpreter = script.lines().next().and_then(|line| line.strip_prefix("#!"));
    let mut command =
        Command::new(interpreter.context("the Python autocode's interpreter")?.trim());
    command.args(["-c", SCRIPT]);
    with_colours(&mut command);
    Ok(command)
}

fn with_colours(command: &mut Command) {
    command.env("FORCE_COLOR", "1").env("COLUMNS", "80").env("TERM", "xterm-256color");
    command.env("LANG", "C.UTF-8").env("COLORTERM", "truecolor");
}

/// The longer ones, by name.
fn real_documents() -> Result<Vec<(String, String)>> {
    let Some(corpus) = std::env::var_os("AUTOCODE_CORPUS") else { return Ok(Vec::new()) };
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(Path::new(&corpus).join("md"))? {
        let path = entry?.path();
        let text = match path.extension() {
            Some(extension) if extension == "md" => std::fs::read_to_string(&path)?,
            _ => continue,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if text.len() >= SHORTEST {
            documents.push((name, text + "\n\n"));
        }
    }
    documents.sort();
    Ok(documents)
}

fn mb(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

/// The median of three runs, less what an empty document costs.
fn cpu_seconds(subjects: &Subjects, document: &[u8]) -> Result<f64> {
    let run = |bytes: &[u8]| {
        usage_of(&ours(subjects), Some(Input { bytes, piece: PIECE })).map(|usage| usage.cpu_s)
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
