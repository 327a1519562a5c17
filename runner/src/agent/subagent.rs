//! A sub-agent: a task done in a context of its own, for a tool that has the grant. Its steps show as progress of the
//! call; only its answer comes back.

use super::calls::{self, Workshop};
use super::conversation::Conversation;
use crate::model::message::Message;
use crate::model::{Completion, ModelEvent, Request, unique_ids};

/// Model calls a sub-agent may make.
const MAX_STEPS: u32 = 40;

/// Works on one task.
pub(super) struct Subagent<'a> {
    workshop: Workshop<'a>,
    conversation: Conversation,
}

impl<'a> Subagent<'a> {
    pub(super) fn new(workshop: Workshop<'a>) -> Self {
        let conversation = Conversation::new(workshop.settings.keep_reasoning);
        Self { workshop, conversation }
    }

    /// The answer to `task`.
    pub(super) async fn work(mut self, task: &str) -> Result<String, String> {
        self.conversation.push(Message::user(task));
        for _ in 0..MAX_STEPS {
            if let Some(answer) = self.step().await? {
                return Ok(answer);
            }
        }
        Err(format!("the sub-agent did not finish within {MAX_STEPS} steps"))
    }

    async fn step(&mut self) -> Result<Option<String>, String> {
        let workshop = self.workshop;
        let request = Request {
            settings: workshop.settings,
            system: workshop.system,
            messages: self.conversation.wire(),
            tools: workshop.toolbox.schemas(),
            forbid_tools: false,
        };
        let mut on_event = |event| {
            if let ModelEvent::Retry { reason, .. } = event {
                workshop.progress(&format!("{reason}\n"));
            }
        };
        let completion = workshop.model.complete(request, workshop.cancel, &mut on_event).await;
        let Completion { mut message, usage, finish } = completion.map_err(|e| e.to_string())?;
        workshop.spent.add(usage);
        let bad = calls::unfit(&mut message, finish);
        unique_ids(&mut message, |id| self.conversation.has_call(id));
        let calls = message.tool_calls.clone();
        let answer = message.content.clone();
        self.conversation.push(Message::Assistant(message));
        if calls.is_empty() {
            return answer.map(Some).ok_or_else(|| "the sub-agent sent an empty reply".to_owned());
        }
        for (index, call) in calls.iter().enumerate() {
            let content = match bad.iter().find(|(at, _)| *at == index) {
                Some((_, why)) => why.clone(),
                None => {
                    workshop
                        .progress(&format!("{} {}\n", call.function.name, call.function.arguments));
                    workshop.run(&call.function.name, &call.function.arguments).await.content
                }
            };
            self.conversation.push(Message::tool(&call.id, content));
        }
        Ok(None)
    }
}
