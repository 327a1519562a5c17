//! The line that says what goes on: a spinner, time, tokens, the share of the context, what runs.

use std::time::{Duration, Instant};

use crate::agent::event::Event;
use crate::model::message::Usage;
use crate::render::{Ink, Line, Style, width};
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
            Event::Approval { .. } => self.at("waiting for your answer"),
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

    /// The person has answered.
    pub(super) fn answered(&mut self) {
        self.at("working");
    }

    fn at(&mut self, what: &str) {
        if self.now != what {
            self.now = what.to_owned();
            self.since = Instant::now();
        }
    }

    /// Whether it is a turn, which a further message can steer.
    pub(super) fn is_turn(&self) -> bool {
        self.steps > 0
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
        line.push(&format!(" {}", self.now), Style::MUTED);
        let (in_it, before) = (self.since.elapsed(), self.since - self.begun);
        if in_it.as_secs() > 0 {
            line.push(&format!(" {}", elapsed(in_it)), Style::MUTED);
        }
        let mut parts = vec!["Ctrl-C interrupts".to_owned()];
        if before.as_secs() > 0 {
            parts.push(format!("{} in all", elapsed(self.begun.elapsed())));
        }
        let written = self.replied + self.streaming / BYTES;
        match (self.spent.prompt, written) {
            (0, 0) => {}
            (0, written) => parts.push(format!("{} out", tokens(written))),
            (read, written) => {
                parts.push(format!("{} tokens in, {} out", tokens(read), tokens(written)));
            }
        }
        parts.push(format!("{meter} context"));
        // What does not fit whole is left out.
        for part in parts {
            let part = format!("{}{part}", blocks.marks.dot);
            if line.width() + width(&part) <= blocks.width() {
                line.push(&part, Style::MUTED);
            }
        }
        blocks.cut(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{ColorDepth, Options};

    fn line(status: &Status, width: u16) -> String {
        let (color, dark, hyperlinks, ascii) = (ColorDepth::None, true, false, true);
        let blocks = Blocks::new(Options { width, color, dark, hyperlinks, ascii });
        status.line("12%", &blocks).text()[1..].to_owned()
    }

    #[test]
    fn what_does_not_fit_whole_is_left_out() {
        let mut status = Status::new("starting");
        status.show(&Event::StepStarted { step: 1 });
        let step = Usage { prompt: 12_400, completion: 300, ..Usage::default() };
        status.show(&Event::Usage { step: Some(step), session: step, context: 0, window: 0 });
        status.show(&Event::Text("x".repeat(40)));
        let whole = " answering - Ctrl-C interrupts - 12.4k tokens in, 310 out - 12% context";
        assert_eq!(line(&status, 80), whole);
        let figures = " answering - Ctrl-C interrupts - 12.4k tokens in, 310 out";
        assert_eq!(line(&status, 60), figures);
        assert_eq!(line(&status, 50), " answering - Ctrl-C interrupts - 12% context");
        assert_eq!(line(&status, 20), " answering");
        assert_eq!(line(&status, 8), " ans...");
    }
}
