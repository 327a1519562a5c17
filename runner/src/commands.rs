//! What the command line can do without a model: tools, rendering, the log, trust, drift and back.

use std::io::{self, IsTerminal, Write};

use anyhow::{Result, anyhow};

use crate::cli::{Cli, Command};
use crate::drift::{self, Drift};
use crate::env::Env;
use crate::exit::Exit;
use crate::project::Project;
use crate::render::{self, ColorDepth, color, sanitize};
use crate::session::{self, Log};
use crate::trust::{self, Origin, Trust};
use crate::{toolkit, ui};

/// Carries out the command there is; `None` when the command line has none.
///
/// # Errors
/// One text for the user.
pub fn run(cli: &Cli, env: &Env) -> Result<Option<Exit>> {
    let project = || Project::find(&env.cwd, env.home.as_deref());
    let exit = match &cli.command {
        Some(Command::Tool(args)) => tool(args, env),
        Some(Command::Render { file, math }) => {
            render::command::run(file.as_deref(), *math, env)?;
            Exit::Done
        }
        Some(Command::Log { id, json }) => log(id.as_deref(), *json, &project(), env)?,
        Some(Command::Trust { list: true, .. }) => list_trusted(env)?,
        Some(Command::Trust { remove: true, .. }) => distrust(&project(), env)?,
        Some(Command::Trust { .. }) => trust_project(&project(), env)?,
        None if cli.diff => diff(cli, &project(), env)?,
        None => match cli.reset {
            Some(part) => reset(part.into(), &project(), env)?,
            None => return Ok(None),
        },
    };
    Ok(Some(exit))
}

fn tool(args: &toolkit::cli::ToolArgs, env: &Env) -> Exit {
    match toolkit::run(&args.command, env, &mut io::stdout()) {
        Ok(()) => Exit::Done,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {}", sanitize(&error.to_string()));
            error.exit()
        }
    }
}

fn log(id: Option<&str>, json: bool, project: &Project, env: &Env) -> Result<Exit> {
    let project = trust::touchable(project.clone(), env);
    let Some(id) = id.map(str::to_owned).or_else(|| session::latest(&project)) else {
        return Err(anyhow!("this project has no sessions yet"));
    };
    let log = Log::read(&project, &id)?;
    unless_closed(if json { ui::log::show_json(&log) } else { ui::log::show(&log, env) })?;
    Ok(Exit::Done)
}

fn diff(cli: &Cli, project: &Project, env: &Env) -> Result<Exit> {
    let drift = Drift::of(project);
    let terminal = io::stdout().is_terminal();
    let colour = color::depth(env, terminal) != ColorDepth::None;
    let text = match (cli.json, cli.stat) {
        (true, _) => drift.json(),
        (false, true) => drift.stat(colour),
        (false, false) => drift.text(colour),
    };
    say(&text)?;
    Ok(if drift.is_none() { Exit::Done } else { Exit::Failed })
}

fn reset(part: drift::Part, project: &Project, env: &Env) -> Result<Exit> {
    let lines = drift::reset(project, env, part).map_err(|error| anyhow!(error))?;
    say(&lines.join("\n"))?;
    Ok(Exit::Done)
}

fn trust_project(project: &Project, env: &Env) -> Result<Exit> {
    match trust::assess(project, env) {
        Trust::Untrusted(asked) | Trust::Changed(asked) => say(&sanitize(&asked.text()))?,
        Trust::Outside(why) => return Err(anyhow!(why)),
        Trust::Nothing | Trust::Trusted => {}
    }
    trust::grant(project, env, Origin::Approved)?;
    say(&format!("{} is trusted: its .autocode/ is obeyed", env.short(project.root())))?;
    Ok(Exit::Done)
}

fn distrust(project: &Project, env: &Env) -> Result<Exit> {
    let known = trust::revoke(project.root(), env)?;
    let place = env.short(project.root());
    let text = if known { "is no longer trusted" } else { "was not trusted" };
    say(&format!("{place} {text}"))?;
    Ok(Exit::Done)
}

fn list_trusted(env: &Env) -> Result<Exit> {
    for project in trust::list(env) {
        let origin = match project.origin {
            Origin::Here => "made here",
            Origin::Approved => "approved",
        };
        let since = project.since.get(..10).unwrap_or(&project.since);
        say(&format!("{since}  {origin:<9}  {}", sanitize(&env.short(&project.root))))?;
    }
    Ok(Exit::Done)
}

/// Text on standard output.
fn say(text: &str) -> io::Result<()> {
    let text = text.trim_end();
    if text.is_empty() {
        return Ok(());
    }
    unless_closed(writeln!(io::stdout(), "{text}"))
}

/// A reader that has seen enough is no error.
fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
