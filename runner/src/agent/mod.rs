//! The loop: turn, step, tool calls; context budget and compaction.
//!
//! The agent never prints and never reads a terminal: it emits [`event::Event`]s and takes [`event::Input`]s. It owns
//! the session, the conversation and the tools; front ends only see the events.

mod approval;
mod budget;
mod calls;
mod channel;
mod compact;
mod conversation;
pub mod event;
mod files;
mod keep;
mod plain;
mod reflect;
mod refresh;
mod sessions;
mod shell;
mod spent;
mod subagent;
mod summary;
mod tell;
mod turn;

pub use channel::{Events, Interrupt};
pub use shell::SHELL_CALL;

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::config::Live;
use crate::env::Env;
use crate::model::Model;
use crate::project::Project;
use crate::session::{Loaded, Session};
use crate::tools::bash::{self, Bash};
use crate::tools::toolbox::Toolbox;
use crate::tools::wasm::{Compiler, Loader, javascript};
use approval::Gate;
use channel::Inputs;
use conversation::Conversation;
use event::{Event, Input};
use spent::Spent;

/// What an agent is put together from.
pub struct Parts {
    /// Where it works.
    pub project: Project,
    /// What the process was started with.
    pub env: Env,
    /// Settings and prompts.
    pub live: Live,
    /// Who answers.
    pub model: Rc<dyn Model>,
    /// The transcript it writes.
    pub session: Session,
    /// What is in it already.
    pub loaded: Loaded,
    /// Model calls a turn may make.
    pub max_steps: Option<u32>,
}

/// The agent of one project.
pub struct Agent {
    project: Project,
    env: Env,
    /// Settings and prompts in force.
    live: Live,
    model: Rc<dyn Model>,
    toolbox: Toolbox,
    bash: Bash,
    /// Tools keep values with it while a call runs, hence the cell; never borrowed across an await.
    session: RefCell<Session>,
    conversation: Conversation,
    spent: Spent,
    /// The server refused a conversation without the thinking of its replies.
    wants_reasoning: bool,
    /// What it did so far that a tool would do better.
    reflection: reflect::Reflection,
    /// Something came into force that the record of trust does not hold yet.
    unrecorded: bool,
    /// Below this many tokens no compaction is tried, after one that failed or shrank too little.
    compact_floor: u64,
    max_steps: Option<u32>,
    events: Events,
    /// Also where inputs come in.
    gate: Gate,
    interrupt: Interrupt,
}

impl Agent {
    /// An agent that takes `inputs` and tells `events`.
    pub fn new(
        parts: Parts,
        inputs: UnboundedReceiver<Input>,
        events: Events,
        interrupt: Interrupt,
    ) -> Self {
        let Parts { project, env, live, model, session, loaded, max_steps } = parts;
        let loader =
            Loader::new(&env.cache_dir, Compiler::own_binary(&env), Some(javascript::SHARED));
        let keep_reasoning = live.settings().keep_reasoning;
        Self {
            toolbox: Toolbox::new(&project, &env, loader, bash::schema()),
            bash: Bash::new(&env, &project),
            spent: Spent::on(&loaded.meta),
            wants_reasoning: false,
            reflection: reflect::Reflection::default(),
            unrecorded: false,
            conversation: Conversation::resumed(loaded.messages, &loaded.meta, keep_reasoning),
            compact_floor: 0,
            gate: Gate::new(&env, project.root(), Inputs::new(inputs)),
            project,
            env,
            live,
            model,
            session: RefCell::new(session),
            max_steps,
            events,
            interrupt,
        }
    }

    /// Serves inputs until the front end drops its end; `Event::TurnFinished` marks the end of each turn.
    pub async fn serve(mut self) {
        self.announce();
        loop {
            if self.gate.inputs().is_empty() {
                self.events.send(Event::Idle);
            }
            let Some(input) = self.gate.inputs().next().await else { return };
            match input {
                Input::Message(prompt) => {
                    self.turn(prompt).await;
                }
                Input::Compact(instructions) => self.compact_now(&instructions).await,
                Input::Set(key, value) => self.set(&key, value),
                Input::New => self.begin(),
                Input::Resume(id) => self.resume(&id),
                Input::Save(key, value, scope) => self.save(&key, value, scope),
                Input::Shell(command) => self.shell(&command).await,
                Input::Settings(key) => self.tell_settings(key.as_deref()),
                Input::Tools => self.tell_tools().await,
                Input::Trust => self.trust_now().await,
                Input::Models => self.tell_models().await,
                Input::Unqueue(_) | Input::Approval { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
