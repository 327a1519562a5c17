//! A tool in Rust. Edit it, then `autocode tool build {{name}}`; the agent can call it from its next step on.
//! Try it yourself with:  autocode tool run {{name}} '{"path": ".autocode/src/{{name}}/src/lib.rs"}'

use autocode_tool::{Result, tool};

// The doc comments are what the model reads: when to call the tool, and what to pass. Parameters can be anything that
// serde reads: numbers, bool, &str, Option<T> (may be left out), Vec<T>, and own types under #[autocode_tool::args].
// What can be displayed can be returned; an error goes to the model as an error, and `?` works on all of them.
//
// std::fs works within the project; relative paths start at the agent's working directory. Beyond files:
//   autocode_tool::progress(line)              shows a line under the running call
//   autocode_tool::state::{get, set}           values kept with the session
//   autocode_tool::{bash, call, complete, agent}
//                                              with a grant: .autocode/tools/{{name}}.grants.json

/// Count the lines of a text file.
#[tool(name = "{{name}}")]
fn lines(
    /// The file, relative to the working directory.
    path: &str,
    /// Leave out blank lines.
    #[serde(default)]
    skip_blank: bool,
) -> Result {
    let text = std::fs::read_to_string(path)?;
    let counted = text.lines().filter(|line| !skip_blank || !line.trim().is_empty()).count();
    Ok(format!("{counted} lines"))
}
