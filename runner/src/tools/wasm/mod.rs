//! The project's wasm tools.
