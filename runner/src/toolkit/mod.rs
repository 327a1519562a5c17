//! `autocode tool …`: making, trying and managing tools, for people and for the agent through bash.
//!
//! Each command does one thing to `.autocode/src/` or `.autocode/tools/` and says in a line what it did. Sources are
//! never overwritten or deleted; a module in `.autocode/tools/` is replaced whole or not at all.

mod add;
mod build;
pub mod cli;
mod compiler;
mod language;
mod place;
mod remove;
mod scaffold;
mod sdk;

use std::io::Write;

use thiserror::Error;

use crate::env::Env;
use crate::project::Project;
use cli::ToolCommand;

pub use language::Language;

/// Why a command did not do what it was asked. The text is for the user.
#[derive(Debug, Error)]
pub enum ToolkitError {
    /// It was asked for something that is not there or not possible.
    #[error("{0}")]
    Usage(String),
    /// The tool, its build or the machine failed.
    #[error("{0}")]
    Failed(String),
}

impl ToolkitError {
    /// The process's exit status.
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Failed(_) => 1,
            Self::Usage(_) => 2,
        }
    }

    fn io(what: impl std::fmt::Display, error: &std::io::Error) -> Self {
        Self::Failed(format!("{what}: {error}"))
    }
}

type Result<T = ()> = std::result::Result<T, ToolkitError>;

/// What every command works with.
struct Toolkit<'a> {
    env: &'a Env,
    project: Project,
    out: &'a mut dyn Write,
}

impl Toolkit<'_> {
    /// One line for the user. A reader that has gone away is no reason to stop.
    fn say(&mut self, line: impl std::fmt::Display) {
        let _ = writeln!(self.out, "{line}");
    }
}

/// Carries out `command` for the project that the current directory is in; what it reports goes to `out`.
///
/// # Errors
/// One text for the user, and the exit status that belongs to it.
pub fn run(command: &ToolCommand, env: &Env, out: &mut dyn Write) -> Result {
    let project = Project::find(&env.cwd, env.home.as_deref());
    let mut toolkit = Toolkit { env, project, out };
    match command {
        ToolCommand::New { name, lang } => toolkit.new_tool(name, *lang),
        ToolCommand::Build { name } => toolkit.build(name.as_deref()),
        ToolCommand::Add { name } => toolkit.add(name.as_deref()),
        ToolCommand::Remove { name } => toolkit.remove(name),
        ToolCommand::Check { .. } | ToolCommand::Run { .. } | ToolCommand::List { .. } => {
            Err(ToolkitError::Usage("not yet".into()))
        }
    }
}

#[cfg(test)]
mod tests;
