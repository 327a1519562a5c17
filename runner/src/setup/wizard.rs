//! Setup as a state machine: what is asked next, and what an answer leads to. Knows no terminal and no network.

use serde_json::Value;

use super::models::{Listed, for_chat};
use super::providers::{Mark, Provider};
use super::question::{Endpoint, Failure, Line, Need, Question};
use crate::config::Approve;
use crate::env::Env;

/// Models that are shown at once.
const SHOWN: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Provider,
    Url,
    Key,
    Models,
    Model,
    Window,
    Approve,
    Test,
    SaveAnyway,
    Done,
}

/// Setup under way.
pub struct Wizard<'a> {
    env: &'a Env,
    providers: Vec<Provider>,
    marks: Vec<Option<Mark>>,
    step: Step,
    lines: Vec<Line>,
    /// What an empty answer to the last question means.
    default: String,
    provider: Provider,
    /// As it is saved: a `$VAR` where one holds it.
    stored_key: String,
    endpoint: Endpoint,
    models: Vec<Listed>,
    shown: Vec<Listed>,
    model: String,
    window: Option<u64>,
    approve: Approve,
}

impl<'a> Wizard<'a> {
    /// Begins with the choice of a provider.
    pub fn new(env: &'a Env, providers: Vec<Provider>, marks: Vec<Option<Mark>>) -> Self {
        let provider = Provider { name: String::new(), base_url: String::new(), key: None };
        Self {
            env,
            providers,
            marks,
            step: Step::Provider,
            lines: Vec::new(),
            default: String::new(),
            provider,
            stored_key: String::new(),
            endpoint: Endpoint::default(),
            models: Vec::new(),
            shown: Vec::new(),
            model: String::new(),
            window: None,
            approve: Approve::Never,
        }
    }

    /// What has to happen next. Notes are given once.
    pub fn need(&mut self) -> Need {
        match self.step {
            Step::Provider => self.ask_provider(),
            Step::Url => self.ask("Base URL (http://HOST:PORT/v1)", ""),
            Step::Key => self.ask_key(),
            Step::Models => Need::Models(self.endpoint.clone()),
            Step::Model => self.ask_model(),
            Step::Window => {
                if self.provider.name == "Ollama" {
                    let note = "Ollama gives a model little context unless it is started with \
                                OLLAMA_CONTEXT_LENGTH; enter the same number here";
                    self.lines.push(Line::Note(note.to_owned()));
                }
                let usual = if self.provider.is_local() { "32768" } else { "128000" };
                self.ask("Context window in tokens", usual)
            }
            Step::Approve => {
                self.lines.push(Line::Note(
                    "Ask before the agent runs a command? never; writes: if it may change something; always".to_owned(),
                ));
                self.ask("Ask (never, writes, always)", Approve::Never.name())
            }
            Step::Test => Need::Test(self.endpoint.clone(), self.model.clone()),
            Step::SaveAnyway => self.ask("Save it anyway? (y/n)", "n"),
            Step::Done => Need::Save(self.settings()),
        }
    }

    /// Takes the person's answer.
    pub fn answer(&mut self, answer: &str) {
        let default = std::mem::take(&mut self.default);
        let answer = Some(answer.trim()).filter(|answer| !answer.is_empty()).unwrap_or(&default);
        match self.step {
            Step::Provider => self.choose_provider(answer),
            Step::Url => self.choose_url(answer),
            Step::Key => self.choose_key(answer),
            Step::Model => self.choose_model(answer),
            Step::Window => match tokens(answer) {
                Some(window) => self.then_approve(window),
                None => self.bad("a number of tokens, 1024 or more, such as 32768 or 128k"),
            },
            Step::Approve => match Approve::named(answer) {
                Some(approve) => {
                    self.approve = approve;
                    self.step = Step::Test;
                }
                None => self.bad("one of never, writes and always"),
            },
            Step::SaveAnyway => match answer.to_lowercase().as_str() {
                "y" | "yes" => self.step = Step::Done,
                "n" | "no" => self.step = Step::Provider,
                _ => self.bad("y or n"),
            },
            Step::Models | Step::Test | Step::Done => {}
        }
    }

