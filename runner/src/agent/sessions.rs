//! The agent between turns: sessions begin, end and go on; the conversation is summarised on request.

use std::cell::RefCell;

use serde_json::Value;

use super::Agent;
use super::conversation::Conversation;
use super::event::{Event, Exchange};
use super::shell;
use super::spent::Spent;
use crate::config::{Change, Key, Problem, Scope};
use crate::model::message::Message;
use crate::session::{Loaded, Session};

impl Agent {
    /// Tells the front end which session this is.
    pub(super) fn announce(&self) {
        self.events.send(Event::Session {
            id: self.session.borrow().id().to_owned(),
            messages: self.conversation.messages().len(),
            model: self.live.settings().model.clone(),
            context: if self.conversation.messages().is_empty() { 0 } else { self.tokens() },
            window: self.live.settings().context_window,
            last: last_exchange(self.conversation.messages()),
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
        self.spent = Spent::on(&loaded.meta);
        let keep_reasoning = self.conversation.keeps_reasoning();
        self.conversation = Conversation::resumed(loaded.messages, &loaded.meta, keep_reasoning);
        self.compact_floor = 0;
        self.session = RefCell::new(session);
        self.announce();
    }

    /// A summary at the person's word.
    pub(super) async fn compact_now(&mut self, instructions: &str) {
        if !self.has_past() {
            self.events.info("nothing to summarise yet");
            return;
        }
        let cancel = self.interrupt.arm();
        let window = self.live.settings().context_window;
        if let Err(error) = self.compact(instructions, window, &cancel).await {
            self.events.error(format!("the conversation was not summarised: {error}"));
        }
    }

    /// Sets a setting for this session only.
    pub(super) fn set(&mut self, name: &str, value: Option<Value>) {
        let Some(key) = self.key(name) else { return };
        let result = self.live.set(key, value);
        self.tell_changes(key, result);
    }

    /// Keeps a setting in a file.
    pub(super) fn save(&mut self, name: &str, value: Option<Value>, scope: Scope) {
        let Some(key) = self.key(name) else { return };
        let result = self.live.save(key, value, scope);
        self.tell_changes(key, result);
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        let key = Key::named(name);
        if key.is_none() {
            let nearest =
                Key::nearest(name).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
            self.events.error(format!("there is no setting {name}{nearest}"));
        }
        key
    }

    /// A setting that was written and is in force as it was before is told as well.
    fn tell_changes(&self, key: &Key, result: Result<Vec<Change>, Problem>) {
        match result {
            Ok(changes) if changes.is_empty() => {
                let (place, value) = self.live.loaded().origin(key);
                self.events.info(format!("{} = {} · {place}", key.name, key.shown(&value)));
            }
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

/// The last message of the person and what the model said after it.
fn last_exchange(messages: &[Message]) -> Option<Exchange> {
    let is_said = |m: &Message| matches!(m, Message::User { content } if !shell::is_ours(content));
    let at = messages.iter().rposition(is_said)?;
    let Message::User { content } = messages.get(at)? else { return None };
    let mut answers = messages[at..].iter().filter_map(|message| match message {
        Message::Assistant(reply) => reply.content.as_deref(),
        _ => None,
    });
    let answer = answers.next_back().unwrap_or_default().to_owned();
    Some(Exchange { message: content.clone(), answer })
}
