//! Front ends over the agent's event stream.

pub mod ask;
mod blocks;
mod canvas;
mod json;
pub mod log;
mod marks;
pub mod print;
pub mod repl;
mod reply;
mod signals;
pub mod stdin;

use std::borrow::Cow;

/// A sentence of autocode's own, in ASCII where nothing else is shown.
pub(crate) fn sentence(text: &str, ascii: bool) -> Cow<'_, str> {
    marks::Marks::of(ascii).sentence(text)
}
