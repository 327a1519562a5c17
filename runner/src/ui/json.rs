//! `-p --json`: the event stream for programs, one JSON object a line on standard output.
//!
//! The README documents the format; `v` in the first event is its version and changes when a reader would break.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::agent::event::{Event, Level, TurnEnd};
use crate::exit::Exit;
use crate::model::message::Usage;
use crate::tools::{ToolChange, ToolStatus};

/// Version of the format.
const VERSION: u32 = 1;

/// Writes `event` as one line. `None` events have no place in the format.
///
/// # Errors
/// When `out` cannot be written.
pub fn write(out: &mut impl Write, event: &Event) -> io::Result<()> {
    let Some(value) = value(event) else { return Ok(()) };
    writeln!(out, "{value}")?;
    out.flush()
}

/// The last event: status, exit code, and what the turn cost.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_end(out: &mut impl Write, end: &TurnEnd, exit: Exit, spent: &Usage) -> io::Result<()> {
    let (status, key, text) = match end {
        TurnEnd::Answered(answer) => ("answered", "answer", Some(answer)),
        TurnEnd::Failed(error) => ("failed", "error", Some(error)),
        TurnEnd::Interrupted => ("interrupted", "", None),
    };
    let mut value =
        json!({"type": "end", "status": status, "exit": exit as u8, "usage": usage(spent)});
    if let Some(text) = text {
        value[key] = json!(text);
    }
    writeln!(out, "{value}")?;
    out.flush()
}

fn value(event: &Event) -> Option<Value> {
    Some(match event {
        Event::Session { id, messages, model, .. } => {
            json!({"type": "session", "v": VERSION, "id": id, "messages": messages, "model": model})
        }
        Event::User(text) => json!({"type": "user", "text": text}),
        Event::StepStarted { step } => json!({"type": "step", "step": step}),
        Event::Text(text) => json!({"type": "text", "text": text}),
        Event::Reasoning(text) => json!({"type": "reasoning", "text": text}),
        Event::Retry { reason, wait, attempt } => {
            json!({"type": "retry", "reason": reason, "wait_ms": wait.as_millis() as u64, "attempt": attempt})
        }
        Event::ToolStarted { id, name, arguments, cwd } => {
            let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
            json!({"type": "call", "id": id, "name": name, "arguments": arguments, "cwd": cwd})
        }
        Event::Approval { id, name, offer, .. } => {
            json!({"type": "approval", "id": id, "name": name, "why": offer.why})
        }
        Event::Brought(asked) => {
            let files: Vec<&str> = asked.items.iter().map(|item| item.file.as_str()).collect();
            json!({"type": "brought", "files": files})
        }
        Event::ToolProgress { id, text } => json!({"type": "progress", "id": id, "text": text}),
        Event::ToolFinished { id, name, result } => {
            let mut value = json!({"type": "result", "id": id, "name": name, "status": status(result.status),
                "elapsed_ms": result.elapsed.as_millis() as u64, "content": result.content});
            if let ToolStatus::Exit(code) = result.status {
                value["exit"] = json!(code);
            }
            value
        }
        Event::Tools(changes) => {
            json!({"type": "tools", "changes": changes.iter().map(change).collect::<Vec<_>>()})
        }
        Event::Note { level, text } => json!({"type": note(*level), "text": text}),
        Event::Usage { step, session, context, window } => {
            json!({"type": "usage", "step": step.as_ref().map(usage), "session": usage(session),
                "context": context, "window": window})
        }
        Event::Compacted { before, after } => {
            json!({"type": "compacted", "before": before, "after": after})
        }
        Event::ToolCallStarted(_)
        | Event::Reply(_)
        | Event::Compacting
        | Event::Idle
        | Event::Models(_)
        | Event::TurnFinished(_) => return None,
    })
}

fn status(status: ToolStatus) -> &'static str {
    match status {
        ToolStatus::Ok => "ok",
        ToolStatus::Exit(_) => "exit",
        ToolStatus::Failed => "failed",
        ToolStatus::TimedOut => "timed_out",
        ToolStatus::Cancelled => "interrupted",
    }
}

fn note(level: Level) -> &'static str {
    match level {
        Level::Info => "note",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

pub(super) fn usage(usage: &Usage) -> Value {
    let mut value = json!({"prompt": usage.prompt, "cached": usage.cached, "completion": usage.completion,
        "reasoning": usage.reasoning});
    if let Some(cost) = usage.cost {
        value["cost"] = json!(cost);
    }
    value
}

fn change(change: &ToolChange) -> Value {
    match change {
        ToolChange::Added(name) => json!({"tool": name, "state": "added"}),
        ToolChange::Updated(name) => json!({"tool": name, "state": "updated"}),
        ToolChange::Compiling(name) => json!({"tool": name, "state": "compiling"}),
        ToolChange::Removed(name) => json!({"tool": name, "state": "removed"}),
        ToolChange::Broken(name, why) => json!({"tool": name, "state": "broken", "error": why}),
        ToolChange::Grants { name, before, now } => {
            json!({"tool": name, "state": "grants", "grants": now, "before": before})
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_event_is_one_line() {
        let mut out = Vec::new();
        write(&mut out, &Event::Text("a\nb".into())).unwrap();
        write(&mut out, &Event::Compacting).unwrap();
        write_end(&mut out, &TurnEnd::Interrupted, Exit::Interrupted, &Usage::default()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text.lines().collect::<Vec<_>>(),
            [
                r#"{"type":"text","text":"a\nb"}"#,
                r#"{"type":"end","status":"interrupted","exit":130,"usage":{"prompt":0,"cached":0,"completion":0,"reasoning":0}}"#
            ]
        );
    }
}
