//! A question before there is a REPL, answered with a line.

use std::io::{self, BufRead, Write};

use crate::render::sanitize;
use crate::trust::Asked;

/// What the person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Obey it.
    Yes,
    /// Work without it.
    No,
    /// Do not work here.
    Leave,
}

/// Whether a project's own files are to be obeyed: shows them and asks. `known`: the person trusted an earlier state.
///
/// # Errors
/// When the terminal is gone.
pub fn trust(asked: &Asked, place: &str, known: bool, ascii: bool) -> io::Result<Answer> {
    let mut out = io::stderr();
    let what = match known {
        true => "was trusted; since then its .autocode/ has changed, and not by what was done here",
        false => "has an .autocode/ that was not made here",
    };
    writeln!(out, "{} {what}:\n", sanitize(place))?;
    writeln!(out, "{}", super::sentence(&sanitize(&asked.text()), ascii))?;
    loop {
        write!(out, "Obey it from now on? [y]es, [n]o: work without it, [q]uit: ")?;
        out.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            return Ok(Answer::Leave);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" => return Ok(Answer::No),
            "q" | "quit" => return Ok(Answer::Leave),
            _ => {}
        }
    }
}
