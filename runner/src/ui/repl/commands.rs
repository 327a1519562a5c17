//! The commands a person types after `/`: their names, what they are for, and what is meant by a line.

use std::fmt::Write as _;

use crate::config::Scope;
use crate::drift::Part;

/// A command as help and completion show it.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its name without the slash.
    pub(super) name: &'static str,
    /// What may follow it.
    pub(super) arguments: &'static str,
    /// What it does.
    pub(super) help: &'static str,
}

/// All of them, in the order of `/help`.
pub(super) const ENTRIES: &[Entry] = &[
    entry("help", "", "show this list"),
    entry("model", "[name]", "choose among the server's models"),
    entry("config", "[key [value]]", "show settings and their sources, or change one"),
    entry("tools", "", "what the agent can call"),
    entry("compact", "[what to keep]", "summarise the conversation now"),
    entry("new", "", "start a new session"),
    entry("resume", "[id]", "go on with an earlier session"),
    entry("sessions", "", "list this project's sessions"),
    entry("thinking", "", "show the model's last thinking whole"),
    entry("cost", "", "tokens and money spent in this session"),
    entry("copy", "", "copy the last answer to the clipboard"),
    entry("diff", "", "how this project's agent differs from the one that ships"),
    entry("reset", "[part]", "put config, prompts, tools or all back as they ship"),
    entry("trust", "", "look at what of .autocode/ is not obeyed yet, and decide"),
    entry("exit", "", "leave (also Ctrl-D)"),
];

const fn entry(name: &'static str, arguments: &'static str, help: &'static str) -> Entry {
    Entry { name, arguments, help }
}

/// What a line beginning with `/` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Command {
    Help,
    Model(String),
    Settings(Option<String>),
    /// Changes a setting; where to keep it, if the person said so. Without a value it is taken out.
    Change {
        key: String,
        value: Option<String>,
        place: Option<Place>,
    },
    Tools,
    Compact(String),
    New,
    Resume(String),
    Sessions,
    Thinking,
    Cost,
    Copy,
    Diff,
    Reset(Part),
    Trust,
    Exit,
}

/// Where a setting is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Until the session ends.
    Session,
    /// In a file.
    File(Scope),
}

/// The command in `line`; `None` if it is a message, an error if it is neither.
pub(super) fn parse(line: &str) -> Option<Result<Command, String>> {
    let rest = line.trim().strip_prefix('/')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    Some(command(name, arguments.trim()))
}

fn command(name: &str, arguments: &str) -> Result<Command, String> {
    Ok(match name {
        "help" => Command::Help,
        "model" => Command::Model(arguments.to_owned()),
        "config" => settings(arguments)?,
        "tools" => Command::Tools,
        "compact" => Command::Compact(arguments.to_owned()),
        "new" => Command::New,
        "resume" => Command::Resume(arguments.to_owned()),
        "sessions" => Command::Sessions,
        "thinking" => Command::Thinking,
        "cost" => Command::Cost,
        "copy" => Command::Copy,
        "diff" => Command::Diff,
        "reset" if arguments.is_empty() => Command::Reset(Part::All),
        "reset" => Command::Reset(Part::named(arguments).ok_or_else(|| {
            format!("/reset takes config, prompts, tools or all, not {arguments}")
        })?),
        "trust" => Command::Trust,
        "exit" | "quit" => Command::Exit,
        _ => {
            let near = ENTRIES
                .iter()
                .map(|entry| (strsim::jaro_winkler(entry.name, name), entry.name))
                .filter(|(likeness, _)| *likeness > 0.75)
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let near = near.map(|(_, name)| format!("; did you mean /{name}?"));
            return Err(format!(
                "there is no command /{name}{}",
                near.unwrap_or_else(|| "; /help lists them".to_owned())
            ));
        }
    })
}

/// `/config`, `/config KEY`, `/config [--session|--project|--user] KEY VALUE`, `/config unset KEY`.
fn settings(arguments: &str) -> Result<Command, String> {
    let (place, rest) = match arguments.split_once(char::is_whitespace) {
        Some((flag, rest)) if flag.starts_with("--") => (Some(place(flag)?), rest.trim()),
        _ if arguments.starts_with("--") => {
            return Err("say which setting: /config --project KEY VALUE".to_owned());
        }
        _ => (None, arguments),
    };
    let (key, value) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let value = value.trim();
    Ok(match (key, value) {
        ("", _) => Command::Settings(None),
        ("unset", "") => return Err("say which setting: /config unset KEY".to_owned()),
        ("unset", key) => Command::Change { key: key.to_owned(), value: None, place },
        (key, "") => Command::Settings(Some(key.to_owned())),
        (key, value) => {
            Command::Change { key: key.to_owned(), value: Some(value.to_owned()), place }
        }
    })
}

fn place(flag: &str) -> Result<Place, String> {
    match flag {
        "--session" => Ok(Place::Session),
        "--project" => Ok(Place::File(Scope::Project)),
        "--user" => Ok(Place::File(Scope::User)),
        _ => Err(format!("/config takes --session, --project or --user, not {flag}")),
    }
}

/// The text of `/help`.
pub(super) fn help() -> String {
    let mut text = String::new();
    for Entry { name, arguments, help } in ENTRIES {
        let call = format!("/{name} {arguments}");
        let _ = writeln!(text, "{call:<24} {help}");
    }
    let keys = [
        ("!command", "run it in the agent's shell; the model sees it with your next message"),
        ("@path", "name a file for the model to read; Tab completes"),
        ("Alt-Enter, or \\ Enter", "a new line"),
        ("Ctrl-R, Up", "earlier messages"),
        ("Ctrl-C", "interrupt; twice leaves"),
    ];
    text.push('\n');
    for (key, help) in keys {
        let _ = writeln!(text, "{key:<24} {help}");
    }
    text.push('\n');
    text.push_str("While it works, just type: Enter queues your message for the next step, Esc gives it back.");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_command() {
        assert_eq!(parse("/etc/hosts is wrong"), None);
        assert_eq!(parse("hello /help"), None);
        assert_eq!(parse("/"), None);
    }

    #[test]
    fn a_slip_is_told_with_the_nearest_name() {
        assert_eq!(
            parse("/modle x").unwrap_or(Ok(Command::Exit)),
            Err("there is no command /modle; did you mean /model?".to_owned())
        );
    }

    #[test]
    fn settings_are_shown_changed_and_taken_out() {
        let parsed = |line| parse(line).and_then(Result::ok);
        assert_eq!(parsed("/config"), Some(Command::Settings(None)));
        assert_eq!(parsed("/config model"), Some(Command::Settings(Some("model".into()))));
        assert_eq!(
            parsed("/config --user model a b"),
            Some(Command::Change {
                key: "model".into(),
                value: Some("a b".into()),
                place: Some(Place::File(Scope::User)),
            })
        );
        assert_eq!(
            parsed("/config unset model"),
            Some(Command::Change { key: "model".into(), value: None, place: None })
        );
        assert!(parse("/config --global model x").is_some_and(|r| r.is_err()));
    }

    #[test]
    fn every_listed_command_is_one() {
        for entry in ENTRIES {
            assert!(command(entry.name, "").is_ok(), "{}", entry.name);
        }
    }
}
