//! Words into rows no wider than the terminal, piece by piece.
//!
//! Text of any number of styles goes in as it comes; rows come out as they fill, so that a
//! paragraph of any length is wrapped in one pass. Words break only where they are wider than a
//! row, and then between clusters; ideographs break as their scripts do.

use unicode_segmentation::UnicodeSegmentation;

use super::sanitize;
use super::style::{Line, Link, Style};
use super::width::{breaks_between, cluster_width, fitting};

/// Plain text in rows of at most `width` cells; its line ends are kept.
#[must_use]
pub fn wrap(text: &str, style: Style, width: usize) -> Vec<Line> {
    let mut rows = Vec::new();
    for line in text.lines() {
        let mut wrapper = Wrapper::new(width);
        wrapper.push_verbatim(line, style, None);
        rows.extend(wrapper.finish());
    }
    rows
}

/// Text being wrapped.
#[derive(Clone, Debug)]
pub(crate) struct Wrapper {
    avail: usize,
    rows: Vec<Line>,
    row: Line,
    word: Line,
    /// Spaces between the row and the word.
    gap: usize,
    gap_style: Style,
    gap_link: Option<Link>,
    last: char,
    started: bool,
}

impl Wrapper {
    /// Rows of at most `avail` cells (at least one).
    pub(crate) fn new(avail: usize) -> Self {
        Self {
            avail: avail.max(1),
            rows: Vec::new(),
            row: Line::new(),
            word: Line::new(),
            gap: 0,
            gap_style: Style::PLAIN,
            gap_link: None,
            last: ' ',
            started: false,
        }
    }

    /// Appends text; runs of spaces count as one.
    pub(crate) fn push(&mut self, text: &str, style: Style, link: Option<&Link>) {
        let text = sanitize::single_row(text);
        self.started |= !text.is_empty();
        let mut start = 0;
        for space in memchr::memchr_iter(b' ', text.as_bytes()) {
            self.word_part(&text[start..space], style, link);
            self.space(style, link);
            start = space + 1;
        }
        self.word_part(&text[start..], style, link);
    }

    /// As [`Self::push`], keeping runs of spaces.
    pub(crate) fn push_verbatim(&mut self, text: &str, style: Style, link: Option<&Link>) {
        let mut before = false;
        let mut text = text;
        if !self.is_mid_row() {
            let rest = text.trim_start_matches(' ');
            self.word.pad(text.len() - rest.len(), style);
            text = rest;
        }
        for (n, part) in text.split(' ').enumerate() {
            if n > 0 {
                self.push(" ", style, link);
                self.gap += usize::from(before);
                before = true;
            }
            if !part.is_empty() {
                self.push(part, style, link);
                before = false;
            }
        }
    }

    /// Ends the row.
    pub(crate) fn line_break(&mut self) {
        self.end_word();
        self.gap = 0;
        self.last = ' ';
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Rows of their own, between the text so far and what follows.
    pub(crate) fn block(&mut self, rows: impl IntoIterator<Item = Line>) {
        self.end_word();
        if !self.row.is_empty() {
            self.line_break();
        }
        self.gap = 0;
        self.last = ' ';
        self.rows.extend(rows);
    }

    /// Whether a row is begun.
    pub(crate) fn is_mid_row(&self) -> bool {
        !self.row.is_empty() || !self.word.is_empty()
    }

    /// Cells of a row.
    pub(crate) fn avail(&self) -> usize {
        self.avail
    }

    /// The rows that are full so far.
    pub(crate) fn take_rows(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.rows)
    }

    /// All rows that are left; one empty row if nothing was ever pushed.
    pub(crate) fn finish(mut self) -> Vec<Line> {
        self.end_word();
        if !self.row.is_empty() || (!self.started && self.rows.is_empty()) {
            self.rows.push(self.row);
        }
        self.rows
    }

    /// Cells that are available from now on.
    pub(crate) fn set_avail(&mut self, avail: usize) {
        self.avail = avail.max(1);
    }

    fn space(&mut self, style: Style, link: Option<&Link>) {
        self.end_word();
        if self.gap == 0 {
            self.gap_style = style;
            self.gap_link = link.cloned();
        }
        self.gap = self.gap.max(1);
        self.last = ' ';
    }

