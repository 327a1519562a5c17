//! What events look like: each becomes a block of lines, the same in the REPL and in the trace of `-p`.
//!
//! Text of tools and models enters lines through `Line::push`, which sanitises it. A row of a preview is never wider
//! than the terminal.

use std::collections::HashMap;
use std::mem::{Discriminant, discriminant};
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::marks::Marks;
use crate::agent::event::Level;
use crate::approve::Offer;
use crate::model::message::Usage;
use crate::render::{self, ColorDepth, Ink, Line, Options, Style};
use crate::tools::{ToolChange, ToolResult, ToolStatus, granted};
use crate::trust::Asked;

/// Lines of a result that are shown before `… +N lines`.
const PREVIEW_LINES: usize = 6;

/// Lines of a command or of arguments that are shown.
const CALL_LINES: usize = 12;

/// Cells of a row where there is no terminal.
const WIDE: usize = 400;

/// Draws blocks for one terminal, or for none.
#[derive(Clone, Debug)]
pub struct Blocks {
    pub(super) marks: &'static Marks,
    width: usize,
    /// Commands are coloured for this terminal.
    code: Option<Options>,
}

impl Blocks {
    /// For a stream that may be anything; ornaments in ASCII if that is all it can show.
    pub fn plain(ascii: bool) -> Self {
        Self { marks: Marks::of(ascii), width: WIDE, code: None }
    }

    /// For a terminal.
    pub fn new(options: Options) -> Self {
        Self {
            marks: Marks::of(options.ascii),
            width: usize::from(options.width).max(1),
            code: (options.color != ColorDepth::None).then_some(options),
        }
    }

    /// A call that begins: `● bash  ls -la`.
    pub fn call(&self, name: &str, arguments: &str) -> Vec<Line> {
        let mut first = Line::of(self.marks.call, Style::of(Ink::Accent));
        first.push(" ", Style::PLAIN);
        first.push(name, Style::PLAIN.bold());
        first.push("  ", Style::PLAIN);
        let text = call_text(name, arguments);
        let lines = text.lines().count();
        let shown: Vec<&str> = text.lines().take(CALL_LINES + 1).collect();
        let rows = match &self.code {
            Some(options) if name == "bash" => {
                let width = self.width.saturating_sub(first.width()).max(8);
                let width = u16::try_from(width).unwrap_or(u16::MAX);
                render::highlight(&shown.join("\n"), "bash", &Options { width, ..*options })
            }
            _ => shown.iter().map(|line| Line::of(line, Style::of(Ink::Code))).collect(),
        };
        let mut rows = rows.into_iter();
        if let Some(row) = rows.next() {
            first.extend(&row);
        }
        let mut block = vec![self.cut(first)];
        for row in rows {
            let mut line = Line::of("  ", Style::PLAIN);
            line.extend(&row);
            block.push(self.cut(line));
        }
        if lines > CALL_LINES + 1 {
            block.push(indented(&self.left_out(lines - CALL_LINES - 1), Style::MUTED));
        }
        block
    }

    /// A result: its first lines, and how it ended where that was not well.
    pub fn result(&self, result: &ToolResult) -> Vec<Line> {
        let content = result.content.trim_end();
        let lines: Vec<&str> = content.lines().collect();
        let shown = if lines.len() == PREVIEW_LINES + 1 { lines.len() } else { PREVIEW_LINES };
        let mut block: Vec<Line> = Vec::new();
        for line in lines.iter().take(shown) {
            block.push(self.below(&block, line, Style::MUTED));
        }
        if lines.len() > shown {
            block.push(self.below(&block, &self.left_out(lines.len() - shown), Style::MUTED));
        }
        if let Some((word, ink)) = ending(result.status) {
            // The text says so itself, unless that is left out.
            let is_told = match result.status {
                ToolStatus::Exit(_) => true,
                ToolStatus::Cancelled => content.contains("interrupted"),
                // It did not even begin.
                ToolStatus::Failed => result.elapsed.is_zero(),
                _ => false,
            };
            if !is_told || lines.len() > shown {
                let text = format!("{word} after {}", elapsed(result.elapsed));
                block.push(self.below(&block, &text, Style::of(ink)));
            }
        }
        block
    }

    /// The next row of a result.
    fn below(&self, above: &[Line], text: &str, style: Style) -> Line {
        let lead = if above.is_empty() { self.marks.result } else { self.marks.below };
        let mut line = Line::of(lead, Style::MUTED);
        line.push(text, style);
        self.cut(line)
    }

    /// A line of output as it comes, below its call.
    pub(super) fn output(&self, first: bool, text: &str) -> Line {
        let above = if first { &[] } else { &[Line::new()][..] };
        self.below(above, text, Style::MUTED)
    }

    /// A model call that failed and is repeated after `wait`; `begun` if some of its reply was shown already.
    pub fn retry(&self, reason: &str, wait: Duration, begun: bool) -> Vec<Line> {
        let when = if wait.is_zero() { String::new() } else { format!(" in {}", elapsed(wait)) };
        let what = if begun { "the reply starts over" } else { "trying again" };
        self.note(Level::Warning, &format!("{reason}; {what}{when}"))
    }

