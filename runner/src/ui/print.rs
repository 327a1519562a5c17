//! `-p`: the final answer on standard output and nothing else; the trace on standard error.
//!
//! On a terminal the answer is drawn while it arrives; elsewhere it is written byte for byte once it is whole, so that
//! a failed turn leaves standard output empty.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::blocks::{self, Blocks};
use super::json;
use super::reply::ReplyView;
use super::signals::Signals;
use crate::agent::Interrupt;
use crate::agent::event::{BROUGHT, Event, Input, Level, TurnEnd};
use crate::approve::Answer;
use crate::env::Env;
use crate::exit::Exit;
use crate::model::message::Usage;
use crate::render::{Encoder, Line, color};

/// What the model hears in place of the person.
const UNATTENDED: &str = "nobody is there to ask; this run may only do what needs no approval";

/// The front end's ends of the seam.
pub struct Channel {
    /// What the agent tells.
    pub events: UnboundedReceiver<Event>,
    /// What it is told; dropping it ends the agent.
    pub inputs: UnboundedSender<Input>,
    /// Ends the turn.
    pub interrupt: Interrupt,
}

/// Consumes the events of one turn as lines of JSON.
pub async fn run_json(channel: Channel) -> Exit {
    let mut turn = Turn::new(channel);
    let mut out = io::stdout();
    let mut end = TurnEnd::Interrupted;
    let mut spent = Usage::default();
    while let Some(event) = turn.next().await {
        match &event {
            Event::TurnFinished(how) => end = how.clone(),
            Event::Usage { step: Some(step), .. } => spent.add(step),
            _ => {}
        }
        // A reader that has gone away does not stop the work.
        let _ = json::write(&mut out, &event);
    }
    let exit = exit_of(&end);
    let _ = json::write_end(&mut out, &end, exit, &spent);
    exit
}

/// Consumes the events of one turn for people.
pub async fn run(channel: Channel, env: &Env) -> Exit {
    let mut turn = Turn::new(channel);
    let mut printer = Printer::new(env);
    loop {
        // A pause must not leave the last words undrawn.
        let picture = async {
            match printer.view.as_ref().and_then(ReplyView::due) {
                Some(due) => tokio::time::sleep_until(due.into()).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            event = turn.next() => event,
            () = picture => {
                printer.draw();
                continue;
            }
        };
        match event {
            Some(event) => printer.show(event),
            None => return printer.finish(),
        }
    }
}

/// Events of one turn, which Ctrl-C interrupts; after a second one there are no more.
struct Turn {
    events: UnboundedReceiver<Event>,
    /// Held until the turn is over; the agent ends when it is dropped.
    inputs: Option<UnboundedSender<Input>>,
    interrupt: Interrupt,
    signals: Signals,
}

impl Turn {
    fn new(channel: Channel) -> Self {
        let Channel { events, inputs, interrupt } = channel;
        Self { events, inputs: Some(inputs), interrupt, signals: Signals::listen() }
    }

    /// Nobody is there to ask.
    fn refuse(&self, id: &str) {
        let answer = Answer::No(Some(UNATTENDED.to_owned()));
        if let Some(inputs) = &self.inputs {
            let _ = inputs.send(Input::Approval { id: id.to_owned(), answer });
        }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                biased;
                event = self.events.recv() => {
                    match &event {
                        Some(Event::TurnFinished(_)) => self.inputs = None,
                        Some(Event::Approval { id, .. }) => self.refuse(id),
                        Some(Event::Brought(_)) => self.refuse(BROUGHT),
                        _ => {}
                    }
                    return event;
                }
                () = self.signals.next() => {
                    if self.interrupt.is_on() {
                        return None;
                    }
                    self.interrupt.now();
                }
            }
        }
    }
}

fn exit_of(end: &TurnEnd) -> Exit {
    match end {
        TurnEnd::Answered(_) => Exit::Done,
        TurnEnd::Failed(_) => Exit::Failed,
        TurnEnd::Interrupted => Exit::Interrupted,
    }
}

struct Printer {
    encoder: Encoder,
    blocks: Blocks,
    /// Draws text as it arrives, where standard output is a terminal.
    view: Option<ReplyView>,
    /// Whether the answer is on the terminal already.
    drawn: bool,
    /// Whether anything is above.
    traced: bool,
    started: Instant,
    steps: u32,
    spent: Usage,
    end: Option<TurnEnd>,
}