    fn word_part(&mut self, part: &str, style: Style, link: Option<&Link>) {
        if part.is_empty() {
            return;
        }
        if part.is_ascii() {
            if let Some(first) = part.chars().next()
                && breaks_between(self.last, first)
            {
                self.end_word();
            }
            self.word.append_measured(part, part.len(), style, link);
            self.last = part.chars().next_back().unwrap_or(' ');
            return;
        }
        let (mut start, mut cells) = (0, 0);
        for (at, cluster) in part.grapheme_indices(true) {
            let first = cluster.chars().next().unwrap_or(' ');
            if breaks_between(self.last, first) {
                self.word.append_measured(&part[start..at], cells, style, link);
                self.end_word();
                (start, cells) = (at, 0);
            }
            cells += cluster_width(cluster);
            self.last = first;
        }
        self.word.append_measured(&part[start..], cells, style, link);
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let gap = if self.row.is_empty() { 0 } else { self.gap };
        self.gap = 0;
        if self.row.width() + gap + self.word.width() <= self.avail {
            if gap > 0 {
                let link = self.gap_link.take();
                const SPACES: &str = "        ";
                for _ in 0..gap / SPACES.len() {
                    self.row.append_measured(SPACES, SPACES.len(), self.gap_style, link.as_ref());
                }
                let left = gap % SPACES.len();
                self.row.append_measured(&SPACES[..left], left, self.gap_style, link.as_ref());
            }
        } else if !self.row.is_empty() {
            self.rows.push(std::mem::take(&mut self.row));
        }
        if self.word.width() <= self.avail {
            self.row.extend(&self.word);
        } else {
            self.break_word();
        }
        self.word.clear();
    }

    fn break_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        for span in word.spans() {
            let mut rest = span.text;
            while !rest.is_empty() {
                let (part, cells) = fitting(rest, self.avail - self.row.width());
                if part.is_empty() && !self.row.is_empty() {
                    self.rows.push(std::mem::take(&mut self.row));
                } else if part.is_empty() {
                    // Not even one cluster fits a row: show that something is there.
                    let cluster = rest.graphemes(true).next().unwrap_or(rest);
                    self.row.append_measured("…", 1, span.style, span.link);
                    rest = &rest[cluster.len()..];
                } else {
                    self.row.append_measured(part, cells, span.style, span.link);
                    rest = &rest[part.len()..];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrap(avail: usize, pieces: &[&str]) -> Vec<String> {
        let mut wrapper = Wrapper::new(avail);
        for piece in pieces {
            wrapper.push(piece, Style::PLAIN, None);
        }
        wrapper.finish().iter().map(|l| l.text().to_owned()).collect()
    }

    #[test]
    fn words_move_to_the_next_row_whole() {
        assert_eq!(wrap(11, &["the quick  brown fox"]), ["the quick", "brown fox"]);
        assert_eq!(wrap(80, &["  padded  "]), ["padded"]);
    }

    #[test]
    fn a_word_may_come_in_several_pieces() {
        assert_eq!(wrap(8, &["one tw", "o", "three"]), ["one", "twothree"]);
    }

    #[test]
    fn a_word_wider_than_a_row_is_broken() {
        assert_eq!(wrap(4, &["a abcdefghij k"]), ["a", "abcd", "efgh", "ij k"]);
    }

    #[test]
    fn ideographs_break_anywhere_but_before_closing_punctuation() {
        assert_eq!(wrap(6, &["日本語。日本"]), ["日本", "語。日", "本"]);
        assert_eq!(wrap(6, &["ab日本"]), ["ab日本"]);
        assert_eq!(wrap(5, &["ab日本"]), ["ab日", "本"]);
    }

    #[test]
    fn a_cluster_wider_than_the_terminal_becomes_an_ellipsis() {
        assert_eq!(wrap(1, &["a日"]), ["a", "…"]);
    }

    #[test]
    fn verbatim_text_keeps_its_spaces() {
        let mut wrapper = Wrapper::new(20);
        wrapper.push_verbatim("a   b", Style::PLAIN, None);
        wrapper.line_break();
        wrapper.push_verbatim("  c", Style::PLAIN, None);
        let rows: Vec<_> = wrapper.finish().iter().map(|l| l.text().to_owned()).collect();
        assert_eq!(rows, ["a   b", "  c"]);
    }

    #[test]
    fn no_row_is_wider_than_it_may_be() {
        let text = "word 日本語テキスト https://example.org/a/very/long/path 👨‍👩‍👧‍👦👨‍👩‍👧‍👦 e\u{301}e\u{301}e\u{301}";
        for avail in 1..40 {
            assert!(wrap(avail, &[text]).iter().all(|row| crate::render::width(row) <= avail));
        }
    }
}