    /// A note of autocode itself.
    pub fn note(&self, level: Level, text: &str) -> Vec<Line> {
        let (mark, ink) = match level {
            Level::Info => ("", Ink::Muted),
            Level::Warning => (self.marks.warning, Ink::Warning),
            Level::Error => (self.marks.error, Ink::Error),
        };
        let space = if mark.is_empty() { "" } else { " " };
        let text = self.marks.sentence(text);
        let indent = if mark.is_empty() { "" } else { "  " };
        let style = Style::of(ink);
        let rows = text.lines().enumerate().flat_map(|(n, line)| match n {
            0 => self.fitted(&format!("{mark}{space}{line}"), indent.len(), style),
            _ => self.fitted(&format!("{indent}{line}"), indent.len(), style),
        });
        rows.collect()
    }

    /// How a turn failed: one line that begins `error:`.
    pub fn failure(&self, reason: &str) -> Vec<Line> {
        let text = format!("error: {}", reason.replace('\n', " "));
        let text = self.marks.sentence(&text);
        self.fitted(&text, 2, Style::of(Ink::Error))
    }

    /// Tools that changed on disk: a line each, or a line for many to which the same happened.
    pub fn tools(&self, changes: &[ToolChange]) -> Vec<Line> {
        const FEW: usize = 3;
        let mut kinds: HashMap<Discriminant<ToolChange>, Vec<&str>> = HashMap::new();
        for change in changes {
            kinds.entry(discriminant(change)).or_default().extend(plain_name(change));
        }
        let mut lines = Vec::new();
        for change in changes {
            let kind = discriminant(change);
            match kinds.get(&kind) {
                Some(names) if names.len() > FEW => {
                    let more = names.len() - FEW;
                    let who = format!("tools {} and {more} more", names[..FEW].join(", "));
                    lines.extend(self.tool_news(change, &who, "are"));
                    // Told for all of them.
                    kinds.remove(&kind);
                }
                Some(_) => lines.extend(self.tool_change(change)),
                None => {}
            }
        }
        lines
    }

    fn tool_change(&self, change: &ToolChange) -> Vec<Line> {
        let (ToolChange::Added(name)
        | ToolChange::Updated(name)
        | ToolChange::Compiling(name)
        | ToolChange::Removed(name)
        | ToolChange::Broken(name, _)
        | ToolChange::Grants { name, .. }) = change;
        self.tool_news(change, &format!("tool {name}"), "is")
    }

    /// What happened to a tool, or to several.
    fn tool_news(&self, change: &ToolChange, who: &str, is: &str) -> Vec<Line> {
        let Marks { more, error, .. } = self.marks;
        let (text, ink) = match change {
            ToolChange::Added(_) => (format!("+ {who}"), Ink::Added),
            ToolChange::Updated(_) => (format!("~ {who}"), Ink::Changed),
            ToolChange::Compiling(_) => (format!("{more} {who} {is} being compiled"), Ink::Muted),
            ToolChange::Removed(_) => (format!("- {who}"), Ink::Removed),
            ToolChange::Broken(_, why) => (format!("{error} {who} {is} broken: {why}"), Ink::Error),
            ToolChange::Grants { before, now, .. } => {
                (format!("~ {who} may now: {}", granted(now, before)), Ink::Warning)
            }
        };
        self.fitted(&self.marks.sentence(&text), 2, Style::of(ink))
    }

    /// Files that came from elsewhere, with what is in them.
    pub fn brought(&self, asked: &Asked) -> Vec<Line> {
        let mut lines = self
            .note(Level::Warning, "the agent's own files have changes that were not made here:");
        for text in asked.text().lines() {
            let ink = if text.starts_with(' ') { Ink::Code } else { Ink::Plain };
            lines.extend(self.fitted(&format!("  {text}"), 4, Style::of(ink)));
        }
        lines
    }

    /// A compaction that is done.
    pub fn compacted(&self, before: u64, after: u64) -> Vec<Line> {
        let to = self.marks.to;
        let text =
            format!("summarised: {} {to} {} tokens in context", tokens(before), tokens(after));
        self.note(Level::Info, &text)
    }

    /// The last line of a run: `3 steps · 12.4k tokens in (80 % cached), 310 out · 8 s`.
    pub fn summary(&self, steps: u32, spent: &Usage, took: Duration) -> Line {
        let mut parts = vec![format!("{steps} step{}", if steps == 1 { "" } else { "s" })];
        if spent.prompt > 0 {
            parts.push(spent_tokens(spent));
        }
        if let Some(cost) = spent.cost {
            parts.push(format!("${cost:.4}"));
        }
        parts.push(elapsed(took));
        Line::of(&parts.join(self.marks.dot), Style::MUTED)
    }

