//! What events look like: each becomes a block of lines, the same in the REPL and in the trace of `-p`.
//!
//! Text of tools and models enters lines through `Line::push`, which sanitises it.

use std::time::Duration;

use serde_json::Value;

use crate::agent::event::Level;
use crate::approve::Offer;
use crate::model::message::Usage;
use crate::render::{Ink, Line, Style};
use crate::tools::{ToolChange, ToolResult, ToolStatus};

/// Lines of a result that are shown before `… +N lines`.
const PREVIEW_LINES: usize = 6;

/// Lines of a command or of arguments that are shown.
const CALL_LINES: usize = 12;

/// A line of a result is shown up to this many characters.
const PREVIEW_COLUMNS: usize = 400;

/// A call that begins: `● bash  ls -la`.
pub fn call(name: &str, arguments: &str) -> Vec<Line> {
    let mut first = Line::of("● ", Style::of(Ink::Accent));
    first.push(name, Style::PLAIN.bold());
    let text = call_text(name, arguments);
    let mut lines = text.lines();
    if let Some(line) = lines.next() {
        first.push("  ", Style::PLAIN);
        first.push(&short(line), Style::of(Ink::Code));
    }
    let mut block = vec![first];
    let rest: Vec<&str> = lines.collect();
    block.extend(rest.iter().take(CALL_LINES).map(|line| indented(line, Style::of(Ink::Code))));
    if rest.len() > CALL_LINES {
        block.push(indented(&format!("… +{} lines", rest.len() - CALL_LINES), Style::MUTED));
    }
    block
}

/// A call that nobody is there to approve.
pub fn refused(offer: &Offer) -> Vec<Line> {
    let why = offer.why.join(", ");
    let text = format!("needs approval ({why}); nobody is there to ask, so it does not run: see --yes");
    vec![indented(&text, Style::of(Ink::Warning))]
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

/// A result: its first lines, and how it ended where that was not well.
pub fn result(result: &ToolResult) -> Vec<Line> {
    let content = result.content.trim_end();
    let lines: Vec<&str> = content.lines().collect();
    let shown = if lines.len() == PREVIEW_LINES + 1 { lines.len() } else { PREVIEW_LINES };
    let mut block: Vec<Line> =
        lines.iter().take(shown).map(|l| indented(&short(l), Style::MUTED)).collect();
    if lines.len() > shown {
        block.push(indented(&format!("… +{} lines", lines.len() - shown), Style::MUTED));
    }
    if let Some((word, ink)) = ending(result.status) {
        // bash's own text ends with the exit status already.
        if !matches!(result.status, ToolStatus::Exit(_)) || lines.len() > shown {
            block.push(indented(
                &format!("{word} after {}", elapsed(result.elapsed)),
                Style::of(ink),
            ));
        }
    }
    block
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

/// A note of autocode itself.
pub fn note(level: Level, text: &str) -> Vec<Line> {
    let (mark, ink) = match level {
        Level::Info => ("", Ink::Muted),
        Level::Warning => ("! ", Ink::Warning),
        Level::Error => ("✗ ", Ink::Error),
    };
    let mut lines = text.lines();
    let first = lines.next().map(|line| Line::of(&format!("{mark}{line}"), Style::of(ink)));
    first.into_iter().chain(lines.map(|line| indented(line, Style::of(ink)))).collect()
}

/// A model call that failed and is repeated after `wait`.
pub fn retry(reason: &str, wait: Duration) -> Vec<Line> {
    let when = if wait.is_zero() { String::new() } else { format!(" in {}", elapsed(wait)) };
    note(Level::Warning, &format!("{reason}; trying again{when}"))
}

/// How a turn failed: one line that begins `error:`.
pub fn failure(reason: &str) -> Line {
    Line::of(&format!("error: {}", reason.replace('\n', " ")), Style::of(Ink::Error))
}

/// Tools that changed on disk, a line each.
pub fn tools(changes: &[ToolChange]) -> Vec<Line> {
    changes.iter().flat_map(tool_change).collect()
}

fn tool_change(change: &ToolChange) -> Vec<Line> {
    let (text, ink) = match change {
        ToolChange::Added(name) => (format!("+ tool {name}"), Ink::Added),
        ToolChange::Updated(name) => (format!("~ tool {name}"), Ink::Changed),
        ToolChange::Compiling(name) => (format!("… tool {name} is being compiled"), Ink::Muted),
        ToolChange::Removed(name) => (format!("- tool {name}"), Ink::Removed),
        ToolChange::Broken(name, why) => (format!("✗ tool {name} is broken: {why}"), Ink::Error),
        ToolChange::Grants(name, grants) => {
            (format!("~ tool {name} may now: {grants}"), Ink::Warning)
        }
    };
    vec![Line::of(&text, Style::of(ink))]
}

/// A compaction that is done.
pub fn compacted(before: u64, after: u64) -> Vec<Line> {
    let text = format!("summarised: {} → {} tokens in context", tokens(before), tokens(after));
    note(Level::Info, &text)
}

/// The last line of a run: `3 steps · 12.4k tokens in (80 % cached), 310 out · 8 s`.
pub fn summary(steps: u32, spent: &Usage, took: Duration) -> Line {
    let mut parts = vec![format!("{steps} step{}", if steps == 1 { "" } else { "s" })];
    if spent.prompt > 0 {
        let cached = match spent.cached.saturating_mul(100) / spent.prompt {
            0 => String::new(),
            share => format!(" ({share} % cached)"),
        };
        parts.push(format!(
            "{} tokens in{cached}, {} out",
            tokens(spent.prompt),
            tokens(spent.completion)
        ));
    }
    if let Some(cost) = spent.cost {
        parts.push(format!("${cost:.4}"));
    }
    parts.push(elapsed(took));
    Line::of(&parts.join(" · "), Style::MUTED)
}

/// A token count for people: `950`, `12.4k`, `1.2M`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
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

fn short(line: &str) -> String {
    match line.char_indices().nth(PREVIEW_COLUMNS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<&str> {
        lines.iter().map(Line::text).collect()
    }

    fn ok(content: &str) -> ToolResult {
        ToolResult { content: content.into(), status: ToolStatus::Ok, elapsed: Duration::ZERO }
    }

    #[test]
    fn a_command_is_shown_as_it_is_and_arguments_as_pairs() {
        assert_eq!(texts(&call("bash", r#"{"command":"a\nb"}"#)), ["● bash  a", "  b"]);
        assert_eq!(texts(&call("add", r#"{"a":1,"note":"x y"}"#)), [r#"● add  a=1 note="x y""#]);
    }

    #[test]
    fn a_long_result_shows_its_first_lines_and_how_many_are_left() {
        let lines: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let block = result(&ok(&lines.join("\n")));
        assert_eq!(texts(&block)[5..], ["  6", "  … +14 lines"]);
    }

    #[test]
    fn one_line_more_is_shown_rather_than_counted() {
        assert_eq!(result(&ok("1\n2\n3\n4\n5\n6\n7")).len(), 7);
    }

    #[test]
    fn figures_read_well() {
        assert_eq!([tokens(950), tokens(12_400), tokens(1_200_000)], ["950", "12.4k", "1.2M"]);
        assert_eq!(elapsed(Duration::from_secs(200)), "3 min 20 s");
    }
}
