//! The terminal as the REPL sees it: finished lines go up into the scrollback, everything else is the live region at
//! its bottom.

use std::io::{self, Stdout};

use crate::env::Env;
use crate::render::{Abilities, Encoder, Line, Live, Options, Size, Spot, color};
use crate::ui::reply::terminal_size;

/// The terminal's bottom, and what the next picture adds to the scrollback.
pub(super) struct Screen {
    live: Live<Stdout>,
    options: Options,
    size: Size,
    finished: Vec<Line>,
}

impl Screen {
    /// The terminal of standard output.
    pub(super) fn new(env: &Env) -> Self {
        let size = terminal_size();
        let options = Options::detect(env, size.width, true);
        let encoder = Encoder::new(options.color, options.dark, options.hyperlinks);
        let abilities = Abilities { redraws: color::can_redraw(env), reflows: color::reflows(env) };
        let live = Live::new(io::stdout(), encoder, size, abilities);
        Self { live, options, size, finished: Vec::new() }
    }

    /// What the terminal is, for layout.
    pub(super) fn options(&self) -> Options {
        self.options
    }

    /// Cells in a row.
    pub(super) fn width(&self) -> usize {
        usize::from(self.size.width).max(1)
    }

    /// Rows that the live region may have.
    pub(super) fn rows(&self) -> usize {
        self.live.capacity()
    }

    /// Takes the terminal's present size; whether it is another one.
    pub(super) fn resized(&mut self) -> bool {
        let size = terminal_size();
        if size == self.size {
            return false;
        }
        self.size = size;
        self.options.width = size.width;
        self.live.set_size(size);
        true
    }

    /// Lines that are finished; drawn with the next picture.
    pub(super) fn finish(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.finished.extend(lines);
    }

    /// Draws what was finished, and the live region with the cursor in it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn draw(&mut self, live: Vec<Line>, cursor: Option<Spot>) -> io::Result<()> {
        let finished = std::mem::take(&mut self.finished);
        self.live.update_at(&finished, live, cursor)
    }

    /// Clears the screen; the scrollback stays.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.live.clear()?;
        let mut out = io::stdout();
        io::Write::write_all(&mut out, b"\x1b[H\x1b[2J")?;
        io::Write::flush(&mut out)
    }
}
