//! From the command line to a running front end: finds the project, applies settings and trust, opens the session.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
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
use crate::render::{ColorDepth, color, sanitize};
use crate::session::{self, Loaded, Session};
use crate::setup::{self, SetupError};
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
    let text = ui::sentence(text, Env::from_process().is_ok_and(|env| color::ascii_only(&env)));
    let _ = writeln!(io::stderr(), "{kind}: {}", sanitize(&text));
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
    if cli.setup {
        return set_up(&project, &env);
    }
    let person = !cli.print && !cli.json && io::stdin().is_terminal();
    let Some((project, trusted)) = judge(cli, project, &env, person)? else {
        return Ok(Exit::Interrupted);
    };
    let mut overrides = Overrides::default();
    if let Some(model) = &cli.model {
        overrides.set("model", model.as_str().into())?;
    }
    if cli.yes {
        overrides.set("approve", "never".into())?;
    } else if cli.ask {
        overrides.set("approve", "writes".into())?;
    }
    let begin = |overrides| -> Result<(Live, Vec<String>)> {
        let (mut live, warnings) = Live::start(project.clone(), env.clone(), overrides, trusted)?;
        if cli.trust {
            live.obey_whoever();
        }
        Ok((live, warnings))
    };
    let (mut live, mut warnings) = begin(overrides.clone())?;
    if live.settings().model.is_empty() && cli.replay.is_none() {
        if !person || !ui::repl::is_for_a_person() {
            bail!(config::no_model(&project, &env));
        }
        match set_up(&project, &env)? {
            Exit::Done => (live, warnings) = begin(overrides)?,
            exit => return Ok(exit),
        }
    }
    let message = ui::stdin::message(&cli.prompt)?;
    if !person && message.is_none() {
        bail!("nothing to answer: give a message, or pipe one in");
    }
    scaffold(&project, &env);
    let Some(id) = wanted_session(cli, &project, &env, person)? else {
        return Ok(Exit::Interrupted);
    };
    let opened = match id {
        Wanted::New => (Session::create(&project, env.local_time()), Loaded::default()),
        Wanted::Id(id) => {
            if !trusted {
                complain(
                    "warning",
                    &format!(
                        "session {id} lies in an .autocode/ that you do not trust; it may not be yours"
                    ),
                );
            }
            Session::open(&project, &id)?
        }
    };
    let (session, mut loaded) = opened;
    let warnings = warnings.into_iter().chain(std::mem::take(&mut loaded.warnings));
    let (replay, max_steps) = (cli.replay.clone(), cli.max_steps);
    let start = ui::repl::Start {
        project: project.clone(),
        env: env.clone(),
        model: live.settings().model.clone(),
        message: message.clone(),
        trusted,
        warnings: warnings.collect(),
    };
    let theirs = env.clone();
    let parts = move || -> Result<Parts> {
        let model = model(replay.as_deref(), &theirs)?;
        Ok(Parts { project, env: theirs, live, model, session, loaded, max_steps })
    };
    if person {
        return ui::repl::run(start, parts);
    }
    for warning in start.warnings {
        complain("warning", &warning);
    }
    run_once(parts()?, message.unwrap_or_default(), cli.json, &env)
}

/// The wizard.
fn set_up(project: &Project, env: &Env) -> Result<Exit> {
    let colour = color::depth(env, io::stdout().is_terminal()) != ColorDepth::None;
    let Some(mut console) = setup::terminal::Console::new(colour, color::ascii_only(env)) else {
        bail!(setup::without_terminal(project, env));
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let backend = setup::backend::Http::new(env);
    match runtime.block_on(setup::run(project, env, &backend, &mut console)) {
        Ok(_) => Ok(Exit::Done),
        Err(error @ SetupError::Cancelled) => {
            complain("note", &error.to_string());
            Ok(Exit::Interrupted)
        }
        Err(error) => Err(error.into()),
    }
}

/// One turn with the one-shot front end.
pub(crate) fn run_once(parts: Parts, message: String, json: bool, env: &Env) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    runtime.block_on(print(parts, message, json, env))
}

/// Whether the project's `.autocode/` is obeyed; `None` if the person would rather leave. A project whose state may not
/// even be touched keeps it elsewhere.
fn judge(cli: &Cli, project: Project, env: &Env, person: bool) -> Result<Option<(Project, bool)>> {
    // Who trusts it anyway need not wait until everything in it was looked at.
    let trust = match trust::outside(&project) {
        Some(why) => Trust::Outside(why),
        None if cli.trust => Trust::Trusted,
        None => trust::assess(&project, env),
    };
    Ok(match trust {
        Trust::Trusted => Some((project, true)),
        Trust::Nothing => {
            tell_broken_record(env);
            // From here on what is made here is told from what git brings.
            if project.home().is_dir() {
                let _ = trust::grant(&project, env, Origin::Approved);
            }
            Some((project, true))
        }
        Trust::Untrusted(ref asked) | Trust::Changed(ref asked) if person => {
            tell_broken_record(env);
            let known = matches!(trust, Trust::Changed(_));
            let place = env.short(project.root());
            match ui::ask::trust(asked, &place, known, color::ascii_only(env))? {
                ui::ask::Answer::Yes => {
                    trust::grant(&project, env, Origin::Approved)?;
                    Some((project, true))
                }
                ui::ask::Answer::No => Some((project, false)),
                ui::ask::Answer::Leave => None,
            }
        }
        Trust::Untrusted(asked) | Trust::Changed(asked) => {
            tell_broken_record(env);
            let files = asked.summary();
            complain(
                "note",
                &format!(".autocode/ is not obeyed before you trust it ({files}); see --trust"),
            );
            Some((project, false))
        }
        Trust::Outside(why) => {
            complain("warning", &why);
            Some((trust::touchable(project, env), false))
        }
    })
}

/// Why a project that was trusted may be unknown.
fn tell_broken_record(env: &Env) {
    if let Some(problem) = trust::broken_record(env) {
        complain("warning", &format!("{problem}; no project is known to be trusted"));
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
        Scaffold::Present => {
            project.misplaced().iter().for_each(|sentence| complain("warning", sentence));
        }
        Scaffold::Impossible(why) => complain("warning", &why),
    }
}

/// The session to write.
enum Wanted {
    New,
    Id(String),
}

/// What the command line says; `None` if the person chooses no session.
fn wanted_session(cli: &Cli, project: &Project, env: &Env, person: bool) -> Result<Option<Wanted>> {
    let id = match cli.resume.as_deref() {
        Some("") if person && ui::repl::is_for_a_person() => {
            return Ok(ui::repl::choose_session(project, env)?.map(Wanted::Id));
        }
        Some("") => bail!("say which session: -r ID (in a terminal, -r lets you choose)"),
        Some(id) => id.to_owned(),
        None if !cli.continue_latest => return Ok(Some(Wanted::New)),
        None => match session::latest(project) {
            Some(id) => id,
            None => return Ok(Some(Wanted::New)),
        },
    };
    Ok(Some(Wanted::Id(id)))
}

fn model(replay: Option<&Path>, env: &Env) -> Result<Rc<dyn Model>> {
    let Some(file) = replay else {
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
        if json { ui::print::run_json(channel).await } else { ui::print::run(channel, env).await }
    };
    // A front end that has seen enough ends the agent, and with it what the agent runs.
    let (serve, front) = (std::pin::pin!(agent.serve()), std::pin::pin!(front));
    match select(serve, front).await {
        Either::Left(((), front)) => Ok(front.await),
        Either::Right((exit, _)) => Ok(exit),
    }
}
