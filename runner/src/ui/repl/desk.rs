//! What both the full and the plain REPL know: the agent's ends, the transcript, the messages that wait, the figures.
//!
//! Invariant: a message is in the conversation, waiting here, or back with the person; never nowhere, never twice.

use crate::agent::event::{BROUGHT, Event, Exchange, Input, Level};
use crate::approve::Answer;
use crate::env::Env;
use crate::model::ModelInfo;
use crate::model::message::Usage;
use crate::project::Project;

use super::approval::Question;
use super::commands::Place;
use super::mention;
use super::status::Status;
use super::transcript::Transcript;
use super::worker::Worker;
use crate::agent::SHELL_CALL;
use crate::drift::Part;

/// A message on its way to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Queued {
    /// As it was typed.
    pub(super) typed: String,
    /// As it was sent.
    sent: String,
    /// Whether it has to wait, and is shown waiting.
    pub(super) waits: bool,
}

/// Something the person is to choose.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Choice {
    /// One of the endpoint's models.
    Model(Vec<ModelInfo>),
    /// A session to go on with.
    Session,
    /// Where to keep settings.
    Place(Vec<(String, Option<serde_json::Value>)>),
    /// Whether to put this part back.
    Reset(Part),
    /// Whether a call may run.
    Approval(Question),
    /// Whether files that came from elsewhere are obeyed.
    Brought,
}

/// The state of the conversation as the person sees it.
pub(super) struct Desk {
    pub(super) project: Project,
    pub(super) env: Env,
    pub(super) worker: Worker,
    pub(super) transcript: Transcript,
    /// What the agent is at; `None`: it waits.
    pub(super) status: Option<Status>,
    queue: Vec<Queued>,
    /// Messages that were taken back; one that was heard all the same is taken off the line again.
    returned: Vec<Queued>,
    context: u64,
    window: u64,
    pub(super) spent: Usage,
    pub(super) model: String,
    pub(super) session: String,
    /// Whether there is anything to resume.
    pub(super) spoken: bool,
    /// What the person wants of the models that were asked for.
    pub(super) wanted_model: String,
    /// Whether the terminal has shown what was typed already.
    pub(super) echoed: bool,
    /// The call that the next line answers, where there are no keys to choose by.
    pub(super) asked: Option<String>,
}

impl Desk {
    pub(super) fn new(
        project: Project,
        env: Env,
        worker: Worker,
        transcript: Transcript,
        model: String,
    ) -> Self {
        Self {
            project,
            env,
            worker,
            transcript,
            status: None,
            queue: Vec::new(),
            returned: Vec::new(),
            context: 0,
            window: 0,
            spent: Usage::default(),
            model,
            session: String::new(),
            spoken: false,
            wanted_model: String::new(),
            echoed: false,
            asked: None,
        }
    }

    /// Whether the agent is at work.
    pub(super) fn is_working(&self) -> bool {
        self.status.is_some()
    }

    /// The share of the context that is used: `12%`.
    pub(super) fn meter(&self) -> String {
        format!("{}%", (self.context * 100).checked_div(self.window).unwrap_or(0))
    }

    /// The figures behind the meter.
    pub(super) fn context(&self) -> (u64, u64) {
        (self.context, self.window)
    }

