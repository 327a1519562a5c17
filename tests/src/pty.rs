//! The binary in a terminal: typed into as a person would, read as the screen shows it.
//!
//! A thread feeds what the program writes to a terminal emulator and answers its queries (cursor position, device
//! attributes, background colour) as a real terminal does. Conditions are checked whenever the screen has changed,
//! never in the middle of a synchronised update.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use portable_pty::{Child, ChildKiller, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::deadline;

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows on the screen.
    pub rows: u16,
}

impl Size {
    /// `columns` × `rows`.
    pub const fn new(columns: u16, rows: u16) -> Self {
        Self { columns, rows }
    }

    fn pty(self) -> PtySize {
        PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 }
    }

    fn nonzero(self) -> (NonZeroU16, NonZeroU16) {
        (NonZeroU16::new(self.rows).expect("rows"), NonZeroU16::new(self.columns).expect("columns"))
    }
}

/// A key that is not a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Return.
    Enter,
    /// Return with Alt held.
    AltEnter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Start of the line.
    Home,
    /// End of the line.
    End,
    /// A letter with Control held.
    Ctrl(char),
}

impl Key {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Enter => b"\r".to_vec(),
            Self::AltEnter => b"\x1b\r".to_vec(),
            Self::Esc => b"\x1b".to_vec(),
            Self::Tab => b"\t".to_vec(),
            Self::Backspace => b"\x7f".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Down => b"\x1b[B".to_vec(),
            Self::Right => b"\x1b[C".to_vec(),
            Self::Left => b"\x1b[D".to_vec(),
            Self::Home => b"\x1b[H".to_vec(),
            Self::End => b"\x1b[F".to_vec(),
            Self::Ctrl(letter) => vec![letter.to_ascii_lowercase() as u8 & 0x1f],
        }
    }
}

/// Rows the emulator keeps that have left the screen.
const SCROLLBACK: usize = 100_000;

/// A running program and the terminal it runs in; killed when dropped.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    killer: Box<dyn ChildKiller + Send + Sync>,
    pid: Option<u32>,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    parser: vt100::Parser<Terminal>,
    raw: Vec<u8>,
    ended: bool,
    exit: Option<u32>,
}

/// What the emulator leaves to us: queries, and whether a synchronised update is under way.
#[derive(Default)]
struct Terminal {
    answers: Vec<u8>,
    updating: bool,
    titles: Vec<String>,
    clipboard: Vec<Vec<u8>>,
}

impl vt100::Callbacks for Terminal {
    fn set_window_title(&mut self, _: &mut vt100::Screen, title: &[u8]) {
        self.titles.push(String::from_utf8_lossy(title).into_owned());
    }

    fn copy_to_clipboard(&mut self, _: &mut vt100::Screen, _: &[u8], data: &[u8]) {
        self.clipboard.push(data.to_vec());
    }

    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        letter: char,
    ) {
        let param = params.first().and_then(|p| p.first()).copied().unwrap_or(0);
        match (first, letter, param) {
            (Some(b'?'), 'h', 2026) => self.updating = true,
            (Some(b'?'), 'l', 2026) => self.updating = false,
            (None, 'n', 6) => {
                let (row, column) = screen.cursor_position();
                self.answers.extend(format!("\x1b[{};{}R", row + 1, column + 1).bytes());
            }
            (None, 'n', 5) => self.answers.extend(b"\x1b[0n"),
            (None, 'c', _) => self.answers.extend(b"\x1b[?62;22c"),
            (Some(b'?'), 'u', _) => self.answers.extend(b"\x1b[?0u"),
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        match params {
            [b"10", b"?"] => self.answers.extend(b"\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"),
            [b"11", b"?"] => self.answers.extend(b"\x1b]11;rgb:1010/1010/1010\x1b\\"),
            _ => {}
        }
    }
}

/// The screen at one moment, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The rows on the screen, trailing blanks cut.
    pub rows: Vec<String>,
    /// Row and column of the cursor, from 0.
    pub cursor: (u16, u16),
    /// The program has hidden the cursor.
    pub cursor_hidden: bool,
    /// The program has switched to the alternate screen.
    pub alternate: bool,
}

impl Screen {
    /// The rows joined, blank ones at the end cut.
    pub fn text(&self) -> String {
        self.rows.join("\n").trim_end().to_owned()
    }

    /// Whether a row holds `text`.
    pub fn has(&self, text: &str) -> bool {
        self.rows.iter().any(|row| row.contains(text))
    }
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

