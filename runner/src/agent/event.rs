//! The one seam between the agent and its front ends: events out, inputs in.
//!
//! Every front end (REPL, `-p`, `--json`, a later editor protocol) consumes the same stream; the agent never prints
//! and never reads a terminal.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::approve::{Answer, Offer};
use crate::config::Scope;
use crate::model::ModelInfo;
use crate::model::message::{Assistant, Usage};
use crate::tools::{ToolChange, ToolResult};
use crate::trust::Asked;

/// The id that answers [`Event::Brought`]; no call's id is asked about at the same time.
pub const BROUGHT: &str = "brought";

/// What the agent tells its front end, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// First event of a session, and again after `/new` or `/resume`.
    Session {
        /// Id to resume by.
        id: String,
        /// Messages already in it.
        messages: usize,
        /// Model in force.
        model: String,
        /// Tokens in context, estimated.
        context: u64,
        /// The model's window.
        window: u64,
        /// The last words on both sides, if it has any.
        last: Option<Exchange>,
    },
    /// Nothing is left to do: the agent waits for an input.
    Idle,
    /// A user message entered the conversation (a prompt, or a steering message between steps).
    User(String),
    /// A model call begins; steps count from 1 within a turn.
    StepStarted {
        /// Number within the turn.
        step: u32,
    },
    /// More of the answer.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// The model began to write a call of this tool.
    ToolCallStarted(String),
    /// The model call failed and is repeated; text shown since `StepStarted` is void.
    Retry {
        /// One line.
        reason: String,
        /// Until the next attempt; zero where it is not waited for, but something is changed first.
        wait: Duration,
        /// The attempt that failed, from 1.
        attempt: u32,
    },
    /// The step's reply is whole and in the transcript.
    Reply(Assistant),
    /// A call waits for the person's word: an [`Input::Approval`] with its id.
    Approval {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments, JSON text.
        arguments: String,
        /// Where it would run.
        cwd: PathBuf,
        /// Why it is asked about, and which rules would let its like pass.
        offer: Offer,
    },
    /// Files that the agent would obey came from elsewhere; they wait for the person's word, an [`Input::Approval`]
    /// with the id [`BROUGHT`].
    Brought(Asked),
    /// A call runs.
    ToolStarted {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// Its arguments, JSON text.
        arguments: String,
        /// Where it runs.
        cwd: PathBuf,
    },
    /// Output of a running call.
    ToolProgress {
        /// The call's id.
        id: String,
        /// Raw text.
        text: String,
    },
    /// A call ended and its result is in the transcript.
    ToolFinished {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// What it gave.
        result: ToolResult,
    },
    /// Tools on disk changed since the last step.
    Tools(Vec<ToolChange>),
    /// Something the person should know, one line or a few.
    Note {
        /// How loud.
        level: Level,
        /// The words.
        text: String,
    },
    /// Context and token figures after something was spent: by a step, a summary, a tool that asked a model.
    Usage {
        /// What it was, if the server told; these add up to what a turn costs.
        step: Option<Usage>,
        /// Sums of the session.
        session: Usage,
        /// Tokens now in context (measured or estimated).
        context: u64,
        /// The window.
        window: u64,
    },
    /// Compaction runs; `Compacted` follows, or a note that says why not.
    Compacting,
    /// Compaction is done.
    Compacted {
        /// Tokens before.
        before: u64,
        /// Tokens after, estimated.
        after: u64,
    },
    /// The turn is over; the agent waits for the next message.
    TurnFinished(TurnEnd),
    /// What the endpoint offers, or one line that says why that is not known.
    Models(Result<Vec<ModelInfo>, String>),
}

/// What a person said and what they were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The person's message.
    pub message: String,
    /// The answer, as far as it came.
    pub answer: String,
}

/// How loud a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is not as it should be; work goes on.
    Warning,
    /// Something failed.
    Error,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// With this answer.
    Answered(String),
    /// It failed; one line that says what and what to do.
    Failed(String),
    /// The person interrupted.
    Interrupted,
}

/// What a front end tells the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A message: starts a turn, or, while one runs, enters before its next step.
    Message(String),
    /// The answer to an [`Event::Approval`] or an [`Event::Brought`].
    Approval {
        /// The call's id.
        id: String,
        /// What the person says.
        answer: Answer,
    },
    /// Takes a waiting message back, if it has not entered yet.
    Unqueue(String),
    /// Between turns: summarise the conversation now; the text adds to the summary's instructions.
    Compact(String),
    /// Between turns: begin a new session.
    New,
    /// Between turns: go on with the session of this id.
    Resume(String),
    /// Between turns: a setting for this session only, as JSON; `None` takes it back.
    Set(String, Option<Value>),
    /// Between turns: a setting kept in a file; `None` takes it out of there.
    Save(String, Option<Value>, Scope),
    /// Between turns: the person's own command in the agent's shell; the model sees it with the next message.
    Shell(String),
    /// Between turns: tell the settings and their sources, or one of them, as a note.
    Settings(Option<String>),
    /// Between turns: tell the tools, as a note.
    Tools,
    /// Between turns: ask about what is not obeyed yet.
    Trust,
    /// Between turns: ask the endpoint for its models.
    Models,
}
