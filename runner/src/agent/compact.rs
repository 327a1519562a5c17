//! Compaction: the model's summary takes the place of the conversation, and work goes on.
//!
//! Kept word for word: the newest message of the person, the latest step, and what waits for an answer; cut to a quarter
//! of the window where they must be. One futile try is enough: what failed or shrank too little is not tried again
//! before the context has grown by a tenth of the window. Must never lose anything: the old transcript is archived whole.

use std::fmt::Write as _;

use tokio_util::sync::CancellationToken;

use super::conversation::Conversation;
use super::event::Event;
use super::plain::plain;
use super::summary::Summariser;
use super::turn::Stop;
use super::{Agent, budget, files, keep};
use crate::config::Settings;
use crate::model::ModelError;
use crate::model::message::Message;
use crate::session::Meta;
use crate::tools::out::OutDir;

pub(super) const SUMMARY: &str = "[The conversation so far was replaced by your summary of it:]";

pub(super) const EXTRACT: &str = "[The conversation so far became too long, and no summary of it could be made. This is what is left \
     of it, shortened:]";

pub(super) const REQUEST: &str = "[The newest message of the person, word for word:]";

pub(super) const STAYS: &str = "The person's newest message and your latest step (your last message and its tool results) need not \
     be repeated: they stay word for word.";

/// Values under these names that tools keep with the session are lists of what is to be done.
const TASK_LISTS: [&str; 4] = ["todo", "todos", "tasks", "plan"];

/// No model in use has a smaller one, in tokens; a server's overflow that comes earlier is not to be taken literally.
const SMALLEST_WINDOW: u64 = 2048;

/// The window to make room for when a server has refused so many tokens. It is no larger than what was refused, whatever
/// the settings say; half of it, since text that overflows unforeseen has more tokens than its length tells.
pub(super) fn window_after(refused: u64, settings: &Settings) -> u64 {
    refused.max(SMALLEST_WINDOW).min(settings.context_window) / 2
}

/// Longest such list that is carried, in bytes.
const LONGEST_LIST: usize = 4000;

