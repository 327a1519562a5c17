//! `autocode tool …`: making, trying and managing tools, for people and for the agent through bash.
//!
//! Each command does one thing to `.autocode/src/` or `.autocode/tools/` and says in a line what it did. Sources are
//! never overwritten or deleted; a module in `.autocode/tools/` is replaced whole or not at all.

mod add;
mod attempt;
mod build;
mod check;
pub mod cli;
mod compiler;
mod host;
mod language;
mod list;
mod place;
mod remove;
mod scaffold;
mod sdk;

use std::io::Write;

use thiserror::Error;

use crate::env::Env;
use crate::exit::Exit;
use crate::project::Project;
use crate::render::sanitize;
use crate::tools::toolbox::Toolbox;
use crate::tools::wasm::{Compiler, Loader, javascript};
use crate::trust::{self, Origin, Trust};
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
    /// The person ended it.
    #[error("interrupted")]
    Interrupted,
}

impl ToolkitError {
    /// What the process's exit code says.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Failed(_) => Exit::Failed,
            Self::Usage(_) => Exit::Usage,
            Self::Interrupted => Exit::Interrupted,
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
    /// Lines for the user. A reader that has gone away is no reason to stop.
    fn say(&mut self, text: impl std::fmt::Display) {
        let text = text.to_string();
        let _ = writeln!(self.out, "{}", sanitize(&text));
    }

    /// Loads modules as the agent does.
    fn loader(&self) -> Loader {
        Loader::new(&self.env.cache_dir, Compiler::own_binary(self.env), Some(javascript::SHARED))
    }

    /// The project's tools, looked at once.
    ///
    /// # Errors
    /// The project is not trusted: its tools are nobody's who was asked.
    async fn toolbox(&self, all: bool) -> Result<Toolbox> {
        match trust::assess(&self.project, self.env) {
            Trust::Nothing | Trust::Trusted => {}
            Trust::Untrusted(_) | Trust::Changed(_) => {
                return Err(ToolkitError::Usage(
                    "this project's .autocode/ is not trusted yet: start autocode here and look at what it asks".to_owned(),
                ));
            }
            Trust::Outside(sentence) => return Err(ToolkitError::Usage(sentence)),
        }
        let mut toolbox = Toolbox::new(&self.project, self.env, self.loader(), String::new());
        if all {
            toolbox.rescan_all(true).await;
        } else {
            toolbox.rescan(true).await;
        }
        Ok(toolbox)
    }

    /// Does what changes the project, and records it as the user's own where the project was theirs before: what a
    /// clone brought stays to be asked about.
    fn changing(&mut self, change: impl FnOnce(&mut Self) -> Result) -> Result {
        let before = trust::assess(&self.project, self.env);
        if let Trust::Outside(sentence) = before {
            return Err(ToolkitError::Usage(sentence));
        }
        let result = change(self);
        let recorded = match before {
            Trust::Nothing if self.project.home().exists() => {
                trust::grant(&self.project, self.env, Origin::Here)
            }
            Trust::Trusted => trust::refresh(&self.project, self.env),
            _ => Ok(()),
        };
        if let Err(error) = recorded {
            self.say(format_args!(
                "warning: autocode will ask whether to trust this project: {error}"
            ));
        }
        result
    }
}

/// Carries out `command` for the project that the current directory is in; what it reports goes to `out`.
///
/// # Errors
/// One text for the user, and the exit code that belongs to it.
pub fn run(command: &ToolCommand, env: &Env, out: &mut dyn Write) -> Result {
    let project = Project::find(&env.cwd, env.home.as_deref());
    let mut toolkit = Toolkit { env, project, out };
    match command {
        ToolCommand::New { name, lang } => {
            toolkit.changing(|toolkit| toolkit.new_tool(name, *lang))
        }
        ToolCommand::Build { name } => toolkit.changing(|toolkit| toolkit.build(name.as_deref())),
        ToolCommand::Check { file } => toolkit.check(file),
        ToolCommand::Run { name, args } => block_on(toolkit.attempt(name, args)),
        ToolCommand::List { json } => block_on(toolkit.list(*json)),
        ToolCommand::Add { name: None } => {
            toolkit.bundled();
            Ok(())
        }
        ToolCommand::Add { name: Some(name) } => toolkit.changing(|toolkit| toolkit.add(name)),
        ToolCommand::Remove { name } => toolkit.changing(|toolkit| toolkit.remove(name)),
    }
}

fn block_on<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ToolkitError::io("the runtime did not start", &error))?;
    runtime.block_on(work)
}

#[cfg(test)]
mod tests;
