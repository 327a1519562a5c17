//! Arrays: KaTeX's column specifications and rules → columns with gaps and bars.

use katex::parser::parse_node::{AlignSpec, AnyParseNode, ColSeparationType, ParseNodeArray};

use super::super::alphabets::Font;
use super::super::tree::{Align, Column, Node, Row, Table, TableKind, take_tag};
use super::{Lowering, style};

impl Lowering<'_> {
    pub(super) fn table(&self, array: &ParseNodeArray, font: Font) -> Table {
        let width = array.body.iter().map(Vec::len).max().unwrap_or(0);
        let kind = kind(array, width);
        let (columns, bars) = columns(array, width, kind);
        let rows = array.body.iter().enumerate().map(|(at, cells)| {
            let mut cells: Vec<_> = cells.iter().map(|cell| self.cell(cell, font)).collect();
            let tag = cells.iter_mut().rev().find_map(take_tag);
            let rules = array.h_lines_before_row.get(at).cloned().unwrap_or_default();
            Row { cells, rules, tag }
        });
        let mut rows: Vec<Row> = rows.collect();
        while rows.last().is_some_and(|row| row.cells.iter().all(Vec::is_empty)) {
            rows.pop();
        }
        let rules = array.h_lines_before_row.get(array.body.len()).cloned().unwrap_or_default();
        Table { kind, columns, bars, rows, rules }
    }

    /// A cell comes in a style and a group; the group has no meaning of its own.
    fn cell(&self, cell: &AnyParseNode, font: Font) -> Vec<Node> {
        let AnyParseNode::Styling(styling) = cell else { return self.arg(cell, font) };
        let [AnyParseNode::OrdGroup(group)] = styling.body.as_slice() else {
            return self.arg(cell, font);
        };
        let mut nodes = self.list(&group.body, font);
        if !nodes.is_empty() {
            nodes.insert(0, Node::Style(style(styling.style.id)));
        }
        nodes
    }
}

fn kind(array: &ParseNodeArray, width: usize) -> TableKind {
    match array.col_separation_type {
        Some(ColSeparationType::CD) => return TableKind::Diagram,
        Some(ColSeparationType::Align | ColSeparationType::Alignat) if width > 1 => {
            return TableKind::Aligned;
        }
        Some(ColSeparationType::Align | ColSeparationType::Alignat | ColSeparationType::Gather) => {
            return TableKind::Lines;
        }
        _ => {}
    }
    // Cases and substack are told by what only their parsers set.
    let first = array.cols.as_ref().and_then(|cols| cols.first());
    let small = array.col_separation_type == Some(ColSeparationType::Small);
    match first {
        Some(AlignSpec::Align { align, pregap: Some(_), postgap: Some(gap) })
            if align == "l" && *gap > 0.9 =>
        {
            TableKind::Cases
        }
        _ if array.arraystretch < 0.9 && width == 1 && !small => TableKind::Lines,
        _ => TableKind::Matrix,
    }
}

fn columns(array: &ParseNodeArray, width: usize, kind: TableKind) -> (Vec<Column>, String) {
    let mut columns: Vec<Column> = Vec::with_capacity(width);
    let mut bars = String::new();
    let mut after: f64 = 0.0;
    for spec in array.cols.iter().flatten() {
        match spec {
            AlignSpec::Separator { separator } => bars.push_str(separator),
            AlignSpec::Align { align, pregap, postgap } => {
                if columns.len() == width {
                    break;
                }
                let gap = after + pregap.unwrap_or(0.5);
                let align = match align.as_str() {
                    "l" => Align::Left,
                    "r" => Align::Right,
                    _ => Align::Center,
                };
                let scale = if kind == TableKind::Aligned { 4.0 } else { 2.0 };
                let mut gap = if columns.is_empty() { 0 } else { (gap * scale).round() as usize };
                if kind == TableKind::Aligned
                    && !columns.is_empty()
                    && columns.len().is_multiple_of(2)
                {
                    // Pairs of an alignat touch in print, where letters are told apart by shape.
                    gap = gap.max(2);
                }
                columns.push(Column { align, gap, bars: std::mem::take(&mut bars) });
                after = postgap.unwrap_or(0.5);
            }
        }
    }
    while columns.len() < width {
        let gap = if columns.is_empty() { 0 } else { 2 };
        columns.push(Column { align: Align::Center, gap, bars: std::mem::take(&mut bars) });
    }
    if kind == TableKind::Lines
        && let (Some(ColSeparationType::Align | ColSeparationType::Alignat), Some(only)) =
            (&array.col_separation_type, columns.first_mut())
    {
        // An align without an ampersand is a plain list of lines.
        only.align = Align::Left;
    }
    (columns, bars)
}
