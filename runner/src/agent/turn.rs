//! A turn: model call, tool calls, model call, until the model answers.
//!
//! Invariant: however a turn ends, the conversation is valid for the next request and every message that was shown
//! as done is in the transcript.

use tokio_util::sync::CancellationToken;

use super::Agent;
use super::calls;
use super::event::{Event, TurnEnd};
use crate::model::message::{Assistant, Message, ToolCall, Usage};
use crate::model::{
    Completion, Finish, ModelError, ModelEvent, Request, mint_id, sanitize_arguments, text_calls,
    unique_ids,
};
use crate::session::Meta;

/// Replies in a row that cannot be used before the turn is given up.
const UNUSABLE_REPLIES: u32 = 3;

/// Why a turn stops without an answer.
pub(super) enum Stop {
    Interrupted,
    Failed(String),
}

impl From<ModelError> for Stop {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Cancelled => Self::Interrupted,
            error => Self::Failed(error.to_string()),
        }
    }
}

/// What the model hears of calls that it wrote as text.
const WRITTEN_CALL: &str = "[autocode: your last reply has a tool call written out as text. It did not run: tools are \
     called through the API's tool calls. Call it that way, or answer without it.]";

/// What the model hears of a call that the end of its reply may have cut.
const CUT_CALL: &str = "The reply was cut at its length limit within this call, so it did not run. Send it again, in \
     smaller parts.";

/// A reply in the transcript.
struct Reply {
    message: Assistant,
    /// What is wrong with the arguments of its calls: `(index, error)`.
    bad_arguments: Vec<(usize, String)>,
    /// Whether it has a tool call as text that did not run.
    written_call: bool,
}

impl Agent {
    /// Works on `prompt` until the model answers, the turn fails or the person interrupts.
    pub async fn turn(&mut self, prompt: String) -> TurnEnd {
        let cancel = self.interrupt.arm();
        self.hear(prompt);
        let end = match self.steps(&cancel).await {
            Ok(answer) => TurnEnd::Answered(answer),
            Err(Stop::Interrupted) => TurnEnd::Interrupted,
            Err(Stop::Failed(reason)) => TurnEnd::Failed(reason),
        };
        self.settle();
        self.session.borrow_mut().sync();
        self.events.send(Event::TurnFinished(end.clone()));
        end
    }

    async fn steps(&mut self, cancel: &CancellationToken) -> Result<String, Stop> {
        let mut unusable = 0;
        let mut told_of_written_calls = false;
        let mut step = 0;
        loop {
            if self.max_steps.is_some_and(|max| step >= max) {
                return Err(Stop::Failed(format!(
                    "stopped after {step} steps, the limit set for a turn"
                )));
            }
            step += 1;
            for message in self.gate.inputs().take_messages() {
                self.hear(message);
            }
            for notice in self.refresh().await {
                self.hear_own(&notice);
            }
            self.make_room(cancel).await?;
            let reply = self.ask(step, cancel).await?;
            let calls = &reply.message.tool_calls;

            let useless = calls.is_empty() && reply.message.content.is_none();
            unusable = if useless || !reply.bad_arguments.is_empty() { unusable + 1 } else { 0 };
            if unusable >= UNUSABLE_REPLIES {
                let what = "empty replies or calls with malformed arguments";
                return Err(Stop::Failed(format!("the model sent {unusable} {what} in a row")));
            }
            if useless {
                self.events.warn("the model sent an empty reply; asking again");
                self.hear_own("Your last reply was empty. Go on, or say what you need.");
                continue;
            }
            if reply.written_call && !told_of_written_calls {
                told_of_written_calls = true;
                self.hear_own(WRITTEN_CALL);
                continue;
            }
            self.run_calls(&reply, cancel).await?;
            if calls.is_empty() && !self.gate.inputs().has_messages() {
                return Ok(reply.message.content.unwrap_or_default());
            }
        }
    }

    /// One model call; on overflow a compaction and one more.
    async fn ask(&mut self, step: u32, cancel: &CancellationToken) -> Result<Reply, Stop> {
        self.events.send(Event::StepStarted { step });
        let completion = match self.request(cancel).await {
            Err(ModelError::ContextFull(reason)) => {
                self.events.info(format!("the server says the context is full: {reason}"));
                self.compact("", cancel).await?;
                self.request(cancel).await?
            }
            Err(ModelError::NeedsReasoning(_)) => {
                self.events.info("this model wants its thinking sent back; doing so from now on");
                self.conversation.keep_reasoning(true);
                self.request(cancel).await?
            }
            result => result?,
        };
        Ok(self.accept(step, completion))
    }

    async fn request(&self, cancel: &CancellationToken) -> Result<Completion, ModelError> {
        let request = Request {
            settings: self.live.settings(),
            system: self.live.system(),
            messages: self.conversation.wire(),
            tools: self.toolbox.schemas(),
            forbid_tools: false,
        };
        let mut on_event = |event| self.relay(event);
        self.model.complete(request, cancel, &mut on_event).await
    }

    /// Passes on what the front end should see of a model call.
    pub(super) fn relay(&self, event: ModelEvent) {
        match event {
            ModelEvent::Text(text) => self.events.send(Event::Text(text)),
            ModelEvent::Reasoning(text) => self.events.send(Event::Reasoning(text)),
            ModelEvent::ToolCallStarted(name) => self.events.send(Event::ToolCallStarted(name)),
            ModelEvent::Retry { reason, wait, attempt } => {
                self.events.send(Event::Retry { reason, wait, attempt });
            }
            ModelEvent::Note(text) => self.events.info(text),
            ModelEvent::ToolCallBytes(_) => {}
        }
    }

