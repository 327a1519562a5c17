//! The setup wizard: provider, key, model, window, approvals; one test call; saved for the user.
//!
//! [`wizard`] decides what is asked, [`terminal`] asks it, a [`Backend`] talks to the server. Nothing is saved before
//! the end, and each question can be walked away from.

pub mod backend;
pub mod models;
pub mod providers;
pub mod question;
pub mod terminal;
pub mod wizard;

use futures_util::future::LocalBoxFuture;
use serde_json::{Value, json};

use crate::config::{self, Key, Problem, Scope};
use crate::env::Env;
use crate::files;
use crate::project::Project;
use models::Listed;
use question::{Endpoint, Failure, Line, Need, Question};
use wizard::Wizard;

/// What setup needs of the model client.
pub trait Backend {
    /// The models of a server.
    fn models<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalBoxFuture<'a, Result<Vec<Listed>, Failure>>;
    /// A short reply of a model.
    fn test<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        model: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, Failure>>;
}

/// What setup needs of a terminal.
pub trait Terminal {
    /// Shows a line.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn show(&mut self, line: &Line) -> std::io::Result<()>;
    /// Asks; `None` when the person walks away.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn ask(&mut self, question: &Question) -> std::io::Result<Option<String>>;
}

/// Why setup ended without settings.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The person walked away: exit code 130.
    #[error("setup cancelled; nothing was saved")]
    Cancelled,
    /// The settings could not be saved.
    #[error("{0}")]
    Save(#[from] Problem),
    /// The terminal is gone.
    #[error("the terminal cannot be used: {}", files::reason(.0))]
    Terminal(#[from] std::io::Error),
}

/// Runs setup to its end; says where the settings are.
///
/// # Errors
/// When the person walks away, or the settings cannot be saved.
pub async fn run(
    project: &Project,
    env: &Env,
    backend: &dyn Backend,
    terminal: &mut dyn Terminal,
) -> Result<String, SetupError> {
    terminal.show(&Line::Note(
        "Where do the model's answers come from? Esc leaves at any point.".to_owned(),
    ))?;
    let providers = providers::providers(env);
    let marks = providers::marks(&providers, env);
    let mut wizard = Wizard::new(env, providers, marks);
    loop {
        match wizard.need() {
            Need::Answer(question) => {
                let answer = terminal.ask(&question)?.ok_or(SetupError::Cancelled)?;
                wizard.answer(&answer);
            }
            Need::Models(endpoint) => {
                show(terminal, &mut wizard)?;
                wizard.models(unless_interrupted(backend.models(&endpoint)).await?);
            }
            Need::Test(endpoint, model) => {
                show(terminal, &mut wizard)?;
                terminal.show(&Line::Note(format!("asking {model} for one word …")))?;
                wizard.tested(unless_interrupted(backend.test(&endpoint, &model)).await?);
            }
            Need::Save(settings) => {
                show(terminal, &mut wizard)?;
                return save(project, env, settings, terminal);
            }
        }
    }
}

fn show(terminal: &mut dyn Terminal, wizard: &mut Wizard<'_>) -> std::io::Result<()> {
    wizard.take_lines().iter().try_for_each(|line| terminal.show(line))
}

async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Result<T, SetupError> {
    tokio::select! {
        result = work => Ok(result),
        _ = tokio::signal::ctrl_c() => Err(SetupError::Cancelled),
    }
}

/// A broken file of the user's is moved aside, not lost.
fn save(
    project: &Project,
    env: &Env,
    settings: Vec<(&'static str, Option<Value>)>,
    terminal: &mut dyn Terminal,
) -> Result<String, SetupError> {
    let changes: Vec<(&Key, Option<Value>)> =
        settings.into_iter().filter_map(|(name, value)| Some((Key::named(name)?, value))).collect();
    let (path, place) = config::file(project, env, Scope::User);
    if let Err(problem) = config::save(project, env, Scope::User, &changes) {
        let aside = path.with_extension("json.broken");
        std::fs::rename(&path, &aside).map_err(|_| problem.clone())?;
        terminal
            .show(&Line::Bad(format!("{problem}; the old file is now {}", env.short(&aside))))?;
        config::save(project, env, Scope::User, &changes)?;
    }
    terminal.show(&Line::Good(format!("saved in {place}; `autocode --setup` changes it")))?;
    Ok(place)
}

/// What to tell someone who wants setup where there is no terminal.
pub fn without_terminal(project: &Project, env: &Env) -> String {
    let (_, place) = config::file(project, env, Scope::User);
    let example = json!({
        "base_url": "https://api.openai.com/v1",
        "api_key": "$OPENAI_API_KEY",
        "model": "NAME",
        "context_window": 128_000,
    });
    let example = serde_json::to_string_pretty(&example).unwrap_or_default();
    format!(
        "setup asks questions and needs a terminal. Write the settings by hand instead, into {place} (chmod 600):\n\
         {example}\nor set AUTOCODE_BASE_URL, AUTOCODE_API_KEY and AUTOCODE_MODEL"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
