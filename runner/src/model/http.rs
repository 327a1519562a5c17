//! The model behind an OpenAI-compatible endpoint.
//!
//! Invariants: [`ModelEvent::Retry`] comes before anything of a reply is given a second time; cancelling ends every wait
//! at once, be it for a connection, for headers, for bytes or for the next attempt.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::LocalBoxFuture;
use reqwest::Body;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use tokio_util::sync::CancellationToken;

use super::body::RequestBody;
use super::client::{self, Proxies, Roots};
use super::fault::{self, Endpoint, Fault};
use super::quirks::{self, Memory};
use super::reading::{Reading, Unread, Watch};
use super::retry::{RetryPolicy, asked_wait};
use super::server_error::ServerError;
use super::{Completion, Model, ModelError, ModelEvent, ModelInfo, Request};
use crate::config::Settings;
use crate::env::Env;

/// Talks to the endpoint that the settings of each request name. Connections are kept between requests.
pub struct HttpModel {
    proxies: Proxies,
    policy: RetryPolicy,
    client: OnceCell<(reqwest::Client, Arc<Roots>)>,
    memory: Memory,
}

impl HttpModel {
    /// Reads proxies and retry policy from `env`; opens nothing yet.
    pub fn new(env: &Env) -> Self {
        Self {
            proxies: Proxies::from_env(env),
            policy: RetryPolicy::from_env(env),
            client: OnceCell::new(),
            memory: Memory::default(),
        }
    }

    /// This model with another policy.
    #[must_use]
    pub fn with_policy(self, policy: RetryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The client, ready for `at`.
    pub(crate) fn client(&self, at: &Endpoint<'_>) -> Result<&reqwest::Client, ModelError> {
        let (client, roots) = match self.client.get() {
            Some(made) => made,
            None => {
                let made = client::build(&self.proxies).map_err(ModelError::Rejected)?;
                self.client.get_or_init(|| made)
            }
        };
        if at.url.scheme() == "https" {
            roots.load_aside();
        }
        Ok(client)
    }

    async fn run(
        &self,
        request: &Request<'_>,
        cancel: &CancellationToken,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, ModelError> {
        let settings = request.settings;
        let at = Endpoint::new(settings, "/chat/completions")?;
        let (mut attempt, mut waited) = (1, Duration::ZERO);
        loop {
            let fault = match self.attempt(request, &at, cancel, on_event).await {
                Ok(completion) => return Ok(completion),
                Err(fault) => fault,
            };
            match fault {
                Fault::Cancelled => return Err(ModelError::Cancelled),
                Fault::Final(error) => return Err(error),
                Fault::Refused(remedy) => {
                    let note = self.memory.learn(&settings.base_url, &settings.model, remedy);
                    on_event(ModelEvent::Note(note));
                }
                Fault::Again { reason, asked, patience } => {
                    let wait = self
                        .policy
                        .wait(attempt, patience, asked, waited, fastrand::f64())
                        .map_err(|why| fault::give_up(why, &reason, attempt))?;
                    on_event(ModelEvent::Retry { reason, wait, attempt });
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => return Err(ModelError::Cancelled),
                        () = tokio::time::sleep(wait) => {}
                    }
                    waited += wait;
                    attempt += 1;
                }
            }
        }
    }

    async fn attempt(
        &self,
        request: &Request<'_>,
        at: &Endpoint<'_>,
        cancel: &CancellationToken,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, Fault> {
        let settings = request.settings;
        let body = RequestBody::new(request, &self.memory.of(&settings.base_url, &settings.model));
        let headers = headers(settings).map_err(Fault::Final)?;
        let client = self.client(at).map_err(Fault::Final)?;
        let sending = client.post(at.url.clone()).headers(headers).body(Body::wrap(body.pieces()));
        let mut watch = Watch::new(cancel, settings.timeout);
        let response = watch
            .wait(settings.timeout, sending.send())
            .await
            .map_err(|end| end.fault(settings.timeout, at))?
            .map_err(|error| fault::of_transport(&error, at))?;

        let status = response.status();
        if status.is_success() {
            let result = Reading { at, watch: &mut watch, response }.reply(on_event).await;
            return result.map_err(|fault| match fault {
                Unread::Fault(fault) => fault,
                // Told in a 200, but before anything of a reply: as good as a status.
                Unread::Refusal(error) => refusal(&error, &body, at),
            });
        }
        if status.is_redirection() {
            let location = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            return Err(fault::of_redirect(status.as_u16(), location, at));
        }
        let asked = asked_wait(response.headers(), SystemTime::now());
        let bytes = Reading { at, watch: &mut watch, response }.error_body().await?;
        let mut error = ServerError::from_body(status.as_u16(), &bytes);
        error.retry_after = asked.or(error.retry_after);
        Err(refusal(&error, &body, at))
    }
}

impl Model for HttpModel {
    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        cancel: &'a CancellationToken,
        on_event: &'a mut dyn FnMut(ModelEvent),
    ) -> LocalBoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async move { self.run(&request, cancel, on_event).await })
    }

    fn models<'a>(
        &'a self,
        settings: &'a Settings,
        cancel: &'a CancellationToken,
    ) -> LocalBoxFuture<'a, Result<Vec<ModelInfo>, ModelError>> {
        Box::pin(self.list_models(settings, cancel))
    }
}

/// An error before anything of a reply: perhaps one that can be mended by leaving a field out.
fn refusal(error: &ServerError, body: &RequestBody, at: &Endpoint<'_>) -> Fault {
    let fault = fault::of_server(error, at);
    if !matches!(fault, Fault::Final(ModelError::Rejected(_) | ModelError::Unauthorized(_))) {
        return fault;
    }
    let sent: Vec<&str> = body.fields.iter().map(String::as_str).collect();
    quirks::refused(error, &sent).map_or(fault, Fault::Refused)
}

/// `Content-Type`, the key, and the person's own, which win.
pub(crate) fn headers(settings: &Settings) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::with_capacity(4 + settings.headers.len());
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let key = settings.api_key.trim();
    if !key.is_empty() {
        let mut value = HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| {
            ModelError::Rejected("`api_key` has a character that cannot be sent".to_owned())
        })?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    for (name, value) in &settings.headers {
        let (Ok(header), Ok(value)) =
            (HeaderName::try_from(name), HeaderValue::try_from(value.trim()))
        else {
            return Err(ModelError::Rejected(format!("`headers`: {name:?} cannot be sent")));
        };
        headers.insert(header, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
