//! The terminal as the REPL sees it: finished lines go up into the scrollback, everything else is the live region at
//! its bottom.

use std::io;

use crate::env::Env;
use crate::render::{Line, Options, Spot};
use crate::ui::canvas::Canvas;

/// The terminal's bottom, and what the next picture adds to the scrollback.
pub(super) struct Screen {
    canvas: Canvas,
    finished: Vec<Line>,
}

impl Screen {
    /// The terminal of standard output.
    pub(super) fn new(env: &Env) -> Self {
        Self { canvas: Canvas::new(env), finished: Vec::new() }
    }

    /// What the terminal is, for layout.
    pub(super) fn options(&self) -> Options {
        self.canvas.options()
    }

    /// Cells in a row.
    pub(super) fn width(&self) -> usize {
        usize::from(self.options().width).max(1)
    }

    /// Rows that the live region may have.
    pub(super) fn rows(&self) -> usize {
        self.canvas.live.capacity()
    }

    /// Takes the terminal's present size; whether it is another one.
    pub(super) fn resized(&mut self) -> bool {
        self.canvas.resized()
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
        self.canvas.live.update_at(&finished, live, cursor)
    }

    /// Clears the screen; the scrollback stays.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.canvas.live.clear()?;
        let mut out = io::stdout();
        io::Write::write_all(&mut out, b"\x1b[H\x1b[2J")?;
        io::Write::flush(&mut out)
    }
}
