//! The messages of a conversation, in OpenAI's chat shape.
//!
//! Source: OpenAI API reference, "Create chat completion", `messages`. Reasoning fields are the de-facto
//! extensions of DeepSeek (`reasoning_content`), vLLM and OpenRouter (`reasoning`, `reasoning_details`).
//! Invariant: `ToolCall::arguments` always holds a valid JSON object once the message is in a conversation.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// Words of the person, or of autocode in the person's place (a summary, a note).
    User {
        /// Plain text.
        content: String,
    },
    /// A reply of the model.
    Assistant(Assistant),
    /// The result of one tool call.
    Tool {
        /// The call this answers.
        tool_call_id: String,
        /// What the tool returned, clipped to `output_limit`.
        content: String,
    },
}

/// A reply of the model: words, tool calls, or both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assistant {
    /// The words; `null` on the wire when the reply only calls tools.
    pub content: Option<String>,
    /// The calls it asks for, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Thinking, under the field name it came in.
    #[serde(flatten)]
    pub reasoning: Reasoning,
}

/// Thinking text, kept under the field it arrived in, since some providers want it back there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// DeepSeek, Kimi, llama.cpp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    /// vLLM, OpenRouter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Some proxies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_text: Option<String>,
    /// OpenRouter's blocks (text, summaries, signatures, encrypted). Always sent back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning_details: Vec<Value>,
}

impl Reasoning {
    /// The thinking text, whichever field it came in.
    pub fn text(&self) -> Option<&str> {
        [&self.reasoning_content, &self.reasoning, &self.reasoning_text]
            .into_iter()
            .find_map(|t| t.as_deref())
    }
}

/// One call of a tool that the model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in the conversation.
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default = "function")]
    pub kind: String,
    /// What to call, with what.
    pub function: Function,
    /// What the provider attached and wants back as it was (Gemini's `thought_signature`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<Value>,
}

/// Name and arguments of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// The tool's name.
    pub name: String,
    /// A JSON object as text, as the wire has it.
    pub arguments: String,
}

fn function() -> String {
    "function".to_owned()
}

impl ToolCall {
    /// A call of `name` with `arguments` (JSON text).
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            kind: function(),
            function: Function { name: name.into(), arguments: arguments.into() },
            extra_content: None,
        }
    }
}

impl Message {
    /// A message of the person.
    pub fn user(content: impl Into<String>) -> Self {
        Self::User { content: content.into() }
    }

    /// The result of the call `id`.
    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Tool { tool_call_id: id.into(), content: content.into() }
    }
}

/// Tokens as the provider counts them (OpenAI API reference, `usage`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt: u64,
    /// Of these, read from the provider's prompt cache.
    pub cached: u64,
    /// Tokens of the reply, thinking included.
    pub completion: u64,
    /// Of these, thinking.
    pub reasoning: u64,
    /// Price of the call in US dollars, where the provider says it (OpenRouter's `usage.cost`).
    pub cost: Option<f64>,
}

impl Usage {
    /// Adds the figures of one more call.
    pub fn add(&mut self, other: &Self) {
        self.prompt += other.prompt;
        self.cached += other.cached;
        self.completion += other.completion;
        self.reasoning += other.reasoning;
        if let Some(cost) = other.cost {
            *self.cost.get_or_insert(0.0) += cost;
        }
    }

    /// What was added since these were the figures.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let cost = self.cost.map(|cost| cost - earlier.cost.unwrap_or(0.0));
        Self {
            prompt: self.prompt - earlier.prompt,
            cached: self.cached - earlier.cached,
            completion: self.completion - earlier.completion,
            reasoning: self.reasoning - earlier.reasoning,
            cost: cost.filter(|cost| *cost > 0.0),
        }
    }
}
