//! Whether the terminal's background is dark, asked of the terminal itself.
//!
//! The question goes out before anything is drawn, together with one that every terminal answers;
//! a thread listens. Invariants: nobody waits for the answer longer than he says; while one may
//! still come the terminal echoes nothing, so that it never shows up as text; its modes are put
//! back at the end; nothing is asked where an answer could come too late (over SSH) or would stop
//! the process (in the background).

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};

use super::color;
use crate::env::Env;

/// The background's colour, then the device's attributes.
const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// How long one read waits, in tenths of a second as terminals count.
const PATIENCE: u8 = 1;
const MAX_ANSWER: usize = 1024;

/// A question on its way. Dropping it puts the terminal's modes back.
#[derive(Debug)]
pub struct Question {
    listener: Option<Listener>,
}

#[derive(Debug)]
struct Listener {
    answer: Receiver<Option<bool>>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Question {
    /// Asks the controlling terminal, unless the environment tells already.
    #[must_use]
    pub fn ask(env: &Env) -> Self {
        let known = ["COLORFGBG", "SSH_CONNECTION", "SSH_TTY"];
        let pointless = known.iter().any(|name| env.get(name).is_some());
        let quiet = (color::can_redraw(env) && !pointless).then(Quiet::terminal).flatten();
        Self { listener: quiet.map(Listener::start) }
    }

    /// Whether the background is dark, if that is known within `wait`.
    pub fn is_dark(&mut self, wait: Duration) -> Option<bool> {
        self.listener.as_ref()?.answer.recv_timeout(wait).ok().flatten()
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.stop.store(true, Ordering::Relaxed);
            let _ = listener.thread.join();
        }
    }
}

impl Listener {
    fn start(mut terminal: Quiet) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, answer) = channel();
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || terminal.listen(&stop, &sender)
        });
        Self { answer, stop, thread }
    }
}

/// The controlling terminal, asked and without an echo until this is dropped.
struct Quiet {
    terminal: File,
    before: Termios,
    answered: bool,
}

impl Quiet {
    fn terminal() -> Option<Self> {
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        if termios::tcgetpgrp(&terminal).ok()? != getpgrp() {
            return None;
        }
        let before = termios::tcgetattr(&terminal).ok()?;
        let mut quiet = before.clone();
        quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON;
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = PATIENCE;
        termios::tcsetattr(&terminal, OptionalActions::Now, &quiet).ok()?;
        let asked = Self { terminal, before, answered: false };
        (&asked.terminal).write_all(QUESTION).ok()?;
        Some(asked)
    }

    /// Reads until both answers are in; they need not come in the order of the questions.
    fn listen(&mut self, stop: &AtomicBool, sender: &Sender<Option<bool>>) {
        let mut answer = Vec::new();
        let mut buffer = [0; 256];
        while answer.len() < MAX_ANSWER && !self.answered {
            match self.terminal.read(&mut buffer) {
                Ok(0) if stop.load(Ordering::Relaxed) => break,
                Ok(read) => answer.extend_from_slice(&buffer[..read]),
                Err(_) => break,
            }
            self.answered = is_dark(&answer).is_some() && is_complete(&answer);
        }
        let _ = sender.send(is_dark(&answer));
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // What was not read in time is thrown away rather than left to be shown.
        let when = if self.answered { OptionalActions::Now } else { OptionalActions::Flush };
        let _ = termios::tcsetattr(&self.terminal, when, &self.before);
    }
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
    // Without its end the answer is not in yet.
    let end = color.find(['\x07', '\x1b'])?;
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
            ("\x1b]11;rgb:0000/0000/00", None),
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
            assert!(question.listener.is_none());
            assert_eq!(question.is_dark(Duration::from_secs(9)), None);
        }
    }
}
