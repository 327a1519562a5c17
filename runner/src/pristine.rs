//! The files of a new project as this version ships them. Compared with by `--diff`, restored by `--reset`.

/// `.autocode/config.json`.
pub const CONFIG: &str = include_str!("../../assets/config.json");
/// `.autocode/prompt.md`: the system prompt's template.
pub const PROMPT: &str = include_str!("../../assets/prompt.md");
/// `.autocode/compact.md`: the instructions for a summary.
pub const COMPACT: &str = include_str!("../../assets/compact.md");
/// `.autocode/.gitignore`: what is of this machine or secret stays out of git.
pub const GITIGNORE: &str = include_str!("../../assets/gitignore");
