//! The binary in a terminal: typed into as a person would, read as the screen shows it.
//!
//! A thread feeds what the program writes to a terminal emulator and answers its queries (cursor position, device
//! attributes, background colour) as a real terminal does. Conditions are checked whenever the screen has changed,
//! never in the middle of a synchronised update.

mod keys;
mod terminal;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use portable_pty::{Child, CommandBuilder, MasterPty, native_pty_system};
use rustix::process::{Pid, Signal, kill_process};

pub use keys::{Key, Size};
pub use terminal::Screen;
use terminal::State;

use crate::deadline;

/// A running program and the terminal it runs in; killed when dropped.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    /// What is typed and what queries are answered with, written by a thread of its own: neither the test nor the
    /// reader ever waits for a program that does not read.
    input: Sender<Vec<u8>>,
    pid: Option<u32>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Pty {
    /// Starts `program` in a terminal of this size.
    pub fn spawn(
        program: &Path,
        arguments: &[&str],
        cwd: &Path,
        vars: &BTreeMap<OsString, OsString>,
        size: Size,
    ) -> Self {
        let pair = native_pty_system().openpty(size.pty()).expect("open a pseudo-terminal");
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.cwd(cwd);
        command.env_clear();
        vars.iter().for_each(|(name, value)| command.env(name, value));
        let child = pair.slave.spawn_command(command).expect("start the program");
        drop(pair.slave);

        let state = Mutex::new(State::new(size));
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let reader = pair.master.try_clone_reader().unwrap();
        let (input, typed) = channel();
        let pid = child.process_id();
        write(pair.master.take_writer().unwrap(), typed);
        read(reader, &shared, input.clone());
        watch(child, &shared);
        Self { master: pair.master, input, pid, shared }
    }

    /// Types characters.
    pub fn type_text(&self, text: &str) -> &Self {
        self.send(text.as_bytes())
    }

    /// Presses a key.
    pub fn press(&self, key: Key) -> &Self {
        self.send(&key.bytes())
    }

    /// Types a line and Enter.
    pub fn enter(&self, line: &str) -> &Self {
        self.type_text(line).press(Key::Enter)
    }

    /// Pastes text: bracketed if the program asked for that, as a terminal does.
    pub fn paste(&self, text: &str) -> &Self {
        let bracketed = self.lock().parser.screen().bracketed_paste();
        let text = text.replace('\n', "\r");
        match bracketed {
            true => self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes()),
            false => self.send(text.as_bytes()),
        }
    }

    /// Writes bytes as they are.
    pub fn send(&self, bytes: &[u8]) -> &Self {
        let _ = self.input.send(bytes.to_vec()); // a program that has left is noticed by what is waited for
        self
    }

    /// Changes the terminal's size.
    pub fn resize(&self, size: Size) -> &Self {
        let (rows, columns) = size.nonzero();
        let mut state = self.lock();
        state.parser.set_size(rows, columns);
        self.master.resize(size.pty()).unwrap();
        drop(state);
        self
    }

    /// Waits until the screen shows `text`.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) -> Screen {
        self.wait_for(&format!("{text:?} on the screen"), |screen| screen.has(text))
    }

    /// Waits until the screen is as asked; what was waited for is said when it does not come.
    #[track_caller]
    pub fn wait_for(&self, what: &str, reached: impl Fn(&Screen) -> bool) -> Screen {
        let (state, found) = deadline::wait(&self.shared.changed, self.lock(), |state| {
            let screen = state.screen();
            ((!state.parser.callbacks().updating || state.ended) && reached(&screen))
                .then_some(screen)
        });
        drop(state);
        found.unwrap_or_else(|| panic!("waited for: {what}\n{}", self.describe()))
    }

    /// Waits until the program's raw output holds these bytes.
    #[track_caller]
    pub fn wait_for_bytes(&self, bytes: &[u8]) {
        let (state, found) = deadline::wait(&self.shared.changed, self.lock(), |state| {
            state.raw.windows(bytes.len()).any(|window| window == bytes).then_some(())
        });
        drop(state);
        assert!(found.is_some(), "waited for {:?}\n{}", bytes.escape_ascii(), self.describe());
    }

    /// Waits for the program's end and everything it wrote; its exit code.
    #[track_caller]
    pub fn wait_exit(&self) -> u32 {
        let (state, found) = deadline::wait(&self.shared.changed, self.lock(), |state| {
            state.exit.filter(|_| state.ended)
        });
        drop(state);
        found.unwrap_or_else(|| panic!("waited for the program's end\n{}", self.describe()))
    }

    /// The screen now.
    pub fn screen(&self) -> Screen {
        self.lock().screen()
    }

    /// Everything from the first row that scrolled off to the last row of the screen, as one text.
    pub fn scrollback(&self) -> String {
        self.lock().scrollback()
    }

    /// Every byte that the program has written.
    pub fn raw(&self) -> Vec<u8> {
        self.lock().raw.clone()
    }

    /// Window titles that were set.
    pub fn titles(&self) -> Vec<String> {
        self.lock().parser.callbacks().titles.clone()
    }

    /// What was copied to the clipboard by escape sequences, as sent (base64).
    pub fn clipboard(&self) -> Vec<Vec<u8>> {
        self.lock().parser.callbacks().clipboard.clone()
    }

    /// The program's process id.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    fn describe(&self) -> String {
        let mut state = self.lock();
        let exit = state.exit;
        let all = state.scrollback();
        let cursor = state.parser.screen().cursor_position();
        let tail = &state.raw[state.raw.len().saturating_sub(400)..];
        format!(
            "exit code: {exit:?}, cursor: {cursor:?}\n── screen and scrollback ──\n{all}\n── last bytes ──\n{}",
            tail.escape_ascii()
        )
    }
}

/// The terminal goes away, as when a window is closed; what is left after a while is killed.
impl Drop for Pty {
    fn drop(&mut self) {
        let Some(pid) = self.pid.and_then(|pid| Pid::from_raw(pid.cast_signed())) else { return };
        for signal in [Signal::HUP, Signal::KILL] {
            let Ok(state) = self.shared.state.lock() else { return };
            if state.exit.is_some() {
                return;
            }
            // A killed program leaves the commands behind that it was running.
            let _ = kill_process(pid, signal);
            let left = |state: &mut State| state.exit.is_none();
            let _ = self.shared.changed.wait_timeout_while(state, deadline::GRACE, left);
        }
    }
}

fn write(mut to: Box<dyn Write + Send>, typed: Receiver<Vec<u8>>) {
    std::thread::spawn(move || {
        for bytes in typed {
            if to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    });
}

fn read(mut from: Box<dyn Read + Send>, shared: &Arc<Shared>, input: Sender<Vec<u8>>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let got = from.read(&mut buffer).unwrap_or(0); // Linux: an error once the program has left
            let mut state = shared.state.lock().unwrap();
            state.raw.extend_from_slice(&buffer[..got]);
            state.parser.process(&buffer[..got]);
            state.ended = got == 0;
            let answers = std::mem::take(&mut state.parser.callbacks_mut().answers);
            drop(state);
            shared.changed.notify_all();
            if got == 0 {
                return;
            }
            if !answers.is_empty() {
                let _ = input.send(answers);
            }
        }
    });
}

fn watch(mut child: Box<dyn Child + Send + Sync>, shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let exit = child.wait().map_or(u32::MAX, |status| status.exit_code());
        shared.state.lock().unwrap().exit = Some(exit);
        shared.changed.notify_all();
    });
}

#[cfg(test)]
mod tests;
