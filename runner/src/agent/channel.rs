//! The agent's ends of the seam: where events go, where inputs come from, how a turn is interrupted.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio_util::sync::CancellationToken;

use super::event::{Event, Input, Level};
use crate::approve::Answer;

/// Where events go. A front end that is gone is no reason to stop: the transcript still is.
#[derive(Clone)]
pub struct Events(UnboundedSender<Event>);

impl Events {
    /// Events for the holder of the other end.
    pub fn new(sender: UnboundedSender<Event>) -> Self {
        Self(sender)
    }

    pub(super) fn send(&self, event: Event) {
        let _ = self.0.send(event);
    }

    pub(super) fn info(&self, text: impl Into<String>) {
        self.send(Event::Note { level: Level::Info, text: text.into() });
    }

    pub(super) fn warn(&self, text: impl Into<String>) {
        self.send(Event::Note { level: Level::Warning, text: text.into() });
    }

    pub(super) fn error(&self, text: impl Into<String>) {
        self.send(Event::Note { level: Level::Error, text: text.into() });
    }
}

/// Inputs, and the messages among them that wait for the next step.
pub(super) struct Inputs {
    receiver: UnboundedReceiver<Input>,
    messages: VecDeque<String>,
    /// What can only be done between turns.
    deferred: VecDeque<Input>,
}

impl Inputs {
    pub(super) fn new(receiver: UnboundedReceiver<Input>) -> Self {
        Self { receiver, messages: VecDeque::new(), deferred: VecDeque::new() }
    }

    /// The next input between turns; `None` when the front end has left.
    pub(super) async fn next(&mut self) -> Option<Input> {
        if let Some(input) = self.deferred.pop_front() {
            return Some(input);
        }
        match self.messages.pop_front() {
            Some(message) => Some(Input::Message(message)),
            None => self.receiver.recv().await,
        }
    }

    /// Messages that have come since the last look, in order.
    pub(super) fn take_messages(&mut self) -> Vec<String> {
        self.look();
        self.messages.drain(..).collect()
    }

    /// The answer to the approval `id`; what else comes meanwhile waits. `None` when the front end has left.
    pub(super) async fn answer(inputs: &RefCell<Self>, id: &str) -> Option<Answer> {
        loop {
            let next = poll_fn(|cx| inputs.borrow_mut().receiver.poll_recv(cx)).await?;
            match next {
                Input::Approval { id: answered, answer } if answered == id => return Some(answer),
                other => inputs.borrow_mut().sort(other),
            }
        }
    }

    /// Whether a message waits.
    pub(super) fn has_messages(&mut self) -> bool {
        self.look();
        !self.messages.is_empty()
    }

    fn look(&mut self) {
        while let Ok(input) = self.receiver.try_recv() {
            self.sort(input);
        }
    }

    fn sort(&mut self, input: Input) {
        match input {
            Input::Message(text) => self.messages.push_back(text),
            Input::Unqueue(text) => {
                if let Some(at) = self.messages.iter().rposition(|m| *m == text) {
                    self.messages.remove(at);
                }
            }
            // Its question is no longer open.
            Input::Approval { .. } => {}
            other => self.deferred.push_back(other),
        }
    }
}

/// Interrupts the turn that runs, from any thread.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Mutex<CancellationToken>>);

impl Interrupt {
    /// Ends the running turn; without one it does nothing.
    pub fn now(&self) {
        self.token().cancel();
    }

    /// Whether the turn was told to end.
    pub fn is_on(&self) -> bool {
        self.token().is_cancelled()
    }

    /// A fresh token for a turn that begins.
    pub(super) fn arm(&self) -> CancellationToken {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = CancellationToken::new();
        slot.clone()
    }

    fn token(&self) -> CancellationToken {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_message_can_be_taken_back_until_it_is_heard() {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        let mut inputs = Inputs::new(receiver);
        for input in [
            Input::Message("one".into()),
            Input::Message("two".into()),
            Input::Unqueue("two".into()),
            Input::New,
        ] {
            sender.send(input).unwrap();
        }
        assert_eq!(inputs.take_messages(), ["one"]);
        assert!(!inputs.has_messages());
        assert_eq!(inputs.deferred, [Input::New]);
    }

    #[test]
    fn an_interrupt_ends_the_armed_turn_only() {
        let interrupt = Interrupt::default();
        let first = interrupt.arm();
        interrupt.now();
        assert!(first.is_cancelled());
        assert!(!interrupt.arm().is_cancelled());
    }
}