        let (rows, columns) = size.nonzero();
        let parser =
            vt100::Parser::new_with_callbacks(rows, columns, SCROLLBACK, Terminal::default());
        let state = Mutex::new(State { parser, raw: Vec::new(), ended: false, exit: None });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let reader = pair.master.try_clone_reader().unwrap();
        let writer = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let (killer, pid) = (child.clone_killer(), child.process_id());
        read(reader, &shared, &writer);
        watch(child, &shared);
        Self { master: pair.master, writer, killer, pid, shared }
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
        let mut writer = self.writer.lock().unwrap();
        writer.write_all(bytes).and_then(|()| writer.flush()).expect("type into the terminal");
        drop(writer);
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

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.killer.kill();
    }
}

impl State {
    fn screen(&self) -> Screen {
        let screen = self.parser.screen();
        let (_, columns) = screen.size();
        Screen {
            rows: screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect(),
            cursor: screen.cursor_position(),
            cursor_hidden: screen.hide_cursor(),
            alternate: screen.alternate_screen(),
        }
    }

    fn scrollback(&mut self) -> String {
        let screen = self.parser.screen_mut();
        let (rows, columns) = screen.size();
        let mut lines = Vec::new();
        let mut above = screen.scrollback_len();
        while above > 0 {
            screen.set_scrollback(above);
            let shown = above.min(usize::from(rows.get()));
            lines.extend(screen.rows(0, columns.get()).take(shown));
            above -= shown;
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, columns.get()));
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        lines.join("\n").trim_end().to_owned()
    }
}

fn read(
    mut from: Box<dyn Read + Send>,
    shared: &Arc<Shared>,
    writer: &Arc<Mutex<Box<dyn Write + Send>>>,
) {
    let (shared, writer) = (Arc::clone(shared), Arc::clone(writer));
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
                let _ = writer.lock().unwrap().write_all(&answers);
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
mod tests {
    use super::*;

    fn sh(size: Size, script: &str) -> Pty {
        let vars = BTreeMap::from([
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("TERM".into(), "xterm".into()),
        ]);
        Pty::spawn(Path::new("/bin/sh"), &["-c", script], Path::new("/"), &vars, size)
    }

    #[test]
    fn what_is_typed_is_echoed_and_read() {
        let pty = sh(Size::new(40, 10), "read line; echo \"<$line>\"; exit 3");
        pty.enter("hello");
        assert_eq!(pty.wait_exit(), 3);
        assert_eq!(pty.screen().text(), "hello\n<hello>");
    }

    #[test]
    fn the_scrollback_holds_what_left_the_screen_once_and_in_order() {
        let pty =
            sh(Size::new(20, 5), "i=1; while [ $i -le 37 ]; do echo line $i; i=$((i+1)); done");
        pty.wait_exit();
        let expected: Vec<String> = (1..=37).map(|i| format!("line {i}")).collect();
        assert_eq!(pty.scrollback(), expected.join("\n"));
        assert_eq!(pty.screen().text(), "line 34\nline 35\nline 36\nline 37");
    }

    #[test]
    fn queries_are_answered_as_a_terminal_does() {
        let pty = sh(
            Size::new(40, 10),
            "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -c",
        );
        pty.wait_exit();
        assert!(pty.scrollback().contains("033   [   1   ;   3   R"), "{}", pty.scrollback());
    }

    #[test]
    fn a_resize_reaches_the_program() {
        let pty = sh(Size::new(80, 24), "read x; stty size");
        pty.resize(Size::new(60, 15)).enter("");
        pty.wait_exit();
        assert!(pty.screen().has("15 60"));
    }

    #[test]
    fn a_half_drawn_update_is_not_looked_at() {
        let script = "printf '\\033[?2026hone'; read x; printf 'two\\033[?2026l'; read x";
        let pty = sh(Size::new(40, 10), script);
        pty.wait_for_bytes(b"one");
        pty.enter("");
        let screen = pty.wait_for("a whole update", |screen| screen.has("one"));
        assert!(screen.has("two"), "{screen:?}");
    }

    #[test]
    fn ctrl_c_interrupts() {
        let pty = sh(
            Size::new(40, 10),
            "trap 'echo caught; exit 9' INT; echo up; while :; do read x; done",
        );
        pty.wait_for_text("up");
        pty.press(Key::Ctrl('c'));
        assert_eq!(pty.wait_exit(), 9);
        assert!(pty.screen().has("caught"));
    }
}
