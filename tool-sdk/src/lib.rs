//! Write tools for [autocode](https://github.com/empero-org/autocode) in Rust.
//!
//! A tool is a WebAssembly module in a project's `.autocode/tools/` that the agent can call like a built-in one, in a
//! sandbox, from the step after the file was written. This crate makes one out of a plain function.
//!
//! # A tool in ten lines
//!
//! `Cargo.toml`:
//! ```toml
//! [package]
//! name = "count"
//! version = "0.1.0"
//! edition = "2024"
//!
//! [lib]
//! crate-type = ["cdylib"]
//!
//! [dependencies]
//! autocode-tool = "0.1"
//! ```
//! `src/lib.rs`:
//! ```no_run
//! use autocode_tool::tool;
//!
//! /// Count the lines of a text file.
//! #[tool]
//! fn count(
//!     /// The file, relative to the working directory.
//!     file: &str,
//!     /// Leave out lines of white space.
//!     #[serde(default)]
//!     skip_blank: bool,
//! ) -> std::io::Result<usize> {
//!     let text = std::fs::read_to_string(file)?;
//!     Ok(text.lines().filter(|line| !skip_blank || !line.trim().is_empty()).count())
//! }
//! # fn main() {}
//! ```
//! Then `cargo build --release --target wasm32-wasip1`, and copy the `.wasm` to `.autocode/tools/count.wasm`.
//! (`autocode tool new count` writes such a crate, `autocode tool build count` does the rest.)
//!
//! The doc comment of the function is what the model reads to decide when to call it; those of the parameters tell it
//! what to pass. Write them for a reader who sees nothing else.
//!
//! # Arguments
//!
//! A parameter can be anything that `serde` reads from JSON: numbers, `bool`, `String` or `&str`, `PathBuf` or `&Path`,
//! `Vec<T>` or `&[T]`, `Option<T>` (may be left out), maps, and your own types under [`#[args]`](macro@args):
//! ```
//! use autocode_tool::{args, tool};
//!
//! /// How to order the lines.
//! #[args]
//! enum Order {
//!     /// A to Z.
//!     Up,
//!     /// Z to A.
//!     Down,
//! }
//!
//! /// Lines from…to, counted from 1.
//! #[args]
//! struct Range {
//!     from: usize,
//!     to: usize,
//! }
//!
//! /// Sort lines of text.
//! #[tool]
//! fn sort_lines(text: &str, order: Option<Order>, only: Vec<Range>) -> String {
//!     // …
//! #   drop((order, only.iter().map(|r| r.from..r.to).count()));
//!     text.to_owned()
//! }
//! # fn main() {}
//! ```
//! Variants of an enum are `snake_case` in JSON. `serde` and `schemars` attributes work on parameters and fields
//! (`#[serde(default)]`, `#[schemars(range(min = 1))]`).
//!
//! Where the arguments are many, make them a struct. Its doc comment describes the tool, and `run` is the tool:
//! ```
//! use autocode_tool::tool;
//!
//! /// Replace text in files.
//! #[tool]
//! struct Replace {
//!     /// The text to look for.
//!     find: String,
//!     /// What takes its place.
//!     with: String,
//!     /// Only files with these endings.
//!     #[serde(default)]
//!     endings: Vec<String>,
//! }
//!
//! impl Replace {
//!     fn run(self) -> autocode_tool::Result<String> {
//!         // …
//! #       drop((self.find, self.with, self.endings));
//!         Ok("3 files changed".into())
//!     }
//! }
//! # fn main() {}
//! ```
//! autocode checks the arguments against the types before the tool runs, and mends what is unambiguous (`"3"` for `3`).
//! The tool is named after the function or the struct; `#[tool(name = "other-name")]` names it otherwise.
//!
//! # Answers and errors
//!
//! Return anything that can be displayed, or a `Result` of two such things. An error is told to the model as an error.
//! [`Result`] takes every error with `?`, and so does `anyhow::Result` (the whole chain is told). A panic ends the call;
//! the model sees its message and where it happened.
//!
//! Keep answers short: the model reads all of it, and a long answer is cut in the middle.
//!
//! # Files
//!
//! `std::fs` works within the project's directory, reading and writing. Relative paths start at the agent's working
//! directory, which [`cwd`] returns; `..` and absolute paths work as long as they stay within the project. [`path`]
//! makes a path absolute and says, before anything is touched, when it is outside and which grant would allow it.
//!
//! # More than files
//!
//! There is no network, no environment and no way to run a program unless the tool's grants say so. They are in
//! `.autocode/tools/NAME.grants.json`, beside the module, where the person who trusts the project sees them:
//! ```json
//! {"fs": ["~/notes", "/srv/data:rw"], "net": ["api.github.com:443"], "env": ["GITHUB_TOKEN"],
//!  "bash": true, "model": true, "tools": ["search"], "timeout_s": 300, "memory_mb": 512}
//! ```
//! What autocode itself does for a tool:
//!
//! | function | what it does | grant |
//! |---|---|---|
//! | [`progress`] | shows a line under the running call | |
//! | [`state::get`], [`state::set`] | a value kept with the session, shared between tools | |
//! | [`bash`] | runs a command in the agent's bash | `bash` |
//! | [`complete`] | asks the model, without tools | `model` |
//! | [`agent`] | gives a task to a sub-agent | `model` |
//! | [`call`] | calls another tool | `tools` |
//!
//! ```no_run
//! use autocode_tool::{Result, bash, complete, progress, tool};
//!
//! /// Suggest a message for the staged changes.
//! #[tool]
//! fn commit_message() -> Result<String> {
//!     progress("reading the diff");
//!     let diff = bash("git diff --staged")?;
//!     Ok(complete(&format!("One line, imperative mood:\n{diff}"))?)
//! }
//! # fn main() {}
//! ```
//!
//! # Tests
//!
//! On the host, the function is an ordinary function and can be tested as one. [`run`] goes the whole way from JSON:
//! ```
//! # use autocode_tool::tool;
//! /// Add two numbers.
//! #[tool]
//! fn add(a: f64, b: f64) -> f64 {
//!     a + b
//! }
//!
//! # fn main() {
//! assert_eq!(add(1.0, 2.0), 3.0);
//! assert_eq!(autocode_tool::run::<add>(r#"{"a": 1, "b": 2}"#), Ok("3".to_owned()));
//! # }
//! ```
//! Only the functions that ask autocode for something need the wasm build: `autocode tool run NAME '{…}'`.

