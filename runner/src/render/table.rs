//! Tables: columns as wide as their text, shrunk by wrapping cells, and records where even that
//! does not fit.
//!
//! Rows are measured once as they come; the layout is made from the measures, so that a growing
//! table can be shown at the cost of the rows that are seen.

use std::sync::Arc;

use super::markdown::{Align, Flow};
use super::math;
use super::sanitize;
use super::style::{Ink, Line, Link, Style};
use super::theme::Glyphs;
use super::width::width;
use super::wrap::Wrapper;

/// A cell's text, one line for each that a break in it makes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    lines: Vec<Line>,
    line: Line,
    /// Cells of the longest word.
    word: usize,
}

type Row = Vec<Cell>;

/// What the rows of a table want of one column.
#[derive(Clone, Copy, Debug, Default)]
struct Measure {
    natural: usize,
    word: usize,
}

/// A table that may still grow. A clone shares the rows, and what it adds stays its own.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    head: Row,
    aligns: Vec<Align>,
    measures: Vec<Measure>,
    rows: Arc<Vec<Row>>,
    added: Vec<Row>,
}

/// Words are not broken for a column above this width.
const WORD: usize = 24;
/// No column with more text than that gets narrower before the table becomes records.
const NARROW: usize = 7;

impl Table {
    pub(crate) fn new(head: Row, aligns: Vec<Align>) -> Self {
        let measures = vec![Measure::default(); aligns.len()];
        let mut table =
            Self { head: Vec::new(), aligns, measures, rows: Arc::default(), added: Vec::new() };
        let head = table.measured(head);
        table.head = head;
        table
    }

    /// Adds a row; missing cells are empty, and those too many are left out.
    pub(crate) fn push(&mut self, row: Row) {
        let row = self.measured(row);
        match Arc::get_mut(&mut self.rows) {
            Some(rows) => rows.push(row),
            None => self.added.push(row),
        }
    }

    fn measured(&mut self, mut row: Row) -> Row {
        row.resize_with(self.aligns.len(), Cell::default);
        for (cell, measure) in row.iter_mut().zip(&mut self.measures) {
            cell.finish();
            measure.natural = measure.natural.max(cell.width());
            measure.word = measure.word.max(cell.word);
        }
        row
    }

    fn len(&self) -> usize {
        self.rows.len() + self.added.len()
    }

    fn body(&self, from: usize) -> impl Iterator<Item = &Row> {
        self.rows.iter().chain(&self.added).skip(from)
    }

    /// The table in `avail` cells; with `wanted`, only what its last rows need.
    pub(crate) fn rows(&self, avail: usize, glyphs: &Glyphs, wanted: Option<usize>) -> Vec<Line> {
        let from = wanted.map_or(0, |wanted| self.len().saturating_sub(wanted));
        match self.columns(avail) {
            Some(columns) => Grid { table: self, columns, glyphs }.rows(from),
            None => self.records(avail, glyphs, from),
        }
    }

    /// Widths for a grid, if there is one that can be read.
    fn columns(&self, avail: usize) -> Option<Vec<usize>> {
        let borders = 3 * self.measures.len() + 1;
        let room = avail.checked_sub(borders)?;
        let natural: Vec<_> = self.measures.iter().map(|m| m.natural.max(1)).collect();
        if natural.iter().sum::<usize>() <= room {
            return Some(natural);
        }
        let floor = |limit: usize| -> Vec<usize> {
            self.measures.iter().map(|m| m.natural.min(m.word.min(limit).max(3)).max(1)).collect()
        };
        let least =
            [WORD, NARROW].map(floor).into_iter().find(|f| f.iter().sum::<usize>() <= room)?;
        Some(share(&natural, &least, room))
    }

