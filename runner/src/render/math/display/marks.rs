//! What is drawn around a body: accents, lines, braces, boxes, arrows with labels.

use super::super::block::{Block, width};
use super::super::inline;
use super::super::tree::{Accent, Node, Style};
use super::{Layout, TooWide};

impl Layout {
    pub(super) fn accent(
        &self,
        accent: Accent,
        body: &[Node],
        style: Style,
    ) -> Result<Block, TooWide> {
        let block = self.row(body, style)?;
        if accent.wide.is_empty() || (block.width <= 1 && !block.is_tall()) {
            let node = Node::Accent { accent, body: body.to_vec() };
            return Ok(Block::line(inline::row(&[node], style == Style::Script).text));
        }
        let mark = if accent.stretchy || accent.wide == "→" {
            shaft(accent.wide, block.width)
        } else {
            Block::line(accent.wide).centred(block.width).rows.concat()
        };
        Ok(if accent.over { block.with_row_above(mark) } else { block.with_row_below(mark) })
    }

    pub(super) fn line(&self, over: bool, body: &[Node], style: Style) -> Result<Block, TooWide> {
        let block = self.row(body, style)?;
        if style == Style::Script || (block.width <= 1 && !block.is_tall()) {
            let node = Node::Line { over, body: body.to_vec() };
            return Ok(Block::line(inline::row(&[node], style == Style::Script).text));
        }
        let width = block.width;
        Ok(if over {
            block.with_row_above("_".repeat(width))
        } else {
            block.with_row_below("‾".repeat(width))
        })
    }

    pub(super) fn brace(
        &self,
        over: bool,
        square: bool,
        body: &[Node],
        style: Style,
    ) -> Result<Block, TooWide> {
        let block = self.row(body, style)?;
        let block = if block.width < 3 { block.centred(3) } else { block };
        let [start, point, end] = match (over, square) {
            (true, false) => ["╭", "┴", "╮"],
            (false, false) => ["╰", "┬", "╯"],
            (true, true) => ["┌", "─", "┐"],
            (false, true) => ["└", "─", "┘"],
        };
        let inner = block.width - 2;
        // The point is where a label's centre comes to stand.
        let before = (block.width - 1) / 2 - 1;
        let drawn =
            [start, &"─".repeat(before), point, &"─".repeat(inner - before - 1), end].concat();
        Ok(if over { block.with_row_above(drawn) } else { block.with_row_below(drawn) })
    }

    pub(super) fn boxed(&self, body: &[Node], style: Style) -> Result<Block, TooWide> {
        let block = self.row(body, style)?.padded(1, 1);
        let rule = "─".repeat(block.width);
        let mut rows = vec![format!("┌{rule}┐")];
        rows.extend(block.rows.iter().map(|row| format!("│{row}│")));
        rows.push(format!("└{rule}┘"));
        Ok(Block { rows, width: block.width + 2, base: block.base + 1 })
    }

    /// An arrow at least so long, its labels above and below the shaft.
    pub(super) fn arrow(
        &self,
        glyph: &str,
        above: &[Node],
        below: &[Node],
        least: usize,
    ) -> Result<Block, TooWide> {
        let (above, below) = (self.script(above)?, self.script(below)?);
        if matches!(glyph, "↑" | "↓") {
            // Labels left and right, the arrow in the middle.
            let side = above.width.max(below.width);
            let (left, right) = (side - above.width, side - below.width);
            let parts = [above.padded(left, 0), Block::line(glyph), below.padded(0, right)];
            return Ok(Block::beside(parts.map(|part| (0, part))));
        }
        let length = (above.width.max(below.width) + 2).max(least);
        let mut parts = Vec::with_capacity(3);
        if above.width > 0 {
            parts.push(above);
        }
        let at = parts.len();
        parts.push(Block::line(shaft(glyph, length)));
        if below.width > 0 {
            parts.push(below);
        }
        Ok(Block::stack(parts, at))
    }
}

/// An arrow of `length` cells.
fn shaft(glyph: &str, length: usize) -> String {
    let fill = length.saturating_sub(width(glyph));
    match glyph {
        "→" | "⇀" | "⇁" | "↠" => format!("{}{glyph}", "─".repeat(fill)),
        "←" | "↼" | "↽" | "↞" => format!("{glyph}{}", "─".repeat(fill)),
        "⇒" => format!("{}{glyph}", "═".repeat(fill)),
        "⇐" => format!("{glyph}{}", "═".repeat(fill)),
        "↔" if length >= 2 => format!("←{}→", "─".repeat(length - 2)),
        "⇔" if length >= 2 => format!("⇐{}⇒", "═".repeat(length - 2)),
        "↦" if length >= 2 => format!("├{}→", "─".repeat(length - 2)),
        "↪" if length >= 2 => format!("╰{}→", "─".repeat(length - 2)),
        "↩" if length >= 2 => format!("←{}╯", "─".repeat(length - 2)),
        "=" => "═".repeat(length),
        "⏠" if length >= 2 => format!("╭{}╮", "─".repeat(length - 2)),
        "⏡" if length >= 2 => format!("╰{}╯", "─".repeat(length - 2)),
        // Paired arrows have no shaft to lengthen.
        _ => {
            let before = fill / 2;
            format!("{}{glyph}{}", " ".repeat(before), " ".repeat(fill - before))
        }
    }
}