#[doc(hidden)]
pub mod bindings;
mod host;
mod paths;
#[doc(hidden)]
pub mod reply;
mod schema;

pub use autocode_tool_macros::{args, tool};
pub use host::{Refused, agent, bash, bash_within, call, complete, progress, state};
pub use paths::{Outside, cwd, path};
#[doc(hidden)]
pub use schemars;
#[doc(hidden)]
pub use serde;
pub use serde_json as json;

/// A result whose error takes every other error, and plain text, with `?`.
pub type Result<T = String, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A tool, as [`#[tool]`](macro@tool) makes it.
pub trait Tool {
    /// The type that the arguments are read into.
    type Arguments: serde::de::DeserializeOwned + schemars::JsonSchema;
    /// The name the model calls it by.
    const NAME: &'static str;
    /// What it does, for the model.
    const DESCRIPTION: &'static str;
    /// Runs it.
    ///
    /// # Errors
    /// The tool's own.
    fn call(arguments: Self::Arguments) -> std::result::Result<String, String>;
}

/// The tool's description as JSON: its name, what it does, and the schema of its arguments.
pub fn schema<T: Tool>() -> String {
    json::json!({
        "name": T::NAME,
        "description": T::DESCRIPTION,
        "parameters": schema::of::<T::Arguments>(),
    })
    .to_string()
}

/// Runs the tool on arguments as JSON text.
///
/// # Errors
/// The tool's own, and arguments that are not what it takes.
pub fn run<T: Tool>(arguments: &str) -> std::result::Result<String, String> {
    let arguments = json::from_str(arguments).map_err(|error| format!("arguments: {error}"))?;
    T::call(arguments)
}
