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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use bytes::Bytes;
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;
    use crate::tools::wasm::Grants;

    fn network(grants: &str) -> (Network, Refusals) {
        let refusals = Refusals::default();
        let grants = Arc::new(Grants::parse(grants).unwrap());
        (Network::new(Arc::new(Permits { grants, stem: "t".into() }), refusals.clone()), refusals)
    }

    fn post(url: &str, body: &'static str) -> http::Request<WasiBody> {
        let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync();
        http::Request::post(url).header("content-length", body_length(&body)).body(body).unwrap()
    }

    fn body_length(body: &WasiBody) -> u64 {
        http_body::Body::size_hint(body).exact().unwrap()
    }

    async fn send(
        network: &mut Network,
        request: http::Request<WasiBody>,
    ) -> Result<String, Error> {
        let sent = network.send_request(request, None, Box::new(ready(Ok(()))));
        let (response, _) = Box::into_pin(sent).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(format!("{status} {}", String::from_utf8_lossy(&body)))
    }

    #[tokio::test]
    async fn a_granted_request_goes_out_whole_and_a_redirect_is_not_followed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut received = String::new();
            while !received.ends_with("hello") {
                let mut piece = [0; 1024];
                let length = stream.read(&mut piece).await.unwrap();
                assert_ne!(length, 0, "{received}");
                received += std::str::from_utf8(&piece[..length]).unwrap();
            }
            let answer = "HTTP/1.1 302 Found\r\nlocation: http://elsewhere/\r\ncontent-length: 5\r\n\r\nmoved";
            stream.write_all(answer.as_bytes()).await.unwrap();
            received
        };
        let (mut network, refusals) = network(&format!(r#"{{"net": ["{address}"]}}"#));
        let request = post(&format!("http://{address}/path?q=1"), "hello");
        let (answer, received) = tokio::join!(send(&mut network, request), server);
        assert_eq!(answer.unwrap(), "302 Found moved");
        assert!(received.starts_with("POST /path?q=1 HTTP/1.1\r\n"), "{received}");
        assert!(received.contains("content-length: 5\r\n"), "{received}");
        assert_eq!(refusals.take(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn a_request_elsewhere_is_refused_with_the_grant_that_would_allow_it() {
        let (mut network, refusals) = network(r#"{"net": ["example.com:443"]}"#);
        for url in ["http://example.com/", "https://example.com:8443/", "https://evil.com/"] {
            let refused = send(&mut network, post(url, "x")).await;
            assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{url}: {refused:?}");
        }
        assert_eq!(
            refusals.take()[0],
            "the network at example.com:80 is not granted to this tool; \
             \"net\": [\"example.com:80\"] in .autocode/tools/t.grants.json would allow it"
        );
    }
}
