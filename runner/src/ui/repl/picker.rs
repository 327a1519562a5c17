//! A list to choose from: arrows, a filter that is typed, Enter; Esc for none.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::render::{Ink, Line, Spot, Style};
use crate::ui::blocks::Blocks;

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// What it is called.
    pub(super) label: String,
    /// What is known of it.
    pub(super) detail: String,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    /// Nothing is chosen yet.
    Open,
    /// The item of this index.
    Item(usize),
    /// None of them.
    None,
}

/// The open list.
#[derive(Debug)]
pub(super) struct Picker {
    title: String,
    items: Vec<Item>,
    filter: String,
    /// Place among those that the filter lets through.
    chosen: usize,
}

impl Picker {
    pub(super) fn new(title: impl Into<String>, items: Vec<Item>) -> Self {
        Self { title: title.into(), items, filter: String::new(), chosen: 0 }
    }

    /// The same list with this one chosen at first.
    pub(super) fn at(mut self, chosen: usize) -> Self {
        self.chosen = chosen;
        self
    }

    /// Does what a key means.
    pub(super) fn key(&mut self, key: KeyEvent) -> Picked {
        let count = self.passing().len();
        let control = key.modifiers == KeyModifiers::CONTROL;
        match key.code {
            KeyCode::Enter => {
                return self
                    .passing()
                    .get(self.chosen)
                    .map_or(Picked::Open, |at| Picked::Item(*at));
            }
            KeyCode::Esc => return Picked::None,
            KeyCode::Char('c' | 'd' | 'g') if control => return Picked::None,
            KeyCode::Up => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Char('p') if control => self.chosen = self.chosen.saturating_sub(1),
            KeyCode::Down | KeyCode::Tab => self.chosen += 1,
            KeyCode::Char('n') if control => self.chosen += 1,
            KeyCode::PageUp => self.chosen = self.chosen.saturating_sub(10),
            KeyCode::PageDown => self.chosen += 10,
            KeyCode::Home => self.chosen = 0,
            KeyCode::End => self.chosen = count,
            KeyCode::Backspace => {
                self.filter.pop();
                self.chosen = 0;
            }
            KeyCode::Char('u') if control => self.type_in(|filter| filter.clear()),
            KeyCode::Char(c) if !control => self.type_in(|filter| filter.push(c)),
            _ => {}
        }
        self.chosen = self.chosen.min(self.passing().len().saturating_sub(1));
        Picked::Open
    }

    /// Adds pasted text to the filter.
    pub(super) fn paste(&mut self, text: &str) {
        self.type_in(|filter| filter.extend(text.chars().filter(|c| !c.is_control())));
    }

    fn type_in(&mut self, change: impl FnOnce(&mut String)) {
        change(&mut self.filter);
        self.chosen = 0;
    }

    /// The items that hold every word of the filter.
    fn passing(&self) -> Vec<usize> {
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let passes = |item: &Item| {
            let text = format!("{} {}", item.label, item.detail).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        (0..self.items.len()).filter(|at| passes(&self.items[*at])).collect()
    }

    /// The list in at most `rows` rows, and where the cursor is.
    pub(super) fn draw(&self, blocks: &Blocks, rows: usize) -> (Vec<Line>, Spot) {
        let passing = self.passing();
        let room = rows.saturating_sub(2).max(1);
        let from = self.chosen.saturating_sub(room - 1).min(passing.len().saturating_sub(room));
        let wide = passing.iter().map(|at| crate::render::width(&self.items[*at].label)).max();
        let wide = wide.unwrap_or(0).min(48);
        let mut lines = Vec::new();
        if rows > 2 {
            let count = format!("  {}/{}", passing.len(), self.items.len());
            let title = blocks.marks.sentence(&self.title);
            let mut title = Line::of(&title, Style::PLAIN.bold());
            title.push(&count, Style::MUTED);
            lines.push(blocks.cut(title));
        }
        for (place, at) in passing.iter().enumerate().skip(from).take(room) {
            lines.push(blocks.cut(self.row(*at, place == self.chosen, wide, blocks)));
        }
        let lead = "filter: ";
        let mut line = Line::of(lead, Style::MUTED);
        line.push(&self.filter, Style::PLAIN);
        let cell = line.width();
        if self.filter.is_empty() {
            let dot = blocks.marks.dot;
            line.push(&format!("type, arrows{dot}Enter takes it{dot}Esc leaves"), Style::MUTED);
        }
        lines.push(blocks.cut(line));
        let row = lines.len() - 1;
        (lines, Spot { row, cell })
    }

    fn row(&self, at: usize, chosen: bool, wide: usize, blocks: &Blocks) -> Line {
        let Item { label, detail } = &self.items[at];
        let style = if chosen { Style::of(Ink::Accent).bold() } else { Style::PLAIN };
        let mut line = Line::of(if chosen { blocks.marks.chosen } else { " " }, style);
        line.push(" ", Style::PLAIN);
        line.push(&blocks.marks.sentence(label), style);
        if !detail.is_empty() {
            line.pad((wide + 4).saturating_sub(line.width()), Style::PLAIN);
            line.push(&blocks.marks.sentence(detail), Style::MUTED);
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picker() -> Picker {
        let items = ["gpt-4o", "gpt-4o-mini", "claude"]
            .map(|label| Item { label: label.to_owned(), detail: "128k".to_owned() });
        Picker::new("Model", items.into())
    }

    fn press(picker: &mut Picker, code: KeyCode) -> Picked {
        picker.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_move_and_enter_takes() {
        let mut picker = picker();
        press(&mut picker, KeyCode::Down);
        press(&mut picker, KeyCode::Down);
        press(&mut picker, KeyCode::Down);
        assert_eq!(press(&mut picker, KeyCode::Enter), Picked::Item(2));
        assert_eq!(press(&mut picker, KeyCode::Esc), Picked::None);
    }

    #[test]
    fn the_filter_narrows_the_list() {
        let mut picker = picker();
        "mini".chars().for_each(|c| _ = press(&mut picker, KeyCode::Char(c)));
        assert_eq!(press(&mut picker, KeyCode::Enter), Picked::Item(1));
        "zzz".chars().for_each(|c| _ = press(&mut picker, KeyCode::Char(c)));
        assert_eq!(press(&mut picker, KeyCode::Enter), Picked::Open);
    }

    #[test]
    fn a_low_terminal_still_shows_the_chosen_one() {
        let mut picker = picker();
        press(&mut picker, KeyCode::Down);
        let (lines, spot) = picker.draw(&Blocks::plain(true), 2);
        assert_eq!(lines[0].text(), "> gpt-4o-mini  128k");
        assert_eq!(spot, Spot { row: 1, cell: 8 });
    }
}