    /// Makes a reply fit for the transcript and puts it there.
    fn accept(&mut self, step: u32, completion: Completion) -> Reply {
        let Completion { mut message, usage, finish } = completion;
        let mut bad_arguments = sanitize_arguments(&mut message);
        if finish == Finish::Length
            && let Some(last) = message.tool_calls.len().checked_sub(1)
            && !bad_arguments.iter().any(|(at, _)| *at == last)
        {
            bad_arguments.push((last, CUT_CALL.to_owned()));
        }
        if message.content.as_deref().is_some_and(|c| c.trim().is_empty()) {
            message.content = None;
        }
        let written_call = message.tool_calls.is_empty() && !self.run_written_calls(&mut message);
        unique_ids(&mut message, |id| self.conversation.has_call(id));
        if message.content.is_some() || !message.tool_calls.is_empty() {
            let meta = Meta { step: Some(step), usage, ..Meta::now() };
            self.record(Message::Assistant(message.clone()), &meta);
        }
        self.count(usage, &message);
        self.events.send(Event::Reply(message.clone()));
        self.explain(finish);
        Reply { message, bad_arguments, written_call }
    }

    /// Servers without a parser for their model's calls send them as text: makes calls of them where the settings say
    /// so, else tells the person. False when there were some and they will not run.
    fn run_written_calls(&mut self, message: &mut Assistant) -> bool {
        let Some(content) = message.content.as_deref() else { return true };
        let names: Vec<String> = self.toolbox.names().map(str::to_owned).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let calls = text_calls::find(content, &names);
        if calls.is_empty() {
            return true;
        }
        if self.live.settings().text_tool_calls {
            let calls = calls.into_iter().map(|(name, args)| ToolCall::new(mint_id(), name, args));
            message.tool_calls = calls.collect();
            true
        } else {
            self.events.warn(
                "the model wrote a tool call as text, so it did not run: the server lacks a parser for this model's \
                 calls. Fix the server, or set text_tool_calls to true",
            );
            false
        }
    }

    fn explain(&self, finish: Finish) {
        match finish {
            Finish::Length if self.tokens() * 20 >= self.live.settings().context_window * 19 => {
                self.events.warn("the reply was cut: the context window is full");
            }
            Finish::Length => {
                let cap = self.live.settings().max_tokens;
                let cap =
                    cap.map_or("the server's limit".to_owned(), |n| format!("max_tokens = {n}"));
                self.events
                    .warn(format!("the reply was cut at {cap}; raise max_tokens for longer ones"));
            }
            Finish::Filtered => self.events.warn("the provider's content filter ended the reply"),
            Finish::Stop | Finish::ToolCalls => {}
        }
    }

    /// Runs the calls of a reply one after another; a result for each is in the transcript afterwards.
    async fn run_calls(&mut self, reply: &Reply, cancel: &CancellationToken) -> Result<(), Stop> {
        let calls = &reply.message.tool_calls;
        for (index, call) in calls.iter().enumerate() {
            let bad = reply
                .bad_arguments
                .iter()
                .find(|(at, _)| *at == index)
                .map(|(_, why)| why.as_str());
            let result = self.run_call(call, bad, cancel).await;
            self.record(Message::tool(&call.id, &result.content), &calls::meta(&result));
            let (id, name) = (call.id.clone(), call.function.name.clone());
            self.events.send(Event::ToolFinished { id, name, result });
            if cancel.is_cancelled() {
                return Err(Stop::Interrupted);
            }
        }
        Ok(())
    }

    /// A message of the person enters the conversation.
    pub(super) fn hear(&mut self, text: String) {
        self.events.send(Event::User(text.clone()));
        self.record(Message::user(text), &Meta::now());
    }

    /// A message that autocode itself writes in the person's place.
    pub(super) fn hear_own(&mut self, text: &str) {
        self.record(Message::user(text), &Meta::now());
    }

    /// Answers calls that were left without a result, so that the history stays valid.
    pub(super) fn settle(&mut self) {
        for (id, _) in self.conversation.unanswered() {
            let content = "[interrupted by the user; it did not run]";
            self.record(Message::tool(id, content), &Meta::now());
        }
    }

    /// Into the transcript and the conversation. A transcript that cannot be written is told once; work goes on.
    pub(super) fn record(&mut self, message: Message, meta: &Meta) {
        if let Err(error) = self.session.borrow_mut().append(&message, meta) {
            self.events.warn(error.to_string());
        }
        self.conversation.push(message);
    }

    /// Updates the counts after a model call.
    fn count(&mut self, usage: Option<Usage>, reply: &Assistant) {
        if let Some(usage) = usage {
            let sent_back = self.live.settings().keep_reasoning
                || !reply.reasoning.reasoning_details.is_empty();
            let unsent = if sent_back { 0 } else { usage.reasoning };
            self.conversation.measured((usage.prompt + usage.completion).saturating_sub(unsent));
            self.spent.add(&usage);
        }
        self.events.send(Event::Usage {
            step: usage,
            session: self.spent,
            context: self.tokens(),
            window: self.live.settings().context_window,
        });
    }

    /// Tokens now in context.
    pub(super) fn tokens(&self) -> u64 {
        self.conversation.tokens(self.live.system().len() + self.toolbox.schemas().len())
    }
}
