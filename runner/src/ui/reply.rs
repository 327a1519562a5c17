//! A reply as it arrives, drawn on standard output as markdown.

use std::io::{self, Stdout};
use std::time::{Duration, Instant};

use crate::env::Env;
use crate::render::{Abilities, Encoder, Line, Live, Markdown, Options, Size, color};

/// The shortest time between two pictures.
const FRAME: Duration = Duration::from_millis(16);

/// The size that is assumed where the terminal does not tell.
const SIZE: Size = Size { width: 80, height: 24 };

/// Standard output's size now.
pub(super) fn terminal_size() -> Size {
    crossterm::terminal::size().map_or(SIZE, |(width, height)| Size { width, height })
}

/// Draws one reply after another.
pub(super) struct ReplyView {
    options: Options,
    live: Live<Stdout>,
    markdown: Option<Markdown>,
    drawn: Option<Instant>,
}

impl ReplyView {
    pub(super) fn new(env: &Env) -> Self {
        let size = terminal_size();
        let options = Options::detect(env, size.width, true);
        let encoder = Encoder::new(options.color, options.dark, options.hyperlinks);
        let abilities = Abilities { redraws: color::can_redraw(env), reflows: color::reflows(env) };
        let live = Live::new(io::stdout(), encoder, size, abilities);
        Self { options, live, markdown: None, drawn: None }
    }

    /// Room above a reply that has not begun.
    pub(super) fn gap(&mut self) {
        if self.markdown.is_none() {
            let _ = self.live.update(&[Line::new()], Vec::new());
        }
    }

    /// More of the reply.
    pub(super) fn push(&mut self, text: &str) {
        let options = self.options;
        self.markdown.get_or_insert_with(|| Markdown::new(options)).push(text);
        if self.drawn.is_none_or(|at| at.elapsed() >= FRAME) {
            self.draw();
        }
    }

    /// Takes back what can be taken back of a reply that will come again.
    pub(super) fn discard(&mut self) {
        if self.markdown.take().is_some() {
            let _ = self.live.clear();
        }
    }

    /// The reply is whole. Whether there was any of it.
    pub(super) fn finish(&mut self) -> bool {
        let Some(mut markdown) = self.markdown.take() else { return false };
        let mut lines = markdown.take_committed();
        lines.extend(markdown.finish());
        let _ = self.live.update(&lines, Vec::new());
        self.drawn = None;
        true
    }

    fn draw(&mut self) {
        let Some(markdown) = &mut self.markdown else { return };
        let size = terminal_size();
        self.live.set_size(size);
        markdown.resize(size.width);
        let committed = markdown.take_committed();
        let tail = markdown.tail(self.live.capacity());
        let _ = self.live.update(&committed, tail);
        self.drawn = Some(Instant::now());
    }
}
