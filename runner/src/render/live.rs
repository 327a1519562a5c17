//! Lines on a terminal: finished ones into its own scrollback, the open end below them.
//!
//! Invariants: a finished row is written once and never moved over again; the live region is
//! never taller than the screen, so the cursor can always reach its top; only what changed is
//! written, and a change that moves the cursor is one synchronised update.

use std::fmt::Write as _;
use std::io::{self, Write};

use unicode_segmentation::GraphemeCursor;

use super::ansi::{Encoder, Place};
use super::style::Line;
use super::width::{is_contested, width};

const SYNC_ON: &str = "\x1b[?2026h";
const SYNC_OFF: &str = "\x1b[?2026l";
const CURSOR_OFF: &str = "\x1b[?25l";
const CURSOR_ON: &str = "\x1b[?25h";
const WRAP_OFF: &str = "\x1b[?7l";
const WRAP_ON: &str = "\x1b[?7h";

/// The bottom of a terminal.
#[derive(Debug)]
pub struct Live<W: Write> {
    out: W,
    encoder: Encoder,
    size: Size,
    abilities: Abilities,
    /// The rows of the live region. The cursor stands behind the last one, or at the beginning of
    /// a fresh row if there is none.
    shown: Vec<Line>,
    /// Whether the last row is full and the terminal would wrap by itself now.
    wrapping: bool,
    /// What has to be written before anything else: the way back to the top of a region whose
    /// rows are on the screen in a shape that is not known any more.
    way_back: Option<String>,
    /// Where in the live region the cursor stands instead, for someone to type there.
    parked: Option<Spot>,
}

/// A place in the live region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The row, from 0.
    pub row: usize,
    /// The cell in it, from 0.
    pub cell: usize,
}

/// Cells in a row and rows on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Cells in a row.
    pub width: u16,
    /// Rows on the screen.
    pub height: u16,
}

/// What a terminal does beyond writing text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// It can move its cursor; without that only finished lines are drawn.
    pub redraws: bool,
    /// It wraps its rows anew when its width changes.
    pub reflows: bool,
}

impl<W: Write> Live<W> {
    /// A terminal whose cursor is at the beginning of a row.
    pub fn new(out: W, encoder: Encoder, size: Size, abilities: Abilities) -> Self {
        Self {
            out,
            encoder,
            size,
            abilities,
            shown: Vec::new(),
            wrapping: false,
            way_back: None,
            parked: None,
        }
    }

    /// How many rows the live region may have.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match self.abilities.redraws {
            true => usize::from(self.size.height).saturating_sub(1).max(1),
            false => 0,
        }
    }

    /// Puts finished lines above the live region, and these lines into it.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn update(&mut self, committed: &[Line], tail: Vec<Line>) -> io::Result<()> {
        self.update_at(committed, tail, None)
    }

    /// As [`Self::update`], with the cursor at a place among the lines of the live region.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn update_at(
        &mut self,
        committed: &[Line],
        mut tail: Vec<Line>,
        cursor: Option<Spot>,
    ) -> io::Result<()> {
        let above = tail.len().saturating_sub(self.capacity());
        tail.drain(..above);
        let cursor = cursor.filter(|_| !tail.is_empty()).map(|spot| Spot {
            row: spot.row.saturating_sub(above).min(tail.len() - 1),
            cell: spot.cell.min(usize::from(self.size.width).saturating_sub(1)),
        });
        let parked = self.parked.take();
        let before = parked.map_or_else(String::new, |spot| self.leave(spot));
        let mut drawing = Drawing {
            rows: committed.iter().chain(&tail).collect(),
            tail: tail.len(),
            live: self,
            out: String::new(),
            moved: false,
            wipes: false,
        };
        drawing.draw();
        let (mut out, mut moved) = (drawing.out, drawing.moved);
        self.shown = tail;
        self.parked = cursor;
        if out.is_empty() && parked == cursor {
            return Ok(());
        }
        if parked.is_some() || cursor.is_some() {
            let place = cursor.map_or_else(String::new, |spot| self.enter(spot));
            out = format!("{CURSOR_OFF}{before}{out}{place}{CURSOR_ON}");
            moved = true;
        }
        if moved {
            out = format!("{SYNC_ON}{out}{SYNC_OFF}");
        }
        self.out.write_all(out.as_bytes())?;
        self.out.flush()
    }

    /// From behind the last row to a place in the live region.
    fn enter(&mut self, spot: Spot) -> String {
        self.wrapping = false;
        match self.shown.len() - 1 - spot.row {
            0 => format!("\x1b[{}G", spot.cell + 1),
            up => format!("\x1b[{up}A\x1b[{}G", spot.cell + 1),
        }
    }

    /// From a place in the live region to behind the last row.
    fn leave(&self, spot: Spot) -> String {
        let cell = self.shown.last().map_or(0, Line::width);
        match self.shown.len().saturating_sub(1 + spot.row) {
            0 => format!("\x1b[{}G", cell + 1),
            down => format!("\x1b[{down}B\x1b[{}G", cell + 1),
        }
    }

    /// Takes the live region off the screen; the cursor is then where it began.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn clear(&mut self) -> io::Result<()> {
        self.update(&[], Vec::new())
    }

    /// Goes on at another size; the live region is drawn anew with the next update.
    pub fn set_size(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        if !self.shown.is_empty() {
            let width = usize::from(size.width).max(1);
            let up = match (self.parked.take(), self.abilities.reflows) {
                (None, true) => reflowed(&self.shown, width) - 1,
                (None, false) => self.shown.len() - 1,
                (Some(Spot { row: 0, cell }), true) => cell / width,
                (Some(Spot { row, cell }), true) => {
                    reflowed(&self.shown[..row], width) + cell / width
                }
                (Some(spot), false) => spot.row,
            };
            let up = up.min(usize::from(size.height).saturating_sub(1));
            let lines = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
            self.way_back = Some(format!("{lines}\x1b[G"));
            self.shown.clear();
            self.wrapping = false;
        }
        self.size = size;
    }

    /// Goes on in other colours; what is on the screen keeps its own.
    pub fn set_encoder(&mut self, encoder: Encoder) {
        self.encoder = encoder;
    }

    /// What it writes to.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// What it writes to.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Rows these lines take after the terminal has wrapped them at another width.
