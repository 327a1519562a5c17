//! A whole formula as lines of a terminal: broken at `\\`, and where it is too wide before a
//! relation or an operator, as an author would break it.

use super::super::block::Block;
use super::super::spacing;
use super::super::tree::{Class, Node, Style, Table, TableKind, take_tag};
use super::row::{Item, gap, join};
use super::{Layout, TooWide};

/// How far the lines after the first stand in.
const INDENT: usize = 4;
/// How far the number stands from its equation.
const TAG_GAP: usize = 4;

/// The rows of a formula, none wider than `width`.
pub(in super::super) fn lines(nodes: &[Node], width: usize) -> Result<Vec<String>, TooWide> {
    let layout = Layout { limit: width };
    let mut blocks = Vec::new();
    for line in nodes.split(|node| matches!(node, Node::Newline)) {
        if line.iter().any(|node| matches!(node, Node::Tag(_))) {
            blocks.extend(layout.tagged(line)?);
        } else {
            blocks.extend(layout.equation(line)?);
        }
    }
    let spread = blocks.iter().any(Block::is_tall);
    let mut rows: Vec<String> = Vec::new();
    for block in blocks {
        if block.width == 0 {
            continue;
        }
        if spread && !rows.is_empty() {
            rows.push(String::new());
        }
        rows.extend(block.rows.into_iter().map(|row| row.trim_end().to_owned()));
    }
    Ok(rows)
}

impl Layout {
    /// An equation with its number to the right of its last line.
    fn tagged(&self, nodes: &[Node]) -> Result<Vec<Block>, TooWide> {
        let mut nodes = nodes.to_vec();
        let Some(tag) = take_tag(&mut nodes) else { return self.equation(&nodes) };
        let tag = self.row(&tag, Style::Text)?;
        let room = self.limit.checked_sub(tag.width + TAG_GAP).ok_or(TooWide)?;
        let mut blocks = Self { limit: room }.equation(&nodes)?;
        let last = match blocks.pop() {
            Some(last) => Block::beside([(0, last), (TAG_GAP, tag)]),
            None => tag,
        };
        blocks.push(last);
        Ok(blocks)
    }

    fn equation(&self, nodes: &[Node]) -> Result<Vec<Block>, TooWide> {
        if let [Node::Table(table)] = nodes
            && matches!(table.kind, TableKind::Aligned | TableKind::Lines)
        {
            return match self.table(table, Style::Display) {
                Ok(block) => Ok(vec![block]),
                Err(TooWide) => self.rows_apart(table),
            };
        }
        self.broken(nodes, 0)
    }

    /// Aligned equations that do not fit beside each other's parts: each for itself, those that
    /// go on from the line before standing in.
    fn rows_apart(&self, table: &Table) -> Result<Vec<Block>, TooWide> {
        let mut blocks = Vec::new();
        for row in &table.rows {
            let goes_on =
                !blocks.is_empty() && row.cells.first().is_some_and(|cell| is_empty(cell));
            let mut nodes = row.cells.concat();
            if let Some(tag) = &row.tag {
                nodes.push(Node::Space(2.0));
                nodes.extend_from_slice(tag);
            }
            blocks.extend(self.broken(&nodes, if goes_on { INDENT } else { 0 })?);
        }
        Ok(blocks)
    }

    /// One line, or as many as it takes, all standing in by `indent`.
    fn broken(&self, nodes: &[Node], indent: usize) -> Result<Vec<Block>, TooWide> {
        let items = self.items(nodes, Style::Display)?;
        let mut cuts = Vec::new();
        let mut at = 0;
        while at < items.len() {
            let further = if cuts.is_empty() { 0 } else { INDENT };
            let room = self.limit.checked_sub(indent + further).ok_or(TooWide)?;
            let line = cut(&items[at..], room).ok_or(TooWide)?;
            cuts.push(line);
            at += line;
        }
        let mut blocks = Vec::with_capacity(cuts.len());
        let mut items = items.into_iter();
        for line in cuts {
            let mut line: Vec<Item<'_>> = items.by_ref().take(line).collect();
            let further = if blocks.is_empty() { 0 } else { INDENT };
            if let Some(first) = line.first_mut()
                && indent + further > 0
            {
                first.em = 0.0;
            }
            blocks.push(join(line, false).padded(indent + further, 0));
        }
        Ok(blocks)
    }
}

fn is_empty(cell: &[Node]) -> bool {
    cell.iter().all(|node| match node {
        Node::Style(_) | Node::Space(_) => true,
        Node::Group { body, .. } => body.is_empty(),
        _ => false,
    })
}

/// How many items to set on this line: all, or up to the last relation that fits if that fills a
/// good part of it, else up to the last operator, else up to any place that is not glued.
fn cut(items: &[Item<'_>], room: usize) -> Option<usize> {
    let mut used = 0;
    let mut relation = None;
    let mut operator = None;
    let mut any = None;
    for (at, item) in items.iter().enumerate() {
        let before = at.checked_sub(1).map(|i| &items[i]);
        if let Some(before) = before {
            match item.left {
                Class::Rel if before.right != Class::Rel && used >= room / 3 => relation = Some(at),
                Class::Bin if used >= room / 3 => operator = Some(at),
                _ if spacing::gap(before.right, item.left, false) => any = Some(at),
                _ => {}
            }
        }
        used += before.map_or(0, |before| gap(before, item, false)) + item.block.width;
        if used > room {
            return relation.or(operator).or(any);
        }
    }
    Some(items.len())
}
