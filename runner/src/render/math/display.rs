//! A formula in two dimensions: fractions with a rule, limits above and below, raised scripts,
//! brackets as tall as what they hold.
//!
//! The invariant: no block is wider than the limit it was laid out with; what cannot be made to
//! fit is `TooWide`, and the caller falls back to one line.

mod marks;
mod row;
mod scripts;
mod table;
mod wrap;

use super::block::{self, Block};
use super::delims;
use super::inline;
use super::tree::{Node, Style, TableKind};

pub(super) use wrap::lines;

/// Something does not fit the width.
#[derive(Debug)]
pub(super) struct TooWide;

pub(super) struct Layout {
    /// Cells a block may have.
    pub limit: usize,
}

impl Layout {
    fn fits(&self, block: Block) -> Result<Block, TooWide> {
        if block.width > self.limit { Err(TooWide) } else { Ok(block) }
    }

    /// A list in script style: one line, unless it holds lines of its own.
    fn script(&self, nodes: &[Node]) -> Result<Block, TooWide> {
        if nodes.iter().any(|node| matches!(node, Node::Table(_))) {
            return self.row(nodes, Style::Script);
        }
        self.fits(Block::line(inline::row(nodes, true).text.trim()))
    }

    fn node(&self, node: &Node, style: Style) -> Result<Block, TooWide> {
        let block = match node {
            Node::Atom { text, .. } | Node::Word(text) | Node::Middle(text) => Block::line(text),
            Node::Group { body, .. } | Node::Op { body, .. } => self.row(body, style)?,
            Node::Scripts { base, sub, sup } => {
                self.scripts(base.as_deref(), sub.as_deref(), sup.as_deref(), style)?
            }
            Node::Frac { num, den, bar, left, right, compact } => {
                let inner = self.fraction(node, num, den, *bar, *compact, style)?;
                let (rows, base) = (inner.height(), inner.base);
                Block::beside([
                    (0, delims::stretched(left, rows, base)),
                    (0, inner),
                    (0, delims::stretched(right, rows, base)),
                ])
            }
            Node::Root { index, body } => self.root(index.as_deref(), body, style)?,
            Node::Fence { left, right, body } => self.fence(left, right, body, style)?,
            Node::Accent { accent, body } => self.accent(*accent, body, style)?,
            Node::Line { over, body } => self.line(*over, body, style)?,
            Node::Brace { over, square, body } => self.brace(*over, *square, body, style)?,
            Node::Arrow { glyph, above, below } => self.arrow(glyph, above, below, 3)?,
            Node::Table(table) => self.table(table, style)?,
            Node::Boxed(body) => self.boxed(body, style)?,
            Node::Strike(_) => Block::line(inline::row(std::slice::from_ref(node), false).text),
            Node::Phantom(body) => {
                let body = self.row(body, style)?;
                Block::blank(body.width, body.height(), body.base)
            }
            Node::Tag(tag) => self.row(tag, Style::Text)?.padded(2, 0),
            Node::Space(_) | Node::Style(_) | Node::Newline => Block::default(),
        };
        self.fits(block)
    }

    fn fraction(
        &self,
        node: &Node,
        num: &[Node],
        den: &[Node],
        bar: bool,
        compact: bool,
        style: Style,
    ) -> Result<Block, TooWide> {
        let one_line = || inline::row(std::slice::from_ref(node), style == Style::Script).text;
        if style == Style::Script {
            return Ok(Block::line(one_line()));
        }
        // A simple fraction inside something else, ½, is clearer small.
        if bar && (compact || style == Style::Text) {
            let text = one_line();
            if text.chars().count() == 1 {
                return Ok(Block::line(text));
            }
        }
        let (num, den) = (self.row(num, Style::Text)?, self.row(den, Style::Text)?);
        let mut width = num.width.max(den.width);
        if is_ruled(&num, width) || is_ruled(&den, width) {
            width += 2;
        }
        let rule = if bar { "─".repeat(width) } else { " ".repeat(width) };
        Ok(Block::stack(vec![num, Block::line(rule), den], 1))
    }

