//! `autocode log`: a session as a list that a person reads, or as JSON lines for programs.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::blocks::{elapsed, spent_tokens};
use super::canvas::terminal_size;
use super::json::usage;
use super::marks::Marks;
use crate::env::Env;
use crate::render::{Encoder, Ink, Line, Options, Style, wrap};
use crate::session::{Approval, Call, End, Entry, Log, Note, What};

/// Version of the JSON lines.
const VERSION: u32 = 1;
/// Rows of one text that are shown; `--json` has all.
const ROWS: usize = 12;
/// Cells of the time and the gap after it.
const TIME: usize = 10;
/// Cells of the words before the text.
const LABEL: usize = 10;
/// Fewest cells for the text; a terminal that has no room for the columns gets no times.
const NARROW: usize = 30;

/// Writes the log for people. What is no terminal gets it plain, with long lines whole.
///
/// # Errors
/// When standard output is gone.
pub fn show(log: &Log, env: &Env) -> io::Result<()> {
    let terminal = io::stdout().is_terminal();
    let width = if terminal { terminal_size().width } else { u16::MAX };
    let options = Options::detect(env, width, terminal);
    let encoder = Encoder::new(options.color, options.dark, false);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut text = String::new();
    for line in List::new(env, &options).lines(log) {
        text.clear();
        encoder.line(&line, &mut text);
        writeln!(out, "{}", text.trim_end_matches(' '))?;
    }
    out.flush()
}

/// Writes the log for programs: one object a line.
///
/// # Errors
/// When standard output is gone.
pub fn show_json(log: &Log) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let head = json!({"type": "session", "v": VERSION, "id": log.id, "title": log.title});
    writeln!(out, "{head}")?;
    for entry in &log.entries {
        writeln!(out, "{}", value(entry))?;
    }
    for warning in &log.warnings {
        writeln!(out, "{}", json!({"type": "warning", "text": warning}))?;
    }
    out.flush()
}

/// Draws entries for one terminal, or for none.
struct List<'a> {
    env: &'a Env,
    marks: &'static Marks,
    width: usize,
    times: bool,
}

impl<'a> List<'a> {
    fn new(env: &'a Env, options: &Options) -> Self {
        let width = usize::from(options.width).max(LABEL + 10);
        let times = width >= TIME + LABEL + NARROW;
        Self { env, marks: Marks::of(options.ascii), width, times }
    }

    fn lines(&self, log: &Log) -> Vec<Line> {
        let mut head = Line::of("session ", Style::MUTED);
        head.push(&log.id, Style::PLAIN.bold());
        if !log.title.is_empty() {
            head.push(&format!("{}{}", self.marks.dot, log.title), Style::MUTED);
        }
        let mut lines = vec![head.clipped(self.width)];
        let mut day = None;
        let mut noted = "";
        for entry in &log.entries {
            match &entry.what {
                What::Note(note) => noted = &note.text,
                // The model was told in the same words.
                What::Own(text) if inner(text) == noted => continue,
                _ => {}
            }
            let today = entry.time.map(|time| self.env.local(time).date());
            if today.is_some() && today != day {
                day = today;
                let date = today.map(|date| date.to_string()).unwrap_or_default();
                lines.extend([Line::new(), Line::of(&date, Style::MUTED)]);
            }
            lines.extend(self.entry(entry));
        }
        for warning in &log.warnings {
            let text = format!("{} {warning}", self.marks.warning);
            lines.extend(wrap(&text, Style::of(Ink::Warning), self.width));
        }
        lines
    }

    fn entry(&self, Entry { time, what }: &Entry) -> Vec<Line> {
        let muted = Style::MUTED;
        match what {
            What::User(text) => {
                self.rows(*time, "you", Style::PLAIN.bold(), &[(text, Style::PLAIN)])
            }
            What::Own(text) => self.rows(*time, "autocode", muted, &[(inner(text), muted)]),
            What::Step { step, text, usage } => {
                let label = step.map_or_else(|| "step".to_owned(), |step| format!("step {step}"));
                let spent = usage.as_ref().map(spent_tokens).unwrap_or_default();
                let texts = [(text.as_deref().unwrap_or_default(), Style::PLAIN), (&spent, muted)];
                self.rows(*time, &label, Style::of(Ink::Accent), &texts)
            }
            What::Call(call) => {
                let ink =
                    if call.end == End::Well { Style::MUTED } else { Style::of(Ink::Warning) };
                let (text, end) = (asked_for(&call.name, &call.arguments), ended(call));
                let texts = [(text.as_str(), Style::of(Ink::Code)), (end.as_str(), ink)];
                self.rows(*time, &call.name, Style::PLAIN.bold(), &texts)
            }
            What::Note(Note { text, approval: Some(approval), .. }) => {
                let ink = if approval.allowed { Ink::Success } else { Ink::Warning };
                let asked = match approval.name.as_str() {
                    "bash" => approval.asked.clone(),
                    name => format!("{name} {}", approval.asked),
                };
                let answer = self.answer(text, approval);
                let texts = [(asked.as_str(), Style::of(Ink::Code)), (&answer, Style::of(ink))];
                self.rows(*time, "asked", Style::of(ink), &texts)
            }
            What::Note(note) => {
                let ink = if note.kind == "failed" { Ink::Error } else { Ink::Changed };
                let ink = Style::of(ink);
                self.rows(*time, &note.kind, ink, &[(&note.text, ink)])
            }
        }
    }

