//! Compaction: the model's summary takes the place of the conversation, and work goes on.
//!
//! Kept word for word: the newest message of the person and the latest step. The summary request begins with the
//! bytes of a normal request, so that the provider's prompt cache serves it. One futile try is enough: what failed
//! or shrank too little is not tried again before the context has grown by a tenth of the window.

use std::fmt::Write as _;

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::budget;
use super::conversation::Conversation;
use super::event::Event;
use super::turn::Stop;
use crate::model::message::Message;
use crate::model::{Completion, ModelError, ModelEvent, Request};
use crate::session::Meta;
use crate::tools::clip;
use crate::tools::out::OutDir;

/// Longest tool result in a transcript that goes out as plain text, in characters; shorter ones after an overflow.
const TRANSCRIPT_CUTS: [usize; 4] = [2000, 200, 40, 0];

const HEADING: &str = "[The conversation so far was replaced by your summary of it:]";

impl Agent {
    /// Compacts when the context is over its limit; a failure is told and work goes on.
    pub(super) async fn make_room(&mut self, cancel: &CancellationToken) -> Result<(), Stop> {
        if self.tokens() <= budget::limit(self.live.settings()).max(self.compact_floor) {
            return Ok(());
        }
        let result = self.compact("", cancel).await;
        match result {
            Err(ModelError::Cancelled) => return Err(Stop::Interrupted),
            Err(error) => {
                self.events.warn(format!("compaction failed, going on without it: {error}"))
            }
            Ok(()) => {}
        }
        self.compact_floor = self.tokens() + self.live.settings().context_window / 10;
        Ok(())
    }

    /// Replaces the conversation by a summary; `instructions` add to those of `compact.md`.
    pub(super) async fn compact(
        &mut self,
        instructions: &str,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        let messages = self.conversation.messages();
        let (history, pending) = match messages {
            [history @ .., last @ Message::User { .. }] => (history, Some(last.clone())),
            history => (history, None),
        };
        if history.is_empty() {
            let what = "there is nothing to summarise but the newest message, and that is too long already";
            return Err(ModelError::ContextFull(what.to_owned()));
        }
        let cut = history
            .iter()
            .rposition(|m| matches!(m, Message::Assistant(_)))
            .unwrap_or(history.len());
        let latest_step = self.fit(&history[cut..]);
        let unanswered_work =
            matches!(history.last(), Some(Message::Tool { .. })) && latest_step.is_empty();

        self.events.send(Event::Compacting);
        let before = self.tokens();
        let summary =
            self.summarise(history, instructions, !latest_step.is_empty(), cancel).await?;
        let onward = if unanswered_work { "\n\nGo on from where you were." } else { "" };
        let mut kept = vec![Message::user(format!("{HEADING}\n\n{summary}{onward}"))];
        kept.extend(latest_step);
        kept.extend(pending);

        if let Err(error) = self.session.borrow_mut().replace(&kept, &Meta::now()) {
            self.events.warn(format!("the old transcript could not be archived: {error}"));
        }
        self.conversation = Conversation::new(kept, self.live.settings().keep_reasoning);
        let after = self.tokens();
        self.events.send(Event::Compacted { before, after });
        Ok(())
    }

    /// The latest step within a quarter of the window, long tool results clipped; nothing if it cannot fit.
    fn fit(&self, step: &[Message]) -> Vec<Message> {
        // A quarter of the window in characters, at four to the token.
        let budget = self.live.settings().context_window as usize;
        let length = |m: &Message| serde_json::to_string(m).map_or(0, |s| s.len());
        let total: usize = step.iter().map(length).sum();
        if total <= budget {
            return step.to_vec();
        }
        let results = step.iter().filter(|m| matches!(m, Message::Tool { .. })).count();
        let words: usize =
            step.iter().filter(|m| !matches!(m, Message::Tool { .. })).map(length).sum();
        if results == 0 || words > budget / 2 {
            return Vec::new();
        }
        let share = (budget - words) * 3 / 4 / results;
        let shorten = |m: &Message| match m {
            Message::Tool { tool_call_id, content } => Message::Tool {
                tool_call_id: tool_call_id.clone(),
                content: clip::clip_to_file(content, share, &OutDir::new(self.project.out())),
            },
            other => other.clone(),
        };
        step.iter().map(shorten).collect()
    }

    async fn summarise(
        &self,
        history: &[Message],
        instructions: &str,
        keeps_step: bool,
        cancel: &CancellationToken,
    ) -> Result<String, ModelError> {
        let mut ask = self.live.compact().trim_end().to_owned();
        if !instructions.is_empty() {
            let _ = write!(ask, "\n\nThe person adds: {instructions}");
        }
        if keeps_step {
            ask.push_str("\n\nYour latest step (your last message and its tool results) stays word for word after the summary.");
        }
        let mut messages = Conversation::new(history.to_vec(), self.live.settings().keep_reasoning);
        messages.push(Message::user(&ask));
        match self.summary_from(&messages, true, cancel).await {
            Ok(Some(summary)) => return Ok(summary),
            Err(ModelError::Cancelled) => return Err(ModelError::Cancelled),
            // A server that ignores tool_choice or rejects the form may still do it for a plain transcript.
            Ok(None) | Err(_) => {}
        }
        for cut in TRANSCRIPT_CUTS {
            let text =
                format!("<transcript>\n{}\n</transcript>\n\n{ask}", transcript(history, cut));
            let messages = Conversation::new(vec![Message::user(text)], false);
            match self.summary_from(&messages, false, cancel).await {
                Ok(Some(summary)) => return Ok(summary),
                Ok(None) => {
                    return Err(ModelError::Rejected("the model's summary was empty".to_owned()));
                }
                Err(ModelError::ContextFull(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let what = "too long to summarise, even with tool output left out; begin a new session";
        Err(ModelError::ContextFull(what.to_owned()))
    }

    /// The summary, or `None` when the reply was a tool call or empty.
    async fn summary_from(
        &self,
        messages: &Conversation,
        with_tools: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, ModelError> {
        let request = Request {
            settings: self.live.settings(),
            system: self.live.system(),
            messages: messages.wire(),
            tools: if with_tools { self.toolbox.schemas() } else { bytes::Bytes::new() },
            forbid_tools: with_tools,
        };
        let mut on_event = |event| {
            if matches!(event, ModelEvent::Retry { .. } | ModelEvent::Note(_)) {
                self.relay(event);
            }
        };
        let Completion { message, .. } =
            self.model.complete(request, cancel, &mut on_event).await?;
        let summary = message.content.map(|c| c.trim().to_owned()).filter(|c| !c.is_empty());
        Ok(summary.filter(|_| message.tool_calls.is_empty()))
    }
}

/// The conversation as plain text, tool calls and results cut to `limit` characters.
fn transcript(messages: &[Message], limit: usize) -> String {
    let mut text = String::new();
    for message in messages {
        match message {
            Message::User { content } => {
                let _ = writeln!(text, "[user]\n{content}\n");
            }
            Message::Assistant(reply) => {
                if let Some(content) = &reply.content {
                    let _ = writeln!(text, "[assistant]\n{content}\n");
                }
                for call in &reply.tool_calls {
                    let arguments = cut(&call.function.arguments, limit);
                    let _ = writeln!(text, "[tool call] {} {arguments}\n", call.function.name);
                }
            }
            Message::Tool { content, .. } => {
                let _ = writeln!(text, "[tool result]\n{}\n", cut(content, limit));
            }
        }
    }
    text
}

fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{} […]", &text[..at]),
        None => text.to_owned(),
    }
}
