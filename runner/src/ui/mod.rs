//! Front ends over the agent's event stream.

mod blocks;
mod json;
pub mod print;
mod reply;
mod signals;
pub mod stdin;
