//! Events as a person reads them: finished lines for the scrollback, and what is open as it looks now.
//!
//! Invariant: a line that was given out as finished is never given out again. Blocks are one blank line apart; a result
//! follows its call directly.

use std::time::Instant;

use super::output::Output;
use crate::agent::event::{Event, Level, TurnEnd};
use crate::render::{Ink, Line, Markdown, Options, Style, wrap};
use crate::ui::blocks::{self, Blocks, elapsed};

/// Rows of thinking that are shown while it goes on.
const THINKING_ROWS: usize = 5;

/// Rows of a running command's output that are shown.
const OUTPUT_ROWS: usize = 5;

/// Rows of a person's message that are shown.
const MESSAGE_ROWS: usize = 40;

/// What is being written.
enum Open {
    Nothing,
    Thinking { text: String, since: Instant },
    Answer(Box<Markdown>),
    Call(Output),
}

/// The conversation on its way to the terminal.
pub(super) struct Transcript {
    options: Options,
    blocks: Blocks,
    finished: Vec<Line>,
    open: Open,
    /// Whether anything stands above.
    begun: bool,
    thinking: String,
    answer: String,
}

impl Transcript {
    pub(super) fn new(options: Options) -> Self {
        Self {
            options,
            blocks: Blocks::new(options),
            finished: Vec::new(),
            open: Open::Nothing,
            begun: false,
            thinking: String::new(),
            answer: String::new(),
        }
    }

    /// What comes from now on is for a terminal of another size.
    pub(super) fn resize(&mut self, options: Options) {
        self.options = options;
        self.blocks = Blocks::new(options);
        if let Open::Answer(markdown) = &mut self.open {
            markdown.resize(options.width);
        }
    }

    /// What it is drawn for.
    pub(super) fn options(&self) -> Options {
        self.options
    }

    /// How things are drawn.
    pub(super) fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// The model's last thinking.
    pub(super) fn last_thinking(&self) -> &str {
        &self.thinking
    }

    /// The model's last words.
    pub(super) fn last_answer(&self) -> &str {
        &self.answer
    }

    /// Takes in what happened.
    pub(super) fn show(&mut self, event: &Event) {
        match event {
            Event::Text(text) => self.text(text),
            Event::Reasoning(text) => self.reasoning(text),
            Event::Retry { reason, wait, .. } => {
                let broken_off = matches!(self.open, Open::Answer(_));
                self.close();
                let rows = self.blocks.retry(reason, *wait, broken_off);
                self.aside(rows);
            }
            Event::Reply(reply) => {
                self.close();
                if let Some(content) = reply.content.as_deref() {
                    content.clone_into(&mut self.answer);
                }
            }
            Event::ToolStarted { name, arguments, .. } => {
                self.close();
                let call = self.blocks.call(name, arguments);
                self.block(call);
                self.open = Open::Call(Output::default());
            }
            Event::Approval { name, arguments, cwd, offer, .. } => {
                self.finished.extend(blocks::asked(arguments, name, cwd, offer));
            }
            Event::Brought(asked) => {
                let rows = self.blocks.brought(asked);
                self.close();
                self.block(rows);
            }
            Event::ToolProgress { text, .. } => {
                if let Open::Call(output) = &mut self.open {
                    output.push(text);
                }
            }
            Event::ToolFinished { result, .. } => {
                self.open = Open::Nothing;
                let rows = self.blocks.result(result);
                self.finished.extend(rows);
            }
            Event::Tools(changes) => {
                let rows = self.blocks.tools(changes);
                self.aside(rows);
            }
            Event::Note { level, text } => self.note(*level, text),
            Event::Compacted { before, after } => {
                let rows = self.blocks.compacted(*before, *after);
                self.aside(rows);
            }
            Event::TurnFinished(end) => self.end(end),
            Event::Session { .. }
            | Event::Idle
            | Event::User(_)
            | Event::StepStarted { .. }
            | Event::ToolCallStarted(_)
            | Event::Usage { .. }
            | Event::Compacting
            | Event::Models(_) => {}
        }
    }

    /// The person's own message, as a bar over the whole width.
    pub(super) fn message(&mut self, text: &str) {
        self.close();
        let rows = self.bar(text);
        self.block(rows);
    }

