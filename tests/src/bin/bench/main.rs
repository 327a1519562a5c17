//! The figures that autocode is held to, each beside a named peer measured in the same run:
//! `cargo run --release -p autocode-tests --bin bench [-- --quick] [GROUP…]`.
//!
//! Contestants take turns (A B A B …) and medians are compared, so that a busy machine shifts both sides. A ratio is
//! the median of the rounds' ratios. What cannot be measured here is left out in so many words.

mod child;
mod floor;
mod memory;
mod render;
mod repl;
mod rounds;
mod start;
mod steps;
mod subjects;
mod table;
mod tools;
mod transcript;

use std::process::ExitCode;

use anyhow::Result;

use subjects::Subjects;
use table::Table;

/// How much is measured.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Rounds of short measurements.
    rounds: usize,
    /// Steps of a long session.
    long_session: usize,
    /// Size of a large transcript, in MB.
    transcript_mb: usize,
    /// Size of a long document, in KB.
    document_kb: usize,
}

const WHOLE: Effort =
    Effort { rounds: 21, long_session: 1000, transcript_mb: 100, document_kb: 1000 };
const QUICK: Effort = Effort { rounds: 7, long_session: 300, transcript_mb: 20, document_kb: 200 };

type Group = fn(&Subjects, Effort, &mut Table) -> Result<()>;

const GROUPS: &[(&str, Group)] = &[
    ("start", start::measure),
    ("repl", repl::measure),
    ("steps", steps::measure),
    ("memory", memory::measure),
    ("tools", tools::measure),
    ("transcript", transcript::measure),
    ("render", render::measure),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == child::SUBCOMMAND) {
        return child::run(arguments);
    }
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn bench() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let names: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|a| !a.starts_with("--")).collect();
    let known = || GROUPS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    for name in &names {
        anyhow::ensure!(
            GROUPS.iter().any(|(group, _)| group == name),
            "no group {name}; there are: {}",
            known()
        );
    }
    for flag in arguments.iter().filter(|argument| argument.starts_with("--")) {
        anyhow::ensure!(flag == "--quick", "no flag {flag}; there is --quick");
    }

    let subjects = Subjects::find()?;
    let mut table = Table::new(&subjects);
    let effort = if quick { QUICK } else { WHOLE };
    for (name, measure) in GROUPS {
        if !names.is_empty() && !names.contains(name) {
            continue;
        }
        if let Err(error) = measure(&subjects, effort, &mut table) {
            table.left_out(name, &format!("{error:#}"));
        }
    }
    table.end();
    Ok(())
}
