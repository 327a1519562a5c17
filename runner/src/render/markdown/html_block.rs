//! A block of HTML, line by line: its text, with rows where its elements begin and end.

use std::borrow::Cow;

use super::super::options::Options;
use super::super::style::{Ink, Line, Link, Style};
use super::super::theme;
use super::super::wrap::Wrapper;
use super::html::{self, Element, Marks, Tag};

/// A tag longer than this is text.
const MAX_TAG: usize = 4096;

#[derive(Clone, Debug)]
pub(crate) struct HtmlBlock {
    wrapper: Wrapper,
    marks: Marks,
    options: Options,
    /// A tag or comment whose end has not come yet.
    pending: String,
    /// Open elements that keep line ends.
    verbatim: usize,
    /// Whether one of them was opened last: a line end right after is not part of its text.
    opened: bool,
    blank: bool,
}

impl HtmlBlock {
    pub(crate) fn new(avail: usize, options: Options) -> Self {
        Self {
            wrapper: Wrapper::new(avail),
            marks: Marks::new(Style::PLAIN),
            options,
            pending: String::new(),
            verbatim: 0,
            opened: false,
            blank: false,
        }
    }

    pub(crate) fn set_avail(&mut self, avail: usize) {
        self.wrapper.set_avail(avail);
    }

    /// Takes a line; the rows it finishes.
    pub(crate) fn line(&mut self, line: &str) -> Vec<Line> {
        let joined = if self.pending.is_empty() {
            Cow::Borrowed(line)
        } else {
            let mut joined = std::mem::take(&mut self.pending);
            joined.push('\n');
            joined.push_str(line);
            Cow::Owned(joined)
        };
        self.blank = line.trim().is_empty();
        let mut rest = &*joined;
        while let Some(at) = rest.find('<') {
            self.text(&rest[..at]);
            rest = &rest[at..];
            let Some(len) = tag_length(rest) else {
                self.hold(rest);
                return self.wrapper.take_rows();
            };
            self.tag(&rest[..len]);
            rest = &rest[len..];
        }
        self.text(rest);
        self.end_line();
        self.wrapper.take_rows()
    }

    /// The rows that are left.
    pub(crate) fn finish(&mut self) -> Vec<Line> {
        let pending = std::mem::take(&mut self.pending);
        if !pending.starts_with("<!") && !pending.starts_with("<?") {
            self.text(&pending);
        }
        if self.wrapper.is_mid_row() {
            self.wrapper.line_break();
        }
        self.wrapper.take_rows()
    }

    fn hold(&mut self, rest: &str) {
        let comment = rest.starts_with("<!--");
        if comment {
            // What is inside a comment is never shown; enough is kept to see its end.
            let tail = rest.ceil_char_boundary(rest.len().saturating_sub(2).max(4));
            self.pending = format!("<!--{}", &rest[tail..]);
        } else if rest.len() > MAX_TAG {
            self.text(rest);
        } else {
            self.pending = rest.to_owned();
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.opened) {
        } else if self.verbatim > 0 {
            self.wrapper.line_break();
        } else if self.blank {
            self.end_row();
        } else {
            self.wrapper.push(" ", self.marks.style, self.marks.link.as_ref());
        }
    }

    fn end_row(&mut self) {
        if self.wrapper.is_mid_row() {
            self.wrapper.line_break();
        }
    }

    fn text(&mut self, text: &str) {
        self.opened &= text.is_empty();
        let link = self.marks.link.as_ref().filter(|_| self.options.hyperlinks);
        if self.verbatim > 0 {
            self.wrapper.push_verbatim(&html::decode(text), self.marks.style, link);
        } else if !text.trim().is_empty() || self.wrapper.is_mid_row() {
            self.wrapper.push(&html::decode(text), self.marks.style, link);
        }
    }

    fn tag(&mut self, text: &str) {
        match Tag::read(text) {
            None => self.text(text),
            Some(Tag::Hidden) => {
                if let Some(data) = text.strip_prefix("<![CDATA[") {
                    self.text(data.strip_suffix("]]>").unwrap_or(data));
                }
            }
            Some(Tag::Open { element, name, attributes }) => self.open(element, name, attributes),
            Some(Tag::Close { element, name }) => self.close(element, &name),
        }
    }

