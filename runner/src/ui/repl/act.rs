//! Commands carried out.

use super::clipboard;
use super::commands::{Command, Place, help};
use super::desk::{Choice, Desk};
use super::listing;
use crate::agent::event::{Input, Level};
use crate::config::Key;
use crate::drift::{self, Drift, Part};
use crate::exit::Exit;
use crate::render;
use crate::ui::blocks::{spent_tokens, tokens};

/// What a command leads to.
#[derive(Debug, PartialEq)]
pub(super) enum Then {
    /// It is done, or the agent does it.
    Nothing,
    /// The person is to choose.
    Choose(Choice),
    /// The end.
    Leave(Exit),
}

impl Desk {
    /// Does what the command says.
    pub(super) fn command(&mut self, command: Command) -> Then {
        match command {
            Command::Help => self.tell(&help()),
            Command::Model(name) => {
                self.wanted_model = name;
                self.send(Input::Models, "asking for the server's models");
            }
            Command::Settings(key) => self.send(Input::Settings(key), "reading settings"),
            Command::Change { key, value, place } => return self.change(&key, value, place),
            Command::Tools => self.send(Input::Tools, "looking at the tools"),
            Command::Compact(what) => {
                self.send(Input::Compact(what), "summarising the conversation")
            }
            Command::New => self.send(Input::New, "starting"),
            Command::Resume(id) if id.is_empty() => return Then::Choose(Choice::Session),
            Command::Resume(id) => self.send(Input::Resume(id), "reading the session"),
            Command::Sessions => self.sessions(),
            Command::Thinking if self.transcript.last_thinking().is_empty() => {
                self.tell("there was no thinking to show");
            }
            Command::Thinking => self.transcript.show_thinking(),
            Command::Cost => self.cost(),
            Command::Copy => self.copy(),
            Command::Diff => self.diff(),
            Command::Reset(part) => return Then::Choose(Choice::Reset(part)),
            Command::Trust => self.send(Input::Trust, "looking at the agent's files"),
            Command::Exit => return Then::Leave(Exit::Done),
        }
        Then::Nothing
    }

    fn tell(&mut self, text: &str) {
        self.transcript.note(Level::Info, text);
    }

    fn change(&mut self, name: &str, value: Option<String>, place: Option<Place>) -> Then {
        let value = match (Key::named(name), value) {
            (Some(key), Some(text)) => {
                let value = key.typed(&text);
                if let Err(why) = key.check(&value) {
                    self.transcript.note(Level::Error, &why);
                    return Then::Nothing;
                }
                Some(value)
            }
            // The agent says that there is no such setting.
            (None, Some(text)) => Some(text.into()),
            (_, None) => None,
        };
        let settings = vec![(name.to_owned(), value)];
        match place {
            Some(place) => self.keep(settings, place),
            None if Key::named(name).is_none() => self.keep(settings, Place::Session),
            None => return Then::Choose(Choice::Place(settings)),
        }
        Then::Nothing
    }

    fn sessions(&mut self) {
        let rows = listing::recent(&self.project);
        if rows.is_empty() {
            return self.tell("this project has no sessions yet");
        }
        let wide = rows.iter().map(|(_, item)| render::width(&item.label)).max().unwrap_or(0);
        let lines = rows.iter().map(|(_, item)| {
            let gap = " ".repeat(wide - render::width(&item.label));
            format!("{}{gap}  {}", item.label, item.detail)
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        self.tell(&text);
    }

    fn cost(&mut self) {
        let dot = self.transcript.blocks().marks.dot;
        let (context, window) = self.context();
        let mut parts = vec![
            spent_tokens(&self.spent),
            format!("{} of {} in context ({})", tokens(context), tokens(window), self.meter()),
        ];
        if self.spent.reasoning > 0 {
            parts.insert(1, format!("{} of them thinking", tokens(self.spent.reasoning)));
        }
        if let Some(cost) = self.spent.cost {
            parts.push(format!("${cost:.4}"));
        }
        let text = parts.join(dot);
        self.tell(&text);
    }

    fn copy(&mut self) {
        let answer = self.transcript.last_answer();
        if answer.is_empty() {
            return self.tell("there is no answer to copy yet");
        }
        let text = match clipboard::copy(answer, &self.env) {
            Ok(how) => format!("the last answer is on the clipboard ({how})"),
            Err(error) => {
                let text = format!("the clipboard cannot be reached: {error}");
                return self.transcript.note(Level::Error, &text);
            }
        };
        self.tell(&text);
    }

    fn diff(&mut self) {
        let drift = Drift::of(&self.project);
        if drift.is_none() {
            return self.tell("this project's agent is as it ships");
        }
        let options = self.transcript.options();
        let rows = render::highlight(drift.text(false).trim_end(), "diff", &options);
        self.transcript.block(rows);
    }

    /// Puts a part back as it ships.
    pub(super) fn reset(&mut self, part: Part) {
        match drift::reset(&self.project, &self.env, part) {
            Ok(lines) => self.tell(&lines.join("\n")),
            Err(why) => self.transcript.note(Level::Error, &why),
        }
    }
}
