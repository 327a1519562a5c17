//! The agent's own files, looked at again before each model call: settings, prompts, tools.

use super::Agent;
use super::event::Event;
use crate::config::Change;
use crate::session::Note;
use crate::trust;

impl Agent {
    /// Puts changes into force and tells them. What is wrong with an edit comes back, for the model to mend.
    pub(super) async fn refresh(&mut self) -> Vec<String> {
        let mut notices = Vec::new();
        let mut changed = false;
        for change in self.live.check() {
            match change {
                Change::Applied(line) => {
                    changed = true;
                    let _ = self.session.borrow_mut().note(&Note::now("edit", &line));
                    self.events.info(line);
                }
                Change::Held(line) => self.events.warn(line),
                Change::Rejected(line) => {
                    notices.push(format!("[autocode: {line}]"));
                    self.events.warn(line);
                }
            }
        }
        self.conversation
            .keep_reasoning(self.live.settings().keep_reasoning || self.wants_reasoning);
        let obeyed = self.live.is_trusted() && !self.live.is_held();
        let changes = self.toolbox.rescan(obeyed).await;
        if !changes.is_empty() {
            changed = true;
            self.events.send(Event::Tools(changes));
        }
        // The person watches it happen, so it is trusted as the rest is.
        if changed
            && obeyed
            && let Err(error) = trust::refresh(&self.project, &self.env)
        {
            self.events.warn(format!("trust in this project was not recorded: {error}"));
        }
        notices
    }
}