impl Agent {
    /// Compacts when the context is over its limit; a failure is told and work goes on.
    pub(super) async fn make_room(&mut self, cancel: &CancellationToken) -> Result<(), Stop> {
        let settings = self.live.settings();
        let tokens = self.tokens();
        if tokens <= budget::limit(settings).max(self.compact_floor) {
            return Ok(());
        }
        // A first message that is long is only cut where it cannot go out as it is.
        if !self.has_past() && tokens < settings.context_window {
            return Ok(());
        }
        match self.compact("", settings.context_window, cancel).await {
            Err(ModelError::Cancelled) => Err(Stop::Interrupted),
            Err(error) => {
                self.events.warn(format!("no summary was made, going on without one: {error}"));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Compacts because the server takes no more. Without a summary, what is older is cut short instead.
    pub(super) async fn make_room_now(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        let window = window_after(self.tokens(), self.live.settings());
        match self.compact("", window, cancel).await {
            Err(error @ (ModelError::ContextFull(_) | ModelError::Rejected(_)))
                if self.has_past() =>
            {
                self.events.warn(format!(
                    "no summary was made, what is older is cut short instead: {error}"
                ));
                let extract = plain(self.conversation.cut().past, budget::kept(window));
                self.go_on_with(&format!("{EXTRACT}\n\n{extract}"), window);
                Ok(())
            }
            result => result,
        }
    }

    /// Replaces the conversation by a summary; `instructions` add to those of `compact.md`.
    pub(super) async fn compact(
        &mut self,
        instructions: &str,
        window: u64,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        let result = self.try_compact(instructions, window, cancel).await;
        let (settings, after) = (self.live.settings(), self.tokens());
        let limit = budget::limit(settings);
        if result.is_ok() && after > limit {
            self.events.warn(format!(
                "what must stay still takes about {after} tokens, and the limit is {limit}: a larger context_window or \
                 compact_at, or a new session, would help"
            ));
        }
        self.compact_floor = after.saturating_add(settings.context_window / 10);
        result
    }

    async fn try_compact(
        &mut self,
        instructions: &str,
        window: u64,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        self.events.send(Event::Compacting);
        let (before, spent) = (self.tokens(), self.spent.sum());
        if self.has_past() {
            let mut ask = format!("{STAYS}\n\n{}", self.live.compact().trim_end());
            if !instructions.is_empty() {
                let _ = write!(ask, "\n\nThe person adds: {instructions}");
            }
            let workshop = self.workshop("", cancel);
            let relay = |event| self.relay(event);
            let summariser =
                Summariser { workshop, conversation: &self.conversation, relay: &relay };
            let summary = summariser.summarise(&ask, window).await;
            self.tell_usage(&spent);
            self.go_on_with(&format!("{SUMMARY}\n\n{}", summary?), window);
        } else if !self.cut_waiting(window) {
            return Err(ModelError::ContextFull(
                "there is nothing to summarise, the newest message alone is too long".to_owned(),
            ));
        }
        self.events.send(Event::Compacted { before, after: self.tokens() });
        self.tell_usage(&self.spent.sum());
        Ok(())
    }

    /// Whether the model has answered to anything.
    pub(super) fn has_past(&self) -> bool {
        !self.conversation.cut().step.is_empty()
    }

    /// Puts `summary` in the place of all but what stays word for word.
    fn go_on_with(&mut self, summary: &str, window: u64) {
        let cut = self.conversation.cut();
        let mut opening = summary.to_owned();
        let files = files::named(cut.told, self.project.root(), &self.bash.cwd());
        if !files.is_empty() {
            let _ = write!(opening, "\n\nFiles that came up, newest last: {}", files.join(", "));
        }
        for (list, value) in self.task_lists() {
            let _ = write!(opening, "\n\nKept with the session as `{list}`: {value}");
        }
        if cut.request.is_some() {
            let _ = write!(opening, "\n\n{REQUEST}");
        }
        // A resumed session goes on counting from here.
        let usage = Some(self.spent.sum());
        let opening = (Message::user(opening), Meta { usage, ..Meta::own() });
        let told = cut.request.into_iter().chain(cut.step).map(|message| (message, false));
        let mut kept: Vec<_> = told.chain(cut.waiting).map(with_meta).collect();
        self.fit(&mut kept, window);
        kept.insert(0, opening);
        self.replace(kept);
    }

    /// Cuts the only message there is; whether that was needed.
    fn cut_waiting(&mut self, window: u64) -> bool {
        let mut kept: Vec<_> = self.conversation.cut().waiting.into_iter().map(with_meta).collect();
        let whole: Vec<Message> = kept.iter().map(|(message, _)| message.clone()).collect();
        self.fit(&mut kept, window);
        let is_shorter = kept.iter().zip(&whole).any(|((message, _), whole)| message != whole);
        if is_shorter {
            self.replace(kept);
        }
        is_shorter
    }

    fn fit(&self, kept: &mut [(Message, Meta)], window: u64) {
        let messages: Vec<&mut Message> = kept.iter_mut().map(|(message, _)| message).collect();
        keep::fit(messages, budget::kept(window), &OutDir::new(self.project.out()));
    }

    /// The conversation is `kept` from now on; what it was is archived.
    fn replace(&mut self, kept: Vec<(Message, Meta)>) {
        if let Err(error) = self.session.borrow_mut().replace(&kept) {
            self.events.warn(format!("the old transcript was not archived: {error}"));
        }
        let (messages, meta): (Vec<_>, Vec<_>) = kept.into_iter().unzip();
        let keep_reasoning = self.conversation.keeps_reasoning();
        self.conversation = Conversation::resumed(messages, &meta, keep_reasoning);
    }

    /// Lists of what is to be done that tools keep with the session.
    fn task_lists(&self) -> Vec<(&'static str, String)> {
        let session = self.session.borrow();
        let list = |name| Some((name, session.state(name)?.to_owned()));
        let lists = TASK_LISTS.into_iter().filter_map(list);
        lists.filter(|(_, value)| (1..=LONGEST_LIST).contains(&value.len())).collect()
    }
}

fn with_meta((message, is_own): (&Message, bool)) -> (Message, Meta) {
    (message.clone(), Meta { own: is_own, kept: true, ..Meta::now() })
}
