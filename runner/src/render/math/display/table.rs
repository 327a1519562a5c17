//! Tables in two dimensions: matrices, cases, aligned equations, commutative diagrams.

use super::super::block::Block;
use super::super::tree::{Align, Node, Row, Style, Table, TableKind};
use super::{Layout, TooWide};

/// One row, every cell on the row's baseline.
struct Line {
    cells: Vec<Block>,
    above: usize,
    below: usize,
    tag: Option<Block>,
}

impl Layout {
    pub(super) fn table(&self, table: &Table, style: Style) -> Result<Block, TooWide> {
        let lines: Result<Vec<Line>, TooWide> =
            table.rows.iter().map(|row| self.table_line(table, row, style)).collect();
        let lines = lines?;
        let widths: Vec<usize> = (0..table.columns.len())
            .map(|at| lines.iter().filter_map(|l| l.cells.get(at)).map(|c| c.width).max())
            .map(|width| width.unwrap_or(0))
            .collect();
        if widths.iter().sum::<usize>() > self.limit {
            return Err(TooWide);
        }
        let spread = lines.iter().any(|line| line.above + line.below > 0)
            && table.kind != TableKind::Diagram
            || table.kind == TableKind::Cases && lines.len() == 2;
        let mut grid = Grid::new(table, widths);
        for (at, line) in lines.into_iter().enumerate() {
            let rules = &table.rows[at].rules;
            if !rules.is_empty() {
                grid.rules(rules, at == 0);
            } else if spread && at > 0 {
                grid.blank();
            }
            grid.line(line);
        }
        grid.rules(&table.rules, false);
        self.fits(grid.finish())
    }

    fn table_line(&self, table: &Table, row: &Row, style: Style) -> Result<Line, TooWide> {
        let cells: Result<Vec<Block>, TooWide> = row
            .cells
            .iter()
            .map(|cell| match cell.as_slice() {
                // The arrows of a diagram are all as long.
                [Node::Style(_), Node::Arrow { glyph, above, below }]
                    if table.kind == TableKind::Diagram =>
                {
                    self.arrow(glyph, above, below, 5)
                }
                cell => self.row(cell, style),
            })
            .collect();
        let cells = cells?;
        Ok(Line {
            above: cells.iter().map(Block::above).max().unwrap_or(0),
            below: cells.iter().map(Block::below).max().unwrap_or(0),
            tag: row.tag.as_ref().map(|tag| self.row(tag, Style::Text)).transpose()?,
            cells,
        })
    }
}

/// The rows of a table as they are drawn, top to bottom.
struct Grid<'a> {
    table: &'a Table,
    widths: Vec<usize>,
    rows: Vec<String>,
    /// Baselines of the lines drawn so far.
    bases: Vec<usize>,
}

impl<'a> Grid<'a> {
    fn new(table: &'a Table, widths: Vec<usize>) -> Self {
        Self { table, widths, rows: Vec::new(), bases: Vec::new() }
    }

    fn line(&mut self, line: Line) {
        let mut parts: Vec<(usize, Block)> = Vec::with_capacity(self.widths.len() * 2);
        let (above, below) = (line.above, line.below);
        let mut cells = line.cells.into_iter();
        for (at, column) in self.table.columns.iter().enumerate() {
            let bars = bars(&column.bars, above, below);
            let first = at == 0;
            let gap = match (&bars, first) {
                (Some(_), true) => 0,
                (Some(_), false) => 1,
                (None, _) => column.gap,
            };
            let barred = bars.is_some();
            if let Some(bars) = bars {
                parts.push((gap, bars));
            }
            let cell = cells.next().unwrap_or_else(|| Block::line(""));
            let spare = self.widths[at] - cell.width;
            let cell = match column.align {
                Align::Left => cell.padded(0, spare),
                Align::Right => cell.padded(spare, 0),
                // To the right where it cannot be the middle: digits come to stand under digits.
                Align::Center => cell.padded(spare - spare / 2, spare / 2),
            };
            parts.push((if barred { 1 } else { gap }, cell));
        }
        if let Some(bars) = bars(&self.table.bars, above, below) {
            parts.push((1, bars));
        }
        if let Some(tag) = line.tag {
            parts.push((4, tag));
        }
        let block = Block::beside(parts).grown(above, below);
        self.bases.push(self.rows.len() + block.base);
        self.rows.extend(block.rows);
    }

    /// A row with only the bars.
    fn blank(&mut self) {
        let empty = Line { cells: Vec::new(), above: 0, below: 0, tag: None };
        self.line(empty);
        self.bases.pop();
    }

    fn rules(&mut self, rules: &[bool], top: bool) {
        for dashed in rules {
            let bottom = !top && !self.rows.is_empty() && self.bases.len() == self.table.rows.len();
            let row = self.rule(if *dashed { '┄' } else { '─' }, top, bottom);
            self.rows.push(row);
        }
    }

    fn rule(&self, stroke: char, top: bool, bottom: bool) -> String {
        let mut row = String::new();
        let stretch = |row: &mut String, n: usize| row.extend(std::iter::repeat_n(stroke, n));
        for (at, column) in self.table.columns.iter().enumerate() {
            let first = at == 0;
            if column.bars.is_empty() {
                stretch(&mut row, column.gap);
            } else {
                if !first {
                    stretch(&mut row, 1);
                }
                let joint = match (first, top, bottom) {
                    (true, true, _) => '┌',
                    (true, _, true) => '└',
                    (true, ..) => '├',
                    (false, true, _) => '┬',
                    (false, _, true) => '┴',
                    (false, ..) => '┼',
                };
                row.extend(std::iter::repeat_n(joint, column.bars.len()));
                stretch(&mut row, 1);
            }
            stretch(&mut row, self.widths[at]);
        }
        if !self.table.bars.is_empty() {
            stretch(&mut row, 1);
            let joint = match (top, bottom) {
                (true, _) => '┐',
                (_, true) => '┘',
                _ => '┤',
            };
            row.extend(std::iter::repeat_n(joint, self.table.bars.len()));
        }
        row
    }

    fn finish(mut self) -> Block {
        let width = self.rows.iter().map(|row| super::block::width(row)).max().unwrap_or(0);
        for row in &mut self.rows {
            let spare = width - super::block::width(row);
            row.extend(std::iter::repeat_n(' ', spare));
        }
        // The middle line carries an odd table; an even one is centred on its rows.
        let base = match self.bases.len() {
            0 => 0,
            n if n % 2 == 1 => self.bases[n / 2],
            _ => self.rows.len().saturating_sub(1) / 2,
        };
        if self.rows.is_empty() {
            self.rows.push(String::new());
        }
        Block { rows: self.rows, width, base }
    }
}

/// The bars of a column, as high as the row.
fn bars(bars: &str, above: usize, below: usize) -> Option<Block> {
    if bars.is_empty() {
        return None;
    }
    let row: String = bars.chars().map(|bar| if bar == ':' { '┊' } else { '│' }).collect();
    Some(Block::column(vec![row; above + 1 + below], above))
}
