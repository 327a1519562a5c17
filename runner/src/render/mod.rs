//! Text that arrives in pieces, turned into styled terminal lines. Knows nothing of agents.
//!
//! Markdown goes in ([`Markdown`]), [`Line`]s come out, [`Live`] draws them: finished lines into
//! the terminal's own scrollback, the open end below them. Invariant: no byte of the text reaches
//! a terminal unsanitised, for [`Line`] takes no other.

mod ansi;
mod background;
mod code;
pub mod color;
pub mod command;
mod grammar;
mod highlight;
mod live;
mod markdown;
mod math;
mod options;
mod pace;
mod sanitize;
mod style;
mod table;
mod theme;
mod width;
mod wrap;

pub use ansi::Encoder;
pub use background::Question;
pub use code::{highlight, split};
pub use color::ColorDepth;
pub use live::{Abilities, Live, Size, Spot};
pub use markdown::Markdown;
pub use options::Options;
pub use pace::Pace;
pub use sanitize::sanitize;
pub use style::{Ink, Line, Span, Style};
pub use width::width;
pub use wrap::wrap;

#[cfg(test)]
mod tests;