    /// `yes, always in this session: rm x · runs rm · in /project`.
    fn answer(&self, text: &str, approval: &Approval) -> String {
        let why = approval.why.join(", ");
        let place = format!("in {}", approval.cwd);
        let parts = [text, &why, &place];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(self.marks.dot)
    }

    /// Time and label, and the texts beside them.
    fn rows(
        &self,
        time: Option<Timestamp>,
        label: &str,
        style: Style,
        texts: &[(&str, Style)],
    ) -> Vec<Line> {
        let mut first = Line::new();
        if self.times {
            let time = time.map(|time| self.env.local(time).strftime("%H:%M:%S").to_string());
            first.push(&time.unwrap_or_default(), Style::MUTED);
            first.pad(TIME - first.width().min(TIME), Style::PLAIN);
        }
        let indent = first.width() + LABEL;
        first.push(label, style);
        let mut lines = Vec::new();
        for (text, style) in texts {
            for row in self.body(text, *style, self.width - indent) {
                // A long label has its row to itself.
                if first.width() >= indent {
                    lines.push(std::mem::take(&mut first));
                }
                let mut line = std::mem::take(&mut first);
                line.pad(indent - line.width(), Style::PLAIN);
                line.extend(&row);
                lines.push(line);
            }
        }
        if lines.is_empty() { vec![first] } else { lines }
    }

    /// The rows of a text, its end left out where there are too many.
    fn body(&self, text: &str, style: Style, width: usize) -> Vec<Line> {
        let mut rows = wrap(text.trim_end().trim_start_matches('\n'), style, width);
        let more = rows.len().saturating_sub(ROWS);
        if more > 1 {
            rows.truncate(ROWS);
            let text = format!("{} +{more} lines; --json has them", self.marks.more);
            rows.push(Line::of(&text, Style::MUTED).clipped(width));
        }
        rows
    }
}

/// What autocode says of itself, without the brackets that set it off from the person's words.
fn inner(text: &str) -> &str {
    let inner = text.strip_prefix("[autocode: ").and_then(|text| text.strip_suffix(']'));
    inner.unwrap_or(text)
}

/// What a call was to do: bash's command, else the arguments.
fn asked_for(name: &str, arguments: &str) -> String {
    let command = || {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        Some(arguments.get("command")?.as_str()?.to_owned())
    };
    (name == "bash").then(command).flatten().unwrap_or_else(|| arguments.to_owned())
}

/// `exit 101 after 3.2 s`.
fn ended(call: &Call) -> String {
    let how = match &call.end {
        End::Well if call.name == "bash" => "exit 0",
        End::Well => "ok",
        End::Badly(how) => how,
        End::Refused => return "did not run".to_owned(),
        End::Open => return "has no result".to_owned(),
    };
    match call.elapsed_ms {
        Some(ms) => format!("{how} after {}", elapsed(Duration::from_millis(ms))),
        None => how.to_owned(),
    }
}

fn value(Entry { time, what }: &Entry) -> Value {
    let time = time.map(|time| time.to_string());
    match what {
        What::User(text) => json!({"type": "user", "time": time, "text": text}),
        What::Own(text) => json!({"type": "autocode", "time": time, "text": text}),
        What::Step { step, text, usage: spent } => {
            json!({"type": "step", "time": time, "step": step, "text": text, "usage": spent.as_ref().map(usage)})
        }
        What::Call(call) => {
            let arguments: Value = serde_json::from_str(&call.arguments)
                .unwrap_or_else(|_| call.arguments.as_str().into());
            let (status, exit) = status(&call.end);
            json!({"type": "call", "time": time, "id": call.id, "name": call.name, "arguments": arguments,
                "status": status, "exit": exit, "elapsed_ms": call.elapsed_ms})
        }
        What::Note(Note { text, approval: Some(approval), .. }) => {
            json!({"type": "approval", "time": time, "id": approval.call, "name": approval.name,
                "asked": approval.asked, "cwd": approval.cwd, "why": approval.why,
                "allowed": approval.allowed, "answer": text, "rules": approval.rules})
        }
        What::Note(note) => json!({"type": note.kind, "time": time, "text": note.text}),
    }
}

