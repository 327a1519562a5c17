//! A block of code, line by line: a label above, coloured text at the left edge, a mark below.
//!
//! Rows hold the code and nothing else, so that it can be copied as it is; a line wider than the
//! terminal goes on in rows that the terminal joins again.

use super::highlight::Highlighter;
use super::options::Options;
use super::style::{Ink, Line, Style};
use super::theme;
use super::width::fitting;

const TAB: usize = 4;

/// An open block.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    label: String,
    highlighter: Option<Highlighter>,
    rule: &'static str,
}

impl Code {
    /// The block that an info string opens.
    pub(crate) fn open(info: &str, options: &Options) -> Self {
        let language = info.split([' ', ',', '\t', '{']).next().unwrap_or_default();
        Self {
            label: info.to_owned(),
            highlighter: Highlighter::for_language(language),
            rule: theme::glyphs(options.ascii).rule,
        }
    }

    /// The rows above the code.
    pub(crate) fn header(&self, avail: usize) -> Option<Line> {
        const LEAD: usize = 2;
        let mut line = Line::of(&self.rule.repeat(LEAD.min(avail)), Style::MUTED);
        let mut label = Line::new();
        label.push(&super::markdown::unescape(&self.label), Style::MUTED);
        let room = avail.saturating_sub(LEAD + 1);
        if room > 0 && !label.is_empty() {
            let (fit, _) = fitting(label.text(), room);
            line.push(" ", Style::MUTED);
            line.push(fit, Style::MUTED.italic());
        }
        Some(line)
    }

    /// The row below the code.
    pub(crate) fn footer(&self, avail: usize) -> Option<Line> {
        Some(Line::of(&self.rule.repeat(2.min(avail)), Style::MUTED))
    }

    /// The rows of one line.
    pub(crate) fn line(&mut self, text: &str, avail: usize) -> Vec<Line> {
        let mut line = Line::new();
        match &mut self.highlighter {
            Some(highlighter) => highlighter.line(text, |part, style| push(&mut line, part, style)),
            None => push(&mut line, text, Style::of(Ink::Plain)),
        }
        split(line, avail)
    }
}

/// Code as lines of their own, coloured as the language (a name or file extension) asks for; each
/// is cut into rows of at most the terminal's width.
#[must_use]
pub fn highlight(code: &str, language: &str, options: &Options) -> Vec<Line> {
    let mut block = Code::open(language, options);
    let avail = usize::from(options.width).max(1);
    code.lines().flat_map(|line| block.line(line, avail)).collect()
}

/// Appends code, its tabs as spaces up to the next stop.
fn push(line: &mut Line, text: &str, style: Style) {
    for (n, part) in text.split('\t').enumerate() {
        if n > 0 {
            line.pad(TAB - line.width() % TAB, style);
        }
        line.push(part, style);
    }
}

/// Cuts a line into rows of at most `avail` cells, each but the last marked as going on.
pub(crate) fn split(line: Line, avail: usize) -> Vec<Line> {
    if line.width() <= avail {
        return vec![line];
    }
    let mut rows = Vec::new();
    let mut row = Line::new();
    for span in line.spans() {
        let mut rest = span.text;
        while !rest.is_empty() {
            let (part, cells) = fitting(rest, avail.saturating_sub(row.width()));
            if !part.is_empty() {
                row.append_measured(part, cells, span.style, span.link);
                rest = &rest[part.len()..];
            } else if row.is_empty() {
                row.append_measured("…", 1, span.style, span.link);
                let mut clusters = unicode_segmentation::UnicodeSegmentation::graphemes(rest, true);
                rest = &rest[clusters.next().map_or(rest.len(), str::len)..];
            } else {
                row.soft = true;
                rows.push(std::mem::take(&mut row));
            }
        }
    }
    rows.push(row);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[Line]) -> Vec<&str> {
        rows.iter().map(Line::text).collect()
    }

    #[test]
    fn a_long_line_goes_on_in_joined_rows() {
        let rows = split(Line::of("abcdefgh日本", Style::PLAIN), 5);
        assert_eq!(texts(&rows), ["abcde", "fgh日", "本"]);
        assert_eq!(rows.iter().map(|r| r.soft).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn code_is_highlighted_line_by_line() {
        let options = crate::render::tests::options(6);
        let rows = highlight("fn x() {}\n// \x1b", "rs", &options);
        assert_eq!(texts(&rows), ["fn x()", " {}", "// ␛"]);
        assert_eq!(rows[0].spans().next().map(|span| span.style.ink), Some(Ink::Keyword));
    }

    #[test]
    fn tabs_reach_to_the_next_stop() {
        let mut line = Line::new();
        push(&mut line, "\tab\tc", Style::PLAIN);
        assert_eq!(line.text(), "    ab  c");
    }
}
