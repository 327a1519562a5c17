//! Where a person types: the line, its completions, its history; the same while the agent works and while it waits.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::completion::{Completion, ROWS};
use super::editor::{Asked, Editor, Keys};
use super::files::{Files, Found};
use super::history::History;
use crate::render::{Ink, Line, Spot, Style};
use crate::ui::blocks::Blocks;

/// The line and what helps to write it.
pub(super) struct Composer {
    editor: Editor,
    completion: Completion,
    history: History,
    files: Files,
    search: Option<Search>,
}

/// Ctrl-R at work.
struct Search {
    query: String,
    /// How far back the entry is that is shown.
    at: usize,
    found: bool,
    /// What had been typed before.
    draft: String,
}

impl Composer {
    pub(super) fn new(keys: Keys, history: History, files: Files) -> Self {
        let completion = Completion::default();
        Self { editor: Editor::new(keys), completion, history, files, search: None }
    }

    /// Whether nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.editor.is_empty()
    }

    /// What is typed, whole.
    pub(super) fn text(&self) -> String {
        self.editor.whole()
    }

    /// Another text in place of what is typed.
    pub(super) fn set(&mut self, text: &str) {
        self.editor.set(text);
        self.completion.close();
    }

    /// Text above what is typed.
    pub(super) fn put_before(&mut self, text: &str) {
        let typed = self.editor.text().to_owned();
        let text = if typed.is_empty() { text.to_owned() } else { format!("{text}\n{typed}") };
        self.set(&text);
    }

    /// Takes the text to send; the history keeps it.
    pub(super) fn take(&mut self) -> String {
        let text = self.editor.take();
        self.history.add(&text);
        self.look();
        text
    }

    /// Throws the text away, but for the history.
    pub(super) fn discard(&mut self) {
        self.take();
    }

    /// Text from the clipboard.
    pub(super) fn paste(&mut self, text: String) {
        self.end_search(true);
        self.editor.paste(text);
        self.history.edited();
        self.look();
    }

    /// Files that were asked for.
    pub(super) fn found(&mut self, found: Found) {
        self.completion.found(found);
    }

    /// Does what a key means; what is left is for the whole front end.
    pub(super) fn key(&mut self, key: KeyEvent) -> Asked {
        if self.search.is_some() && self.search_key(key) {
            return Asked::Nothing;
        }
        let before = self.editor.text().to_owned();
        let asked = self.editor.key(key);
        let asked = match asked {
            Asked::Complete | Asked::CompleteBack if !self.completion.is_open() => Asked::Nothing,
            Asked::Complete => self.accept(),
            Asked::CompleteBack | Asked::Older if self.completion.is_open() => {
                self.completion.step(false);
                return Asked::Nothing;
            }
            Asked::Newer if self.completion.is_open() => {
                self.completion.step(true);
                return Asked::Nothing;
            }
            Asked::Escape if self.completion.is_open() => {
                self.completion.close();
                return Asked::Nothing;
            }
            Asked::Submit if !self.completion.is_settled() => self.accept_and_submit(),
            Asked::Older => {
                let older = self.history.older(&before);
                return self.recall(older);
            }
            Asked::Newer => {
                let newer = self.history.newer();
                return self.recall(newer);
            }
            Asked::Search => {
                self.search =
                    Some(Search { query: String::new(), at: 0, found: true, draft: before });
                return Asked::Nothing;
            }
            asked => asked,
        };
        if self.editor.text() != before {
            self.history.edited();
        }
        self.look();
        asked
    }

    fn look(&mut self) {
        self.completion.look(self.editor.text(), self.editor.cursor(), &mut self.files);
    }

    fn recall(&mut self, entry: Option<String>) -> Asked {
        if let Some(entry) = entry {
            self.set(&entry);
            self.look();
            self.completion.close();
        }
        Asked::Nothing
    }

    fn accept(&mut self) -> Asked {
        if let Some((from, text)) = self.completion.accept() {
            self.editor.replace_before_cursor(from, &text);
        }
        Asked::Nothing
    }

    /// A command that needs nothing more is carried out at once.
    fn accept_and_submit(&mut self) -> Asked {
        self.accept();
        let text = self.editor.text();
        let whole = text.strip_prefix('/').is_some_and(|name| {
            super::commands::ENTRIES.iter().any(|e| e.name == name.trim() && e.arguments.is_empty())
        });
        if whole { Asked::Submit } else { Asked::Nothing }
    }

    /// Whether the key was the search's.
    fn search_key(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers == KeyModifiers::CONTROL;
        let Some(search) = &mut self.search else { return false };
        match key.code {
            KeyCode::Char('r') if control => self.search_on(1),
            KeyCode::Char('c' | 'g') if control => self.end_search(false),
            KeyCode::Esc => self.end_search(false),
            KeyCode::Backspace => {
                search.query.pop();
                search.at = 0;
                self.search_on(0);
            }
            KeyCode::Char(c) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                search.query.push(c);
                self.search_on(0);
            }
            KeyCode::Enter => self.end_search(true),
            _ => {
                self.end_search(true);
                return false;
            }
        }
        true
    }

    /// Shows the next entry that matches, `further` back from the one that is shown.
    fn search_on(&mut self, further: usize) {
        let Some(search) = &mut self.search else { return };
        let from = search.at + further;
        let found = self.history.find(&search.query, from);
        search.found = found.is_some();
        if let Some((at, entry)) = found {
            search.at = at;
            self.editor.set(&entry);
        }
    }

    fn end_search(&mut self, keep: bool) {
        if let Some(search) = self.search.take()
            && !keep
        {
            self.editor.set(&search.draft);
        }
        self.completion.close();
    }

    /// The rows of the line and of the list below it, and where the cursor is. An empty line shows `hint`.
    pub(super) fn draw(
        &self,
        meter: &str,
        blocks: &Blocks,
        size: (usize, usize),
        hint: Option<&str>,
    ) -> (Vec<Line>, Spot) {
        let (width, rows) = size;
        let lead = crate::render::split(self.lead(meter, blocks), (width / 2).max(1));
        let lead = lead.into_iter().next().unwrap_or_default();
        let indent = lead.width();
        let (text, spot) =
            layout(self.editor.text(), self.editor.cursor(), width.saturating_sub(indent));
        let most = text.len().min((rows / 2).max(1));
        let from = (spot.row + 1).saturating_sub(most).min(text.len() - most);
        let style = Style::PLAIN.bar();
        let mut lines = Vec::new();
        for (n, row) in text.iter().enumerate().skip(from).take(most) {
            let mut line = Line::new();
            if n == from {
                line.extend(&lead)
            } else {
                line.pad(indent, style)
            }
            line.extend(row);
            if let Some(hint) = hint.filter(|_| self.is_empty() && self.search.is_none()) {
                line.push(hint, Style::MUTED.bar());
                line = blocks.cut(line);
            }
            line.pad(width.saturating_sub(line.width()), style);
            lines.push(line);
        }
        let spot = Spot { row: spot.row - from, cell: indent + spot.cell };
        lines.extend(self.list(blocks, rows.saturating_sub(most)));
        (lines, spot)
    }

    fn lead(&self, meter: &str, blocks: &Blocks) -> Line {
        let bar = Style::MUTED.bar();
        if let Some(search) = &self.search {
            let state = if search.found { "search" } else { "not found" };
            return Line::of(&format!(" {state} {:?}: ", search.query), bar);
        }
        let marks = blocks.marks;
        let mark = if self.editor.is_in_commands() { marks.command } else { marks.prompt };
        let mut lead = Line::of(&format!(" {meter} "), bar);
        lead.push(mark, Style::of(Ink::Accent).bold().bar());
        lead.push(" ", bar);
        lead
    }

    fn list(&self, blocks: &Blocks, rows: usize) -> Vec<Line> {
        let (candidates, chosen) = self.completion.shown();
        let room = rows.min(ROWS);
        let from = (chosen + 1).saturating_sub(room);
        let wide = candidates.iter().map(|c| crate::render::width(&c.label)).max().unwrap_or(0);
        let shown = candidates.iter().enumerate().skip(from).take(room);
        let row = |(n, candidate): (usize, &super::completion::Candidate)| {
            let style = if n == chosen { Style::of(Ink::Accent).bold() } else { Style::PLAIN };
            let mark = if n == chosen { blocks.marks.chosen } else { " " };
            let mut line = Line::of(&format!(" {mark} "), style);
            line.push(&candidate.label, style);
            line.pad((wide + 5).saturating_sub(line.width()), style);
            line.push(&candidate.help, Style::MUTED);
            blocks.cut(line)
        };
        shown.map(row).collect()
    }
}

