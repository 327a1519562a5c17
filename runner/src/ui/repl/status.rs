//! The line that says what goes on: a spinner, time, tokens, the share of the context, what runs.

use std::time::{Duration, Instant};

use crate::agent::event::Event;
use crate::model::message::Usage;
use crate::render::{Ink, Line, Style};
use crate::ui::blocks::{Blocks, elapsed, tokens};

/// Between two pictures of the spinner.
pub(super) const FRAME: Duration = Duration::from_millis(100);

/// Bytes of streamed text that are about one token.
const BYTES: u64 = 4;

/// What the agent is at.
#[derive(Debug)]
pub(super) struct Status {
    begun: Instant,
    /// What it does now, and since when.
    now: String,
    since: Instant,
    /// Tokens of the replies that are whole, and bytes of the one that is coming.
    replied: u64,
    streaming: u64,
    steps: u32,
    spent: Usage,
}

impl Status {
    /// Work that begins now.
    pub(super) fn new(what: &str) -> Self {
        let now = Instant::now();
        Self {
            begun: now,
            now: what.to_owned(),
            since: now,
            replied: 0,
            streaming: 0,
            steps: 0,
            spent: Usage::default(),
        }
    }

    /// Takes in what happened.
    pub(super) fn show(&mut self, event: &Event) {
        match event {
            Event::StepStarted { step } => {
                (self.steps, self.streaming) = (*step, 0);
                self.at("waiting for the model");
            }
            Event::Text(text) => {
                self.streaming += text.len() as u64;
                self.at("answering");
            }
            Event::Reasoning(text) => {
                self.streaming += text.len() as u64;
                self.at("thinking");
            }
            Event::ToolCallStarted(name) => self.at(&format!("writing a call of {name}")),
            Event::ToolStarted { name, .. } => self.at(&format!("running {name}")),
            Event::ToolFinished { .. } => self.at("working"),
            Event::Retry { .. } => self.at("waiting to try again"),
            Event::Compacting => self.at("summarising the conversation"),
            Event::Usage { step: Some(step), .. } => {
                self.replied += step.completion;
                self.streaming = 0;
                self.spent.add(step);
            }
            _ => {}
        }
    }

    fn at(&mut self, what: &str) {
        if self.now != what {
            self.now = what.to_owned();
            self.since = Instant::now();
        }
    }

    /// How the work went, if it was enough to tell: `3 steps · 12.4k tokens in, 310 out · 8 s`.
    pub(super) fn summary(&self, blocks: &Blocks) -> Option<Line> {
        (self.steps > 1).then(|| blocks.summary(self.steps, &self.spent, self.begun.elapsed()))
    }

    /// The line now.
    pub(super) fn line(&self, meter: &str, blocks: &Blocks) -> Line {
        let spinner = blocks.marks.spinner;
        let frame = self.begun.elapsed().as_millis() / FRAME.as_millis();
        let picture = spinner[usize::try_from(frame).unwrap_or(0) % spinner.len()];
        let mut line = Line::of(picture, Style::of(Ink::Accent));
        let mut parts = vec![format!(" {}", self.now)];
        let in_it = self.since.elapsed();
        if self.steps > 0 && in_it.as_secs() > 0 && self.since != self.begun {
            parts[0] = format!("{} {}", parts[0], elapsed(in_it));
        }
        parts.push(elapsed(self.begun.elapsed()));
        parts.push("Ctrl-C interrupts".to_owned());
        let written = self.replied + self.streaming / BYTES;
        if self.spent.prompt > 0 {
            parts.push(format!("{} tokens in", tokens(self.spent.prompt)));
        }
        if written > 0 {
            parts.push(format!("{} out", tokens(written)));
        }
        parts.push(format!("{meter} context"));
        line.push(&parts.join(blocks.marks.dot), Style::MUTED);
        blocks.cut(line)
    }
}
