//! The loop: turn, step, tool calls; context budget and compaction.
//!
//! The agent never prints and never reads a terminal: it emits [`event::Event`]s and takes [`event::Input`]s. It owns
//! the session, the conversation and the tools; front ends only see the events.

mod budget;
mod calls;
mod channel;
mod compact;
mod conversation;
pub mod event;
mod refresh;
mod sessions;
mod subagent;
mod turn;

pub use channel::{Events, Interrupt};

use std::cell::RefCell;
use std::rc::Rc;

use tokio::sync::mpsc::UnboundedReceiver;

use crate::config::Live;
use crate::env::Env;
use crate::model::Model;
use crate::model::message::Usage;
use crate::project::Project;
use crate::session::{Session, State};
use crate::tools::bash::Bash;
use crate::tools::toolbox::Toolbox;
use channel::Inputs;
use conversation::Conversation;
use event::Input;

/// The agent of one project.
pub struct Agent {
    project: Project,
    /// Settings and prompts in force.
    live: Live,
    model: Rc<dyn Model>,
    toolbox: Toolbox,
    bash: Bash,
    session: Session,
    state: RefCell<State>,
    conversation: Conversation,
    spent: Usage,
    /// Below this many tokens no compaction is tried, after one that failed or shrank too little.
    compact_floor: u64,
    max_steps: Option<u32>,
    events: Events,
    inputs: Inputs,
    interrupt: Interrupt,
}

impl Agent {
    /// Serves inputs until the front end drops its end; `Event::TurnFinished` marks the end of each turn.
    pub async fn serve(mut self) {
        self.announce();
        while let Some(input) = self.inputs.next().await {
            match input {
                Input::Message(prompt) => {
                    self.turn(prompt).await;
                }
                Input::Compact(instructions) => self.compact_now(&instructions).await,
                Input::New => self.begin(),
                Input::Resume(id) => self.resume(&id),
                Input::Set(key, value) => self.set(&key, value),
                Input::Unqueue(_) => {}
            }
        }
    }
}
