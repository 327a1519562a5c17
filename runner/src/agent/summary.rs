//! The model's summary of the conversation.
//!
//! Asked for first in a request that begins with the bytes of a normal one, so that the provider's prompt cache serves
//! it. Servers that forbid no calls, and conversations that do not fit, get the conversation as plain text and nothing to
//! call, shorter and shorter until it fits. Invariant: a bounded number of requests, whatever the server does.

use bytes::Bytes;

use super::budget;
use super::calls::Workshop;
use super::conversation::Conversation;
use super::plain::plain;
use crate::model::message::Message;
use crate::model::{Completion, Finish, ModelError, ModelEvent, Request, text_calls};

/// Requests with plain text; each has half the text of the one before.
const PLAIN_TRIES: u32 = 6;

/// What a request for a summary gave.
enum Summary {
    Whole(String),
    /// Cut at the end of the window, or at `max_tokens`.
    Cut(String),
    /// A tool call, or nothing.
    None,
}

/// Whoever has a conversation that is to be summed up: the agent, or a sub-agent.
pub(super) struct Summariser<'a> {
    pub(super) workshop: Workshop<'a>,
    pub(super) conversation: &'a Conversation,
    /// Is told of further attempts.
    pub(super) relay: &'a dyn Fn(ModelEvent),
}

impl Summariser<'_> {
    /// The summary that `ask` asks for, of a model whose window has so many tokens.
    pub(super) async fn summarise(&self, ask: &str, window: u64) -> Result<String, ModelError> {
        let request = Request {
            settings: self.workshop.settings,
            system: self.workshop.system,
            messages: self.conversation.wire_asking(ask),
            tools: self.workshop.toolbox.schemas(),
            forbid_tools: true,
        };
        // With more room a cut summary may come whole.
        let cut = match self.summary_of(request).await {
            Ok(Summary::Whole(summary)) => return Ok(summary),
            Err(error @ (ModelError::Cancelled | ModelError::Unreachable(_))) => return Err(error),
            Ok(Summary::Cut(summary)) => Some(summary),
            // A server that refuses the form may still do it for a plain text.
            Ok(Summary::None) | Err(_) => None,
        };
        match (self.summarise_plainly(ask, window).await, cut) {
            (Err(ModelError::Cancelled), _) => Err(ModelError::Cancelled),
            (Err(_), Some(cut)) => Ok(cut),
            (result, _) => result,
        }
    }

    async fn summarise_plainly(&self, ask: &str, window: u64) -> Result<String, ModelError> {
        let history = self.conversation.cut().told;
        let whole = plain(history, usize::MAX).len();
        let mut room = whole.min(budget::plain(window));
        let mut refusal = String::new();
        for _ in 0..PLAIN_TRIES {
            let text = plain(history, room);
            let text = format!("<conversation>\n{text}\n</conversation>\n\n{ask}");
            let mut messages = Conversation::default();
            messages.push(Message::user(text));
            let request = Request {
                settings: self.workshop.settings,
                system: "",
                messages: messages.wire(),
                tools: Bytes::new(),
                forbid_tools: false,
            };
            match self.summary_of(request).await {
                Ok(Summary::Whole(summary) | Summary::Cut(summary)) => return Ok(summary),
                Ok(Summary::None) => {
                    let what = "the model gave no summary, not even of a plain text";
                    return Err(ModelError::Rejected(what.to_owned()));
                }
                Err(ModelError::ContextFull(why)) => refusal = why,
                Err(error) => return Err(error),
            }
            room /= 2;
        }
        Err(ModelError::ContextFull(format!("even a short extract of it is refused ({refusal})")))
    }

    async fn summary_of(&self, request: Request<'_>) -> Result<Summary, ModelError> {
        let mut on_event = |event| {
            if matches!(event, ModelEvent::Retry { .. } | ModelEvent::Note(_)) {
                (self.relay)(event);
            }
        };
        let Workshop { model, cancel, spent, toolbox, .. } = self.workshop;
        let Completion { message, usage, finish } =
            model.complete(request, cancel, &mut on_event).await?;
        spent.add(usage);
        let words = message.content.map(|c| c.trim().to_owned()).filter(|c| !c.is_empty());
        let is_call = |words: &str| {
            let names: Vec<&str> = toolbox.names().collect();
            !text_calls::find(words, &names).is_empty()
        };
        Ok(match words {
            Some(words) if message.tool_calls.is_empty() && !is_call(&words) => match finish {
                Finish::Length => Summary::Cut(words),
                _ => Summary::Whole(words),
            },
            _ => Summary::None,
        })
    }
}
