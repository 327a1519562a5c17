//! Where the pieces of a text go: into rows of words, or into a table's cell.

use super::super::style::{Ink, Line, Link, Style};
use super::super::wrap::Wrapper;
use super::super::{math, width};

/// Where the pieces of a text go.
pub(crate) trait Flow {
    fn text(&mut self, text: &str, style: Style, link: Option<&Link>);
    /// Text whose runs of spaces count.
    fn verbatim(&mut self, text: &str, style: Style, link: Option<&Link>);
    fn line_break(&mut self);
    /// A formula on rows of its own.
    fn formula(&mut self, tex: &str);
}

impl Flow for Wrapper {
    fn text(&mut self, text: &str, style: Style, link: Option<&Link>) {
        self.push(text, style, link);
    }

    fn verbatim(&mut self, text: &str, style: Style, link: Option<&Link>) {
        self.push_verbatim(text, style, link);
    }

    fn line_break(&mut self) {
        Wrapper::line_break(self);
    }

    fn formula(&mut self, tex: &str) {
        let rows = formula_rows(tex, self.avail());
        self.block(rows);
    }
}

/// The rows of a displayed formula as it was written.
pub(super) fn source_rows(tex: &str, avail: usize) -> Vec<Line> {
    let mut wrapper = Wrapper::new(avail);
    for line in tex.trim().lines() {
        wrapper.push_verbatim(line.trim(), Style::of(Ink::Math), None);
        wrapper.line_break();
    }
    wrapper.take_rows()
}

/// The rows of a displayed formula, broken like text where they are too wide.
pub(super) fn formula_rows(tex: &str, avail: usize) -> Vec<Line> {
    const INDENT: usize = 2;
    let style = Style::of(Ink::Math);
    let indent = if avail > 10 * INDENT { INDENT } else { 0 };
    let rows = math::display(tex, avail - indent);
    let wide = rows.iter().any(|row| width(row) > avail - indent);
    if !wide {
        return rows
            .iter()
            .map(|row| {
                let mut line = Line::new();
                line.pad(indent, Style::PLAIN);
                line.push(row, style);
                line
            })
            .collect();
    }
    let mut wrapper = Wrapper::new(avail);
    for row in rows {
        wrapper.push_verbatim(&row, style, None);
        wrapper.line_break();
    }
    wrapper.take_rows()
}
