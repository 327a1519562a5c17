//! autocode: a minimal terminal coding agent that extends itself with WebAssembly tools.
//!
//! `ARCHITECTURE.md` beside this crate is the map of its modules.

pub mod agent;
pub mod config;
pub mod env;
pub mod model;
pub mod project;
pub mod render;
pub mod session;
pub mod toolkit;
pub mod tools;
