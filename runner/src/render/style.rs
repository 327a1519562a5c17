//! What the renderer produces: lines of styled text that no terminal has seen yet.
//!
//! A style names the part text plays ([`Ink`]), never a colour; [`super::theme`] decides that.
//! Invariant: text enters a [`Line`] through [`Line::push`], which sanitises it.

use std::sync::Arc;

use super::sanitize;
use super::width::{fitting, width};

/// The part a piece of text plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Ink {
    #[default]
    Plain,
    /// Secondary: rules, borders, addresses, notes.
    Muted,
    /// Bullets, numbers, prompts.
    Accent,
    Heading,
    Link,
    Code,
    Math,
    Success,
    Warning,
    Error,
    Note,
    Important,
    Comment,
    Keyword,
    Text,
    Number,
    Function,
    Type,
    Variable,
    Property,
    Operator,
    Added,
    Removed,
    Changed,
}

/// An ink and attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// The part the text plays.
    pub ink: Ink,
    attrs: u8,
}

const BOLD: u8 = 1;
const ITALIC: u8 = 2;
const UNDERLINE: u8 = 4;
const STRIKE: u8 = 8;
const BAR: u8 = 16;

impl Style {
    /// Ordinary text.
    pub const PLAIN: Self = Self::of(Ink::Plain);
    /// Secondary text.
    pub const MUTED: Self = Self::of(Ink::Muted);

    /// An ink without attributes.
    #[must_use]
    pub const fn of(ink: Ink) -> Self {
        Self { ink, attrs: 0 }
    }

    /// The same style in another ink.
    #[must_use]
    pub const fn ink(self, ink: Ink) -> Self {
        Self { ink, ..self }
    }

    /// Bold as well.
    #[must_use]
    pub const fn bold(self) -> Self {
        Self { attrs: self.attrs | BOLD, ..self }
    }

    /// Italic as well.
    #[must_use]
    pub const fn italic(self) -> Self {
        Self { attrs: self.attrs | ITALIC, ..self }
    }

    /// Underlined as well.
    #[must_use]
    pub const fn underline(self) -> Self {
        Self { attrs: self.attrs | UNDERLINE, ..self }
    }

    /// Struck through as well.
    #[must_use]
    pub const fn strike(self) -> Self {
        Self { attrs: self.attrs | STRIKE, ..self }
    }

    /// On the background of the user's own messages.
    #[must_use]
    pub const fn bar(self) -> Self {
        Self { attrs: self.attrs | BAR, ..self }
    }

    pub(crate) const fn is_bar(self) -> bool {
        self.attrs & BAR != 0
    }

    /// SGR parameters of the attributes that are on.
    pub(crate) fn sgr_attrs(self) -> impl Iterator<Item = &'static str> {
        [(BOLD, "1"), (ITALIC, "3"), (UNDERLINE, "4"), (STRIKE, "9")]
            .into_iter()
            .filter(move |(bit, _)| self.attrs & bit != 0)
            .map(|(_, code)| code)
    }

    /// Whether `self` is `other` with attributes added, so that nothing has to be switched off.
    pub(crate) const fn extends(self, other: Self) -> bool {
        self.attrs & other.attrs == other.attrs
    }
}

/// Where a link leads: an address that is safe inside an escape sequence.
pub(crate) type Link = Arc<str>;

#[derive(Clone, Debug, PartialEq)]
struct Run {
    end: usize,
    style: Style,
    link: Option<Link>,
}

/// One row of styled text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    text: String,
    runs: Vec<Run>,
    cells: usize,
    /// Whether the next row continues this one: it fills the width, and a terminal that wraps
    /// there by itself lets the two be copied as one line.
    pub(crate) soft: bool,
}

/// A piece of a [`Line`] in one style.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    /// Its text, free of control characters.
    pub text: &'a str,
    /// Its style.
    pub style: Style,
    pub(crate) link: Option<&'a Link>,
}

impl Line {
    /// An empty row.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A row of one style.
    #[must_use]
    pub fn of(text: &str, style: Style) -> Self {
        let mut line = Self::new();
        line.push(text, style);
        line
    }

    /// Appends text, sanitised, its tabs and newlines turned into spaces.
    pub fn push(&mut self, text: &str, style: Style) {
        self.append(&sanitize::single_row(text), style, None);
    }

    /// Appends text that came out of [`sanitize::single_row`].
    pub(crate) fn append(&mut self, text: &str, style: Style, link: Option<&Link>) {
        self.append_measured(text, width(text), style, link);
    }

