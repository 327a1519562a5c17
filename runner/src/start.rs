//! From the command line to a running front end: finds the project, applies settings and trust, opens the session.

use std::io::{self, Write};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use clap::Parser;
use futures_util::future::{Either, select};
use tokio::sync::mpsc::unbounded_channel;

use crate::agent::event::Input;
use crate::agent::{Agent, Events, Interrupt, Parts};
use crate::cli::Cli;
use crate::config::{self, Live, Overrides};
use crate::env::Env;
use crate::exit::Exit;
use crate::model::{HttpModel, Model, ScriptedModel};
use crate::project::{Project, Scaffold};
use crate::render::sanitize;
use crate::session::{self, Loaded, Session};
use crate::trust::{self, Origin, Trust};
use crate::ui::print::Channel;
use crate::{commands, demo, ui};

/// Runs the program.
pub fn main() -> Exit {
    let result = run(&Cli::parse());
    result.unwrap_or_else(|error| {
        complain("error", &format!("{error:#}"));
        Exit::Usage
    })
}

/// One line on standard error.
fn complain(kind: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {}", sanitize(text));
}

fn run(cli: &Cli) -> Result<Exit> {
    let env = Env::from_process()
        .context("the current directory cannot be read; change to one that exists")?;
    if cli.demo {
        return demo::run(&env);
    }
    if let Some(exit) = commands::run(cli, &env)? {
        return Ok(exit);
    }
    let project = Project::find(&env.cwd, env.home.as_deref());
    let (project, trusted) = judge(cli, project, &env);
    let mut overrides = Overrides::default();
    if let Some(model) = &cli.model {
        overrides.set("model", model.as_str().into())?;
    }
    if cli.yes {
        overrides.set("approve", "never".into())?;
    } else if cli.ask {
        overrides.set("approve", "writes".into())?;
    }
    let (live, warnings) = Live::start(project.clone(), env.clone(), overrides, trusted)?;
    for warning in warnings {
        complain("warning", &warning);
    }
    let scripted = cli.replay.is_some();
    if live.settings().model.is_empty() && !scripted {
        bail!(config::no_model(&project, &env));
    }
    let message = ui::stdin::message(&cli.prompt)?;
    if cli.print && message.is_none() {
        bail!("nothing to answer: give a message, or pipe one in");
    }
    scaffold(&project, &env);
    let (session, loaded) = open_session(cli, &project, &env)?;
    let model = model(cli, &env)?;
    let parts =
        Parts { project, env: env.clone(), live, model, session, loaded, max_steps: cli.max_steps };
    run_once(parts, message.unwrap_or_default(), cli.json, &env)
}

/// One turn with the one-shot front end.
pub(crate) fn run_once(parts: Parts, message: String, json: bool, env: &Env) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(print(parts, message, json, env))
}

/// Whether the project's `.autocode/` is obeyed. A project whose state may not even be touched keeps it elsewhere.
fn judge(cli: &Cli, project: Project, env: &Env) -> (Project, bool) {
    match trust::assess(&project, env) {
        Trust::Nothing | Trust::Trusted => (project, true),
        Trust::Untrusted(asked) | Trust::Changed(asked) => {
            if !cli.trust {
                let files = asked.summary();
                complain(
                    "note",
                    &format!(".autocode/ is not obeyed before you trust it ({files}); see --trust"),
                );
            }
            (project, cli.trust)
        }
        Trust::Outside(why) => {
            complain("warning", &why);
            let elsewhere = env.cache_dir.join("untouchable");
            (project.kept_at(elsewhere), false)
        }
    }
}

/// The first run in a project writes `.autocode/`, which is then ours to obey.
fn scaffold(project: &Project, env: &Env) {
    match project.scaffold() {
        Scaffold::Created => {
            if let Err(error) = trust::grant(project, env, Origin::Here) {
                complain("warning", &format!("trust in this project was not recorded: {error}"));
            }
        }
        Scaffold::Present => {}
        Scaffold::Impossible(why) => complain("warning", &why),
    }
}

fn open_session(cli: &Cli, project: &Project, env: &Env) -> Result<(Session, Loaded)> {
    let id = match &cli.resume {
        Some(id) => Some(id.clone()),
        None if cli.continue_latest => session::latest(project),
        None => None,
    };
    let Some(id) = id else {
        return Ok((Session::create(project, env.local_time()), Loaded::default()));
    };
    let (session, loaded) = Session::open(project, &id)?;
    for warning in &loaded.warnings {
        complain("warning", warning);
    }
    Ok((session, loaded))
}

fn model(cli: &Cli, env: &Env) -> Result<Rc<dyn Model>> {
    let Some(file) = &cli.replay else {
        return Ok(Rc::new(HttpModel::new(env)));
    };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("{} cannot be replayed", file.display()))?;
    let script = ScriptedModel::from_session(&text)
        .with_context(|| format!("{} cannot be replayed", file.display()))?;
    Ok(Rc::new(script))
}

async fn print(parts: Parts, message: String, json: bool, env: &Env) -> Result<Exit> {
    let (inputs, inputs_end) = unbounded_channel();
    let (events_end, events) = unbounded_channel();
    let interrupt = Interrupt::default();
    let agent = Agent::new(parts, inputs_end, Events::new(events_end), interrupt.clone());
    let _ = inputs.send(Input::Message(message));
    let channel = Channel { events, inputs, interrupt };
    let front = async {
        if json {
            ui::print::run_json(channel).await
        } else {
            ui::print::run(channel, env).await
        }
    };
    // A front end that has seen enough ends the agent, and with it what the agent runs.
    let (serve, front) = (std::pin::pin!(agent.serve()), std::pin::pin!(front));
    match select(serve, front).await {
        Either::Left(((), front)) => Ok(front.await),
        Either::Right((exit, _)) => Ok(exit),
    }
}
