//! What happened beside the conversation: edits of the agent's own files, the person's word on calls.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::time;

/// Something that happened beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// When.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// What kind of thing, one word: `edit`, `tools`, `held`, `trust`, `approval`; how a turn ended without an answer: `failed`,
    /// `stopped`.
    pub kind: String,
    /// What happened.
    pub text: String,
    /// Of an approval: what was asked and answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// A call that was asked about before it ran. A tool's own commands are nowhere else in the transcript.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    /// The id of the model's call that it was for.
    pub call: String,
    /// The tool that was to run; `bash` for a command.
    pub name: String,
    /// The command, or the tool's arguments.
    pub asked: String,
    /// Where it was to run.
    pub cwd: String,
    /// Why it was asked about.
    pub why: Vec<String>,
    /// Whether it ran.
    pub allowed: bool,
    /// Rules that the answer added, as a person reads them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
}

impl Note {
    /// Something that happens now.
    pub fn now(kind: &str, text: &str) -> Self {
        Self {
            time: Some(Timestamp::now()),
            kind: kind.to_owned(),
            text: text.to_owned(),
            approval: None,
        }
    }

    /// The person's word on a call, given now; `answer` in words.
    pub fn approval(answer: &str, approval: Approval) -> Self {
        Self { approval: Some(approval), ..Self::now("approval", answer) }
    }
}
