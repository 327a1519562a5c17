//! Lines as bytes for a terminal: SGR, OSC 8, nothing else.
//!
//! Styles are switched with as few bytes as possible and never outlive a row.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;

use super::color::ColorDepth;
use super::options::Options;
use super::style::{Ink, Line, Link, Style};
use super::theme::{self, INKS};
use super::width::{cluster_width, is_contested};

/// Writes lines in one terminal's dialect.
#[derive(Debug)]
pub struct Encoder {
    depth: ColorDepth,
    inks: [String; INKS],
    bar: &'static str,
    hyperlinks: bool,
    ascii: bool,
}

impl Encoder {
    /// For the terminal that text was laid out for.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        let Options { color, dark, hyperlinks, ascii, .. } = *options;
        Self { ascii, ..Self::new(color, dark, hyperlinks) }
    }

    /// For a terminal of that depth and background.
    #[must_use]
    pub fn new(depth: ColorDepth, dark: bool, hyperlinks: bool) -> Self {
        Self {
            depth,
            inks: theme::palette(depth, dark),
            bar: theme::bar(depth, dark),
            hyperlinks: hyperlinks && depth != ColorDepth::None,
            ascii: false,
        }
    }

    /// The same for a terminal that shows only ASCII, or one that shows more.
    #[must_use]
    pub fn ascii(self, ascii: bool) -> Self {
        Self { ascii, ..self }
    }

    /// Appends a whole line, without its line end.
    pub fn line(&self, line: &Line, out: &mut String) {
        self.part(line, 0, None, out);
    }

    /// Appends what follows the first `skip` bytes of a line. With a place to keep, the cursor is
    /// set again after every cluster whose width terminals disagree about.
    pub(crate) fn part(&self, line: &Line, skip: usize, place: Option<Place>, out: &mut String) {
        let mut pen = Pen { style: Style::PLAIN, link: None };
        let mut place = place;
        let mut end = 0;
        for span in line.spans() {
            end += span.text.len();
            if end <= skip {
                continue;
            }
            let text = &span.text[span.text.len() - (end - skip).min(span.text.len())..];
            self.link(&mut pen, span.link, out);
            self.style(&mut pen, span.style, out);
            match self.ascii && text.contains(stands_in) {
                true => put(&text.replace(stands_in, "?"), place.as_mut(), out),
                false => put(text, place.as_mut(), out),
            }
        }
        self.link(&mut pen, None, out);
        self.style(&mut pen, Style::PLAIN, out);
    }

    fn link<'a>(&self, pen: &mut Pen<'a>, link: Option<&'a Link>, out: &mut String) {
        if !self.hyperlinks || pen.link == link {
            return;
        }
        match link {
            // One id for all rows of a link, so that they light up together.
            Some(url) => _ = write!(out, "\x1b]8;id={:x};{url}\x1b\\", fingerprint(url)),
            None => out.push_str("\x1b]8;;\x1b\\"),
        }
        pen.link = link;
    }

    fn style(&self, pen: &mut Pen<'_>, style: Style, out: &mut String) {
        let from = std::mem::replace(&mut pen.style, style);
        if self.depth == ColorDepth::None || from == style {
            return;
        }
        if style == Style::PLAIN {
            out.push_str("\x1b[m");
            return;
        }
        let added = style.extends(from);
        let mut open = Params { out, any: false };
        if !added {
            open.push("0");
        }
        for code in style.sgr_attrs() {
            if !added || from.sgr_attrs().all(|had| had != code) {
                open.push(code);
            }
        }
        if style.is_bar() && (!added || !from.is_bar()) {
            open.push(self.bar);
        }
        if if added { style.ink != from.ink } else { style.ink != Ink::Plain } {
            open.push(&self.inks[style.ink as usize]);
        }
        if open.any {
            out.push('m');
        }
    }
}

struct Pen<'a> {
    style: Style,
    link: Option<&'a Link>,
}

struct Params<'a> {
    out: &'a mut String,
    any: bool,
}

impl Params<'_> {
    fn push(&mut self, code: &str) {
        self.out.push_str(if self.any { ";" } else { "\x1b[" });
        self.out.push_str(code);
        self.any = true;
    }
}

/// Where in its row text is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The cell it begins at.
    pub cell: usize,
    /// Cells in the row.
    pub width: usize,
}

/// Whether this is what we put in the place of something that cannot be shown: a control character, what is no text,
/// what does not fit into its row.
fn stands_in(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2421}' | '\u{fffd}' | '…')
}

fn put(text: &str, place: Option<&mut Place>, out: &mut String) {
    let Some(place) = place else { return out.push_str(text) };
    for cluster in text.graphemes(true) {
        out.push_str(cluster);
        place.cell += cluster_width(cluster);
        if is_contested(cluster) && place.cell < place.width {
            // What a terminal drew too wide is wiped off.
            _ = write!(out, "\x1b[{}G\x1b[K", place.cell + 1);
        }
    }
}

fn fingerprint(url: &str) -> u32 {
    url.bytes().fold(0x811c_9dc5, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode(depth: ColorDepth, hyperlinks: bool, line: &Line) -> String {
        let mut out = String::new();
        Encoder::new(depth, true, hyperlinks).line(line, &mut out);
        out
    }

    fn styled() -> Line {
        let mut line = Line::of("a ", Style::PLAIN);
        line.push("b", Style::PLAIN.bold());
        line.push("c", Style::of(Ink::Added).bold().italic());
        line.push("d", Style::of(Ink::Added));
        line.push(" e", Style::PLAIN);
        line
    }

    #[test]
    fn styles_are_switched_with_few_bytes() {
        assert_eq!(
            encode(ColorDepth::Ansi16, false, &styled()),
            "a \x1b[1mb\x1b[3;32mc\x1b[0;32md\x1b[m e"
        );
    }

    #[test]
    fn without_colours_only_text_is_left() {
        assert_eq!(encode(ColorDepth::None, true, &styled()), "a bcd e");
    }

    #[test]
    fn a_link_is_opened_and_closed() {
        let mut line = Line::new();
        let url: Link = "http://x/".into();
        line.append("y", Style::of(Ink::Link), Some(&url));
        let out = encode(ColorDepth::Ansi16, true, &line);
        assert!(out.starts_with("\x1b]8;id="), "{out:?}");
        assert!(out.ends_with(";http://x/\x1b\\\x1b[94my\x1b]8;;\x1b\\\x1b[m"), "{out:?}");
    }

    #[test]
    fn a_part_starts_in_the_middle_of_a_span() {
        let mut out = String::new();
        Encoder::new(ColorDepth::Ansi16, true, false).part(&styled(), 3, None, &mut out);
        assert_eq!(out, "\x1b[1;3;32mc\x1b[0;32md\x1b[m e");
    }

    #[test]
    fn the_cursor_is_set_again_after_a_cluster_of_contested_width() {
        let mut out = String::new();
        let line = Line::of("a❤️b", Style::PLAIN);
        Encoder::new(ColorDepth::Ansi16, true, false).part(
            &line,
            0,
            Some(Place { cell: 0, width: 9 }),
            &mut out,
        );
        assert_eq!(out, "a❤️\x1b[4G\x1b[Kb");
    }
}
