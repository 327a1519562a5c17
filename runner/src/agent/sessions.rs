//! The agent between turns: sessions begin, end and go on; the conversation is summarised on request.

use super::event::Event;
use super::Agent;
use crate::config::{Change, Key};

impl Agent {
    /// Tells the front end which session this is.
    pub(super) fn announce(&self) {
        self.events.send(Event::Session {
            id: self.session.id().to_owned(),
            messages: self.conversation.messages().len(),
            model: self.live.settings().model.clone(),
        });
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
            let nearest = Key::nearest(name).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
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
