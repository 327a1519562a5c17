//! One chat completion: request bytes, HTTP, SSE, deltas to a message, error classes, retries.
//!
//! Invariant: a reply is either whole or an error; nothing half is ever returned as a message.

mod assemble;
mod body;
mod call_deltas;
mod calls;
mod classify;
mod client;
mod fault;
mod http;
pub mod message;
mod models;
mod quirks;
mod reading;
mod retry;
mod script;
mod server_error;
mod sse;
pub mod text_calls;
mod think;
mod wire;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use tokio_util::sync::CancellationToken;

pub use calls::{mint_id, sanitize_arguments, unique_ids};
pub use http::HttpModel;
pub use models::ModelInfo;
pub use retry::RetryPolicy;
pub use script::{ScriptError, ScriptedModel};

use crate::config::Settings;
use message::{Assistant, Usage};

/// What a completion is asked of. Each part is ready JSON, so that a step costs its tail only.
#[derive(Clone)]
pub struct Request<'a> {
    /// Endpoint, model and sampling parameters.
    pub settings: &'a Settings,
    /// The system prompt, as text.
    pub system: &'a str,
    /// The conversation's messages, comma-joined JSON objects without the enclosing brackets.
    pub messages: Bytes,
    /// The `tools` array as JSON text; empty: the request has no tools.
    pub tools: Bytes,
    /// Offer the tools but forbid calling them (`tool_choice: "none"`), as compaction does.
    pub forbid_tools: bool,
}

/// What happens while a completion runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// More of the answer.
    Text(String),
    /// More thinking.
    Reasoning(String),
    /// The model began to write a call of this tool.
    ToolCallStarted(String),
    /// More bytes of call arguments arrived (a sign of life; never to be acted on).
    ToolCallBytes(usize),
    /// The attempt failed and is repeated after `wait`; whatever was shown of it is void.
    Retry {
        /// One line: what went wrong.
        reason: String,
        /// Time until the next attempt.
        wait: std::time::Duration,
        /// The attempt that failed, from 1.
        attempt: u32,
    },
    /// Something the person should know (a field the server rejects was dropped, say).
    Note(String),
}

/// A whole reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// The reply; ids as the server gave or minted when it gave none; arguments as they came.
    pub message: Assistant,
    /// Tokens, if the server told.
    pub usage: Option<Usage>,
    /// Why it stopped.
    pub finish: Finish,
}

/// `finish_reason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// `stop`, `end_turn`, `[DONE]` without a reason.
    Stop,
    /// `tool_calls`, `function_call`.
    ToolCalls,
    /// `length`: cut at `max_tokens` or at the end of the window. Its last call may be half, and must not run.
    Length,
    /// `content_filter`, `refusal`.
    Filtered,
}

/// Something that answers requests: a server, or a script.
pub trait Model {
    /// Runs one completion, retries included; ends early with [`ModelError::Cancelled`].
    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        cancel: &'a CancellationToken,
        on_event: &'a mut dyn FnMut(ModelEvent),
    ) -> LocalBoxFuture<'a, Result<Completion, ModelError>>;

    /// The models there are to choose from.
    fn models<'a>(
        &'a self,
        settings: &'a Settings,
        cancel: &'a CancellationToken,
    ) -> LocalBoxFuture<'a, Result<Vec<ModelInfo>, ModelError>> {
        let _ = (settings, cancel);
        Box::pin(async { Err(ModelError::Rejected("a script has no list of models".to_owned())) })
    }
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The person interrupted.
    #[error("interrupted")]
    Cancelled,
    /// The request is longer than the model's window; compaction can help.
    #[error("the conversation is longer than the model's context window: {0}")]
    ContextFull(String),
    /// The server wants the thinking of earlier replies back: send the conversation with it, from now on.
    #[error("{0}")]
    NeedsReasoning(String),
    /// The server said no; trying again cannot help. One line that says what and what to do.
    #[error("{0}")]
    Rejected(String),
    /// The server wants another key. One line.
    #[error("{0}")]
    Unauthorized(String),
    /// Tried until the attempts ran out. One line.
    #[error("{0}")]
    Unreachable(String),
}
