//! What passes between the wizard and those who answer it: the person, and the server.

use serde_json::Value;

/// Where a model is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// As in settings.
    pub base_url: String,
    /// The key itself; empty: none.
    pub api_key: String,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server wants another key; its words.
    Key(String),
    /// Anything else, one line.
    Other(String),
}

/// What has to happen next.
#[derive(Clone, Debug, PartialEq)]
pub enum Need {
    /// The person answers; then [`super::wizard::Wizard::answer`].
    Answer(Question),
    /// The server's models; then [`super::wizard::Wizard::models`].
    Models(Endpoint),
    /// One short call; then [`super::wizard::Wizard::tested`].
    Test(Endpoint, String),
    /// These settings are saved for the user, those without a value taken out, and setup is done.
    Save(Vec<(&'static str, Option<Value>)>),
}

/// What the person is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Lines to show above it: what went before, and what there is to choose from.
    pub above: Vec<Line>,
    /// The question.
    pub label: String,
    /// What an empty answer means; shown in brackets.
    pub default: String,
    /// Whether the answer is a secret.
    pub hidden: bool,
}

/// A line to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A numbered choice: name, details, and why it is at hand.
    Choice {
        /// From 1.
        number: usize,
        /// What it is.
        name: String,
        /// In small print.
        detail: String,
        /// Set off.
        mark: String,
    },
    /// Something to know.
    Note(String),
    /// Something that went well.
    Good(String),
    /// Something that went wrong.
    Bad(String),
}
