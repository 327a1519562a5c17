//! The models that an endpoint offers.
//!
//! Source: OpenAI API reference, "List models"; the window's size is nobody's standard, so every name of it that servers
//! use is known here. The list is read once and quickly: it is a convenience, never a condition of work.

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ModelError;
use super::fault::{self, Endpoint, Fault};
use super::http::{HttpModel, headers};
use super::reading::{Reading, Watch};
use super::server_error::{ServerError, line};
use crate::config::Settings;

/// Longest silence; nobody waits longer for a list.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A model of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// What `model` is to be set to.
    pub id: String,
    /// Tokens it can read and write at once, if the endpoint says so.
    pub context_window: Option<u64>,
}

/// Where servers say how large the window is; what is in force comes before what the model could do.
const WINDOWS: [&str; 16] = [
    "/loaded_context_length",
    "/top_provider/context_length",
    "/meta/n_ctx",
    "/max_model_len",
    "/context_length",
    "/context_window",
    "/max_context_length",
    "/context_size",
    "/capabilities/limits/max_context_window_tokens",
    "/limits/max_context_window_tokens",
    "/max_context_window_tokens",
    "/model_info/max_input_tokens",
    "/max_input_tokens",
    "/inputTokenLimit",
    "/meta/n_ctx_train",
    "/n_ctx_train",
];

impl HttpModel {
    /// Asks the endpoint of `settings` for its models, once.
    ///
    /// # Errors
    /// One line that says what went wrong; [`ModelError::Cancelled`] when `cancel` was.
    pub async fn list_models(
        &self,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> Result<Vec<ModelInfo>, ModelError> {
        self.ask_for_models(settings, cancel).await.map_err(|fault| match fault {
            Fault::Cancelled => ModelError::Cancelled,
            Fault::Final(error) => error,
            Fault::Again { reason, .. } => ModelError::Unreachable(reason),
            Fault::Refused(_) => ModelError::Rejected("the server refuses the request".to_owned()),
        })
    }

    async fn ask_for_models(
        &self,
        settings: &Settings,
        cancel: &CancellationToken,
    ) -> Result<Vec<ModelInfo>, Fault> {
        let at = Endpoint::new(settings, "/models").map_err(Fault::Final)?;
        let limit = TIMEOUT.min(settings.timeout);
        let headers = headers(settings).map_err(Fault::Final)?;
        let client = self.client(&at).map_err(Fault::Final)?;
        let mut watch = Watch::new(cancel, limit);
        let response = watch
            .wait(limit, client.get(at.url.clone()).headers(headers).send())
            .await
            .map_err(|end| end.fault(limit, &at))?
            .map_err(|error| fault::of_transport(&error, &at))?;
        let status = response.status();
        let body = Reading { at: &at, watch: &mut watch, response }.all().await?;
        if !status.is_success() {
            return Err(fault::of_server(&ServerError::from_body(status.as_u16(), &body), &at));
        }
        parse(&body).ok_or_else(|| {
            let words = line(&String::from_utf8_lossy(&body), 80);
            Fault::Final(ModelError::Rejected(format!("{} is no list of models: {words}", at.url)))
        })
    }
}

/// Reads a list in OpenAI's form, in Ollama's, or bare.
fn parse(body: &[u8]) -> Option<Vec<ModelInfo>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = [value.get("data"), value.get("models"), Some(&value)];
    let list = list.into_iter().flatten().find_map(Value::as_array)?;
    let models = list.iter().filter_map(|model| {
        let id = ["id", "name", "model"].iter().find_map(|key| model.get(*key)?.as_str())?;
        let window = WINDOWS
            .iter()
            .find_map(|path| model.pointer(path)?.as_f64().filter(|n| *n >= 1.0).map(|n| n as u64));
        Some(ModelInfo { id: id.to_owned(), context_window: window })
    });
    Some(models.collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn models(json: &str) -> Vec<(String, Option<u64>)> {
        let models = parse(json.as_bytes()).unwrap();
        models.into_iter().map(|m| (m.id, m.context_window)).collect()
    }

    #[test]
    fn lists_come_in_three_forms() {
        let expected = vec![("a".to_owned(), None)];
        assert_eq!(models(r#"{"object":"list","data":[{"id":"a"}]}"#), expected);
        assert_eq!(models(r#"{"models":[{"name":"a","model":"a:latest"}]}"#), expected);
        assert_eq!(models(r#"[{"id":"a","created":1}, 7]"#), expected);
        assert_eq!(parse(b"<html>"), None);
        assert_eq!(parse(br#"{"error":"no"}"#), None);
    }

    #[test]
    fn the_window_is_found_under_every_name() {
        for (json, window) in [
            (r#"{"id":"a","context_length":8192}"#, 8192),
            (
                r#"{"id":"a","context_length":200000,"top_provider":{"context_length":100000}}"#,
                100_000,
            ),
            (r#"{"id":"a","context_length":8192,"top_provider":{"context_length":null}}"#, 8192),
            (r#"{"id":"a","context_window":131072}"#, 131_072),
            (r#"{"id":"a","max_model_len":32768.0}"#, 32_768),
            (r#"{"id":"a","meta":{"n_ctx_train":32768}}"#, 32_768),
            (r#"{"id":"a","meta":{"n_ctx":8192,"n_ctx_train":32768}}"#, 8192),
            (r#"{"id":"a","capabilities":{"limits":{"max_context_window_tokens":64000}}}"#, 64_000),
        ] {
            assert_eq!(models(&format!("[{json}]")), [("a".to_owned(), Some(window))], "{json}");
        }
    }

    #[test]
    fn the_capture_of_a_real_server_is_read() {
        let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
            eprintln!(
                "left out: AUTOCODE_CORPUS is unset, the capture of a model list is not read"
            );
            return;
        };
        let path = std::path::Path::new(&dir).join("sse/llamacpp-qwen-models.txt");
        let text = std::fs::read_to_string(path).unwrap();
        let body = text.split_once("\r\n\r\n").unwrap().1;
        assert_eq!(models(body), [("qwen".to_owned(), Some(8192))]);
    }
}
