//! Scripts: raised and lowered characters where Unicode has them all, rows above and below where
//! it does not; limits over and under their operator.

use super::super::block::Block;
use super::super::tree::{Limits, Node, Style};
use super::super::{inline, scripts};
use super::row::sign;
use super::{Layout, TooWide};

impl Layout {
    pub(super) fn scripts(
        &self,
        base: Option<&Node>,
        sub: Option<&[Node]>,
        sup: Option<&[Node]>,
        style: Style,
    ) -> Result<Block, TooWide> {
        if let Some(Node::Brace { over, .. }) = base {
            return self.labelled_brace(base, *over, sub, sup, style);
        }
        let block = match base {
            Some(base) => self.node(base, style)?,
            None => Block::line(""),
        };
        let raised = sup.and_then(|sup| convert(sup, scripts::superscript));
        let lowered = sub.and_then(|sub| convert(sub, scripts::subscript));
        let all_convert = sup.is_some() == raised.is_some() && sub.is_some() == lowered.is_some();
        if let Some(Node::Op { limits, .. }) = base {
            let stacked = match limits {
                Limits::Always => style != Style::Script,
                Limits::InDisplay => {
                    style == Style::Display || (style == Style::Text && !all_convert)
                }
                Limits::Beside => false,
            };
            if stacked {
                return self.over_under(block, sup, sub);
            }
        }
        let tall = block.is_tall();
        let last = block.height() as isize - 1;
        if all_convert && !tall {
            let Some(row) = block.rows.first() else { return Ok(block) };
            let line = [row.as_str(), &lowered.unwrap_or_default(), &raised.unwrap_or_default()];
            return Ok(Block::line(line.concat()));
        }
        let sup = match (sup, raised) {
            (Some(_), Some(text)) => Some((Block::line(text), 0)),
            (Some(sup), None) => Some((self.script(sup)?, if tall { 0 } else { -1 })),
            (None, _) => None,
        };
        let sub = match (sub, lowered) {
            (Some(_), Some(text)) => Some((Block::line(text), last)),
            (Some(sub), None) => Some((self.script(sub)?, if tall { last } else { 1 })),
            (None, _) => None,
        };
        Ok(block.scripted(sup, sub))
    }

    fn over_under(
        &self,
        base: Block,
        over: Option<&[Node]>,
        under: Option<&[Node]>,
    ) -> Result<Block, TooWide> {
        let mut parts = Vec::with_capacity(3);
        if let Some(over) = over {
            parts.push(self.script(over)?);
        }
        let at = parts.len();
        parts.push(base);
        if let Some(under) = under {
            parts.push(self.script(under)?);
        }
        Ok(Block::stack(parts, at))
    }

    /// A brace's label stands beyond the brace.
    fn labelled_brace(
        &self,
        base: Option<&Node>,
        over: bool,
        sub: Option<&[Node]>,
        sup: Option<&[Node]>,
        style: Style,
    ) -> Result<Block, TooWide> {
        let block = match base {
            Some(base) => self.node(base, style)?,
            None => Block::line(""),
        };
        // A script on the other side is an ordinary one.
        match (over, sub, sup) {
            (true, None, label) => self.over_under(block, label, None),
            (false, label, None) => self.over_under(block, None, label),
            (_, sub, sup) => self.over_under(block, sup, sub),
        }
    }

    /// An integral sign, drawn over three rows or more beside anything tall, or where its limits
    /// have no characters of their own.
    pub(super) fn integral(
        &self,
        node: &Node,
        style: Style,
        above: usize,
        below: usize,
    ) -> Result<Block, TooWide> {
        let (base, sub, sup) = match node {
            Node::Scripts { base, sub, sup } => (base.as_deref(), sub.as_deref(), sup.as_deref()),
            _ => (Some(node), None, None),
        };
        let converts = sup.is_none_or(|sup| convert(sup, scripts::superscript).is_some())
            && sub.is_none_or(|sub| convert(sub, scripts::subscript).is_some());
        let limits = matches!(base, Some(Node::Op { limits: Limits::Always, .. }));
        let tall = style != Style::Script && (above + below > 0 || !converts);
        if limits || !tall {
            return self.scripts(base, sub, sup, style);
        }
        let strokes = match sign(node) {
            Some("∬") => 2,
            Some("∭") => 3,
            _ => 1,
        };
        let (above, below) = (above.max(1), below.max(1));
        let mut rows = vec!["⎮".repeat(strokes); above + 1 + below];
        rows[0] = "⌠".repeat(strokes);
        rows[above + below] = "⌡".repeat(strokes);
        let last = (above + below) as isize;
        let sup = sup.map(|sup| self.limit(sup)).transpose()?.map(|sup| (sup, 0));
        let sub = sub.map(|sub| self.limit(sub)).transpose()?.map(|sub| (sub, last));
        Ok(Block::column(rows, above).scripted(sup, sub))
    }

    fn limit(&self, nodes: &[Node]) -> Result<Block, TooWide> {
        self.script(nodes)
    }
}

fn convert(nodes: &[Node], form: fn(&str) -> Option<String>) -> Option<String> {
    // A script of lines has none that could be a character.
    if nodes.iter().any(|node| matches!(node, Node::Table(_))) {
        return None;
    }
    let text = inline::row(nodes, true).text;
    if text.trim().is_empty() { Some(String::new()) } else { form(text.trim()) }
}
