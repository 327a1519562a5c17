//! A reply as it arrives, drawn on standard output as markdown.

use std::time::Instant;

use super::canvas::Canvas;
use crate::env::Env;
use crate::render::{Line, Markdown, Pace};

/// Draws one reply after another.
pub(super) struct ReplyView {
    canvas: Canvas,
    markdown: Option<Markdown>,
    pace: Pace,
    /// Whether text came that is not on the screen yet.
    behind: bool,
}

impl ReplyView {
    pub(super) fn new(env: &Env) -> Self {
        Self { canvas: Canvas::new(env), markdown: None, pace: Pace::default(), behind: false }
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
        if self.pace.rest().is_none() {
            self.draw();
        }
    }

    /// When to draw what came since the last picture, if nothing else comes.
    pub(super) fn due(&self) -> Option<Instant> {
        self.pace.due().filter(|_| self.behind)
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
        (self.pace, self.behind) = (Pace::default(), false);
        true
    }

    /// Draws what there is.
    pub(super) fn draw(&mut self) {
        let begun = Instant::now();
        let Some(markdown) = &mut self.markdown else { return };
        if self.canvas.resized() {
            markdown.resize(self.canvas.options().width);
        }
        let committed = markdown.take_committed();
        let tail = markdown.tail(self.canvas.live.capacity());
        let _ = self.canvas.live.update(&committed, tail);
        self.pace.drew(begun);
        self.behind = false;
    }
}
