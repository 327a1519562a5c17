//! A rectangle of text with a baseline: what two-dimensional layout is made of.
//!
//! Every row of a block is exactly `width` cells wide, so that blocks can be set side by side by
//! joining their rows. A character of two cells or none is never taken apart.

use unicode_width::UnicodeWidthStr;

#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub rows: Vec<String>,
    pub width: usize,
    /// The row that stands on the line.
    pub base: usize,
}

pub(super) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { UnicodeWidthStr::width(text) }
}

fn blanks(n: usize) -> impl Iterator<Item = char> {
    std::iter::repeat_n(' ', n)
}

impl Block {
    pub(super) fn line(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { width: width(&text), rows: vec![text], base: 0 }
    }

    /// A column of one-cell (or equally wide) rows.
    pub(super) fn column(rows: Vec<String>, base: usize) -> Self {
        let width = rows.iter().map(|row| width(row)).max().unwrap_or(0);
        Self { rows, width, base }
    }

    pub(super) fn blank(width: usize, height: usize, base: usize) -> Self {
        Self { rows: vec![" ".repeat(width); height], width, base }
    }

    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn above(&self) -> usize {
        self.base
    }

    pub(super) fn below(&self) -> usize {
        self.rows.len().saturating_sub(self.base + 1)
    }

    pub(super) fn is_tall(&self) -> bool {
        self.rows.len() > 1
    }

    /// Blocks side by side on one baseline, each after so many cells of space.
    pub(super) fn beside(parts: impl IntoIterator<Item = (usize, Self)>) -> Self {
        let parts: Vec<(usize, Self)> = parts.into_iter().collect();
        let above = parts.iter().map(|(_, part)| part.above()).max().unwrap_or(0);
        let below = parts.iter().map(|(_, part)| part.below()).max().unwrap_or(0);
        let mut rows = vec![String::new(); above + 1 + below];
        let mut total = 0;
        for (gap, part) in &parts {
            let top = above - part.above();
            for (at, row) in rows.iter_mut().enumerate() {
                row.extend(blanks(*gap));
                match at.checked_sub(top).and_then(|at| part.rows.get(at)) {
                    Some(text) => row.push_str(text),
                    None => row.extend(blanks(part.width)),
                }
            }
            total += gap + part.width;
        }
        Self { rows, width: total, base: above }
    }

    /// Blocks on top of each other, centred; the baseline is that of block number `base`.
    pub(super) fn stack(parts: Vec<Self>, base: usize) -> Self {
        let width = parts.iter().map(|part| part.width).max().unwrap_or(0);
        let mut rows = Vec::with_capacity(parts.iter().map(Self::height).sum());
        let mut line = 0;
        for (at, part) in parts.into_iter().enumerate() {
            if at == base {
                line = rows.len() + part.base;
            }
            rows.extend(part.centred(width).rows);
        }
        Self { rows, width, base: line }
    }

    pub(super) fn centred(self, to: usize) -> Self {
        let spare = to.saturating_sub(self.width);
        self.padded(spare / 2, spare - spare / 2)
    }

    pub(super) fn padded(mut self, left: usize, right: usize) -> Self {
        if left + right > 0 {
            for row in &mut self.rows {
                if left > 0 {
                    row.insert_str(0, &" ".repeat(left));
                }
                row.extend(blanks(right));
            }
            self.width += left + right;
        }
        self
    }

    /// Blank rows above and below, until so many stand on either side of the baseline.
    pub(super) fn grown(mut self, above: usize, below: usize) -> Self {
        let (more_above, more_below) =
            (above.saturating_sub(self.above()), below.saturating_sub(self.below()));
        let blank = " ".repeat(self.width);
        self.rows.splice(0..0, std::iter::repeat_n(blank.clone(), more_above));
        self.rows.extend(std::iter::repeat_n(blank, more_below));
        self.base += more_above;
        self
    }

    /// A row of one character repeated along the block, above it.
    pub(super) fn with_row_above(mut self, row: String) -> Self {
        self.rows.insert(0, row);
        self.base += 1;
        self
    }

    pub(super) fn with_row_below(mut self, row: String) -> Self {
        self.rows.push(row);
        self
    }

    /// Scripts to the right of this block. `sup_last` is the row, counted from this block's top,
    /// where the superscript's last row comes to stand; `sub_first` where the subscript begins.
    pub(super) fn scripted(self, sup: Option<(Self, isize)>, sub: Option<(Self, isize)>) -> Self {
        let wide = |script: &Option<(Self, isize)>| script.as_ref().map_or(0, |(b, _)| b.width);
        let width = wide(&sup).max(wide(&sub));
        let mut first = 0_isize;
        let mut last = self.height() as isize - 1;
        if let Some((sup, at)) = &sup {
            first = first.min(at - sup.height() as isize + 1);
        }
        if let Some((sub, at)) = &sub {
            last = last.max(at + sub.height() as isize - 1);
        }
        let mut rows = vec![" ".repeat(width); (last - first + 1) as usize];
        let mut place = |block: Self, from: isize| {
            for (at, row) in block.rows.into_iter().enumerate() {
                if let Some(slot) = rows.get_mut((from - first) as usize + at) {
                    slot.clear();
                    slot.push_str(&row);
                    slot.extend(blanks(width - block.width));
                }
            }
        };
        if let Some((sup, at)) = sup {
            let from = at - sup.height() as isize + 1;
            place(sup, from);
        }
        if let Some((sub, at)) = sub {
            place(sub, at);
        }
        let base = (self.base as isize - first) as usize;
        Self::beside([(0, self), (0, Self { rows, width, base })])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(block: &Block) -> Vec<&str> {
        block.rows.iter().map(String::as_str).collect()
    }

    #[test]
    fn blocks_side_by_side_share_the_baseline() {
        let tall = Block::stack(vec![Block::line("1"), Block::line("─"), Block::line("10")], 1);
        let both = Block::beside([(0, Block::line("x")), (1, tall)]);
        assert_eq!(show(&both), ["  1 ", "x ─ ", "  10"]);
        assert_eq!(both.base, 1);
    }

    #[test]
    fn scripts_stand_where_they_are_put() {
        let power = Block::line("e").scripted(Some((Block::line("−x"), -1)), None);
        assert_eq!(show(&power), [" −x", "e  "]);
        let both =
            Block::line("T").scripted(Some((Block::line("n"), -1)), Some((Block::line("abc"), 1)));
        assert_eq!(show(&both), [" n  ", "T   ", " abc"]);
        assert_eq!(both.base, 1);
    }

    #[test]
    fn wide_characters_count_their_cells() {
        assert_eq!(Block::stack(vec![Block::line("総数"), Block::line("n")], 0).rows[1], " n  ");
    }
}
