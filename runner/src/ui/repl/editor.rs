//! The text that a person is typing. reedline is the engine: its key tables (emacs and vi), edit commands, undo and
//! kill ring; drawing and reading the terminal are ours, so that one editor serves idle and working times alike.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use reedline::{
    EditCommand, EditMode, Emacs, PromptEditMode, PromptViMode, Reedline, ReedlineEvent,
    ReedlineRawEvent, Vi,
};

use super::paste::Pastes;
use crate::env::Env;

/// What a key asks for beyond the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing; the text or the cursor may have changed.
    Nothing,
    /// Send it.
    Submit,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D on an empty line.
    Leave,
    /// Esc.
    Escape,
    /// Up from the first line.
    Older,
    /// Down from the last line.
    Newer,
    /// Tab.
    Complete,
    /// Shift-Tab.
    CompleteBack,
    /// Ctrl-R.
    Search,
    /// Ctrl-L.
    ClearScreen,
    /// Ctrl-Z.
    Suspend,
}

/// Which keys edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Keys {
    #[default]
    Emacs,
    Vi,
}

impl Keys {
    /// What the person has told readline, which other prompts obey too: `set editing-mode vi` in `~/.inputrc`.
    pub(super) fn of(env: &Env) -> Self {
        let file = env.get("INPUTRC").map(|path| Path::new(path).to_owned());
        let file = file.or_else(|| env.home.as_ref().map(|home| home.join(".inputrc")));
        let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
        let mut mode = text.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            match (words.next(), words.next(), words.next()) {
                (Some("set"), Some("editing-mode"), Some(mode)) => Some(mode.trim_matches('"')),
                _ => None,
            }
        });
        if mode.next_back() == Some("vi") { Self::Vi } else { Self::Emacs }
    }
}

/// The key table, shared with the engine, which asks it how the cursor rests.
#[derive(Clone)]
struct Mode(Arc<Mutex<Box<dyn EditMode>>>);

impl Mode {
    fn parse(&self, event: ReedlineRawEvent) -> ReedlineEvent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).parse_event(event)
    }
}

impl EditMode for Mode {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        self.parse(event)
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).edit_mode()
    }
}

/// The text, the cursor and the keys.
pub(super) struct Editor {
    engine: Reedline,
    mode: Mode,
    pastes: Pastes,
}

impl Editor {
    pub(super) fn new(keys: Keys) -> Self {
        let table: Box<dyn EditMode> = match keys {
            Keys::Emacs => Box::new(Emacs::default()),
            Keys::Vi => Box::new(Vi::default()),
        };
        let mode = Mode(Arc::new(Mutex::new(table)));
        let engine = Reedline::create().with_edit_mode(Box::new(mode.clone()));
        Self { engine, mode, pastes: Pastes::default() }
    }

    /// What is on the line.
    pub(super) fn text(&self) -> &str {
        self.engine.current_buffer_contents()
    }

    /// The cursor's place in it, in bytes.
    pub(super) fn cursor(&self) -> usize {
        self.engine.current_insertion_point().min(self.text().len())
    }

    /// Whether nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Whether keys are vi's commands now.
    pub(super) fn is_in_commands(&self) -> bool {
        matches!(
            self.mode.edit_mode(),
            PromptEditMode::Vi(PromptViMode::Normal | PromptViMode::Visual)
        )
    }

    /// Another text, the cursor at its end.
    pub(super) fn set(&mut self, text: &str) {
        self.run(&[EditCommand::Clear]);
        self.insert(text);
    }

