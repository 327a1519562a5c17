//! What the model can call: `bash`, the project's wasm tools, and entries that stand for broken ones.
//!
//! Invariants: the schemas' bytes change only when a tool changes; a call that runs keeps the module it began with;
//! nothing here knows the agent: what a tool may ask of it comes in as a [`Host`].

pub mod bash;
pub mod clip;
pub mod out;
mod process;
pub mod toolbox;
pub mod wasm;

use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use tokio_util::sync::CancellationToken;

/// What a call gives back. `content` goes to the model, the rest is for people and records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// The text for the model, clipped to the output limit.
    pub content: String,
    /// How it ended.
    pub status: ToolStatus,
    /// How long it ran.
    pub elapsed: Duration,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolStatus {
    /// It did what it was asked.
    Ok,
    /// bash: the command's exit status, not zero.
    Exit(i32),
    /// It failed; the content says why.
    Failed,
    /// It ran into its time limit.
    TimedOut,
    /// The person interrupted it.
    Cancelled,
}

/// What one call runs with.
pub struct CallContext<'a> {
    /// Ends the call within 100 ms.
    pub cancel: &'a CancellationToken,
    /// Shows output while the call runs: raw text pieces for bash, whole lines for wasm tools.
    pub progress: &'a dyn Fn(&str),
    /// The agent's side of host functions.
    pub host: &'a dyn Host,
    /// The agent's working directory, absolute; relative paths start here.
    pub cwd: PathBuf,
    /// Characters of the result that go to the model.
    pub output_limit: usize,
}

/// What the agent does for a tool that has the grant to ask. Implemented by `agent`.
pub trait Host {
    /// Runs a command through the agent's own bash and approvals; its output as the model would see it.
    fn bash<'a>(
        &'a self,
        command: &'a str,
        timeout: Option<Duration>,
    ) -> LocalBoxFuture<'a, Result<String, String>>;
    /// One model call without tools.
    fn complete<'a>(&'a self, prompt: &'a str) -> LocalBoxFuture<'a, Result<String, String>>;
    /// A sub-agent with its own context; its answer.
    fn agent<'a>(&'a self, task: &'a str) -> LocalBoxFuture<'a, Result<String, String>>;
    /// Another tool; `args` is a JSON object as text. Refuses below depth 4.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        args: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, String>>;
    /// A value kept with the session.
    fn state_get(&self, key: &str) -> Option<String>;
    /// Keeps a value with the session.
    fn state_set(&self, key: &str, value: &str);
}

/// What a rescan found changed; each is one line in the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolChange {
    /// A tool is new.
    Added(String),
    /// A tool's module, schema or state changed.
    Updated(String),
    /// A tool's file is gone.
    Removed(String),
    /// A tool does not load; name and one-line cause.
    Broken(String, String),
    /// A large tool is being compiled; it is offered when that is done, and a call of it waits.
    Compiling(String),
    /// A tool's grants changed.
    Grants {
        /// The tool.
        name: String,
        /// What it was granted before, where that is known.
        before: Option<String>,
        /// What it is granted now, on one line.
        now: String,
    },
}

impl ToolChange {
    /// As a few words of a list; none for what is not over yet.
    pub fn words(&self) -> Option<String> {
        Some(match self {
            Self::Added(name) => format!("{name} is there"),
            Self::Updated(name) => format!("{name} changed"),
            Self::Removed(name) => format!("{name} is gone"),
            Self::Broken(name, why) => format!("{name} is broken: {why}"),
            Self::Grants { name, before, now } => {
                format!("{name} may now: {}", granted(now, before))
            }
            Self::Compiling(_) => return None,
        })
    }
}

/// `bash (before: none)`.
pub(crate) fn granted(now: &str, before: &Option<String>) -> String {
    match before {
        Some(before) => format!("{now} (before: {before})"),
        None => now.to_owned(),
    }
}
