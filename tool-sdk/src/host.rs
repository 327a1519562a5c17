//! What autocode does for a tool that asks. Each function obeys the tool's grants.

use std::fmt::{self, Display};
use std::time::Duration;

use crate::bindings::autocode::tool::host;

/// Why autocode did not do what the tool asked: a missing grant, a person's no, or a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// Shows a line under the running call, for the person who waits.
pub fn progress(line: impl Display) {
    host::progress(&line.to_string());
}

/// Runs a command in the agent's own bash, with its working directory and approvals. The answer is what the model would
/// see: output and errors together, clipped when long, `[exit N]` at the end when it failed. Grant: `bash`.
///
/// # Errors
/// The grant is missing, the person said no, or bash could not run.
pub fn bash(command: &str) -> Result<String, Refused> {
    host::bash(command, None).map_err(Refused)
}

/// [`bash`] with a time limit of its own. Grant: `bash`.
///
/// # Errors
/// As for [`bash`].
pub fn bash_within(limit: Duration, command: &str) -> Result<String, Refused> {
    let seconds = u32::try_from(limit.as_secs().max(1)).unwrap_or(u32::MAX);
    host::bash(command, Some(seconds)).map_err(Refused)
}

/// Asks the model once, without tools and without the conversation so far. Grant: `model`.
///
/// # Errors
/// The grant is missing, or the model could not be asked.
pub fn complete(prompt: &str) -> Result<String, Refused> {
    host::complete(prompt).map_err(Refused)
}

/// Gives a task to a sub-agent with a context of its own, and waits for its answer. Grant: `model`.
///
/// # Errors
/// The grant is missing, or the sub-agent failed.
pub fn agent(task: &str) -> Result<String, Refused> {
    host::agent(task).map_err(Refused)
}

/// Calls another tool; `arguments` is anything that becomes a JSON object, such as `json!({"a": 1})`. Grant: `tools`.
///
/// # Errors
/// The grant is missing, there is no such tool, or the tool failed.
pub fn call(tool: &str, arguments: impl serde::Serialize) -> Result<String, Refused> {
    let arguments = crate::json::to_string(&arguments)
        .map_err(|error| Refused(format!("arguments: {error}")))?;
    host::call(tool, &arguments).map_err(Refused)
}

/// Values kept with the session, between calls and shared with other tools.
pub mod state {
    use super::host;

    /// The value of a key, if it was set in this session.
    pub fn get(key: &str) -> Option<String> {
        host::state_get(key)
    }

    /// Keeps a value under a key.
    pub fn set(key: &str, value: &str) {
        host::state_set(key, value);
    }
}