    /// As [`Self::append`], for a caller that knows the width.
    pub(crate) fn append_measured(
        &mut self,
        text: &str,
        cells: usize,
        style: Style,
        link: Option<&Link>,
    ) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        self.cells += cells;
        let end = self.text.len();
        match self.runs.last_mut() {
            Some(run) if run.style == style && run.link.as_ref() == link => run.end = end,
            _ => self.runs.push(Run { end, style, link: link.cloned() }),
        }
    }

    /// Appends the spans of another line.
    pub(crate) fn extend(&mut self, other: &Self) {
        if self.text.is_empty() && self.runs.is_empty() {
            let soft = self.soft;
            self.clone_from(other);
            self.soft = soft;
            return;
        }
        let mut left = other.cells;
        for span in other.spans() {
            let cells = if other.runs.len() == 1 { left } else { width(span.text) };
            left = left.saturating_sub(cells);
            self.append_measured(span.text, cells, span.style, span.link);
        }
    }

    /// Appends `count` spaces.
    pub(crate) fn pad(&mut self, count: usize, style: Style) {
        const SPACES: &str = "                                                                ";
        let mut left = count;
        while left > 0 {
            let n = left.min(SPACES.len());
            self.append_measured(&SPACES[..n], n, style, None);
            left -= n;
        }
    }

    /// Its text without styles.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Cells it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.cells
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Its pieces, in order.
    pub fn spans(&self) -> impl Iterator<Item = Span<'_>> {
        let mut start = 0;
        self.runs.iter().map(move |run| {
            let text = &self.text[start..run.end];
            start = run.end;
            Span { text, style: run.style, link: run.link.as_ref() }
        })
    }

    /// The line in at most `cells` cells, an ellipsis in place of what does not fit.
    #[must_use]
    pub fn clipped(&self, cells: usize) -> Self {
        if self.cells <= cells {
            return self.clone();
        }
        let mut line = Self::new();
        let room = cells.saturating_sub(1);
        let mut last = Style::PLAIN;
        for span in self.spans() {
            let (part, width) = fitting(span.text, room - line.cells);
            line.append_measured(part, width, span.style, span.link);
            last = span.style;
            if part.len() < span.text.len() {
                break;
            }
        }
        if cells > 0 {
            line.append_measured("…", 1, last, None);
        }
        line
    }

    /// Whether it looks the same on a screen.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        self.text == other.text && self.runs == other.runs
    }

    /// Takes spaces off the end.
    pub(crate) fn trim_end(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.cells -= self.text.len() - kept;
        self.text.truncate(kept);
        while self.runs.len() > 1 && self.runs[self.runs.len() - 2].end >= kept {
            self.runs.pop();
        }
        match self.runs.last_mut() {
            Some(_) if kept == 0 => self.runs.clear(),
            Some(run) => run.end = kept,
            None => {}
        }
    }

    /// Bytes at the beginning that look the same in `other`.
    pub(crate) fn common_prefix(&self, other: &Self) -> usize {
        let same = self.text.bytes().zip(other.text.bytes()).take_while(|(a, b)| a == b).count();
        let mut at = 0;
        let (mut mine, mut theirs) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        while let (Some(a), Some(b)) = (mine.peek(), theirs.peek()) {
            if at >= same || a.style != b.style || a.link != b.link {
                break;
            }
            at = a.end.min(b.end);
            if a.end == at {
                mine.next();
            }
            if theirs.peek().is_some_and(|b| b.end == at) {
                theirs.next();
            }
        }
        self.text.floor_char_boundary(at.min(same))
    }

    /// Forgets everything, keeping the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.runs.clear();
        self.cells = 0;
        self.soft = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_text_of_one_style_is_one_span() {
        let mut line = Line::of("a", Style::PLAIN);
        line.push("b", Style::PLAIN);
        line.push("日", Style::MUTED);
        let spans: Vec<_> = line.spans().map(|s| (s.text, s.style)).collect();
        assert_eq!(spans, [("ab", Style::PLAIN), ("日", Style::MUTED)]);
        assert_eq!(line.width(), 4);
    }

    #[test]
    fn what_does_not_fit_is_replaced_by_an_ellipsis() {
        let mut line = Line::of("ab", Style::PLAIN);
        line.push("日本", Style::MUTED);
        for (cells, text) in
            [(9, "ab日本"), (6, "ab日本"), (5, "ab日…"), (4, "ab…"), (1, "…"), (0, "")]
        {
            assert_eq!(line.clipped(cells).text(), text);
        }
    }

    #[test]
    fn text_is_sanitised_on_the_way_in() {
        assert_eq!(Line::of("a\x1b]0;x\x07\n", Style::PLAIN).text(), "a␛]0;x␇ ");
    }

    #[test]
    fn the_common_prefix_ends_where_text_or_style_differ() {
        let plain = Line::of("hello world", Style::PLAIN);
        assert_eq!(plain.common_prefix(&Line::of("hello there", Style::PLAIN)), 6);
        assert_eq!(plain.common_prefix(&Line::of("hello world", Style::MUTED)), 0);
        let mut mixed = Line::of("hello", Style::PLAIN);
        mixed.push(" world", Style::MUTED);
        assert_eq!(plain.common_prefix(&mixed), 5);
        assert_eq!(mixed.common_prefix(&mixed.clone()), 11);
        // The bytes of both begin alike.
        let (bar, corner) = (Line::of("a│", Style::PLAIN), Line::of("a┌", Style::PLAIN));
        assert_eq!(bar.common_prefix(&corner), 1);
    }
}
