//! Standard output as something to draw on: the terminal's size and abilities, and what is drawn at its bottom.

use std::io::{self, Stdout};

use crate::env::Env;
use crate::render::{Abilities, Encoder, Live, Options, Size, color};

/// The size that is assumed where the terminal does not tell.
const SIZE: Size = Size { width: 80, height: 24 };

/// The terminal of standard output.
pub(super) struct Canvas {
    /// Draws.
    pub(super) live: Live<Stdout>,
    options: Options,
    size: Size,
}

impl Canvas {
    pub(super) fn new(env: &Env) -> Self {
        let size = terminal_size();
        let options = Options::detect(env, size.width, true);
        let abilities = Abilities { redraws: color::can_redraw(env), reflows: color::reflows(env) };
        let live = Live::new(io::stdout(), Encoder::of(&options), size, abilities);
        Self { live, options, size }
    }

    /// What the terminal is, for layout.
    pub(super) fn options(&self) -> Options {
        self.options
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
}

pub(super) fn terminal_size() -> Size {
    crossterm::terminal::size().map_or(SIZE, |(width, height)| Size { width, height })
}