    fn open(&mut self, element: Element, name: String, attributes: &str) {
        let glyphs = theme::glyphs(self.options.ascii);
        match element {
            Element::Break => self.wrapper.line_break(),
            Element::Rule => {
                self.end_row();
                let rule = glyphs.rule.repeat(self.wrapper.avail());
                self.wrapper.block([Line::of(&rule, Style::MUTED)]);
            }
            Element::Image => {
                if let Some(alt) = html::attribute(attributes, "alt") {
                    self.text(&alt);
                }
            }
            Element::Block => self.end_row(),
            Element::Item => {
                self.end_row();
                let bullet = format!("{} ", glyphs.bullets[0]);
                self.wrapper.push(&bullet, Style::of(Ink::Accent), None);
            }
            Element::Cell => self.gap(),
            Element::Preformatted | Element::Raw => {
                self.end_row();
                self.verbatim += 1;
                self.opened = true;
                self.marks.open_element(element, name, attributes);
            }
            Element::Heading => {
                self.end_row();
                self.marks.open_element(element, name, attributes);
            }
            _ => {
                if name == "th" {
                    self.gap();
                } else if name == "summary" || name == "dt" {
                    self.end_row();
                }
                self.marks.open_element(element, name, attributes);
            }
        }
    }

    fn close(&mut self, element: Element, name: &str) {
        match element {
            Element::Block | Element::Item => self.end_row(),
            Element::Preformatted | Element::Raw => {
                self.verbatim = self.verbatim.saturating_sub(1);
                self.end_row();
            }
            Element::Heading => self.end_row(),
            _ if name == "summary" || name == "dt" => self.end_row(),
            _ => {}
        }
        self.marks.close(name);
    }

    /// Sets a table's cell apart from the one before.
    fn gap(&mut self) {
        if self.wrapper.is_mid_row() {
            let link: Option<&Link> = None;
            self.wrapper.push_verbatim("   ", self.marks.style, link);
        }
    }
}

/// The length of the tag, comment, declaration or instruction at the beginning, or of the `<`
/// alone; `None` if its end has not come.
fn tag_length(text: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(inner) = text.strip_prefix(start) {
            return inner.find(end).map(|n| start.len() + n + end.len());
        }
    }
    let tag = text[1..].starts_with(|c: char| c == '/' || c == '!' || c.is_ascii_alphabetic());
    if !tag {
        return Some(1);
    }
    let mut quote = None;
    for (n, b) in text.bytes().enumerate().skip(1) {
        match (quote, b) {
            (None, b'"' | b'\'') => quote = Some(b),
            (Some(open), _) if open == b => quote = None,
            (None, b'>') => return Some(n + 1),
            (None, b'<') => return Some(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::ColorDepth;

    fn rows(html: &str) -> Vec<String> {
        let options = Options {
            width: 40,
            color: ColorDepth::None,
            dark: true,
            hyperlinks: false,
            ascii: false,
        };
        let mut block = HtmlBlock::new(40, options);
        let mut rows: Vec<_> = html.lines().flat_map(|line| block.line(line)).collect();
        rows.extend(block.finish());
        rows.iter().map(|row| row.text().to_owned()).collect()
    }

    #[test]
    fn elements_begin_rows_and_tags_disappear() {
        assert_eq!(
            rows("<div>\n<p>one <b>two</b>\nthree</p>\n<ul><li>four</li>\n<li>five</ul></div>"),
            ["one two three", "• four", "• five"]
        );
    }

    #[test]
    fn comments_disappear_over_many_lines() {
        assert_eq!(rows("a <!-- b\nc -\n-> d --> e"), ["a e"]);
        assert_eq!(rows("<!--\nsecret\n-->"), Vec::<String>::new());
    }

    #[test]
    fn preformatted_text_keeps_its_shape() {
        assert_eq!(rows("<pre>\n  a\n    b\n</pre>c"), ["  a", "    b", "c"]);
    }

    #[test]
    fn a_tag_may_span_lines_and_unknown_ones_are_text() {
        assert_eq!(rows("<img\n alt=\"a > b\"\n> <T>x</T>"), ["a > b <T>x</T>"]);
    }

    #[test]
    fn what_never_ends_is_shown() {
        assert_eq!(rows("text <a href=\"x"), ["text <a href=\"x"]);
    }
}
