//! The agent in a thread of its own, so that neither the network nor a tool ever holds up a key.

use std::thread::{self, JoinHandle};

use anyhow::{Context, Result};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent::event::{Event, Input, Level};
use crate::agent::{Agent, Events, Interrupt, Parts};

/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// The running agent's ends.
pub(super) struct Worker {
    /// What the person wants.
    pub(super) inputs: UnboundedSender<Input>,
    /// Ends the turn that runs.
    pub(super) interrupt: Interrupt,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Builds an agent of `parts` in a new thread and lets it serve.
    ///
    /// # Errors
    /// When there can be no further thread.
    pub(super) fn start(
        parts: impl FnOnce() -> Result<Parts> + Send + 'static,
    ) -> Result<(Self, UnboundedReceiver<Event>)> {
        let (inputs, inputs_end) = unbounded_channel();
        let (events_end, events) = unbounded_channel();
        let interrupt = Interrupt::default();
        let theirs = interrupt.clone();
        let thread = thread::Builder::new()
            .name("agent".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                if let Err(error) = serve(parts, inputs_end, &events_end, theirs) {
                    let text = format!("{error:#}");
                    let _ = events_end.send(Event::Note { level: Level::Error, text });
                }
            })
            .context("the agent's thread did not start")?;
        Ok((Self { inputs, interrupt, thread }, events))
    }

    /// Waits for the agent's end, which comes when nobody gives it inputs.
    pub(super) fn join(self) {
        drop(self.inputs);
        let _ = self.thread.join();
    }
}

fn serve(
    parts: impl FnOnce() -> Result<Parts>,
    inputs: UnboundedReceiver<Input>,
    events: &UnboundedSender<Event>,
    interrupt: Interrupt,
) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let agent = Agent::new(parts()?, inputs, Events::new(events.clone()), interrupt);
    runtime.block_on(agent.serve());
    Ok(())
}
