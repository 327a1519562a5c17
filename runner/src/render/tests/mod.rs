//! The renderer as a whole: what must hold for every text, however it comes.
#![allow(clippy::unwrap_used)]

mod chunking;
mod corpus;
mod gallery;
mod hostile;

use super::{Abilities, ColorDepth, Encoder, Line, Live, Markdown, Options, Size};

pub(super) fn options(width: u16) -> Options {
    Options { width, color: ColorDepth::True, dark: true, hyperlinks: false, ascii: false }
}

/// The lines of a text that comes all at once.
pub(super) fn whole(text: &str, options: Options) -> Vec<Line> {
    let mut markdown = Markdown::new(options);
    markdown.push(text);
    let mut lines = markdown.take_committed();
    lines.extend(markdown.finish());
    lines
}

/// A text in pieces of these many bytes, over and over, each at least one character.
pub(super) fn pieces<'a>(text: &'a str, sizes: &'a [usize]) -> impl Iterator<Item = &'a str> {
    let mut rest = text;
    let mut sizes = sizes.iter().copied().cycle();
    std::iter::from_fn(move || {
        let size = sizes.next().unwrap_or(1).clamp(1, rest.len().max(1));
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size.min(rest.len())));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

pub(super) fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(Line::text).collect()
}

/// The rows of a terminal on which a text was drawn piece by piece, scrollback included.
pub(super) fn screen(text: &str, sizes: &[usize], size: Size) -> Vec<String> {
    let mut markdown = Markdown::new(options(size.width));
    let encoder = Encoder::new(ColorDepth::Ansi16, true, false);
    let abilities = Abilities { redraws: true, reflows: false };
    let mut live = Live::new(Vec::new(), encoder, size, abilities);
    for piece in pieces(text, sizes) {
        markdown.push(piece);
        let lines = markdown.take_committed();
        live.update(&lines, markdown.tail(live.capacity())).unwrap();
    }
    let lines = markdown.finish();
    live.update(&lines, Vec::new()).unwrap();
    rows(&live.into_inner(), size)
}

fn rows(bytes: &[u8], size: Size) -> Vec<String> {
    let (height, width) = (size.height.try_into().unwrap(), size.width.try_into().unwrap());
    let mut terminal = vt100::Parser::new(height, width, 100_000);
    terminal.process(bytes);
    let mut rows = Vec::new();
    terminal.screen_mut().set_scrollback(usize::MAX);
    for offset in (1..=terminal.screen().scrollback()).rev() {
        terminal.screen_mut().set_scrollback(offset);
        rows.extend(terminal.screen().rows(0, size.width).next());
    }
    terminal.screen_mut().set_scrollback(0);
    rows.extend(terminal.screen().rows(0, size.width));
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}
