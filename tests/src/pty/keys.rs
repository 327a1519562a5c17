//! What a person does at a terminal: its size, and the keys that are no characters.

use std::num::NonZeroU16;

use portable_pty::PtySize;

/// Columns and rows of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters in a row.
    pub columns: u16,
    /// Rows on the screen.
    pub rows: u16,
}

impl Size {
    /// `columns` × `rows`.
    pub const fn new(columns: u16, rows: u16) -> Self {
        Self { columns, rows }
    }

    pub(super) fn pty(self) -> PtySize {
        PtySize { rows: self.rows, cols: self.columns, pixel_width: 0, pixel_height: 0 }
    }

    pub(super) fn nonzero(self) -> (NonZeroU16, NonZeroU16) {
        (NonZeroU16::new(self.rows).expect("rows"), NonZeroU16::new(self.columns).expect("columns"))
    }
}

/// A key that is not a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Return.
    Enter,
    /// Return with Alt held.
    AltEnter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Start of the line.
    Home,
    /// End of the line.
    End,
    /// A letter with Control held.
    Ctrl(char),
}

impl Key {
    pub(super) fn bytes(self) -> Vec<u8> {
        match self {
            Self::Enter => b"\r".to_vec(),
            Self::AltEnter => b"\x1b\r".to_vec(),
            Self::Esc => b"\x1b".to_vec(),
            Self::Tab => b"\t".to_vec(),
            Self::Backspace => b"\x7f".to_vec(),
            Self::Up => b"\x1b[A".to_vec(),
            Self::Down => b"\x1b[B".to_vec(),
            Self::Right => b"\x1b[C".to_vec(),
            Self::Left => b"\x1b[D".to_vec(),
            Self::Home => b"\x1b[H".to_vec(),
            Self::End => b"\x1b[F".to_vec(),
            Self::Ctrl(letter) => vec![letter.to_ascii_lowercase() as u8 & 0x1f],
        }
    }
}