    /// Takes the server's models.
    pub fn models(&mut self, models: Result<Vec<Listed>, Failure>) {
        match models {
            Ok(models) => {
                self.models = for_chat(models);
                let count = self.models.len();
                if count > 0 {
                    let models = if count == 1 { "model" } else { "models" };
                    self.lines.push(Line::Good(format!("{count} {models}")));
                }
                self.then_model();
            }
            Err(Failure::Key(words)) => self.wrong_key(&words),
            Err(Failure::Other(words)) => {
                self.bad(&format!("no list of models: {words}"));
                self.models.clear();
                self.then_model();
            }
        }
    }

    /// Takes the outcome of the test call.
    pub fn tested(&mut self, reply: Result<String, Failure>) {
        match reply {
            Ok(reply) => {
                let reply: String = reply.split_whitespace().collect::<Vec<_>>().join(" ");
                let reply: String = reply.chars().take(60).collect();
                self.lines.push(Line::Good(format!("{} replies: {reply}", self.model)));
                self.step = Step::Done;
            }
            Err(Failure::Key(words)) => self.wrong_key(&words),
            Err(Failure::Other(words)) => {
                self.bad(&words);
                self.step = Step::SaveAnyway;
            }
        }
    }

    /// Notes that nothing has shown yet.
    pub fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    fn ask(&mut self, label: &str, default: &str) -> Need {
        default.clone_into(&mut self.default);
        Need::Answer(Question {
            above: self.take_lines(),
            label: label.to_owned(),
            default: default.to_owned(),
            hidden: false,
        })
    }

    fn bad(&mut self, words: &str) {
        self.lines.push(Line::Bad(words.to_owned()));
    }

    fn ask_provider(&mut self) -> Need {
        for (at, (provider, mark)) in self.providers.iter().zip(&self.marks).enumerate() {
            let mark = match mark {
                Some(Mark::Key(name)) => format!("${name} is set"),
                Some(Mark::Running) => "running".to_owned(),
                None => String::new(),
            };
            self.lines.push(Line::Choice {
                number: at + 1,
                name: provider.name.clone(),
                detail: provider.host().to_owned(),
                mark,
            });
        }
        let first = self.marks.iter().position(Option::is_some).unwrap_or(0) + 1;
        self.ask("Provider", &first.to_string())
    }

    fn choose_provider(&mut self, answer: &str) {
        let by_number =
            answer.parse().ok().and_then(|n: usize| self.providers.get(n.checked_sub(1)?));
        let by_name =
            || self.providers.iter().find(|p| p.name.to_lowercase() == answer.to_lowercase());
        let Some(provider) = by_number.or_else(by_name).cloned() else {
            return self.bad(&format!("a number from 1 to {}", self.providers.len()));
        };
        self.provider = provider;
        self.stored_key.clear();
        self.endpoint =
            Endpoint { base_url: self.provider.base_url.clone(), api_key: String::new() };
        self.then_key();
    }

    fn choose_url(&mut self, answer: &str) {
        let checked = crate::config::Key::named("base_url").map(|key| key.check(&answer.into()));
        match checked {
            Some(Ok(())) => {
                self.provider.base_url = answer.trim_end_matches('/').to_owned();
                self.endpoint.base_url.clone_from(&self.provider.base_url);
                self.then_key();
            }
            _ => self.bad("a URL that starts with http:// or https://"),
        }
    }

    /// A key in the environment is used unasked.
    fn then_key(&mut self) {
        if self.endpoint.base_url.is_empty() {
            self.step = Step::Url;
            return;
        }
        self.step = Step::Key;
        if let Some((name, key)) =
            self.provider.key.as_ref().and_then(|name| Some((name, self.env.get(name)?)))
        {
            self.lines.push(Line::Note(format!("using ${name}; only its name is saved")));
            self.stored_key = format!("${name}");
            key.clone_into(&mut self.endpoint.api_key);
            self.step = Step::Models;
        }
    }

    fn ask_key(&mut self) -> Need {
        let label = match &self.provider.key {
            Some(name) => format!("API key, not shown (or $VARIABLE; usually in {name})"),
            None => "API key, not shown (or $VARIABLE; Enter for none)".to_owned(),
        };
        self.default.clear();
        Need::Answer(Question {
            above: self.take_lines(),
            label,
            default: String::new(),
            hidden: true,
        })
    }