    /// A command that the person gave to autocode itself.
    pub(super) fn command(&mut self, text: &str) {
        let rows = self.bar(text);
        self.aside(rows);
    }

    fn bar(&self, text: &str) -> Vec<Line> {
        let width = usize::from(self.options.width).max(1);
        let style = Style::PLAIN.bar();
        let mark = self.blocks.marks.prompt;
        let mut rows = Vec::new();
        let lines = text
            .trim_end()
            .lines()
            .flat_map(|line| wrap(line, style, width.saturating_sub(4).max(1)));
        for (n, row) in lines.enumerate() {
            let mut line = Line::of(" ", style);
            match n {
                0 => line.push(mark, Style::of(Ink::Accent).bold().bar()),
                _ => line.push(" ", style),
            }
            line.push(" ", style);
            line.extend(&row);
            rows.push(line);
        }
        if rows.len() > MESSAGE_ROWS + 1 {
            let left = rows.len() - MESSAGE_ROWS;
            rows.truncate(MESSAGE_ROWS);
            let more = format!("   {} +{left} lines", self.blocks.marks.more);
            rows.push(Line::of(&more, Style::MUTED.bar()));
        }
        for row in &mut rows {
            row.pad(width.saturating_sub(row.width()), style);
        }
        rows
    }

    /// An answer that is whole.
    pub(super) fn answer(&mut self, text: &str) {
        self.close();
        let mut markdown = Markdown::new(self.options);
        markdown.push(text);
        let mut rows = markdown.take_committed();
        rows.extend(markdown.finish());
        self.block(rows);
        text.clone_into(&mut self.answer);
    }

    /// Something that autocode says.
    pub(super) fn note(&mut self, level: Level, text: &str) {
        let rows = self.blocks.note(level, text);
        self.aside(rows);
    }

    /// Lines with a blank one above.
    pub(super) fn block(&mut self, lines: impl IntoIterator<Item = Line>) {
        let mut lines = lines.into_iter().peekable();
        if lines.peek().is_none() {
            return;
        }
        self.gap();
        self.finished.extend(lines);
    }

