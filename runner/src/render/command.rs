//! `autocode render`: a file, or standard input as it arrives, drawn as a reply would be.
//!
//! What is no terminal gets the text byte for byte, unless colours are forced.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::termios;

use super::live::{Abilities, Live, Size};
use super::{ColorDepth, Encoder, Markdown, Options, Pace, Question, color, math};
use crate::env::Env;

/// How long the first picture waits for the terminal to tell its background.
const PATIENCE: Duration = Duration::from_millis(16);
const CHUNK: usize = 1 << 16;
/// More text than that is drawn before more is read.
const BACKLOG: usize = 1 << 20;

/// Draws a file or, without one, standard input. `formulas`: each line is one in LaTeX.
///
/// # Errors
/// When the file cannot be read or standard output is gone.
pub fn run(file: Option<&Path>, formulas: bool, env: &Env) -> io::Result<()> {
    let input: Box<dyn Read + Send> = match file {
        Some(path) if path != Path::new("-") => {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            Box::new(File::open(path).map_err(named)?)
        }
        _ => Box::new(io::stdin()),
    };
    let result = if formulas { draw_formulas(input) } else { draw(input, env) };
    match result {
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// One rendering a line: a formula of several lines as a display, its rows joined by `␤`, any
/// other as it stands in text.
fn draw_formulas(input: impl Read) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in BufReader::new(input).split(b'\n') {
        let line = line?;
        let tex = String::from_utf8_lossy(&line);
        let rows = if tex.contains(r"\\") || tex.contains(r"\begin{") {
            math::display(&tex, usize::from(u16::MAX))
        } else {
            vec![math::inline(&tex)]
        };
        let rows: Vec<_> = rows.iter().map(|row| super::sanitize(row)).collect();
        writeln!(out, "{}", rows.join("␤"))?;
    }
    out.flush()
}

fn draw(mut input: impl Read + Send + 'static, env: &Env) -> io::Result<()> {
    let terminal = termios::isatty(io::stdout());
    if terminal {
        return stream(input, env);
    }
    if color::depth(env, false) == ColorDepth::None {
        io::copy(&mut input, &mut io::stdout().lock())?;
        return Ok(());
    }
    let width = env.get("COLUMNS").and_then(|v| v.parse().ok()).unwrap_or(80);
    let options = Options::detect(env, width, false);
    let encoder = Encoder::of(&options);
    let mut markdown = Markdown::new(options);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut write = |lines: Vec<super::Line>| -> io::Result<()> {
        let mut text = String::new();
        for line in &lines {
            encoder.line(line, &mut text);
            text.push('\n');
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    };
    read(&mut input, |text| {
        markdown.push(text);
        write(markdown.take_committed())
    })?;
    write(markdown.finish())
}

/// What was read and not yet drawn.
#[derive(Default)]
struct Inbox {
    text: String,
    ended: Option<io::Result<()>>,
}

type Shared = Arc<(Mutex<Inbox>, Condvar)>;

/// Reads in a thread of its own and draws in this one, so that a text in many small pieces costs
/// one system call each and no more pictures than can be seen.
fn stream(mut input: impl Read + Send + 'static, env: &Env) -> io::Result<()> {
    let shared = Shared::default();
    let size = terminal_size();
    let options = Options::detect(env, size.width, true);
    let encoder = Encoder::of(&options);
    let abilities = Abilities { redraws: color::can_redraw(env), reflows: color::reflows(env) };
    let mut question = (options.color > ColorDepth::Ansi16).then(|| Question::ask(env));
    // Only the first picture waits for the answer, and no longer than for the one after it.
    let mut patience = PATIENCE;
    let mut live = Live::new(io::stdout(), encoder, size, abilities);
    let mut markdown = Markdown::new(options);
    std::thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let result = read(&mut input, |text| {
                deliver(&shared, text);
                Ok(())
            });
            lock(&shared.0).ended = Some(result);
            shared.1.notify_all();
        }
    });
    let mut pace = Pace::default();
    loop {
        let (text, ended) = collect(&shared, pace);
        if let Some(dark) = question.as_mut().and_then(|q| q.is_dark(patience)) {
            live.set_encoder(Encoder::of(&Options { dark, ..options }));
            question = None;
        }
        patience = Duration::ZERO;
        let size = terminal_size();
        live.set_size(size);
        markdown.resize(size.width);
        markdown.push(&text);
        if let Some(result) = ended {
            let mut lines = markdown.take_committed();
            lines.extend(markdown.finish());
            live.update(&lines, Vec::new())?;
            return result;
        }
        let begun = Instant::now();
        let lines = markdown.take_committed();
        live.update(&lines, markdown.tail(live.capacity()))?;
        pace.drew(begun);
    }
}

fn deliver(shared: &Shared, text: &str) {
    let (inbox, changed) = &**shared;
    let mut inbox = lock(inbox);
    while inbox.text.len() > BACKLOG {
        inbox = changed.wait(inbox).unwrap_or_else(PoisonError::into_inner);
    }
    inbox.text.push_str(text);
    if inbox.text.len() == text.len() {
        changed.notify_all();
    }
}

/// Waits until there is something to draw and time to draw it.
fn collect(shared: &Shared, pace: Pace) -> (String, Option<io::Result<()>>) {
    let (inbox, changed) = &**shared;
    let mut inbox = lock(inbox);
    while inbox.text.is_empty() && inbox.ended.is_none() {
        inbox = changed.wait(inbox).unwrap_or_else(PoisonError::into_inner);
    }
    while let Some(rest) = pace.rest() {
        if inbox.ended.is_some() || inbox.text.len() > BACKLOG {
            break;
        }
        inbox = changed.wait_timeout(inbox, rest).unwrap_or_else(PoisonError::into_inner).0;
    }
    changed.notify_all();
    (std::mem::take(&mut inbox.text), inbox.ended.take())
}

fn lock(inbox: &Mutex<Inbox>) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

fn terminal_size() -> Size {
    match termios::tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
            Size { width: size.ws_col, height: size.ws_row }
        }
        _ => Size { width: 80, height: 24 },
    }
}

/// Calls `take` with text as it arrives; a character may be split between two reads, and bytes
/// that are none become `�`.
fn read(input: &mut impl Read, mut take: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut held = 0;
    loop {
        let got = match input.read(&mut buffer[held..]) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &buffer[..held + got];
        if let Ok(text) = std::str::from_utf8(bytes) {
            take(text)?;
            held = 0;
        } else {
            let cut = if got == 0 { 0 } else { unfinished(bytes) };
            let whole = bytes.len() - cut;
            take(&String::from_utf8_lossy(&bytes[..whole]))?;
            buffer.copy_within(whole..whole + cut, 0);
            held = cut;
        }
        if got == 0 {
            return Ok(());
        }
    }
}

/// Bytes at the end that begin a character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let invalid = last.map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(invalid) {
        Err(error) if error.error_len().is_none() => invalid.len(),
        _ => 0,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Pieces(Vec<Vec<u8>>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn joined(pieces: &[&[u8]]) -> String {
        let mut out = String::new();
        let mut input = Pieces(pieces.iter().map(|p| p.to_vec()).collect());
        read(&mut input, |text| {
            out.push_str(text);
            Ok(())
        })
        .unwrap();
        out
    }

    #[test]
    fn a_character_may_be_split_between_reads() {
        assert_eq!(joined(&[b"a\xe6", b"\x97", b"\xa5b"]), "a日b");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(joined(&[b"a\xff", b"b\xe6\x97"]), "a�b�");
    }
}