/// As in the events of `-p --json`, `refused`, and `open` for a call without a result.
fn status(end: &End) -> (String, Option<i32>) {
    match end {
        End::Well => ("ok".to_owned(), None),
        End::Open => ("open".to_owned(), None),
        End::Refused => ("refused".to_owned(), None),
        End::Badly(how) => match how.strip_prefix("exit ").and_then(|code| code.parse().ok()) {
            Some(code) => ("exit".to_owned(), Some(code)),
            None => (how.replace(' ', "_"), None),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::render::ColorDepth;

    fn entry(time: &str, what: What) -> Entry {
        Entry { time: Some(time.parse().unwrap()), what }
    }

    fn call(name: &str, arguments: &str, end: End) -> What {
        let (id, arguments) = ("c1".to_owned(), arguments.to_owned());
        What::Call(Call { id, name: name.into(), arguments, end, elapsed_ms: Some(3_210) })
    }

    fn log() -> Log {
        let approval = Approval {
            call: "c1".into(),
            name: "bash".into(),
            asked: "rm -rf build".into(),
            cwd: "/p".into(),
            why: vec!["runs rm".into()],
            allowed: true,
            rules: vec!["rm -rf build".into()],
        };
        let mut allowed = Note::approval("yes, always in this session: rm -rf build", approval);
        allowed.time = None;
        let entries = vec![
            entry("2026-11-30T16:15:55Z", What::User("fix\u{1b}[31m it".into())),
            entry(
                "2026-11-30T16:15:57Z",
                What::Step { step: Some(1), text: Some("漢字 漢字 look".into()), usage: None },
            ),
            entry("2026-11-30T16:15:58Z", What::Note(allowed)),
            entry(
                "2026-11-30T23:59:59Z",
                call("bash", r#"{"command":"rm -rf build\nmake"}"#, End::Badly("exit 2".into())),
            ),
            entry("2026-12-01T00:00:01Z", call("a-tool-of-note", r#"{"a":1}"#, End::Well)),
            entry("2026-12-01T00:00:02Z", What::Note(Note::now("edit", "model a → b"))),
            Entry { time: None, what: call("bash", "{}", End::Open) },
        ];
        Log {
            id: "1".into(),
            title: "fix it".into(),
            entries,
            warnings: vec!["1 line lost".into()],
        }
    }

    fn drawn(width: u16) -> Vec<String> {
        let env = Env::at("/").with("TZ", "UTC");
        let options =
            Options { width, color: ColorDepth::None, dark: true, hyperlinks: false, ascii: false };
        let lines = List::new(&env, &options).lines(&log());
        lines.iter().map(|line| line.text().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_session_reads_as_a_list() {
        let expected = "\
session 1 · fix it

2026-11-30
16:15:55  you       fix␛[31m it
16:15:57  step 1    漢字 漢字 look
16:15:58  asked     rm -rf build
                    yes, always in this session: rm -rf build · runs rm · in /p
23:59:59  bash      rm -rf build
                    make
                    exit 2 after 3.2 s

2026-12-01
00:00:01  a-tool-of-note
                    {\"a\":1}
                    ok after 3.2 s
00:00:02  edit      model a → b
          bash      {}
                    has no result
! 1 line lost";
        assert_eq!(drawn(u16::MAX).join("\n"), expected);
    }

    #[test]
    fn no_row_is_wider_than_the_terminal() {
        for width in [1_u16, 20, 33, 60] {
            for row in drawn(width) {
                let cells = crate::render::width(&row);
                assert!(cells <= usize::from(width).max(LABEL + 10), "{width}: {row}");
            }
        }
    }

    #[test]
    fn what_is_long_is_cut_for_people_only() {
        let long = (1..=40).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n");
        let env = Env::at("/");
        let options = Options {
            width: 80,
            color: ColorDepth::None,
            dark: true,
            hyperlinks: false,
            ascii: true,
        };
        let one = Entry { time: None, what: What::User(long.clone()) };
        let rows = List::new(&env, &options).entry(&one);
        assert_eq!(rows.len(), ROWS + 1);
        assert!(rows[ROWS].text().ends_with("... +28 lines; --json has them"), "{:?}", rows[ROWS]);
        assert_eq!(value(&one)["text"], long);
    }

    #[test]
    fn programs_get_status_and_exit_code_apart() {
        let log = log();
        let values: Vec<Value> = log.entries.iter().map(value).collect();
        let told = |at: usize, keys: [&str; 3]| keys.map(|key| values[at][key].clone());
        assert_eq!(told(3, ["type", "status", "exit"]), [json!("call"), json!("exit"), json!(2)]);
        assert_eq!(values[3]["arguments"]["command"], "rm -rf build\nmake");
        assert_eq!(
            told(2, ["type", "allowed", "id"]),
            [json!("approval"), json!(true), json!("c1")]
        );
        assert_eq!(told(6, ["status", "exit", "time"]), [json!("open"), json!(null), json!(null)]);
    }
}