    /// Cells of a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// A line in rows that fit, broken between words. A row of a table goes on below its second column, anything else
    /// `indent` cells from the left.
    fn fitted(&self, text: &str, indent: usize, style: Style) -> Vec<Line> {
        let text = text.trim_end();
        let line = Line::of(text, style);
        if line.width() <= self.width || self.width == WIDE {
            return vec![line];
        }
        let at = second_column(text).filter(|at| render::width(&text[..*at]) <= self.width / 2);
        let lead = Line::of(&text[..at.unwrap_or_default()], style);
        let hang = if at.is_some() { lead.width() } else { indent.min(self.width / 2) };
        let rest = &text[at.unwrap_or_default()..];
        // Without a column the first row has the whole width; what its indent takes is little.
        let rows = render::wrap(rest, style, self.width - hang);
        let rows = rows.into_iter().enumerate().map(|(n, row)| {
            let mut line = if n == 0 { lead.clone() } else { Line::new() };
            if n > 0 {
                line.pad(hang, style);
            }
            line.extend(&row);
            line
        });
        rows.collect()
    }

    /// The line, its end left out where it does not fit into a row.
    pub(super) fn cut(&self, line: Line) -> Line {
        if line.width() <= self.width {
            return line;
        }
        let more = self.marks.more;
        let avail = self.width.saturating_sub(more.chars().count()).max(1);
        let mut row = render::split(line, avail).into_iter().next().unwrap_or_default();
        row.soft = false;
        row.push(more, Style::MUTED);
        row
    }

    fn left_out(&self, lines: usize) -> String {
        format!("{} +{lines} lines", self.marks.more)
    }
}

/// `12.4k tokens in (80 % cached), 310 out`.
pub(super) fn spent_tokens(spent: &Usage) -> String {
    let cached = match (spent.cached * 100).checked_div(spent.prompt) {
        None | Some(0) => String::new(),
        Some(share) => format!(" ({share} % cached)"),
    };
    format!("{} tokens in{cached}, {} out", tokens(spent.prompt), tokens(spent.completion))
}

/// A call that nobody is there to approve.
pub fn refused(offer: &Offer) -> Vec<Line> {
    let why = offer.why.join(", ");
    let text =
        format!("needs approval ({why}); nobody is there to ask, so it does not run: see --yes");
    vec![indented(&text, Style::of(Ink::Warning))]
}

/// A call that waits for the person's word: all that would run, where, and why it is asked about.
pub fn asked(arguments: &str, name: &str, cwd: &Path, offer: &Offer) -> Vec<Line> {
    let text = call_text(name, arguments);
    let mut lines = Vec::new();
    if text.lines().count() > CALL_LINES {
        lines.push(indented("the whole of it:", Style::MUTED));
        lines.extend(text.lines().map(|line| indented(line, Style::of(Ink::Code))));
    }
    let why = format!("in {}: {}", cwd.display(), offer.why.join(", "));
    lines.push(indented(&why, Style::of(Ink::Warning)));
    lines
}

/// What a call says of itself: bash's command as it is, else the arguments as `key=value`.
fn call_text(name: &str, arguments: &str) -> String {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(map)) => match (name, map.get("command").and_then(Value::as_str)) {
            ("bash", Some(command)) => command.trim_end().to_owned(),
            _ => {
                let pairs = map.iter().map(|(key, value)| match value {
                    Value::String(text) => format!("{key}={text:?}"),
                    value => format!("{key}={value}"),
                });
                pairs.collect::<Vec<_>>().join(" ")
            }
        },
        _ => arguments.to_owned(),
    }
}

/// Where what follows the first gap of two spaces or more begins, in bytes.
fn second_column(text: &str) -> Option<usize> {
    let indent = text.len() - text.trim_start().len();
    let gap = indent + text[indent..].find("  ")?;
    Some(text.len() - text[gap..].trim_start().len())
}

fn ending(status: ToolStatus) -> Option<(String, Ink)> {
    Some(match status {
        ToolStatus::Ok => return None,
        ToolStatus::Exit(code) => (format!("exit {code}"), Ink::Warning),
        ToolStatus::Failed => ("failed".to_owned(), Ink::Error),
        ToolStatus::TimedOut => ("timed out".to_owned(), Ink::Error),
        ToolStatus::Cancelled => ("interrupted".to_owned(), Ink::Warning),
    })
}

/// A token count for people: `950`, `12.4k`, `128k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{:.1}k", count as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

/// A duration for people: `0.3 s`, `12 s`, `3 min 20 s`.
pub fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        seconds @ 10..100 => format!("{seconds} s"),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn indented(text: &str, style: Style) -> Line {
    let mut line = Line::of("  ", Style::PLAIN);
    line.push(text, style);
    line
}

/// The name in a change that says nothing else.
fn plain_name(change: &ToolChange) -> Option<&str> {
    match change {
        ToolChange::Added(name)
        | ToolChange::Updated(name)
        | ToolChange::Compiling(name)
        | ToolChange::Removed(name) => Some(name),
        ToolChange::Broken(..) | ToolChange::Grants { .. } => None,
    }
}

#[cfg(test)]
mod tests;