    fn root(&self, index: Option<&[Node]>, body: &[Node], style: Style) -> Result<Block, TooWide> {
        let body_block = self.row(body, style)?;
        let sign = inline::root_sign(index);
        if !body_block.is_tall() {
            if style == Style::Script || block::width(&sign) > 1 || !inline::needs_brackets(body) {
                let node = Node::Root { index: index.map(<[Node]>::to_vec), body: body.to_vec() };
                return Ok(Block::line(inline::row(&[node], style == Style::Script).text));
            }
            // The line of the sign, from the row above.
            let over = format!(" {}", "_".repeat(body_block.width));
            return Ok(
                Block::beside([(0, Block::line(sign)), (0, body_block)]).with_row_above(over)
            );
        }
        let height = body_block.height();
        let mut rows =
            vec![format!("{}{}", " ".repeat(height + 1), "_".repeat(body_block.width + 1))];
        for (at, row) in body_block.rows.iter().enumerate() {
            let stroke = height - 1 - at;
            let start = if at + 1 == height { "╲" } else { " " };
            let indent = " ".repeat(stroke);
            rows.push(format!("{start}{indent}╱{}{row}", " ".repeat(at + 1)));
        }
        let width = height + 2 + body_block.width;
        let root = Block { rows, width, base: body_block.base + 1 };
        let Some(index) = index.filter(|index| !inline::row(index, true).text.is_empty()) else {
            return Ok(root);
        };
        // The index stands in the crook, left of the stroke's lower end.
        let index = self.script(index)?;
        let pad = index.width.saturating_sub(1);
        let mut root = root.padded(pad, 0);
        let row = root.height().saturating_sub(2);
        if !index.is_tall()
            && let Some(slot) = root.rows.get_mut(row)
        {
            slot.replace_range(..index.width, &index.rows[0]);
        }
        Ok(root)
    }

    fn fence(
        &self,
        left: &str,
        right: &str,
        body: &[Node],
        style: Style,
    ) -> Result<Block, TooWide> {
        let mut parts = Vec::new();
        let mut delims = vec![left];
        for part in body.split(|node| matches!(node, Node::Middle(_))) {
            let part = if delims.len() > 1 { without_lead(part) } else { part };
            parts.push(self.row(part, style)?);
            delims.push("");
        }
        let middles = body.iter().filter_map(|node| match node {
            Node::Middle(delim) => Some(delim.as_str()),
            _ => None,
        });
        for (slot, delim) in delims[1..].iter_mut().zip(middles.chain([right])) {
            *slot = delim;
        }
        let above = parts.iter().map(Block::above).max().unwrap_or(0);
        let mut below = parts.iter().map(Block::below).max().unwrap_or(0);
        if above + below == 1 && delims.iter().any(|delim| matches!(*delim, "{" | "}")) {
            // A brace needs a third row for its point.
            below += 1;
        }
        let rows = above + 1 + below;
        let mut row = Vec::with_capacity(parts.len() * 2 + 1);
        let mut parts = parts.into_iter();
        let cases = matches!(body, [Node::Table(table)]
            if table.kind == TableKind::Cases || left.is_empty() != right.is_empty());
        for (at, delim) in delims.iter().enumerate() {
            let outer = at == 0 || at + 1 == delims.len();
            let spaced = if outer { cases } else { matches!(*delim, "|" | "‖") };
            let gap = usize::from(spaced && !delim.is_empty());
            let before = if at == 0 { 0 } else { gap };
            row.push((before, delims::stretched(delim, rows, above)));
            if let Some(part) = parts.next() {
                row.push((gap, part));
            }
        }
        Ok(Block::beside(row))
    }
}

fn without_lead(nodes: &[Node]) -> &[Node] {
    let lead = nodes.iter().take_while(|node| matches!(node, Node::Space(_))).count();
    &nodes[lead..]
}

/// A rule of the full width, so that the rule around it has to be longer to be told apart.
fn is_ruled(block: &Block, width: usize) -> bool {
    let rule = |row: &String| row.chars().all(|c| "─═→←⇒⇐_‾".contains(c));
    block.width == width
        && (block.rows.get(block.base).is_some_and(rule)
            || block.rows.first().is_some_and(rule)
            || block.rows.last().is_some_and(rule))
}