    fn gap(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            self.finished.push(Line::new());
        }
    }

    /// The lines that were finished since the last call.
    pub(super) fn take(&mut self) -> Vec<Line> {
        if let Open::Answer(markdown) = &mut self.open {
            self.finished.extend(markdown.take_committed());
        }
        std::mem::take(&mut self.finished)
    }

    /// What is open, in at most `rows` rows.
    pub(super) fn tail(&self, rows: usize) -> Vec<Line> {
        let mut lines = match &self.open {
            Open::Nothing => Vec::new(),
            Open::Answer(markdown) => markdown.tail(rows),
            Open::Thinking { text, .. } => {
                let mut lines =
                    vec![Line::new(), self.thinking_head("Thinking", self.blocks.marks.more)];
                lines.extend(self.thinking_rows(text, THINKING_ROWS.min(rows.saturating_sub(2))));
                lines
            }
            Open::Call(output) => {
                output.last(OUTPUT_ROWS.min(rows), |first, text| self.blocks.output(first, text))
            }
        };
        lines.drain(..lines.len().saturating_sub(rows));
        lines
    }

    /// Thinking as rows, its last `most`.
    fn thinking_rows(&self, text: &str, most: usize) -> Vec<Line> {
        let width = usize::from(self.options.width).saturating_sub(2).max(1);
        let from =
            text.floor_char_boundary(text.len().saturating_sub(most.saturating_mul(4 * width)));
        let style = Style::MUTED.italic();
        let rows = wrap(text[from..].trim_end(), style, width);
        let above = rows.len().saturating_sub(most);
        rows.into_iter()
            .skip(above)
            .map(|row| {
                let mut line = Line::of("  ", style);
                line.extend(&row);
                line
            })
            .collect()
    }

    fn thinking_head(&self, what: &str, end: &str) -> Line {
        Line::of(&format!("{} {what}{end}", self.blocks.marks.spark), Style::MUTED.italic())
    }

    /// The last thinking whole, as a block.
    pub(super) fn show_thinking(&mut self) {
        let rows = self.thinking_rows(&self.thinking, usize::MAX);
        let head = self.thinking_head("Thinking", "");
        self.block(std::iter::once(head).chain(rows));
    }

    fn text(&mut self, text: &str) {
        if let Open::Answer(markdown) = &mut self.open {
            markdown.push(text);
            return;
        }
        let text = text.trim_start_matches(['\n', '\r']);
        if text.trim().is_empty() {
            return;
        }
        self.close();
        self.gap();
        let mut markdown = Markdown::new(self.options);
        markdown.push(text);
        self.open = Open::Answer(Box::new(markdown));
    }

    fn reasoning(&mut self, more: &str) {
        if let Open::Thinking { text, .. } = &mut self.open {
            text.push_str(more);
            return;
        }
        if more.trim().is_empty() {
            return;
        }
        self.close();
        let text = more.trim_start_matches(['\n', '\r']).to_owned();
        self.open = Open::Thinking { text, since: Instant::now() };
    }

    /// Ends what is open.
    fn close(&mut self) {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing | Open::Call(_) => {}
            Open::Answer(mut markdown) => {
                self.finished.extend(markdown.take_committed());
                self.finished.extend(markdown.finish());
            }
            Open::Thinking { text, since } => {
                self.thinking = text;
                let took = elapsed(since.elapsed());
                let end = format!(" for {took}{}/thinking shows it", self.blocks.marks.dot);
                let head = self.thinking_head("Thought", &end);
                self.block([head]);
            }
        }
    }

    /// A block that may come while a call runs: what is open stays open.
    fn aside(&mut self, rows: Vec<Line>) {
        if !matches!(self.open, Open::Call(_)) {
            self.close();
        }
        self.block(rows);
    }

    fn end(&mut self, end: &TurnEnd) {
        self.close();
        match end {
            TurnEnd::Answered(_) => {}
            TurnEnd::Failed(reason) => {
                let rows = self.blocks.failure(reason);
                self.block(rows);
            }
            TurnEnd::Interrupted => self.note(Level::Warning, "interrupted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Assistant;
    use crate::render::ColorDepth;

    fn transcript() -> Transcript {
        Transcript::new(Options {
            width: 40,
            color: ColorDepth::None,
            dark: true,
            hyperlinks: false,
            ascii: true,
        })
    }

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(|line| line.text().trim_end()).collect()
    }

    #[test]
    fn blocks_are_a_blank_line_apart_and_given_out_once() {
        let mut t = transcript();
        t.message("hello");
        t.show(&Event::Text("\n\nHi ".into()));
        t.show(&Event::Text("there.".into()));
        assert_eq!(texts(&t.take()), [" > hello", ""]);
        assert_eq!(texts(&t.tail(5)), ["Hi there."]);
        t.show(&Event::Reply(Assistant {
            content: Some("Hi there.".into()),
            ..Assistant::default()
        }));
        assert_eq!(texts(&t.take()), ["Hi there."]);
        assert!(t.take().is_empty() && t.tail(5).is_empty());
        assert_eq!(t.last_answer(), "Hi there.");
    }

    #[test]
    fn thinking_is_seen_while_it_goes_on_and_one_line_afterwards() {
        let mut t = transcript();
        t.show(&Event::Reasoning("first\nsecond".into()));
        assert!(t.take().is_empty());
        assert_eq!(texts(&t.tail(9)), ["", "* Thinking...", "  first", "  second"]);
        t.show(&Event::Text("So.".into()));
        let lines = t.take();
        assert!(lines[0].text().starts_with("* Thought for 0.0 s"), "{:?}", texts(&lines));
        t.show_thinking();
        assert_eq!(texts(&t.take())[1..], ["* Thinking", "  first", "  second"]);
    }

    #[test]
    fn a_long_message_is_cut_with_the_count_of_what_is_left() {
        let mut t = transcript();
        let lines: Vec<String> = (0..100).map(|n| format!("line {n}")).collect();
        t.message(&lines.join("\n"));
        let rows = t.take();
        assert_eq!(rows.len(), MESSAGE_ROWS + 1);
        assert_eq!(rows[MESSAGE_ROWS].text().trim(), "... +60 lines");
        assert!(rows.iter().all(|row| row.width() == 40));
    }
}
