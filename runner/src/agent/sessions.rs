//! The agent between turns: sessions begin, end and go on; the conversation is summarised on request.

use super::event::Event;
use std::cell::RefCell;

use super::Agent;
use super::conversation::Conversation;
use crate::config::{Change, Key};
use crate::model::message::Usage;
use crate::session::{Loaded, Session};

impl Agent {
    /// Tells the front end which session this is.
    pub(super) fn announce(&self) {
        self.events.send(Event::Session {
            id: self.session.borrow().id().to_owned(),
            messages: self.conversation.messages().len(),
            model: self.live.settings().model.clone(),
        });
    }

    /// Begins a new session; the old one stays on disk.
    pub(super) fn begin(&mut self) {
        let session = Session::create(&self.project, self.env.local_time());
        self.take_over(session, Loaded::default());
    }

    /// Goes on with the session `id`.
    pub(super) fn resume(&mut self, id: &str) {
        if self.session.borrow().id() == id {
            self.events.info(format!("session {id} is this one"));
            return;
        }
        match Session::open(&self.project, id) {
            Ok((session, loaded)) => {
                for warning in &loaded.warnings {
                    self.events.warn(warning.clone());
                }
                self.take_over(session, loaded);
            }
            Err(error) => self.events.error(error.to_string()),
        }
    }

    fn take_over(&mut self, session: Session, loaded: Loaded) {
        self.spent = spent(&loaded);
        self.conversation = Conversation::new(loaded.messages, self.live.settings().keep_reasoning);
        self.compact_floor = 0;
        self.session = RefCell::new(session);
        self.announce();
    }

    /// A summary at the person's word.
    pub(super) async fn compact_now(&mut self, instructions: &str) {
        if self.conversation.is_empty() {
            self.events.info("nothing to summarise yet");
            return;
        }
        let cancel = self.interrupt.arm();
        if let Err(error) = self.compact(instructions, &cancel).await {
            self.events.error(format!("the conversation was not summarised: {error}"));
        }
    }

    /// Sets a setting for this session only.
    pub(super) fn set(&mut self, name: &str, value: Option<serde_json::Value>) {
        let Some(key) = Key::named(name) else {
            let nearest =
                Key::nearest(name).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            self.events.error(format!("there is no setting {name}{nearest}"));
            return;
        };
        match self.live.set(key, value) {
            Ok(changes) => {
                for change in changes {
                    match change {
                        Change::Applied(line) => self.events.info(line),
                        Change::Rejected(line) | Change::Held(line) => self.events.warn(line),
                    }
                }
            }
            Err(problem) => self.events.error(problem.to_string()),
        }
    }
}

/// Tokens spent on what a loaded session holds.
pub(super) fn spent(loaded: &Loaded) -> Usage {
    let mut sum = Usage::default();
    for usage in loaded.meta.iter().filter_map(|meta| meta.usage.as_ref()) {
        sum.add(usage);
    }
    sum
}
