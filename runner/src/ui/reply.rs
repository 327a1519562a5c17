//! A reply as it arrives, drawn on standard output as markdown.

use std::time::{Duration, Instant};

use super::canvas::Canvas;
use crate::env::Env;
use crate::render::{Line, Markdown};

/// The shortest time between two pictures.
const FRAME: Duration = Duration::from_millis(16);

/// Draws one reply after another.
pub(super) struct ReplyView {
    canvas: Canvas,
    markdown: Option<Markdown>,
    drawn: Option<Instant>,
    /// Whether text came that is not on the screen yet.
    behind: bool,
}

impl ReplyView {
    pub(super) fn new(env: &Env) -> Self {
        Self { canvas: Canvas::new(env), markdown: None, drawn: None, behind: false }
    }

    /// Room above a reply that has not begun.
    pub(super) fn gap(&mut self) {
        if self.markdown.is_none() {
            let _ = self.canvas.live.update(&[Line::new()], Vec::new());
        }
    }

    /// More of the reply.
    pub(super) fn push(&mut self, text: &str) {
        let options = self.canvas.options();
        self.markdown.get_or_insert_with(|| Markdown::new(options)).push(text);
        self.behind = true;
        if self.drawn.is_none_or(|at| at.elapsed() >= FRAME) {
            self.draw();
        }
    }

    /// When to draw what came since the last picture, if nothing else comes.
    pub(super) fn due(&self) -> Option<Instant> {
        self.drawn.filter(|_| self.behind).map(|at| at + FRAME)
    }

    /// Takes back what can be taken back of a reply that will come again.
    pub(super) fn discard(&mut self) {
        self.behind = false;
        if self.markdown.take().is_some() {
            let _ = self.canvas.live.clear();
        }
    }

    /// The reply is whole. Whether there was any of it.
    pub(super) fn finish(&mut self) -> bool {
        let Some(mut markdown) = self.markdown.take() else { return false };
        let mut lines = markdown.take_committed();
        lines.extend(markdown.finish());
        let _ = self.canvas.live.update(&lines, Vec::new());
        (self.drawn, self.behind) = (None, false);
        true
    }

    /// Draws what there is.
    pub(super) fn draw(&mut self) {
        let Some(markdown) = &mut self.markdown else { return };
        if self.canvas.resized() {
            markdown.resize(self.canvas.options().width);
        }
        let committed = markdown.take_committed();
        let tail = markdown.tail(self.canvas.live.capacity());
        let _ = self.canvas.live.update(&committed, tail);
        (self.drawn, self.behind) = (Some(Instant::now()), false);
    }
}
