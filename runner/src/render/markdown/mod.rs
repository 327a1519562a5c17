//! Markdown that arrives in pieces.
//!
//! Lines become blocks ([`blocks`]), blocks become lines of styled text ([`layout`]), paragraphs
//! are parsed by pulldown-cmark on the way ([`inline`]). [`Markdown`] is the way in.

mod address;
mod blocks;
mod cursor;
mod flow;
mod heal;
mod html;
mod html_block;
mod inline;
mod layout;
mod mask;
mod refs;
mod settled;
mod starts;
mod stream;

pub(crate) use flow::Flow;
pub(crate) use inline::unescape;
pub(crate) use starts::Align;
pub use stream::Markdown;