    fn records(&self, avail: usize, glyphs: &Glyphs, from: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for (n, row) in self.body(from).enumerate() {
            if n + from > 0 {
                lines.push(Line::of(&glyphs.rule.repeat(3.min(avail)), Style::MUTED));
            }
            for (head, cell) in self.head.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                let mut wrapper = Wrapper::new(avail);
                head.flow(&mut wrapper);
                if !head.is_empty() {
                    wrapper.push(": ", Style::PLAIN.bold(), None);
                }
                cell.flow(&mut wrapper);
                lines.extend(wrapper.finish());
            }
        }
        if self.len() == 0 {
            for head in &self.head {
                let mut wrapper = Wrapper::new(avail);
                head.flow(&mut wrapper);
                lines.extend(wrapper.finish());
            }
        }
        lines
    }
}

/// Gives each column its least, and what is left to those that want more, evenly.
fn share(natural: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    let total =
        |cap: usize| -> usize { natural.iter().zip(least).map(|(&n, &l)| n.min(cap.max(l))).sum() };
    let mut cap = 0;
    while total(cap + 1) <= room && cap < room {
        cap += 1;
    }
    let mut widths: Vec<_> = natural.iter().zip(least).map(|(&n, &l)| n.min(cap.max(l))).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    for (width, &natural) in widths.iter_mut().zip(natural) {
        if left > 0 && *width < natural {
            *width += 1;
            left -= 1;
        }
    }
    widths
}

struct Grid<'a> {
    table: &'a Table,
    columns: Vec<usize>,
    glyphs: &'a Glyphs,
}

impl Grid<'_> {
    fn rows(&self, from: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let wraps = self.table.measures.iter().zip(&self.columns).any(|(m, &c)| m.natural > c)
            || self.table.body(from).any(|row| row.iter().any(|cell| cell.lines.len() > 1));
        if from == 0 {
            lines.push(self.border(self.glyphs.top));
            self.row(&self.table.head, &mut lines);
        }
        for (n, row) in self.table.body(from).enumerate() {
            // Where cells wrap, only a rule tells one row from the next.
            if n + from == 0 || wraps {
                lines.push(self.border(self.glyphs.middle));
            }
            self.row(row, &mut lines);
        }
        lines.push(self.border(self.glyphs.bottom));
        lines
    }

    fn border(&self, [left, middle, right]: [&str; 3]) -> Line {
        let spans: Vec<_> = self.columns.iter().map(|w| self.glyphs.rule.repeat(w + 2)).collect();
        Line::of(&format!("{left}{}{right}", spans.join(middle)), Style::MUTED)
    }

    fn row(&self, row: &Row, lines: &mut Vec<Line>) {
        let cells: Vec<_> = row.iter().zip(&self.columns).map(|(c, &w)| c.wrapped(w)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1).max(1);
        for n in 0..height {
            let mut line = Line::of(self.glyphs.bar, Style::MUTED);
            for ((cell, &width), align) in cells.iter().zip(&self.columns).zip(&self.table.aligns) {
                line.pad(1, Style::PLAIN);
                let gap = width - cell.get(n).map_or(0, Line::width).min(width);
                let before = match align {
                    Align::Left => 0,
                    Align::Center => gap / 2,
                    Align::Right => gap,
                };
                line.pad(before, Style::PLAIN);
                if let Some(text) = cell.get(n) {
                    line.extend(text);
                }
                line.pad(gap - before + 1, Style::PLAIN);
                line.push(self.glyphs.bar, Style::MUTED);
            }
            lines.push(line);
        }
    }
}

impl Cell {
    fn finish(&mut self) {
        if !self.line.is_empty() || self.lines.is_empty() {
            self.lines.push(std::mem::take(&mut self.line));
        }
        let words = self.lines.iter().flat_map(|line| line.text().split(' '));
        self.word = words.map(width).max().unwrap_or(0);
        if self.lines.iter().any(|l| l.text().contains(super::width::is_ideographic)) {
            self.word = self.word.min(NARROW);
        }
    }

    fn width(&self) -> usize {
        self.lines.iter().map(Line::width).max().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.lines.iter().all(Line::is_empty)
    }