    /// Messages that wait.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Queued> {
        self.queue.iter().filter(|queued| queued.waits)
    }

    /// Sends something to the agent, which is at work from now on.
    pub(super) fn send(&mut self, input: Input, what: &str) {
        let _ = self.worker.inputs.send(input);
        self.status.get_or_insert_with(|| Status::new(what));
    }

    /// The person's word on a call.
    pub(super) fn answer(&mut self, id: String, answer: Answer) {
        if let Some(status) = &mut self.status {
            status.answered();
        }
        let _ = self.worker.inputs.send(Input::Approval { id, answer });
    }

    /// The person's word on files that came from elsewhere.
    pub(super) fn obey(&mut self, yes: bool) {
        self.answer(BROUGHT.to_owned(), if yes { Answer::Yes } else { Answer::No(None) });
    }

    /// The person says something.
    pub(super) fn say(&mut self, typed: String) {
        let sent = mention::expanded(&typed, self.project.root(), self.env.home.as_deref());
        let waits = self.is_working();
        self.queue.push(Queued { typed, sent: sent.clone(), waits });
        self.send(Input::Message(sent), "starting");
    }

    /// Takes the newest waiting message back.
    pub(super) fn take_back(&mut self) -> Option<String> {
        let at = self.queue.iter().rposition(|queued| queued.waits)?;
        let queued = self.queue.remove(at);
        let _ = self.worker.inputs.send(Input::Unqueue(queued.sent.clone()));
        self.returned.push(queued.clone());
        Some(queued.typed)
    }

    /// Ends what the agent does; messages that wait come back.
    pub(super) fn interrupt(&mut self) -> Option<String> {
        let mut back = Vec::new();
        while let Some(typed) = self.take_back() {
            back.push(typed);
        }
        self.worker.interrupt.now();
        back.reverse();
        (!back.is_empty()).then(|| back.join("\n"))
    }

    /// Takes in what happened. Gives what the person is to choose now, and what is no longer theirs to send.
    pub(super) fn hear(&mut self, mut event: Event) -> Heard {
        let mut heard = Heard::default();
        if let Event::Approval { cwd, .. } = &mut event {
            *cwd = self.env.short(cwd).into();
        }
        match &event {
            Event::Idle => self.status = None,
            Event::Session { .. } => self.session_begins(&event),
            Event::User(text) => heard.gone = self.heard(text),
            Event::Usage { session, context, window, .. } => {
                (self.spent, self.context, self.window) = (*session, *context, *window);
            }
            Event::Compacted { after, .. } => self.context = *after,
            Event::Brought(_) => heard.choice = Some(Choice::Brought),
            Event::Approval { .. } => heard.choice = Question::of(&event).map(Choice::Approval),
            Event::Models(models) => heard.choice = self.models(models.clone()),
            Event::ToolStarted { id, .. } if id == SHELL_CALL => self.spoken = true,
            _ => {}
        }
        if is_work(&event) {
            self.status.get_or_insert_with(|| Status::new("working"));
        }
        if let Some(status) = &mut self.status {
            status.show(&event);
        }
        self.transcript.show(&event);
        if let Event::TurnFinished(_) = event
            && let Some(status) = self.status.replace(Status::new("finishing"))
            && let Some(line) = status.summary(self.transcript.blocks())
        {
            self.transcript.block([line]);
        }
        heard
    }

    fn session_begins(&mut self, event: &Event) {
        let Event::Session { id, messages, model, context, window, last } = event else { return };
        let first = self.session.is_empty();
        self.session.clone_from(id);
        self.model.clone_from(model);
        (self.context, self.window) = (*context, *window);
        self.spent = Usage::default();
        self.spoken = *messages > 0;
        if *messages > 0 {
            let dot = self.transcript.blocks().marks.dot;
            self.transcript.note(Level::Info, &format!("session {id}{dot}{messages} messages"));
        } else if !first {
            self.transcript.note(Level::Info, &format!("new session {id}"));
        }
        if let Some(Exchange { message, answer }) = last {
            self.transcript.message(mention::typed(message));
            if !answer.trim().is_empty() {
                self.transcript.answer(answer);
            }
        }
    }

    /// A message is in the conversation. Gives its words if the person has them back on the line.
    fn heard(&mut self, text: &str) -> Option<String> {
        self.spoken = true;
        let known = self.queue.iter().position(|queued| queued.sent == text);
        let typed = match known {
            Some(at) => self.queue.remove(at).typed,
            None => mention::typed(text).to_owned(),
        };
        if !self.echoed {
            self.transcript.message(&typed);
        }
        if known.is_some() {
            return None;
        }
        let back = self.returned.iter().position(|queued| queued.sent == text)?;
        Some(self.returned.remove(back).typed)
    }

    fn models(&mut self, models: Result<Vec<ModelInfo>, String>) -> Option<Choice> {
        let wanted = std::mem::take(&mut self.wanted_model);
        let models = match models {
            Ok(models) => models,
            Err(why) => {
                let text = format!("the server's models are not known: {why}");
                self.transcript.note(Level::Warning, &text);
                return (!wanted.is_empty())
                    .then(|| use_model(&ModelInfo { id: wanted, context_window: None }));
            }
        };
        if let Some(model) = models.iter().find(|model| model.id == wanted) {
            return Some(use_model(model));
        }
        let near = wanted.to_lowercase();
        let matching: Vec<ModelInfo> = models
            .iter()
            .filter(|model| model.id.to_lowercase().contains(&near))
            .cloned()
            .collect();
        match matching.as_slice() {
            [] if wanted.is_empty() => {
                self.transcript
                    .note(Level::Warning, "the server lists no models; /model NAME sets one");
                None
            }
            [] => {
                let text = format!("{wanted} is not among the server's {} models", models.len());
                self.transcript.note(Level::Warning, &text);
                Some(use_model(&ModelInfo { id: wanted, context_window: None }))
            }
            [one] if !wanted.is_empty() => Some(use_model(one)),
            _ => Some(Choice::Model(matching)),
        }
    }

    /// Puts settings where they are to be kept.
    pub(super) fn keep(
        &mut self,
        settings: Vec<(String, Option<serde_json::Value>)>,
        place: Place,
    ) {
        for (key, value) in settings {
            if key == "model"
                && let Some(name) = value.as_ref().and_then(|value| value.as_str())
            {
                name.clone_into(&mut self.model);
            }
            let input = match place {
                Place::Session => Input::Set(key, value),
                Place::File(scope) => Input::Save(key, value, scope),
            };
            self.send(input, "saving");
        }
    }
}

/// What came of an event beyond the transcript.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    /// Something to choose.
    pub(super) choice: Option<Choice>,
    /// Words that were taken back, but too late.
    pub(super) gone: Option<String>,
}

/// The settings that make this the model.
pub(super) fn use_model(model: &ModelInfo) -> Choice {
    let mut settings = vec![("model".to_owned(), Some(model.id.as_str().into()))];
    if let Some(window) = model.context_window {
        settings.push(("context_window".to_owned(), Some(window.into())));
    }
    Choice::Place(settings)
}

fn is_work(event: &Event) -> bool {
    matches!(
        event,
        Event::User(_)
            | Event::StepStarted { .. }
            | Event::Text(_)
            | Event::Reasoning(_)
            | Event::ToolStarted { .. }
            | Event::Compacting
    )
}
