//! The terminal's side: an emulator that shows what was written, and the answers a real terminal gives to queries.

use super::keys::Size;

/// Rows the emulator keeps that have left the screen.
const SCROLLBACK: usize = 100_000;

/// The emulator and what has passed through it.
pub(super) struct State {
    pub(super) parser: vt100::Parser<Terminal>,
    pub(super) raw: Vec<u8>,
    pub(super) ended: bool,
    pub(super) exit: Option<u32>,
}

/// What the emulator leaves to us: queries, and whether a synchronised update is under way.
#[derive(Default)]
pub(super) struct Terminal {
    pub(super) answers: Vec<u8>,
    pub(super) updating: bool,
    pub(super) titles: Vec<String>,
    pub(super) clipboard: Vec<Vec<u8>>,
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

impl State {
    /// A blank screen of this size.
    pub(super) fn new(size: Size) -> Self {
        let (rows, columns) = size.nonzero();
        let parser =
            vt100::Parser::new_with_callbacks(rows, columns, SCROLLBACK, Terminal::default());
        Self { parser, raw: Vec::new(), ended: false, exit: None }
    }

    pub(super) fn screen(&self) -> Screen {
        let screen = self.parser.screen();
        let (_, columns) = screen.size();
        Screen {
            rows: screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect(),
            cursor: screen.cursor_position(),
            cursor_hidden: screen.hide_cursor(),
            alternate: screen.alternate_screen(),
        }
    }

    pub(super) fn scrollback(&mut self) -> String {
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
