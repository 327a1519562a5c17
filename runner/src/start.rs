//! From the command line to a running front end: finds the project, applies settings and trust, opens the session.

use std::io::{self, Write};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use clap::Parser;
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
use crate::session::{Session, State};
use crate::ui;

/// Runs the program.
pub fn main() -> Exit {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == COMPILE_COMMAND) {
        return Outcome::Compiler(compile_child_main(arguments));
    }
    let result = run(Cli::parse());
    result.unwrap_or_else(|error| {
        complain("error", &format!("{error:#}"));
        Exit::Usage
    })
}

/// One line on standard error.
fn complain(kind: &str, text: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {}", sanitize(text));
}

fn run(cli: Cli) -> Result<Exit> {
    let env = Env::from_process().context("the current directory cannot be read; change to one that exists")?;
    let project = Project::find(&env.cwd, env.home.as_deref());
    let mut overrides = Overrides::default();
    if let Some(model) = &cli.model {
        overrides.set("model", model.as_str().into())?;
    }
    let (live, warnings) = Live::start(project.clone(), env.clone(), overrides, true)?;
    for warning in warnings {
        complain("warning", &warning);
    }
    if live.settings().model.is_empty() && cli.replay.is_none() {
        bail!(config::no_model(&project, &env));
    }
    let message = ui::stdin::message(&cli.prompt)?;
    if cli.print && message.is_none() {
        bail!("nothing to answer: give a message, or pipe one in");
    }
    if let Scaffold::Impossible(why) = project.scaffold() {
        complain("warning", &why);
    }
    let model: Rc<dyn Model> = match &cli.replay {
        Some(file) => {
            let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be replayed", file.display()))?;
            Rc::new(ScriptedModel::from_session(&text)?)
        }
        None => Rc::new(HttpModel::new(&env)),
    };
    let id = env.local_time().strftime("%Y%m%d-%H%M%S").to_string();
    let session = (Session::create(&project, id), Vec::new(), State::default());
    let parts = Parts { project, env: env.clone(), live, model, session, max_steps: cli.max_steps };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(print(parts, message.unwrap_or_default(), cli.json, &env))
}

async fn print(parts: Parts, message: String, json: bool, env: &Env) -> Result<Exit> {
    let (inputs, inputs_end) = unbounded_channel();
    let (events_end, events) = unbounded_channel();
    let interrupt = Interrupt::default();
    let agent = Agent::new(parts, inputs_end, Events::new(events_end), interrupt.clone());
    inputs.send(Input::Message(message)).ok();
    drop(inputs);
    let front = async {
        if json {
            ui::print::run_json(events, interrupt).await
        } else {
            ui::print::run(events, interrupt, env).await
        }
    };
    let ((), exit) = tokio::join!(agent.serve(), front);
    Ok(exit)
}