fn reflowed(lines: &[Line], width: usize) -> usize {
    let mut rows = 0;
    let mut cells = 0;
    for line in lines {
        cells += line.width();
        if !line.soft {
            rows += cells.div_ceil(width.max(1)).max(1);
            cells = 0;
        }
    }
    (rows + cells.div_ceil(width.max(1))).max(1)
}

/// One update on its way.
struct Drawing<'a, W: Write> {
    live: &'a mut Live<W>,
    /// What the screen shows afterwards, from the top of the live region on.
    rows: Vec<&'a Line>,
    /// How many of the rows stay in the live region.
    tail: usize,
    out: String,
    /// Whether the cursor was moved back.
    moved: bool,
    /// Whether old text has to be erased behind every row.
    wipes: bool,
}

impl<W: Write> Drawing<'_, W> {
    fn draw(&mut self) {
        if let Some(way_back) = self.live.way_back.take() {
            self.out = way_back;
            self.moved = true;
            self.wipes = true;
        }
        let shown = self.live.shown.len();
        let kept =
            self.live.shown.iter().zip(&self.rows).take_while(|(a, b)| a.looks_like(b)).count();
        let ends = self.tail == 0 && !self.rows.is_empty();
        if kept == shown && kept == self.rows.len() && !ends && !self.wipes {
            return;
        }
        if kept < shown {
            self.change_first(kept);
        }
        let first = if kept < shown { kept + 1 } else { kept };
        for n in first..self.rows.len() {
            self.next_row(n);
        }
        self.close(kept);
    }

    /// Draws the first row that changed, or erases what no row replaces.
    fn change_first(&mut self, n: usize) {
        let up = self.live.shown.len() - 1 - n;
        let Some(row) = self.rows.get(n) else {
            if n == 0 {
                self.jump(up, 0);
                self.out.push_str("\x1b[J");
            } else {
                self.jump(up + 1, self.rows[n - 1].width());
            }
            return;
        };
        let old = &self.live.shown[n];
        let same = if self.shrinks(n) { 0 } else { shared(old, row) };
        if up > 0 || same < old.text().len() {
            let cell = width(&row.text()[..same]);
            self.jump(up, cell);
        }
        self.write(n, same);
    }

    fn jump(&mut self, up: usize, cell: usize) {
        self.moved = true;
        self.live.wrapping = false;
        if up > 0 {
            _ = write!(self.out, "\x1b[{up}A");
        }
        _ = write!(self.out, "\x1b[{}G", cell + 1);
    }

    /// Goes down from the row above and draws this one.
    fn next_row(&mut self, n: usize) {
        let old = self.live.shown.get(n);
        // What has no text does not make the terminal wrap.
        let wraps = self.live.wrapping && !self.rows[n].text().is_empty();
        let joined = n > 0 && self.rows[n - 1].soft && wraps;
        if old.is_some_and(|old| old.looks_like(self.rows[n])) && !joined {
            self.down();
            return;
        }
        let shrinks = self.shrinks(n);
        let same = old.filter(|_| !shrinks).map_or(0, |old| shared(old, self.rows[n]));
        if joined {
            self.write(n, 0);
            return;
        }
        if n > 0 {
            self.down();
        }
        if same > 0 {
            let cell = width(&self.rows[n].text()[..same]);
            self.jump(0, cell);
        }
        self.write(n, same);
    }

    /// Whether row `n` gets so much shorter that the terminal has to be told: some that wrap their rows anew take a row
    /// for as long as it has ever been, until it is erased whole.
    fn shrinks(&self, n: usize) -> bool {
        let longer = self.live.shown.get(n).is_some_and(|old| old.width() > self.rows[n].width());
        longer && self.live.abilities.reflows
    }

    /// Whether row `n` must stay on its row. A terminal may have wrapped its rows anew already and tell of its size only
    /// later, as tmux does: a row that wraps there would leave the cursor where nobody expects it.
    fn is_bounded(&self, n: usize) -> bool {
        let row = self.rows[n];
        let replaces = n < self.live.shown.len() && !self.live.wrapping;
        let fits = row.width() <= usize::from(self.live.size.width) && !row.soft;
        self.live.abilities.reflows && replaces && fits
    }

    fn down(&mut self) {
        self.out.push_str("\r\n");
        self.live.wrapping = false;
    }

    /// Writes row `n` from byte `from` on, where the cursor is.
    fn write(&mut self, n: usize, from: usize) {
        let row = self.rows[n];
        let cells = usize::from(self.live.size.width);
        let contested = is_contested(row.text());
        // A cluster that is drawn narrower than it is counted leaves old text standing. A row that the terminal has
        // wrapped itself goes on being one with the next, for its next resize, until it is erased whole.
        let over_old = contested && n < self.live.shown.len();
        let erased = !self.live.wrapping && (self.wipes || over_old || self.shrinks(n));
        if erased {
            self.out.push_str("\x1b[K");
        }
        let bounded = contested || self.is_bounded(n);
        if bounded {
            self.out.push_str(WRAP_OFF);
        }
        let place = Place { cell: width(&row.text()[..from]), width: cells };
        self.live.encoder.part(row, from, contested.then_some(place), &mut self.out);
        if bounded {
            self.out.push_str(WRAP_ON);
        }
        let full = row.width() >= cells;
        self.live.wrapping = full && !bounded && from < row.text().len();
        let longer = self.live.shown.get(n).is_some_and(|old| old.width() > row.width());
        if (longer || self.wipes) && !full && !erased {
            self.out.push_str("\x1b[K");
        }
    }

    /// Erases rows that are left over, and leaves the cursor where the next update expects it.
    fn close(&mut self, kept: usize) {
        let shown = self.live.shown.len();
        let Some(&last) = self.rows.last() else {
            if self.wipes {
                self.out.push_str("\x1b[J");
            }
            return;
        };
        // Never from the top of the screen, which some terminals take for a whole new page.
        let left_over = self.rows.len() < shown || self.wipes;
        if left_over || self.tail == 0 {
            self.down();
        }
        if left_over {
            self.out.push_str("\x1b[J");
        }
        if self.tail == 0 {
            return;
        }
        let untouched = self.rows.len() <= shown
            && self.rows.len() > kept + 1
            && self.live.shown.get(self.rows.len() - 1).is_some_and(|old| old.looks_like(last));
        if left_over || untouched {
            let cell = last.width();
            self.jump(usize::from(left_over), cell);
        }
    }
}

/// Bytes of `new` that need not be written over `old`: whole clusters only.
fn shared(old: &Line, new: &Line) -> usize {
    let same = old.common_prefix(new);
    let text = new.text();
    let before = text[..same].chars().next_back();
    let after = text[same..].chars().next();
    if before.into_iter().chain(after).all(|c| c.is_ascii()) {
        return same;
    }
    let mut cursor = GraphemeCursor::new(same, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(true) => same,
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests;
