//! autocode: a minimal terminal coding agent that extends itself with WebAssembly tools.
//!
//! `ARCHITECTURE.md` beside this crate is the map of its modules.

pub mod agent;
pub mod approve;
pub mod cli;
pub mod commands;
pub mod config;
pub mod demo;
pub mod drift;
pub mod env;
pub mod exit;
pub mod files;
pub mod git;
pub mod model;
pub mod plain;
pub mod pristine;
pub mod project;
pub mod render;
pub mod session;
pub mod setup;
pub mod start;
pub mod toolkit;
pub mod tools;
pub mod trust;
pub mod ui;
