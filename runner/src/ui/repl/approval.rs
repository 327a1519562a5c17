//! The question before a command or tool runs: what can be answered, and what each answer means.

use crate::agent::event::Event;
use crate::approve::{Answer, Offer, Rule};

use super::picker::Item;

/// A call that waits for the person's word.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    pub(super) id: String,
    name: String,
    offer: Offer,
}

/// What a row of the question stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Answer(Answer),
    /// No, and the person goes on to say what instead.
    Words,
}

impl Question {
    /// The question of an [`Event::Approval`].
    pub(super) fn of(event: &Event) -> Option<Self> {
        let Event::Approval { id, name, offer, .. } = event else { return None };
        Some(Self { id: id.clone(), name: name.clone(), offer: offer.clone() })
    }

    /// `Run this? It runs rm.`
    pub(super) fn title(&self) -> String {
        let what = if self.name == "bash" { "this" } else { &self.name };
        format!("Run {what}? It {}", self.offer.why.join(", "))
    }

    /// The rows to choose from, the likeliest first.
    pub(super) fn rows(&self) -> Vec<(Item, Reply)> {
        let row =
            |label: &str, detail: String, reply| (Item { label: label.into(), detail }, reply);
        let mut rows = vec![
            row("yes", String::new(), Reply::Answer(Answer::Yes)),
            row("no", String::new(), Reply::Answer(Answer::No(None))),
            row("no, and say what to do instead", String::new(), Reply::Words),
        ];
        for rules in [&self.offer.exactly, &self.offer.broadly] {
            if rules.is_empty() {
                continue;
            }
            let shown = rules.iter().map(Rule::shown).collect::<Vec<_>>().join(", ");
            let (session, project) =
                (Answer::Session(rules.clone()), Answer::Project(rules.clone()));
            rows.push(row("always in this session", shown.clone(), Reply::Answer(session)));
            rows.push(row("always in this project", shown, Reply::Answer(project)));
        }
        rows
    }

    /// What a typed line says: `y`, `n`, or what to do instead.
    pub(super) fn typed(line: &str) -> Answer {
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => Answer::Yes,
            "" | "n" | "no" => Answer::No(None),
            _ => Answer::No(Some(line.trim().to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn question(offer: Offer) -> Question {
        let event = Event::Approval {
            id: "a".into(),
            name: "bash".into(),
            arguments: "{}".into(),
            cwd: PathBuf::from("/"),
            offer,
        };
        #[allow(clippy::unwrap_used)]
        Question::of(&event).unwrap()
    }

    #[test]
    fn always_is_offered_only_where_there_is_a_rule_for_it() {
        let why = vec!["runs rm".to_owned()];
        let plain = question(Offer { why: why.clone(), ..Offer::default() });
        assert_eq!(plain.title(), "Run this? It runs rm");
        assert_eq!(plain.rows().len(), 3);
        let exactly = vec![Rule::Tool("add".into())];
        assert_eq!(question(Offer { why, exactly, ..Offer::default() }).rows().len(), 5);
    }

    #[test]
    fn silence_is_a_no_and_other_words_go_to_the_model() {
        assert_eq!(Question::typed(""), Answer::No(None));
        assert_eq!(Question::typed("Y"), Answer::Yes);
        assert_eq!(Question::typed("use git rm"), Answer::No(Some("use git rm".into())));
    }
}
