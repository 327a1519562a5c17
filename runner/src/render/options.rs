//! What text is rendered for: one terminal's size and abilities.

use super::color::{self, ColorDepth};
use crate::env::Env;

/// A terminal, as far as the layout and the encoder have to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cells in a row; 0 counts as 1.
    pub width: u16,
    /// How many colours there are.
    pub color: ColorDepth,
    /// Whether the background is dark.
    pub dark: bool,
    /// Whether OSC 8 links are shown.
    pub hyperlinks: bool,
    /// Whether only ASCII can be drawn around text.
    pub ascii: bool,
}

impl Options {
    /// What the environment says about a stream that is (or is not) a terminal of that width.
    #[must_use]
    pub fn detect(env: &Env, width: u16, terminal: bool) -> Self {
        let color = color::depth(env, terminal);
        Self {
            width,
            color,
            dark: color::is_dark(env),
            hyperlinks: color != ColorDepth::None && color::hyperlinks(env),
            ascii: color::ascii_only(env),
        }
    }
}
