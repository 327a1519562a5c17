//! `wasi:http` for guests: requests go out through the runner's own client, to granted servers only.
//!
//! Every request is checked, so that a redirect that a guest follows is checked like its first request; the client
//! itself follows none.

use std::future::ready;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use http::uri::Scheme;
use http_body_util::BodyExt;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks};

use super::host::Permits;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// Refusals told at the end of a call.
const MAX_REFUSALS: usize = 4;

type Finished = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sent = Result<(http::Response<WasiBody>, Finished), Error>;

/// One call's way out.
pub(crate) struct Network {
    permits: Arc<Permits>,
    refusals: Refusals,
}

/// What was refused during a call; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Refusals(Arc<Mutex<Vec<String>>>);

impl Refusals {
    /// The refusals so far.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, refusal: String) {
        let mut refusals = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() < MAX_REFUSALS && !refusals.contains(&refusal) {
            refusals.push(refusal);
        }
    }
}

impl Network {
    /// For one call.
    pub fn new(permits: Arc<Permits>, refusals: Refusals) -> Self {
        Self { permits, refusals }
    }

    fn check(&self, request: &http::Request<WasiBody>) -> Result<(), Error> {
        let uri = request.uri();
        let host = uri.host().ok_or(Error::HttpRequestUriInvalid)?;
        let default = if uri.scheme() == Some(&Scheme::HTTP) { 80 } else { 443 };
        let port = uri.port_u16().unwrap_or(default);
        if self.permits.grants.net.iter().any(|server| server.allows(host, port)) {
            return Ok(());
        }
        let server = format!("{host}:{port}");
        self.refusals.add(
            self.permits
                .refusal(&format!("the network at {server}"), &format!("\"net\": [\"{server}\"]")),
        );
        Err(Error::HttpRequestDenied)
    }
}

impl WasiHttpHooks for Network {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Finished,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        match self.check(&request) {
            Ok(()) => Box::new(send(request, options)),
            Err(error) => Box::new(ready(Err(error))),
        }
    }
}

async fn send(request: http::Request<WasiBody>, options: Option<RequestOptions>) -> Sent {
    let client = client()?;
    let request = request.map(|body| reqwest::Body::wrap_stream(body.into_data_stream()));
    let request = reqwest::Request::try_from(request).map_err(|_| Error::HttpRequestUriInvalid)?;
    let first_byte = options.and_then(|options| options.first_byte_timeout);
    let response = client.execute(request);
    let response = match first_byte {
        Some(limit) => {
            tokio::time::timeout(limit, response).await.map_err(|_| Error::HttpResponseTimeout)?
        }
        None => response.await,
    };
    let response = http::Response::from(response.map_err(|error| explain(&error))?);
    let response = response.map(|body| body.map_err(|error| explain(&error)).boxed_unsync());
    Ok((response, Box::new(ready(Ok(())))))
}

fn explain(error: &reqwest::Error) -> Error {
    if error.is_timeout() {
        return Error::ConnectionTimeout;
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    Error::InternalError(Some(text))
}

/// The process's client for tools, made when the first granted request goes out.
fn client() -> Result<&'static reqwest::Client, Error> {
    static CLIENT: OnceLock<Result<reqwest::Client, String>> = OnceLock::new();
    let client = CLIENT.get_or_init(|| {
        // Fails when one is installed already, which is as good.
        _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map_err(|error| error.to_string())
    });
    client.as_ref().map_err(|error| Error::InternalError(Some(error.clone())))
}
