//! A turn: model call, tool calls, model call, until the model answers.
//!
//! Invariant: however a turn ends, the conversation is valid for the next request and every message that was shown
//! as done is in the transcript.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::event::{Event, TurnEnd};
use super::{Agent, budget, calls};
use crate::model::message::{Assistant, Message, ToolCall, Usage};
use crate::model::{
    Completion, Finish, ModelError, ModelEvent, Request, mint_id, text_calls, unique_ids,
};
use crate::session::{Meta, Note};

/// Replies in a row that cannot be used before the turn is given up.
const UNUSABLE_REPLIES: u32 = 3;

/// Empty replies in a row before the turn is given up.
const EMPTY_REPLIES: u32 = 2;

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

/// What the model hears after it said nothing.
const EMPTY: &str = "[autocode: your last reply was empty. Go on, or say what you need.]";

/// What the model hears after its answer was cut because there was no room left.
const CUT_ANSWER: &str = "[autocode: your last reply was cut, since the context window was full. There is room again: \
     give the whole answer once more, no longer than it has to be.]";

/// A reply in the transcript.
struct Reply {
    message: Assistant,
    /// What is wrong with the arguments of its calls: `(index, error)`.
    bad_arguments: Vec<(usize, String)>,
    /// Whether it has a tool call as text that did not run.
    written_call: bool,
    /// Whether it ended where the window did.
    filled_window: bool,
}

