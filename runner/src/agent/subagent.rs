//! A sub-agent: a task done in a context of its own, for a tool that has the grant. Its steps show as progress of the
//! call; only its answer comes back.
//!
//! When its window fills up, a summary takes the place of all but the task and the latest step, as in the agent's own
//! conversation. What the server refuses even then ends it with an error that says so.

use super::calls::{self, Workshop};
use super::compact::{EXTRACT, REQUEST, STAYS, SUMMARY, window_after};
use super::conversation::Conversation;
use super::plain::plain;
use super::summary::Summariser;
use super::{budget, keep};
use crate::model::message::Message;
use crate::model::{Completion, ModelError, ModelEvent, Request, unique_ids};
use crate::tools::out::OutDir;

/// Model calls a sub-agent may make.
const MAX_STEPS: u32 = 40;

/// Works on one task.
pub(super) struct Subagent<'a> {
    workshop: Workshop<'a>,
    conversation: Conversation,
    /// Below this many tokens no further summary is made.
    floor: u64,
}

impl<'a> Subagent<'a> {
    pub(super) fn new(workshop: Workshop<'a>) -> Self {
        let conversation = Conversation::new(workshop.settings.keep_reasoning);
        Self { workshop, conversation, floor: 0 }
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
        let Completion { mut message, usage, finish } = self.ask().await?;
        workshop.spent.add(usage);
        let bad = calls::unfit(&mut message, finish);
        unique_ids(&mut message, |id| self.conversation.has_call(id));
        let calls = message.tool_calls.clone();
        let answer = message.content.clone();
        self.conversation.push(Message::Assistant(message));
        if let Some(usage) = usage {
            self.conversation.measured(&usage);
        }
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

    /// One model call, in a context that has room for it.
    async fn ask(&mut self) -> Result<Completion, String> {
        let settings = self.workshop.settings;
        if self.has_past() && self.tokens() > budget::limit(settings).max(self.floor) {
            self.make_room(settings.context_window).await.map_err(|error| error.to_string())?;
            self.floor = self.tokens().saturating_add(settings.context_window / 10);
        }
        let why = match self.request().await {
            Err(ModelError::ContextFull(why)) => why,
            result => return result.map_err(|error| error.to_string()),
        };
        let too_long = |why| {
            format!(
                "the sub-agent's context is full ({why}); give it a smaller task, or one that reads less at once"
            )
        };
        if !self.has_past() {
            return Err(too_long(why));
        }
        let room = self.make_room(window_after(self.tokens(), settings)).await;
        room.map_err(|error| error.to_string())?;
        self.request().await.map_err(|error| match error {
            ModelError::ContextFull(why) => too_long(why),
            error => error.to_string(),
        })
    }

    async fn request(&self) -> Result<Completion, ModelError> {
        let Workshop { settings, system, toolbox, model, cancel, .. } = self.workshop;
        let request = Request {
            settings,
            system,
            messages: self.conversation.wire(),
            tools: toolbox.schemas(),
            forbid_tools: false,
        };
        model.complete(request, cancel, &mut |event| self.relay(event)).await
    }

    fn relay(&self, event: ModelEvent) {
        if let ModelEvent::Retry { reason, .. } = event {
            self.workshop.progress(&format!("{reason}\n"));
        }
    }

    fn tokens(&self) -> u64 {
        let Workshop { system, toolbox, .. } = self.workshop;
        self.conversation.tokens(system.len() + toolbox.schemas().len())
    }

    /// Whether there is more than the task.
    fn has_past(&self) -> bool {
        !self.conversation.cut().step.is_empty()
    }

    /// Puts a summary in the place of all but the task and the latest step; where none can be had, what is older cut
    /// short.
    async fn make_room(&mut self, window: u64) -> Result<(), ModelError> {
        let workshop = self.workshop;
        workshop.progress("summarising the sub-agent's conversation\n");
        let ask = format!("{STAYS}\n\n{}", workshop.compact.trim_end());
        let relay = |event| self.relay(event);
        let summariser = Summariser { workshop, conversation: &self.conversation, relay: &relay };
        let summary = summariser.summarise(&ask, window).await;
        let cut = self.conversation.cut();
        let opening = match summary {
            Ok(summary) => format!("{SUMMARY}\n\n{summary}"),
            Err(error @ (ModelError::Cancelled | ModelError::Unreachable(_))) => return Err(error),
            Err(_) => format!("{EXTRACT}\n\n{}", plain(cut.past, budget::kept(window))),
        };
        let mut kept: Vec<Message> = cut.request.into_iter().chain(cut.step).cloned().collect();
        let out = OutDir::new(workshop.project.out());
        keep::fit(kept.iter_mut().collect(), budget::kept(window), &out);
        let mut conversation = Conversation::new(self.conversation.keeps_reasoning());
        conversation.push_own(format!("{opening}\n\n{REQUEST}"));
        kept.into_iter().for_each(|message| conversation.push(message));
        self.conversation = conversation;
        Ok(())
    }
}
