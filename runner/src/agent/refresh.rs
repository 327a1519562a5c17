//! The agent's own files, looked at again before each model call: settings, prompts, tools. What git brought is shown
//! to the person before it is obeyed.

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::channel::Inputs;
use super::event::{BROUGHT, Event};
use crate::approve::Answer;
use crate::config::Change;
use crate::session::Note;
use crate::tools::ToolChange;
use crate::trust::{self, Asked, Origin, Trust};

/// Tools that a note names.
const NAMED: usize = 20;

impl Agent {
    /// Puts changes into force and tells them. What the model has to know or to mend comes back.
    pub(super) async fn refresh(&mut self, cancel: &CancellationToken) -> Vec<String> {
        let mut notices = Vec::new();
        let mut found = self.live.check();
        let moved = self.live.take_moved();
        if moved {
            // What is held is about to be shown.
            found.retain(|change| !matches!(change, Change::Held(_)));
        }
        let mut changed = self.tell_found(found, &mut notices);
        if moved {
            changed |= self.judge_brought(cancel, &mut notices).await;
        }
        self.conversation
            .keep_reasoning(self.live.settings().keep_reasoning || self.wants_reasoning);
        let changes = self.toolbox.rescan(self.live.offers_tools()).await;
        if !changes.is_empty() {
            changed = true;
            self.note_tools(&changes);
            self.events.send(Event::Tools(changes));
        }
        self.unrecorded |= changed && self.live.is_vouched_for();
        notices
    }

    /// Lets what came into force be trusted as the rest is, for the person watched it. It reads every tool, so no
    /// request waits for it.
    pub(super) fn record_trust(&mut self) {
        if std::mem::take(&mut self.unrecorded)
            && let Err(error) = trust::refresh(&self.project, &self.env)
        {
            self.events.warn(format!("trust in this project was not recorded: {error}"));
        }
    }

    /// At the person's word: shows what is not obeyed yet, and asks.
    pub(super) async fn trust_now(&mut self) {
        let cancel = self.interrupt.arm();
        let changes = self.live.check();
        self.tell_found(changes, &mut Vec::new());
        self.live.take_moved();
        let waits = self.live.is_held() || !self.live.is_trusted();
        if self.judge_brought(&cancel, &mut Vec::new()).await {
            self.refresh(&cancel).await;
            self.record_trust();
        } else if !waits && !self.live.is_held() {
            self.events.info("nothing waits for your word: this project's .autocode/ is obeyed");
        }
    }

    /// Whether anything new is in force.
    fn tell_found(&self, found: Vec<Change>, notices: &mut Vec<String>) -> bool {
        let mut applied = false;
        for change in found {
            match change {
                Change::Applied(line) => {
                    applied = true;
                    self.note("edit", &line);
                    self.events.info(line);
                }
                Change::Held(line) => self.events.warn(line),
                Change::Rejected(line) => {
                    notices.push(format!("[autocode: {line}]"));
                    self.events.warn(line);
                }
            }
        }
        applied
    }

    /// What git brought is obeyed if it is what was there before, or if the person says so. Whether it is.
    async fn judge_brought(
        &mut self,
        cancel: &CancellationToken,
        notices: &mut Vec<String>,
    ) -> bool {
        let mut approved: Option<Asked> = None;
        loop {
            let asked = match trust::assess(&self.project, &self.env) {
                Trust::Nothing | Trust::Trusted
                    if self.live.is_held() || !self.live.is_trusted() =>
                {
                    break;
                }
                Trust::Nothing | Trust::Trusted => return false,
                Trust::Outside(why) => {
                    self.live.hold(true);
                    self.tell_held(&why, &why, notices);
                    return false;
                }
                Trust::Untrusted(asked) | Trust::Changed(asked) => asked,
            };
            // What is obeyed is what was shown, also if it changes while the person reads.
            if approved.as_ref() == Some(&asked) {
                break;
            }
            self.live.hold(asked.has_tools());
            self.events.send(Event::Brought(asked.clone()));
            let answer = Inputs::answer(self.gate.inputs_cell(), BROUGHT);
            let answer = cancel.run_until_cancelled(answer).await.flatten();
            if !matches!(answer, Some(Answer::Yes)) {
                let files = asked.summary();
                let why = format!(
                    ".autocode/ has changes that were not made here ({files}); they are not obeyed until"
                );
                self.tell_held(
                    &format!("{why} you approve them (/trust)"),
                    &format!("{why} the person approves them"),
                    notices,
                );
                return false;
            }
            approved = Some(asked);
        }
        if let Some(asked) = approved {
            self.note("trust", &format!("yes: {}", asked.summary()));
            if let Err(error) = trust::grant(&self.project, &self.env, Origin::Approved) {
                self.events.warn(format!("trust in this project was not recorded: {error}"));
            }
        }
        let changes = self.live.accept();
        self.tell_found(changes, notices);
        true
    }

    /// Tells the person and the model that something is not obeyed.
    fn tell_held(&self, person: &str, model: &str, notices: &mut Vec<String>) {
        self.note("held", model);
        notices.push(format!("[autocode: {model}]"));
        self.events.warn(person);
    }

    fn note_tools(&self, changes: &[ToolChange]) {
        let words: Vec<String> = changes.iter().filter_map(ToolChange::words).collect();
        if words.is_empty() {
            return;
        }
        let more = words.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let named = words.into_iter().take(NAMED).collect::<Vec<_>>().join("; ");
        self.note("tools", &format!("{named}{more}"));
    }

    /// Into the transcript; a session without words has none.
    fn note(&self, kind: &str, text: &str) {
        if self.conversation.messages().is_empty() {
            return;
        }
        if let Err(error) = self.session.borrow_mut().note(&Note::now(kind, text)) {
            self.events.warn(error.to_string());
        }
    }
}