/// Replies in a row that were of no use.
#[derive(Default)]
struct Unusable {
    count: u32,
    empty: u32,
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
        self.note_end(&end);
        self.session.borrow_mut().sync();
        self.record_trust();
        self.events.send(Event::TurnFinished(end.clone()));
        end
    }

    /// Into the transcript, for who looks at the session later; that it cannot be written was told already.
    fn note_end(&self, end: &TurnEnd) {
        let note = match end {
            TurnEnd::Answered(_) => return,
            TurnEnd::Failed(reason) => Note::now("failed", reason),
            TurnEnd::Interrupted => Note::now("stopped", "by the person"),
        };
        let _ = self.session.borrow_mut().note(&note);
    }

    async fn steps(&mut self, cancel: &CancellationToken) -> Result<String, Stop> {
        let mut unusable = Unusable::default();
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
            for notice in self.refresh(cancel).await {
                self.hear_own(&notice);
            }
            self.make_room(cancel).await?;
            let reply = self.ask(step, cancel).await?;
            self.record_trust();
            self.run_calls(&reply, cancel).await?;
            self.session.borrow_mut().sync();
            if let Some(reminder) = self.reflect(&reply.message.tool_calls) {
                self.hear_own(&reminder);
            }

            unusable.judge(&reply)?;
            if reply.is_empty() {
                self.ask_again();
            } else if reply.written_call && !told_of_written_calls {
                told_of_written_calls = true;
                self.hear_own(WRITTEN_CALL);
            } else if reply.filled_window && reply.message.tool_calls.is_empty() {
                self.make_room_now(cancel).await?;
                self.hear_own(CUT_ANSWER);
            } else if reply.message.tool_calls.is_empty() && !self.gate.inputs().has_messages() {
                return Ok(reply.message.content.unwrap_or_default());
            }
        }
    }

    /// After an empty reply. Where the model had the last word to answer to from the person, the same request is sent
    /// once more; after results it is told to go on.
    fn ask_again(&mut self) {
        self.events.warn("the model sent an empty reply; asking again");
        if matches!(self.conversation.messages().last(), Some(Message::Tool { .. })) {
            self.hear_own(EMPTY);
        }
    }

    /// One model call; once more where the server says what has to change first.
    async fn ask(&mut self, step: u32, cancel: &CancellationToken) -> Result<Reply, Stop> {
        self.events.send(Event::StepStarted { step });
        let (mut made_room, mut sent_thinking) = (false, false);
        let completion = loop {
            let reason = match self.request(cancel).await {
                Err(ModelError::ContextFull(reason)) if !made_room => {
                    self.start_over(self.overflow(&reason));
                    self.make_room_now(cancel).await?;
                    made_room = true;
                    continue;
                }
                Err(ModelError::NeedsReasoning(reason)) if !sent_thinking => reason,
                result => break result?,
            };
            self.start_over(format!("this model wants its thinking sent back ({reason})"));
            self.wants_reasoning = true;
            self.conversation.keep_reasoning(true);
            sent_thinking = true;
        };
        Ok(self.accept(step, completion))
    }

    /// How an overflow is told; a window that the settings have wrong is the likely cause of one that came early.
    fn overflow(&self, reason: &str) -> String {
        let window = self.live.settings().context_window;
        let doubt = match self.tokens() < window / 2 {
            true => format!(" (context_window is {window}: is that right?)"),
            false => String::new(),
        };
        format!("the server says the context is full: {reason}{doubt}")
    }

    /// Whatever was shown of the reply is void, and it is asked for once more.
    fn start_over(&self, reason: String) {
        self.events.send(Event::Retry { reason, wait: Duration::ZERO, attempt: 1 });
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
        if message.content.as_deref().is_some_and(|c| c.trim().is_empty()) {
            message.content = None;
        }
        let written_call = message.tool_calls.is_empty() && !self.run_written_calls(&mut message);
        let bad_arguments = calls::unfit(&mut message, finish);
        unique_ids(&mut message, |id| self.conversation.has_call(id));
        let spent = self.spent.sum();
        self.spent.add(usage);
        if message.content.is_some() || !message.tool_calls.is_empty() {
            let meta = Meta { step: Some(step), usage, ..Meta::now() };
            self.record(Message::Assistant(message.clone()), &meta);
            if let Some(usage) = &usage {
                self.conversation.measured(usage);
            }
        }
        self.events.send(Event::Reply(message.clone()));
        self.tell_usage(&spent);
        let settings = self.live.settings();
        let filled_window =
            finish == Finish::Length && budget::is_full(settings, self.filled(usage.as_ref()));
        self.explain(finish, filled_window);
        Reply { message, bad_arguments, written_call, filled_window }
    }

    /// Servers without a parser for their model's calls send them as text: makes calls of them where the settings say
    /// so, else tells the person. False when there were some and they will not run.
    fn run_written_calls(&mut self, message: &mut Assistant) -> bool {
        let Some(content) = message.content.as_deref() else { return true };
        let names: Vec<&str> = self.toolbox.names().collect();
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

    fn explain(&self, finish: Finish, filled_window: bool) {
        match finish {
            Finish::Length if filled_window => {
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
            let spent = self.spent.sum();
            let result = self.run_call(call, bad, cancel).await;
            let meta = Meta { usage: self.spent.since(&spent), ..calls::meta(&result) };
            self.record(Message::tool(&call.id, &result.content), &meta);
            let (id, name) = (call.id.clone(), call.function.name.clone());
            self.events.send(Event::ToolFinished { id, name, result });
            if meta.usage.is_some() {
                self.tell_usage(&spent);
            }
            if cancel.is_cancelled() {
                return Err(Stop::Interrupted);
            }
        }
        Ok(())
    }

    /// A message of the person enters the conversation.
    pub(super) fn hear(&mut self, text: String) {
        self.record(Message::user(text.as_str()), &Meta::now());
        self.events.send(Event::User(text));
    }

    /// A message that autocode itself writes in the person's place.
    pub(super) fn hear_own(&mut self, text: &str) {
        self.record(Message::user(text), &Meta::own());
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
        match message {
            Message::User { content } if meta.own => self.conversation.push_own(content),
            message => self.conversation.push(message),
        }
    }

    /// Tells the figures after something was spent; the sum was `earlier` before.
    pub(super) fn tell_usage(&self, earlier: &Usage) {
        self.events.send(Event::Usage {
            step: self.spent.since(earlier),
            session: self.spent.sum(),
            context: self.tokens(),
            window: self.live.settings().context_window,
        });
    }

    /// Tokens now in context.
    pub(super) fn tokens(&self) -> u64 {
        self.conversation.tokens(self.live.system().len() + self.toolbox.schemas().len())
    }

    /// Tokens that were in the window when the reply ended, thinking included.
    fn filled(&self, usage: Option<&Usage>) -> u64 {
        usage.map_or_else(|| self.tokens(), |usage| usage.prompt + usage.completion)
    }
}

impl Reply {
    /// Whether it neither says nor calls anything.
    fn is_empty(&self) -> bool {
        self.message.tool_calls.is_empty() && self.message.content.is_none()
    }
}

impl Unusable {
    /// Counts `reply`; too many in a row end the turn.
    fn judge(&mut self, reply: &Reply) -> Result<(), Stop> {
        let is_empty = reply.is_empty();
        let is_unusable = is_empty || reply.filled_window || !reply.bad_arguments.is_empty();
        self.count = if is_unusable { self.count + 1 } else { 0 };
        self.empty = if is_empty { self.empty + 1 } else { 0 };
        if self.empty == EMPTY_REPLIES {
            return Err(Stop::Failed(format!(
                "the model sent {EMPTY_REPLIES} empty replies in a row"
            )));
        }
        if self.count == UNUSABLE_REPLIES {
            return Err(Stop::Failed(format!(
                "the model sent {UNUSABLE_REPLIES} replies in a row that were empty, cut, or calls with malformed arguments"
            )));
        }
        Ok(())
    }
}