    fn choose_key(&mut self, answer: &str) {
        if answer.is_empty() && self.provider.key.is_some() {
            return self.bad("this provider wants a key");
        }
        if let Some(name) = answer.strip_prefix('$').map(|name| name.trim_matches(['{', '}'])) {
            let Some(key) = self.env.get(name) else {
                return self.bad(&format!("${name} is not set in the environment"));
            };
            key.clone_into(&mut self.endpoint.api_key);
            self.stored_key = format!("${name}");
        } else {
            answer.clone_into(&mut self.endpoint.api_key);
            self.stored_key = self.reference(answer);
        }
        self.step = Step::Models;
    }

    /// How a key is saved: by the variable that holds it, or with its dollar signs doubled.
    fn reference(&self, key: &str) -> String {
        const TOO_SHORT: usize = 8;
        let holder = self.env.vars().find(|(_, value)| *value == key && key.len() >= TOO_SHORT);
        holder.map_or_else(|| key.replace('$', "$$"), |(name, _)| format!("${name}"))
    }

    fn wrong_key(&mut self, words: &str) {
        let which =
            if self.stored_key.is_empty() { "a key is needed" } else { "the key was refused" };
        self.bad(&format!("{which}: {words}"));
        self.stored_key.clear();
        self.endpoint.api_key.clear();
        self.step = Step::Key;
    }

    fn then_model(&mut self) {
        self.shown = self.models.clone();
        self.step = Step::Model;
    }

    fn ask_model(&mut self) -> Need {
        if self.models.is_empty() {
            return self.ask("Model name", "");
        }
        for (at, model) in self.shown.iter().take(SHOWN).enumerate() {
            let detail =
                model.window.map(|window| format!("{}k", window / 1000)).unwrap_or_default();
            self.lines.push(Line::Choice {
                number: at + 1,
                name: model.id.clone(),
                detail,
                mark: String::new(),
            });
        }
        if self.shown.len() > SHOWN {
            let more = self.shown.len() - SHOWN;
            self.lines.push(Line::Note(format!("… {more} more; type part of a name to see fewer")));
        }
        let first = self.shown.first().map(|model| model.id.clone()).unwrap_or_default();
        self.ask("Model (number, name, or part of a name)", &first)
    }

    fn choose_model(&mut self, answer: &str) {
        if answer.is_empty() {
            return self.bad("a model's name");
        }
        let by_number = answer
            .parse()
            .ok()
            .and_then(|n: usize| self.shown.iter().take(SHOWN).nth(n.checked_sub(1)?));
        let exact = || self.models.iter().find(|model| model.id == answer);
        if let Some(model) = by_number.or_else(exact).cloned() {
            return self.then_window(model);
        }
        let part = answer.to_lowercase();
        let matches: Vec<Listed> = self
            .models
            .iter()
            .filter(|model| model.id.to_lowercase().contains(&part))
            .cloned()
            .collect();
        match matches.len() {
            0 => {
                if !self.models.is_empty() {
                    self.lines.push(Line::Note(format!(
                        "{answer} is not in the list; the test will tell"
                    )));
                }
                self.then_window(Listed { id: answer.to_owned(), window: None });
            }
            1 => self.then_window(matches[0].clone()),
            _ => self.shown = matches,
        }
    }

    fn then_window(&mut self, model: Listed) {
        self.model = model.id;
        self.step = Step::Window;
        if let Some(window) = model.window {
            self.lines.push(Line::Note(format!(
                "{}: {window} tokens of context, says the server",
                self.model
            )));
            self.then_approve(window);
        }
    }

    fn then_approve(&mut self, window: u64) {
        self.window = Some(window);
        self.step = Step::Approve;
    }

    /// What is the default anyway is taken out of the file.
    fn settings(&self) -> Vec<(&'static str, Option<Value>)> {
        let approve = (self.approve != Approve::default()).then(|| self.approve.name().into());
        let mut settings: Vec<(&'static str, Option<Value>)> = vec![
            ("base_url", Some(self.endpoint.base_url.as_str().into())),
            ("api_key", Some(self.stored_key.as_str().into())),
            ("model", Some(self.model.as_str().into())),
            ("approve", approve),
        ];
        settings.extend(self.window.map(|window| ("context_window", Some(window.into()))));
        settings
    }
}

/// `32768`, `128k`, `1M`.
fn tokens(text: &str) -> Option<u64> {
    let text = text.replace(['_', ',', ' '], "").to_lowercase();
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1000),
        None => text.strip_suffix('m').map_or((text.as_str(), 1), |digits| (digits, 1_000_000)),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|tokens| *tokens >= 1024)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
