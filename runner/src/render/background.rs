//! Whether the terminal's background is dark, asked of the terminal itself.
//!
//! The question goes out together with one that every terminal answers, so that silence about the
//! colour is noticed at once. Invariants: the terminal's modes are put back before this returns,
//! it never takes long, and it asks nothing where an answer could come late
//! (over SSH) or would stop the process (in the background).

use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use super::color;
use crate::env::Env;

/// The background's colour, then the device's attributes.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// How long an answer is waited for, in tenths of a second as terminals count.
const PATIENCE: u8 = 1;
/// When the conversation is over at the latest.
const LIMIT: Duration = Duration::from_millis(200);
const MAX_ANSWER: usize = 1024;

/// A question on its way. Dropping it waits until the terminal's modes are as they were.
#[derive(Debug)]
pub struct Question {
    answer: Option<Receiver<Option<bool>>>,
}

impl Question {
    /// Asks the controlling terminal in a thread of its own, unless the environment tells already.
    #[must_use]
    pub fn ask(env: &Env) -> Self {
        let known = ["COLORFGBG", "SSH_CONNECTION", "SSH_TTY"];
        if !color::can_redraw(env) || known.iter().any(|name| env.get(name).is_some()) {
            return Self { answer: None };
        }
        let (sender, answer) = channel();
        std::thread::spawn(move || _ = sender.send(ask()));
        Self { answer: Some(answer) }
    }

    /// Whether the background is dark, if that is known within `wait`.
    pub fn is_dark(&mut self, wait: Duration) -> Option<bool> {
        match self.answer.as_ref()?.recv_timeout(wait) {
            Ok(dark) => {
                self.answer = None;
                dark
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.answer = None;
                None
            }
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(answer) = &self.answer {
            let _ = answer.recv_timeout(LIMIT);
        }
    }
}

/// Puts the modes back however the conversation ends.
struct Modes<'a> {
    terminal: &'a File,
    before: Termios,
}

impl Drop for Modes<'_> {
    fn drop(&mut self) {
        let _ = termios::tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

fn ask() -> Option<bool> {
    let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
    if termios::tcgetpgrp(&terminal).ok()? != getpgrp() {
        return None;
    }
    let before = termios::tcgetattr(&terminal).ok()?;
    let mut quiet = before.clone();
    quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
    quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
    quiet.special_codes[SpecialCodeIndex::VTIME] = PATIENCE;
    let modes = Modes { terminal: &terminal, before };
    termios::tcsetattr(&terminal, OptionalActions::Now, &quiet).ok()?;
    (&terminal).write_all(QUESTION).ok()?;
    let answer = listen(&terminal);
    drop(modes);
    is_dark(&answer)
}

/// What the terminal says until it has answered the second question or falls silent.
fn listen(mut terminal: &File) -> Vec<u8> {
    let mut answer = Vec::new();
    let mut buffer = [0; 256];
    while answer.len() < MAX_ANSWER && !is_complete(&answer) {
        match terminal.read(&mut buffer) {
            Ok(read @ 1..) => answer.extend_from_slice(&buffer[..read]),
            _ => break,
        }
    }
    answer
}

/// Whether the device's attributes are in: `ESC [ ? … c`.
fn is_complete(answer: &[u8]) -> bool {
    let start = answer.windows(3).position(|w| w == b"\x1b[?");
    start.is_some_and(|at| answer[at..].contains(&b'c'))
}

/// Reads `11;rgb:RRRR/GGGG/BBBB`, of one to four digits each.
fn is_dark(answer: &[u8]) -> Option<bool> {
    let answer = String::from_utf8_lossy(answer);
    let (_, color) = answer.split_once("]11;rgb")?;
    let color = color.trim_start_matches('a').strip_prefix(':')?;
    let end = color.find(|c: char| c != '/' && !c.is_ascii_hexdigit()).unwrap_or(color.len());
    let mut parts = color[..end].split('/').map(|part| {
        let value = u32::from_str_radix(part, 16).ok()?;
        let most = 16u32.checked_pow(u32::try_from(part.len()).ok()?)?.checked_sub(1)?;
        Some(value * 1000 / most.max(1))
    });
    let mut next = || parts.next().flatten();
    let (red, green, blue) = (next()?, next()?, next()?);
    Some((299 * red + 587 * green + 114 * blue) / 1000 < 500)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_tells_dark_from_light() {
        for (answer, dark) in [
            ("\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62c", Some(true)),
            ("\x1b]11;rgb:ffff/ffff/ffff\x07", Some(false)),
            ("\x1b]11;rgb:fd/f6/e3\x07", Some(false)),
            ("\x1b]11;rgba:1e1e/1e1e/2e2e/ffff\x07", Some(true)),
            ("\x1b[?62;22c", None),
            ("\x1b]11;rgb:zz/0/0\x07", None),
            ("", None),
        ] {
            assert_eq!(is_dark(answer.as_bytes()), dark, "{answer:?}");
        }
    }

    #[test]
    fn the_conversation_ends_with_the_second_answer() {
        assert!(!is_complete(b"\x1b]11;rgb:0000/cccc/0000\x1b\\"));
        assert!(is_complete(b"\x1b]11;rgb:0000/cccc/0000\x1b\\\x1b[?62;22c"));
    }

    #[test]
    fn nothing_is_asked_where_the_answer_is_known_or_could_come_late() {
        let term = Env::default().with("TERM", "xterm-256color");
        for env in [
            Env::default().with("TERM", "dumb"),
            term.clone().with("COLORFGBG", "15;0"),
            term.with("SSH_TTY", "/dev/pts/1"),
        ] {
            let mut question = Question::ask(&env);
            assert!(question.answer.is_none());
            assert_eq!(question.is_dark(Duration::from_secs(9)), None);
        }
    }
}
