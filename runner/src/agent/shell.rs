//! The person's own commands (`!cmd`): they run in the agent's shell, so both are in the same directory, and the model
//! sees them with the next message.

use super::Agent;
use super::calls;
use super::event::Event;
use crate::tools::bash::Command;
use crate::tools::{ToolResult, ToolStatus};

/// The id of the call that stands for the person's command; no model's call has it.
pub const SHELL_CALL: &str = "shell";

/// How messages begin that autocode writes in the person's place.
const OURS: &str = "[autocode: ";

/// Whether a message of the person was written by autocode.
pub(super) fn is_ours(content: &str) -> bool {
    content.starts_with(OURS)
}

impl Agent {
    /// Runs `command` and puts it into the conversation.
    pub(super) async fn shell(&mut self, command: &str) {
        let cancel = self.interrupt.arm();
        let arguments = serde_json::json!({ "command": command }).to_string();
        let (id, name) = (SHELL_CALL.to_owned(), "bash".to_owned());
        let cwd = self.bash.cwd();
        self.events.send(Event::ToolStarted { id: id.clone(), name: name.clone(), arguments, cwd });
        let progress = |text: &str| {
            self.events.send(Event::ToolProgress { id: id.clone(), text: text.to_owned() });
        };
        let limit = self.live.settings().output_limit;
        let ran = self.bash.execute(&Command::new(command), limit, &cancel, &progress).await;
        let result = match ran {
            Ok(outcome) => ToolResult {
                content: outcome.to_string(),
                status: outcome.status(),
                elapsed: outcome.elapsed,
            },
            Err(error) => calls::failed(error.to_string()),
        };
        let ran = !matches!(result.status, ToolStatus::Failed);
        let content = result.content.clone();
        self.events.send(Event::ToolFinished { id, name, result });
        if ran {
            self.hear_own(&format!("{OURS}the person ran a command]\n$ {command}\n{content}"));
        }
    }
}
