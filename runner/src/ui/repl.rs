//! The REPL: the place where people spend their day.
//!
//! The agent runs in a thread of its own; this thread owns the terminal. Finished blocks go into the terminal's own
//! scrollback, once; a live region at its bottom holds what is being written, what goes on, and the line that the
//! person types on. Invariants: nothing typed is ever lost; the terminal is left as it was found.

mod act;
mod app;
mod approval;
mod choose;
mod clipboard;
mod commands;
mod completion;
mod composer;
mod desk;
mod editor;
mod files;
mod history;
mod listing;
mod mention;
mod output;
mod paste;
mod picker;
mod plain;
mod screen;
mod status;
mod terminal;
mod transcript;
mod worker;

pub use choose::session as choose_session;

use std::io::{self, IsTerminal};

use anyhow::{Context, Result};
use tokio::sync::mpsc::unbounded_channel;

use crate::agent::Parts;
use crate::agent::event::Level;
use crate::env::Env;
use crate::exit::Exit;
use crate::project::Project;
use crate::render::{Ink, Line, Style, color};

use app::App;
use composer::Composer;
use desk::Desk;
use editor::Keys;
use files::Files;
use history::History;
use screen::Screen;
use terminal::RawMode;
use transcript::Transcript;
use worker::Worker;

/// What a REPL begins with.
pub struct Start {
    /// Where the agent works.
    pub project: Project,
    /// What the process was started with.
    pub env: Env,
    /// The model in force.
    pub model: String,
    /// A first message from the command line.
    pub message: Option<String>,
    /// Whether the project's own files are obeyed; a stranger's history is not offered.
    pub trusted: bool,
    /// What the person should know first.
    pub warnings: Vec<String>,
}

/// Whether a person is at the other end: keys come in, and pictures go out.
pub fn is_for_a_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Serves the person until they leave; the agent is built of `parts` in its own thread.
///
/// # Errors
/// When the agent cannot be started or the terminal is gone.
pub fn run(start: Start, parts: impl FnOnce() -> Result<Parts> + Send + 'static) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let (worker, events) = Worker::start(parts)?;
    let Start { project, env, model, message, trusted, warnings } = start;
    let screen = Screen::new(&env);
    let mut transcript = Transcript::new(screen.options());
    transcript.block(banner(&project, &env, &model, &transcript));
    for warning in warnings {
        transcript.note(Level::Warning, &warning);
    }
    let root = project.root().to_owned();
    let history =
        if trusted { History::open(&project.file("history")) } else { History::in_memory() };
    let keys = Keys::of(&env);
    let fit = is_for_a_person() && color::can_redraw(&env);
    let mut desk = Desk::new(project, env, worker, transcript, model);
    if let Some(message) = message {
        desk.say(message);
    }
    if !fit {
        return Ok(runtime.block_on(plain::run(desk, events))?);
    }
    let raw = RawMode::enter().context("the terminal cannot be used")?;
    let (answers, found) = unbounded_channel();
    let composer = Composer::new(keys, history, Files::new(&root, answers));
    let app = App::new(screen, raw, desk, composer);
    Ok(runtime.block_on(app.run(events, found))?)
}

fn banner(project: &Project, env: &Env, model: &str, transcript: &Transcript) -> Vec<Line> {
    let blocks = transcript.blocks();
    let dot = blocks.marks.dot;
    let mut line = Line::of(blocks.marks.spark, Style::of(Ink::Accent));
    line.push(" autocode ", Style::PLAIN.bold());
    let model = if model.is_empty() { "scripted" } else { model };
    let place = env.short(project.root());
    line.push(&format!("{}{dot}{model}{dot}{place}", env!("CARGO_PKG_VERSION")), Style::MUTED);
    let help = format!("  /help for commands{dot}@ names a file{dot}! runs a command");
    vec![blocks.cut(line), blocks.cut(Line::of(&help, Style::MUTED))]
}
