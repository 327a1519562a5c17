//! The project's wasm tools.

pub mod javascript;