    /// Text at the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        if !text.is_empty() {
            self.run(&[EditCommand::InsertString(text.to_owned())]);
        }
    }

    /// The text from `from` to the cursor, replaced.
    pub(super) fn replace_before_cursor(&mut self, from: usize, with: &str) {
        let (text, cursor) = (self.text().to_owned(), self.cursor());
        let (before, after) = (&text[..from], &text[cursor..]);
        self.set(&format!("{before}{with}{after}"));
        let position = from + with.len();
        self.run(&[EditCommand::MoveToPosition { position, select: false }]);
    }

    /// Text from the clipboard; a long one is folded.
    pub(super) fn paste(&mut self, text: String) {
        let text = self.pastes.fold(text);
        self.insert(&text);
    }

    /// Takes the text to send, whole.
    pub(super) fn take(&mut self) -> String {
        let text = self.pastes.unfold(self.text()).into_owned();
        self.run(&[EditCommand::Clear]);
        text
    }

    /// The text whole, left where it is.
    pub(super) fn whole(&self) -> String {
        self.pastes.unfold(self.text()).into_owned()
    }

    /// Does what a key means.
    pub(super) fn key(&mut self, key: KeyEvent) -> Asked {
        if let Some(asked) = self.own_key(key) {
            return asked;
        }
        let Ok(raw) = ReedlineRawEvent::try_from(Event::Key(key)) else { return Asked::Nothing };
        let typing = !self.is_in_commands();
        let event = self.mode.parse(raw);
        match self.apply(event).unwrap_or(Asked::Nothing) {
            // Esc did what vi has it for.
            Asked::Escape if typing && self.is_in_commands() => Asked::Nothing,
            asked => asked,
        }
    }

    /// Keys that mean the same whatever the table.
    fn own_key(&mut self, key: KeyEvent) -> Option<Asked> {
        let control = key.modifiers == KeyModifiers::CONTROL;
        Some(match key.code {
            KeyCode::Tab => Asked::Complete,
            KeyCode::BackTab => Asked::CompleteBack,
            KeyCode::Char('z') if control => Asked::Suspend,
            KeyCode::Char('j') if control => {
                self.run(&[EditCommand::InsertNewline]);
                Asked::Nothing
            }
            // What terminals send for Ctrl-_ and Ctrl-/.
            KeyCode::Char('7' | '_') if control => {
                self.run(&[EditCommand::Undo]);
                Asked::Nothing
            }
            KeyCode::Backspace if key.modifiers.is_empty() => {
                let before = &self.text()[..self.cursor()];
                let length = self.pastes.ends(before)?;
                self.replace_before_cursor(self.cursor() - length, "");
                Asked::Nothing
            }
            _ => return None,
        })
    }

    /// `None` where the event has no meaning now.
    fn apply(&mut self, event: ReedlineEvent) -> Option<Asked> {
        Some(match event {
            ReedlineEvent::Edit(commands) => {
                self.run(&commands);
                Asked::Nothing
            }
            ReedlineEvent::Multiple(events) => {
                let asked = events.into_iter().filter_map(|event| self.apply(event));
                asked.reduce(|a, b| if b == Asked::Nothing { a } else { b })?
            }
            ReedlineEvent::UntilFound(events) => {
                events.into_iter().find_map(|event| self.apply(event))?
            }
            ReedlineEvent::Enter | ReedlineEvent::Submit | ReedlineEvent::SubmitOrNewline => {
                self.enter()
            }
            ReedlineEvent::CtrlC => Asked::Interrupt,
            ReedlineEvent::CtrlD if self.is_empty() => Asked::Leave,
            ReedlineEvent::CtrlD => {
                self.run(&[EditCommand::Delete]);
                Asked::Nothing
            }
            ReedlineEvent::Esc => Asked::Escape,
            ReedlineEvent::Up => self.up(),
            ReedlineEvent::Down => self.down(),
            ReedlineEvent::PreviousHistory => Asked::Older,
            ReedlineEvent::NextHistory => Asked::Newer,
            ReedlineEvent::Left => self.moved(EditCommand::MoveLeft { select: false }),
            ReedlineEvent::Right => self.moved(EditCommand::MoveRight { select: false }),
            ReedlineEvent::ToStart => self.moved(EditCommand::MoveToStart { select: false }),
            ReedlineEvent::ToEnd => self.moved(EditCommand::MoveToEnd { select: false }),
            ReedlineEvent::SearchHistory => Asked::Search,
            ReedlineEvent::ClearScreen | ReedlineEvent::ClearScrollback => Asked::ClearScreen,
            ReedlineEvent::Repaint => Asked::Nothing,
            _ => return None,
        })
    }

    /// A backslash at the end of the line asks for another one.
    fn enter(&mut self) -> Asked {
        if self.text()[..self.cursor()].ends_with('\\') {
            self.run(&[EditCommand::Backspace, EditCommand::InsertNewline]);
            return Asked::Nothing;
        }
        Asked::Submit
    }

    fn up(&mut self) -> Asked {
        if !self.text()[..self.cursor()].contains('\n') {
            return Asked::Older;
        }
        self.moved(EditCommand::MoveLineUp { select: false })
    }

    fn down(&mut self) -> Asked {
        if !self.text()[self.cursor()..].contains('\n') {
            return Asked::Newer;
        }
        self.moved(EditCommand::MoveLineDown { select: false })
    }

    fn moved(&mut self, command: EditCommand) -> Asked {
        self.run(&[command]);
        Asked::Nothing
    }

    fn run(&mut self, commands: &[EditCommand]) {
        self.engine.run_edit_commands(commands);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn press(editor: &mut Editor, code: KeyCode, modifiers: KeyModifiers) -> Asked {
        editor.key(KeyEvent::new(code, modifiers))
    }

    fn write(editor: &mut Editor, text: &str) {
        for c in text.chars() {
            press(editor, KeyCode::Char(c), KeyModifiers::NONE);
        }
    }

    #[test]
    fn emacs_keys_move_and_cut() {
        let mut editor = Editor::new(Keys::Emacs);
        write(&mut editor, "one two three");
        press(&mut editor, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(editor.text(), "one two ");
        press(&mut editor, KeyCode::Char('a'), KeyModifiers::CONTROL);
        assert_eq!(editor.cursor(), 0);
        press(&mut editor, KeyCode::Char('y'), KeyModifiers::CONTROL);
        assert_eq!(editor.text(), "threeone two ");
        press(&mut editor, KeyCode::Char('7'), KeyModifiers::CONTROL);
        assert_eq!(editor.text(), "one two ");
    }

    #[test]
    fn vi_keys_edit_in_two_modes() {
        let mut editor = Editor::new(Keys::Vi);
        write(&mut editor, "one two");
        assert_eq!(press(&mut editor, KeyCode::Esc, KeyModifiers::NONE), Asked::Nothing);
        assert!(editor.is_in_commands());
        assert_eq!(press(&mut editor, KeyCode::Esc, KeyModifiers::NONE), Asked::Escape);
        write(&mut editor, "0dw");
        assert_eq!(editor.text(), "two");
        write(&mut editor, "ix");
        assert_eq!(editor.text(), "xtwo");
    }

    #[test]
    fn enter_sends_unless_a_backslash_asks_for_a_new_line() {
        let mut editor = Editor::new(Keys::Emacs);
        write(&mut editor, "one\\");
        assert_eq!(press(&mut editor, KeyCode::Enter, KeyModifiers::NONE), Asked::Nothing);
        write(&mut editor, "two");
        press(&mut editor, KeyCode::Enter, KeyModifiers::ALT);
        write(&mut editor, "three");
        assert_eq!(press(&mut editor, KeyCode::Enter, KeyModifiers::NONE), Asked::Submit);
        assert_eq!(editor.take(), "one\ntwo\nthree");
        assert!(editor.is_empty());
    }

    #[test]
    fn up_and_down_leave_the_text_at_its_edges_only() {
        let mut editor = Editor::new(Keys::Emacs);
        editor.set("one\ntwo");
        assert_eq!(press(&mut editor, KeyCode::Up, KeyModifiers::NONE), Asked::Nothing);
        assert_eq!(press(&mut editor, KeyCode::Up, KeyModifiers::NONE), Asked::Older);
        assert_eq!(press(&mut editor, KeyCode::Down, KeyModifiers::NONE), Asked::Nothing);
        assert_eq!(press(&mut editor, KeyCode::Down, KeyModifiers::NONE), Asked::Newer);
    }

    #[test]
    fn ctrl_d_leaves_an_empty_line_only() {
        let mut editor = Editor::new(Keys::Emacs);
        assert_eq!(press(&mut editor, KeyCode::Char('d'), KeyModifiers::CONTROL), Asked::Leave);
        write(&mut editor, "x");
        assert_eq!(press(&mut editor, KeyCode::Char('d'), KeyModifiers::CONTROL), Asked::Nothing);
    }

    #[test]
    fn a_folded_paste_is_deleted_and_sent_whole() {
        let mut editor = Editor::new(Keys::Emacs);
        let long = "line\n".repeat(50);
        write(&mut editor, "see ");
        editor.paste(long.clone());
        assert_eq!(editor.text(), "see [paste 1: 50 lines]");
        press(&mut editor, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(editor.text(), "see ");
        editor.paste(long.clone());
        assert_eq!(editor.take(), format!("see {long}"));
    }

    #[test]
    fn the_keys_are_those_that_readline_was_told() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::at(dir.path());
        assert_eq!(Keys::of(&env), Keys::Emacs);
        std::fs::write(dir.path().join(".inputrc"), "# x\nset editing-mode vi\n").unwrap();
        assert_eq!(Keys::of(&env), Keys::Vi);
    }
}