/// Text in rows of at most `avail` cells, and the place of the byte `cursor`.
fn layout(text: &str, cursor: usize, avail: usize) -> (Vec<Line>, Spot) {
    let avail = avail.max(1);
    let style = Style::PLAIN.bar();
    let mut rows = Vec::new();
    let mut row = Line::new();
    let mut spot = None;
    for (at, cluster) in text.grapheme_indices(true) {
        let piece = Line::of(cluster, style);
        let breaks = cluster == "\n" || cluster == "\r\n";
        if !breaks && row.width() + piece.width() > avail {
            rows.push(std::mem::take(&mut row));
        }
        if spot.is_none() && cursor < at + cluster.len() {
            spot = Some(Spot { row: rows.len(), cell: row.width() });
        }
        match breaks {
            true => rows.push(std::mem::take(&mut row)),
            false => row.extend(&piece),
        }
    }
    if row.width() >= avail && spot.is_none() {
        rows.push(std::mem::take(&mut row));
    }
    let end = Spot { row: rows.len(), cell: row.width() };
    rows.push(row);
    (rows, spot.unwrap_or(end))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    fn composer() -> Composer {
        // A place where no file can be: the history is kept in memory.
        let nowhere = Path::new("/dev/null/history");
        let files = Files::new(nowhere, unbounded_channel().0);
        Composer::new(Keys::Emacs, History::open(nowhere), files)
    }

    fn press(composer: &mut Composer, code: KeyCode, modifiers: KeyModifiers) -> Asked {
        composer.key(KeyEvent::new(code, modifiers))
    }

    fn write(composer: &mut Composer, text: &str) {
        text.chars().for_each(|c| _ = press(composer, KeyCode::Char(c), KeyModifiers::NONE));
    }

    fn drawn(composer: &Composer, width: usize, rows: usize) -> (Vec<String>, Spot) {
        let (lines, spot) = composer.draw("0%", &Blocks::plain(true), (width, rows), None);
        (lines.iter().map(|line| line.text().trim_end().to_owned()).collect(), spot)
    }

    #[test]
    fn the_line_is_wrapped_and_the_cursor_in_its_place() {
        let mut composer = composer();
        write(&mut composer, "0123456789abcd");
        let (lines, spot) = drawn(&composer, 16, 10);
        assert_eq!(lines, [" 0% > 0123456789", "      abcd"]);
        assert_eq!(spot, Spot { row: 1, cell: 10 });
        press(&mut composer, KeyCode::Home, KeyModifiers::NONE);
        assert_eq!(drawn(&composer, 16, 10).1, Spot { row: 0, cell: 6 });
    }

    #[test]
    fn a_full_row_has_the_cursor_on_the_next() {
        let (rows, spot) = layout("abcd", 4, 4);
        assert_eq!((rows.len(), spot), (2, Spot { row: 1, cell: 0 }));
        let (rows, spot) = layout("日本語", 6, 4);
        assert_eq!((rows.len(), spot), (2, Spot { row: 1, cell: 0 }));
    }

    #[test]
    fn a_text_taller_than_its_place_shows_the_rows_around_the_cursor() {
        let mut composer = composer();
        composer.set("a\nb\nc\nd\ne");
        let (lines, spot) = drawn(&composer, 20, 4);
        assert_eq!(lines, [" 0% > d", "      e"]);
        assert_eq!(spot.row, 1);
    }

    #[test]
    fn the_history_is_searched_as_it_is_typed() {
        let mut composer = composer();
        for line in ["fix the parser", "add a test", "fix the lexer"] {
            composer.set(line);
            composer.take();
        }
        write(&mut composer, "draft");
        press(&mut composer, KeyCode::Char('r'), KeyModifiers::CONTROL);
        write(&mut composer, "fix");
        assert_eq!(composer.text(), "fix the lexer");
        press(&mut composer, KeyCode::Char('r'), KeyModifiers::CONTROL);
        assert_eq!(composer.text(), "fix the parser");
        assert_eq!(drawn(&composer, 60, 9).0, [" search \"fix\": fix the parser"]);
        press(&mut composer, KeyCode::Esc, KeyModifiers::NONE);
        assert_eq!(composer.text(), "draft");
        press(&mut composer, KeyCode::Char('r'), KeyModifiers::CONTROL);
        write(&mut composer, "test");
        press(&mut composer, KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(composer.text(), "add a test");
    }

    #[test]
    fn a_command_is_completed_and_sent_with_enter() {
        let mut composer = composer();
        write(&mut composer, "/hel");
        assert_eq!(press(&mut composer, KeyCode::Enter, KeyModifiers::NONE), Asked::Submit);
        assert_eq!(composer.take().trim(), "/help");
        write(&mut composer, "/mod");
        assert_eq!(press(&mut composer, KeyCode::Enter, KeyModifiers::NONE), Asked::Nothing);
        assert_eq!(composer.text(), "/model ");
    }

    #[test]
    fn what_is_thrown_away_is_one_key_away() {
        let mut composer = composer();
        write(&mut composer, "a long thought");
        composer.discard();
        assert!(composer.is_empty());
        press(&mut composer, KeyCode::Up, KeyModifiers::NONE);
        assert_eq!(composer.text(), "a long thought");
    }
}
