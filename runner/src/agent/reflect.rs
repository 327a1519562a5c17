//! `reflect`: after a step that did by bash what a tool would do better, one line says so.
//!
//! The mechanism is that of Live-SWE-agent, which asks after every step whether a tool is worth making; here there has
//! to be a reason, and not soon after the last one.

use std::collections::HashMap;

use serde_json::Value;

use super::Agent;
use crate::approve;
use crate::model::message::ToolCall;

/// Steps in which nothing is said after a reminder.
const PAUSE: u32 = 4;

/// The same programs in a row, so often, are a habit.
const HABIT: u32 = 3;

/// Fewer programs in a row are no trouble to type.
const LONG: usize = 3;

/// Lines of a program inside a command that would be worth keeping.
const PROGRAM: usize = 4;

/// What programs inside commands are written in.
const INTERPRETERS: [&str; 9] =
    ["python", "python3", "node", "deno", "bun", "perl", "ruby", "php", "lua"];

/// What was run so far.
#[derive(Debug, Default)]
pub(super) struct Reflection {
    habits: HashMap<String, u32>,
    silent: u32,
}

impl Reflection {
    /// The reminder after a step that ran these commands, if there is reason for one.
    fn after<'a>(&mut self, commands: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let mut reason = None;
        // What makes or mends tools is no reason to make one.
        for command in commands.into_iter().filter(|command| !command.contains(".autocode")) {
            let habit = self.habit(command);
            reason = reason.or(program(command)).or(habit);
        }
        if self.silent > 0 {
            self.silent -= 1;
            return None;
        }
        if reason.is_some() {
            self.silent = PAUSE;
        }
        reason
    }

    fn habit(&mut self, command: &str) -> Option<String> {
        let programs = approve::programs(command).filter(|programs| programs.len() >= LONG)?;
        let shape = programs.join(", ");
        let times = self.habits.entry(shape.clone()).or_default();
        *times += 1;
        (*times == HABIT).then(|| {
            format!(
                "[autocode: commands of {shape} ran {HABIT} times now; a tool of your own would do it in one call]"
            )
        })
    }
}

/// A program written into a command.
fn program(command: &str) -> Option<String> {
    let first = command.lines().find(|line| INTERPRETERS.iter().any(|name| runs(line, name)))?;
    let language = INTERPRETERS.iter().find(|name| runs(first, name))?;
    let inside = ["<<", " -c", " -e"].iter().any(|way| first.contains(way));
    let lines = command.lines().skip_while(|line| *line != first).count();
    (inside && lines > PROGRAM).then(|| {
        format!(
            "[autocode: that was a program in {language}, and it is gone now; if its like is needed again, make it a tool of your own]"
        )
    })
}

/// Whether a line has this word where a program's name may stand.
fn runs(line: &str, name: &str) -> bool {
    let mut words = line.split([' ', '\t', '|', ';', '&', '(']).filter(|word| !word.is_empty());
    words.any(|word| word.rsplit('/').next() == Some(name))
}

impl Agent {
    /// What the model is reminded of after these calls, where the settings want it.
    pub(super) fn reflect(&mut self, calls: &[ToolCall]) -> Option<String> {
        if !self.live.settings().reflect || !self.live.offers_tools() {
            return None;
        }
        let commands: Vec<String> = calls.iter().filter_map(command).collect();
        self.reflection.after(commands.iter().map(String::as_str))
    }
}

fn command(call: &ToolCall) -> Option<String> {
    let arguments: Value = serde_json::from_str(&call.function.arguments).ok()?;
    let is_bash = call.function.name == "bash";
    is_bash.then(|| arguments["command"].as_str().map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "python3 - <<'E'\nimport json\na = 1\nb = 2\nprint(a + b)\nE";

    #[test]
    fn a_program_in_a_command_is_a_reason() {
        let mut reflection = Reflection::default();
        let said = reflection.after([SCRIPT]);
        assert!(said.is_some_and(|line| line.contains("a program in python3")));
        for quiet in [
            "python3 tests.py",
            "python3 -c 'print(1)'",
            "cat > a.py <<'E'\nimport a\nb = 1\nc = 2\nd = 3\nE",
            "ls -la",
        ] {
            assert_eq!(Reflection::default().after([quiet]), None, "{quiet}");
        }
        let own = format!("{SCRIPT} > .autocode/src/x/tool.js");
        assert_eq!(Reflection::default().after([own.as_str()]), None, "a tool in the making");
    }

    #[test]
    fn the_same_programs_three_times_are_a_habit() {
        let mut reflection = Reflection::default();
        let count = |word: &str| format!("grep -r {word} src | sort | uniq -c | sort -rn | head");
        assert_eq!(reflection.after([count("a").as_str()]), None);
        assert_eq!(reflection.after(["ls src", count("b").as_str()]), None);
        let said = reflection.after([count("c").as_str()]);
        assert!(said.is_some_and(|line| line.contains("grep, sort, uniq, sort, head")));
        assert_eq!(reflection.after([count("d").as_str()]), None, "said once");
    }

    #[test]
    fn reminders_are_few() {
        let mut reflection = Reflection::default();
        let said = (0..11).filter(|_| reflection.after([SCRIPT]).is_some()).count();
        assert_eq!(said, 3, "one, then a pause");
    }
}
