//! What `wit-bindgen` makes of the contract in `wit/tool.wit`, and the entry into a call.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

wit_bindgen::generate!({
    path: "wit",
    world: "tool",
    pub_export_macro: true,
    default_bindings_module: "autocode_tool::bindings",
});

/// Makes relative paths start at the agent's working directory, for all of `std::fs`.
pub fn enter() {
    // Refused when the agent works outside of what the tool may touch; then relative paths fail by themselves.
    let _ = std::env::set_current_dir(crate::cwd());
}
