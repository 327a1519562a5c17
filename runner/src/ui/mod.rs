//! Front ends over the agent's event stream.

pub mod ask;
mod blocks;
mod json;
pub mod log;
mod marks;
pub mod print;
pub mod repl;
mod reply;
mod signals;
pub mod stdin;
