//! The settings in force: every layer applied, every value checked, every `$VAR` expanded.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};

/// What a session runs with. Defaults are those of the Python autocode.
#[derive(Clone, PartialEq)]
pub struct Settings {
    /// Endpoint, without `/chat/completions` and without a trailing slash.
    pub base_url: String,
    /// Bearer token, expanded; empty: no `Authorization` header.
    pub api_key: String,
    /// Model name; empty: none configured.
    pub model: String,
    /// Tokens the model can read and write at once.
    pub context_window: u64,
    /// Compact when this share of the window is used, 0 to 1.
    pub compact_at: f64,
    /// Characters of one tool result that go to the model.
    pub output_limit: usize,
    /// Longest silence of the server.
    pub timeout: Duration,
    /// Sampling temperature, if set.
    pub temperature: Option<f64>,
    /// Longest reply in tokens, if set.
    pub max_tokens: Option<u64>,
    /// Send thinking text back to the model.
    pub keep_reasoning: bool,
    /// Extra HTTP headers, expanded.
    pub headers: BTreeMap<String, String>,
    /// Merged into every request body; `null` removes a key.
    pub extra_body: Map<String, Value>,
    /// Run tool calls that the model writes as text.
    pub text_tool_calls: bool,
    /// What is asked about before it runs.
    pub approve: Approve,
    /// Remind the model that it may make a tool of what it does by bash.
    pub reflect: bool,
}

/// When the person is asked before a command or tool runs; the later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Approve {
    /// Nothing is asked.
    #[default]
    Never,
    /// What may change something is asked.
    Writes,
    /// Everything is asked.
    Always,
}

impl Approve {
    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Never, Self::Writes, Self::Always].into_iter().find(|a| a.name() == name)
    }

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Writes => "writes",
            Self::Always => "always",
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            api_key: String::new(),
            model: String::new(),
            context_window: 128_000,
            compact_at: 0.8,
            output_limit: 30_000,
            timeout: Duration::from_secs(600),
            temperature: None,
            max_tokens: None,
            keep_reasoning: false,
            headers: BTreeMap::new(),
            extra_body: Map::new(),
            text_tool_calls: false,
            approve: Approve::Never,
            reflect: false,
        }
    }
}