    fn wrapped(&self, width: usize) -> Vec<Line> {
        if self.width() <= width {
            return self.lines.clone();
        }
        let mut wrapper = Wrapper::new(width);
        self.flow(&mut wrapper);
        wrapper.finish()
    }

    fn flow(&self, wrapper: &mut Wrapper) {
        for (n, line) in self.lines.iter().enumerate() {
            if n > 0 {
                wrapper.line_break();
            }
            for span in line.spans() {
                wrapper.push(span.text, span.style, span.link);
            }
        }
    }
}

impl Flow for Cell {
    fn text(&mut self, text: &str, style: Style, link: Option<&Link>) {
        self.line.append(&sanitize::single_row(text), style, link);
    }

    fn verbatim(&mut self, text: &str, style: Style, link: Option<&Link>) {
        self.text(text, style, link);
    }

    fn line_break(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }

    fn formula(&mut self, tex: &str) {
        self.line.push(&math::inline(tex), Style::of(Ink::Math));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::theme;

    fn row(texts: &[&str]) -> Row {
        texts
            .iter()
            .map(|text| {
                let mut cell = Cell::default();
                cell.text(text, Style::PLAIN, None);
                cell
            })
            .collect()
    }

    fn table() -> Table {
        let aligns = vec![Align::Left, Align::Right, Align::Center];
        let mut table = Table::new(row(&["name", "n", "note"]), aligns);
        table.push(row(&["日本", "1", "x"]));
        table.push(row(&["a", "100", "a longer note"]));
        table
    }

    fn drawn(table: &Table, avail: usize) -> Vec<String> {
        let rows = table.rows(avail, theme::glyphs(false), None);
        rows.iter().map(|line| line.text().to_owned()).collect()
    }

    #[test]
    fn columns_are_as_wide_as_their_text() {
        assert_eq!(
            drawn(&table(), 80),
            [
                "┌──────┬─────┬───────────────┐",
                "│ name │   n │     note      │",
                "├──────┼─────┼───────────────┤",
                "│ 日本 │   1 │       x       │",
                "│ a    │ 100 │ a longer note │",
                "└──────┴─────┴───────────────┘",
            ]
        );
    }

    #[test]
    fn cells_wrap_where_the_table_is_too_wide() {
        assert_eq!(
            drawn(&table(), 23),
            [
                "┌──────┬─────┬────────┐",
                "│ name │   n │  note  │",
                "├──────┼─────┼────────┤",
                "│ 日本 │   1 │   x    │",
                "├──────┼─────┼────────┤",
                "│ a    │ 100 │   a    │",
                "│      │     │ longer │",
                "│      │     │  note  │",
                "└──────┴─────┴────────┘",
            ]
        );
    }

    #[test]
    fn records_take_over_where_columns_do_not_fit() {
        assert_eq!(
            drawn(&table(), 14),
            ["name: 日本", "n: 1", "note: x", "───", "name: a", "n: 100", "note: a longer", "note"]
        );
    }

    #[test]
    fn nothing_is_wider_than_it_may_be() {
        for avail in 1..60 {
            let rows = table().rows(avail, theme::glyphs(false), None);
            assert!(rows.iter().all(|line| line.width() <= avail), "{avail}");
        }
    }

    #[test]
    fn a_clone_adds_rows_of_its_own() {
        let original = table();
        let mut ahead = original.clone();
        ahead.push(row(&["b", "2", "y"]));
        assert_eq!((original.len(), ahead.len()), (2, 3));
        assert_eq!(drawn(&ahead, 80).len(), 7);
    }

    #[test]
    fn only_the_wanted_rows_are_laid_out() {
        let mut long = table();
        for n in 0..1000 {
            long.push(row(&["x", &n.to_string(), ""]));
        }
        let rows = long.rows(80, theme::glyphs(false), Some(10));
        assert_eq!(rows.len(), 11);
        assert!(rows[9].text().contains("999"));
    }
}
