//! The HTTP client behind the model: cheap to make, and nothing of TLS before the first `https`.
//!
//! Loading the system's root certificates costs more than all the rest of a start, so they are loaded by the first
//! certificate that has to be verified, while the network is waited for. Must never follow a redirect: the API key is
//! for the endpoint that the person named, and for no other.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::{NoProxy, Proxy, redirect};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::env::Env;

/// Longest time for name lookup, TCP and TLS together.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What the environment says about proxies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    http: Option<String>,
    https: Option<String>,
    /// Hosts that are reached directly.
    direct: String,
}

impl Proxies {
    /// `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, small before capital letters. A loopback address is
    /// always reached directly: the one that a proxy could reach is its own.
    pub fn from_env(env: &Env) -> Self {
        let var = |name: &str| env.get(name).or_else(|| env.get(&name.to_uppercase()));
        // Under CGI a client sets HTTP_PROXY by sending a header `Proxy`.
        let capital = env.get("HTTP_PROXY").filter(|_| env.get("REQUEST_METHOD").is_none());
        let all = var("all_proxy");
        let direct = ["localhost,127.0.0.0/8,::1"].into_iter().chain(var("no_proxy"));
        Self {
            http: env.get("http_proxy").or(capital).or(all).map(str::to_owned),
            https: var("https_proxy").or(all).map(str::to_owned),
            direct: direct.collect::<Vec<_>>().join(","),
        }
    }

    fn build(&self) -> Result<Vec<Proxy>, String> {
        let http = self.http.as_ref().map(|url| (Proxy::http(url), "http_proxy"));
        let https = self.https.as_ref().map(|url| (Proxy::https(url), "https_proxy"));
        let proxies = http.into_iter().chain(https);
        proxies
            .map(|(proxy, name)| match proxy {
                Ok(proxy) => Ok(proxy.no_proxy(NoProxy::from_string(&self.direct))),
                Err(_) => Err(format!("${name} (or its capital form, or $all_proxy) is not a URL")),
            })
            .collect()
    }
}

/// Makes the client.
pub(crate) fn build(proxies: &Proxies) -> Result<(reqwest::Client, Arc<Roots>), String> {
    let provider = Arc::new(ring::default_provider());
    let roots = Arc::new(Roots { provider, verifier: OnceLock::new() });
    let mut tls = ClientConfig::builder_with_provider(Arc::clone(&roots.provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&roots) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let loopback: [SocketAddr; 2] =
        [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("autocode/", env!("CARGO_PKG_VERSION")))
        // Saves the thread that a lookup takes.
        .resolve_to_addrs("localhost", &loopback)
        .no_proxy();
    for proxy in proxies.build()? {
        builder = builder.proxy(proxy);
    }
    let client = builder.build().map_err(|error| error.to_string())?;
    Ok((client, roots))
}

/// The system's root certificates, loaded when they are needed.
#[derive(Debug)]
pub(crate) struct Roots {
    provider: Arc<CryptoProvider>,
    verifier: OnceLock<Result<Verifier, Error>>,
}

impl Roots {
    /// Begins to load, beside the name lookup and the handshake.
    pub fn load_aside(self: &Arc<Self>) {
        if self.verifier.get().is_none() {
            let roots = Arc::clone(self);
            // Without a thread they are loaded by the handshake.
            let _ = std::thread::Builder::new().spawn(move || roots.load().is_ok());
        }
    }

    fn load(&self) -> Result<&Verifier, Error> {
        let load = || Verifier::new(Arc::clone(&self.provider));
        self.verifier.get_or_init(load).as_ref().map_err(Error::clone)
    }
}

impl ServerCertVerifier for Roots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.load()?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
