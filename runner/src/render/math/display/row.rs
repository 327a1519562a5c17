//! A list set on one baseline.

use super::super::block::Block;
use super::super::spacing;
use super::super::tree::{Class, Node, OpKind, Style};
use super::{Layout, TooWide};

/// A block and what its neighbours have to know.
pub(super) struct Item<'a> {
    pub node: &'a Node,
    pub block: Block,
    pub style: Style,
    pub left: Class,
    pub right: Class,
    /// Explicit space before it.
    pub em: f32,
    /// Wants a cell of space beside anything but brackets and commas: a fraction, a table.
    pub roomy: bool,
}

impl Layout {
    pub(super) fn row(&self, nodes: &[Node], style: Style) -> Result<Block, TooWide> {
        // Most lists are one thing.
        if let [only] = nodes
            && !matches!(only, Node::Space(_) | Node::Phantom(_))
        {
            return self.node(only, style);
        }
        let items = self.items(nodes, style)?;
        self.fits(join(items, style == Style::Script))
    }

    /// The parts of a line with their spaces; integral signs as tall as what they stand before.
    pub(super) fn items<'a>(
        &self,
        nodes: &'a [Node],
        mut style: Style,
    ) -> Result<Vec<Item<'a>>, TooWide> {
        let mut items: Vec<Item<'a>> = Vec::with_capacity(nodes.len());
        let mut em = 0.0;
        for node in nodes {
            match node {
                Node::Space(more) => em += more,
                Node::Newline => em += 1.0,
                // A table's cells name a style; it can take room away but not give it back.
                Node::Style(Style::Display) if style != Style::Script => style = Style::Display,
                Node::Style(Style::Text) if style == Style::Display => style = Style::Text,
                Node::Style(_) => {}
                _ => {
                    let block =
                        if integral(node) { Block::default() } else { self.node(node, style)? };
                    let (left, right) = edges(node);
                    let roomy =
                        matches!(node, Node::Frac { .. } | Node::Table(_) if block.is_tall());
                    items.push(Item { node, block, style, left, right, em, roomy });
                    em = 0.0;
                }
            }
        }
        let above = items.iter().map(|item| item.block.above()).max().unwrap_or(0);
        let below = items.iter().map(|item| item.block.below()).max().unwrap_or(0);
        for item in items.iter_mut().filter(|item| integral(item.node)) {
            item.block = self.integral(item.node, item.style, above, below)?;
        }
        spacing::settle(&mut items, |item| (&mut item.left, &mut item.right));
        Ok(items)
    }
}

/// Items on one baseline with the space their classes ask for.
pub(super) fn join(items: Vec<Item<'_>>, script: bool) -> Block {
    let mut parts = Vec::with_capacity(items.len());
    let mut gaps = Vec::with_capacity(items.len());
    let mut before: Option<Item<'_>> = None;
    for item in items {
        let cells = match &before {
            Some(before) => gap(before, &item, script),
            None => spacing::cells(item.em),
        };
        if let Some(before) = before.replace(item) {
            parts.push(before.block);
        }
        gaps.push(cells);
    }
    parts.extend(before.map(|last| last.block));
    Block::beside(gaps.into_iter().zip(parts))
}

/// Cells between two neighbours.
pub(super) fn gap(before: &Item<'_>, item: &Item<'_>, script: bool) -> usize {
    let cells = spacing::between(before.right, item.left, item.em, script);
    let beside = |class| matches!(class, Class::Ord | Class::Op | Class::Inner);
    // A sign right before a rule would look like part of it.
    let signed = before.left == Class::Ord && before.right == Class::Open;
    let room = item.roomy && (beside(before.right) || before.right == Class::Close || signed)
        || before.roomy && (beside(item.left) || item.left == Class::Open)
        || item.left == Class::Open && !script && spacing::spreads(before.node);
    cells.max(usize::from(room))
}

/// The classes a node shows to its left and right.
fn edges(node: &Node) -> (Class, Class) {
    match node {
        Node::Fence { left, right, .. } => (
            if left.is_empty() { Class::Ord } else { Class::Open },
            if right.is_empty() { Class::Ord } else { Class::Close },
        ),
        Node::Scripts { base: Some(base), .. } => edges(base),
        Node::Middle(delim) if delim == "|" || delim == "‖" => (Class::Rel, Class::Rel),
        _ => (node.class(), node.class()),
    }
}

/// ∫ and ∫∫, alone or with scripts: the signs that can be drawn tall.
fn integral(node: &Node) -> bool {
    sign(node).is_some_and(|sign| matches!(sign, "∫" | "∬" | "∭"))
}

/// The character of a large operator.
pub(super) fn sign(node: &Node) -> Option<&str> {
    match node {
        Node::Op { body, kind: OpKind::Sign, .. } => match body.as_slice() {
            [Node::Atom { text, .. }] => Some(text),
            _ => None,
        },
        Node::Scripts { base: Some(base), .. } => sign(base),
        _ => None,
    }
}