impl Printer {
    fn new(env: &Env) -> Self {
        let depth = color::depth(env, io::stderr().is_terminal());
        let ascii = color::ascii_only(env);
        Self {
            encoder: Encoder::new(depth, color::is_dark(env), false).ascii(ascii),
            blocks: Blocks::plain(ascii),
            view: io::stdout().is_terminal().then(|| ReplyView::new(env)),
            drawn: false,
            traced: false,
            started: Instant::now(),
            steps: 0,
            spent: Usage::default(),
            end: None,
        }
    }

    fn draw(&mut self) {
        if let Some(view) = &mut self.view {
            view.draw();
        }
    }

    fn show(&mut self, event: Event) {
        match event {
            Event::StepStarted { step } => self.steps = step,
            Event::Text(text) => {
                if let Some(view) = &mut self.view {
                    if self.traced {
                        view.gap();
                    }
                    view.push(&text);
                }
            }
            Event::Retry { reason, wait, .. } => {
                if let Some(view) = &mut self.view {
                    view.discard();
                }
                self.trace(&self.blocks.retry(&reason, wait, false));
            }
            Event::Reply(reply) => {
                let shown = self.view.as_mut().is_some_and(ReplyView::finish);
                self.drawn = shown && reply.tool_calls.is_empty();
                if !shown && !reply.tool_calls.is_empty() {
                    let text = reply.content.unwrap_or_default();
                    let lines: Vec<Line> =
                        text.lines().map(|l| Line::of(l, Default::default())).collect();
                    self.block(&lines);
                }
            }
            Event::ToolStarted { name, arguments, .. } => {
                self.block(&self.blocks.call(&name, &arguments));
            }
            Event::Approval { offer, .. } => self.trace(&blocks::refused(&offer)),
            Event::ToolFinished { result, .. } => self.trace(&self.blocks.result(&result)),
            Event::Tools(changes) => self.trace(&self.blocks.tools(&changes)),
            Event::Note { level, text } => self.trace(&self.blocks.note(level, &text)),
            Event::Usage { step: Some(step), .. } => self.spent.add(&step),
            Event::Compacting => {
                self.trace(&self.blocks.note(Level::Info, "summarising the conversation …"))
            }
            Event::Compacted { before, after } => self.trace(&self.blocks.compacted(before, after)),
            Event::TurnFinished(end) => self.end = Some(end),
            Event::Session { .. }
            | Event::User(_)
            | Event::Usage { step: None, .. }
            | Event::Reasoning(_)
            | Event::ToolCallStarted(_)
            | Event::ToolProgress { .. }
            | Event::Idle
            | Event::Brought(_)
            | Event::Models(_) => {}
        }
    }

    /// A block of its own, with room above it.
    fn block(&mut self, lines: &[Line]) {
        if self.traced {
            self.trace(&[Line::new()]);
        }
        self.trace(lines);
    }

    fn trace(&mut self, lines: &[Line]) {
        if let Some(view) = &mut self.view {
            view.finish();
        }
        self.traced |= !lines.is_empty();
        let mut text = String::new();
        for line in lines {
            self.encoder.line(line, &mut text);
            text.push('\n');
        }
        let _ = io::stderr().write_all(text.as_bytes());
    }

    fn finish(mut self) -> Exit {
        let end = self.end.take().unwrap_or(TurnEnd::Interrupted);
        if let TurnEnd::Answered(answer) = &end
            && !self.drawn
            && write_answer(answer).is_err()
        {
            return Exit::Failed;
        }
        self.block(&[self.blocks.summary(self.steps, &self.spent, self.started.elapsed())]);
        match &end {
            TurnEnd::Answered(_) => {}
            TurnEnd::Failed(reason) => self.trace(&self.blocks.failure(reason)),
            TurnEnd::Interrupted => self.trace(&self.blocks.note(Level::Warning, "interrupted")),
        }
        exit_of(&end)
    }
}

/// The answer byte for byte, ended by one newline. A reader that has closed its end has what it wanted.
fn write_answer(answer: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let result = out
        .write_all(answer.trim_end_matches('\n').as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
