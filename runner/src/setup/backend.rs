//! Setup's calls to a server, through the client that the agent uses.

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use tokio_util::sync::CancellationToken;

use super::Backend;
use super::models::Listed;
use super::question::{Endpoint, Failure};
use crate::config::Settings;
use crate::env::Env;
use crate::model::message::Message;
use crate::model::{HttpModel, Model as _, ModelError, Request, RetryPolicy};

/// Asks real servers.
pub struct Http(HttpModel);

impl Http {
    /// A client that gives up soon: the person is there and can try again.
    pub fn new(env: &Env) -> Self {
        let policy = RetryPolicy { attempts: 2, ..RetryPolicy::from_env(env) };
        Self(HttpModel::new(env).with_policy(policy))
    }
}

impl Backend for Http {
    fn models<'a>(
        &'a self,
        endpoint: &'a Endpoint,
    ) -> LocalBoxFuture<'a, Result<Vec<Listed>, Failure>> {
        async move {
            let cancel = CancellationToken::new();
            let models = self.0.list_models(&settings(endpoint), &cancel).await.map_err(failure)?;
            let listed = |model: crate::model::ModelInfo| Listed {
                // Gemini names the resource; requests take the bare name.
                id: model.id.strip_prefix("models/").unwrap_or(&model.id).to_owned(),
                window: model.context_window,
            };
            Ok(models.into_iter().map(listed).collect())
        }
        .boxed_local()
    }

    fn test<'a>(
        &'a self,
        endpoint: &'a Endpoint,
        model: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, Failure>> {
        async move {
            let settings = Settings { model: model.to_owned(), ..settings(endpoint) };
            let message = Message::user("Answer with one word: ready");
            let messages =
                serde_json::to_vec(&message).map_err(|e| Failure::Other(e.to_string()))?;
            let request = Request {
                settings: &settings,
                system: "",
                messages: messages.into(),
                tools: bytes::Bytes::new(),
                forbid_tools: false,
            };
            let cancel = CancellationToken::new();
            let reply = self.0.complete(request, &cancel, &mut |_| {}).await.map_err(failure)?;
            Ok(reply.message.content.unwrap_or_default())
        }
        .boxed_local()
    }
}

fn settings(endpoint: &Endpoint) -> Settings {
    Settings {
        base_url: endpoint.base_url.clone(),
        api_key: endpoint.api_key.clone(),
        ..Settings::default()
    }
}

fn failure(error: ModelError) -> Failure {
    match error {
        ModelError::Unauthorized(words) => Failure::Key(words),
        other => Failure::Other(other.to_string()),
    }
}
