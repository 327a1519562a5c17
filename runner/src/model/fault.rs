//! What became of an attempt that gave no reply: final, worth another attempt, or to be mended first.
//!
//! Each text is one line for a person: what, where, what to do. The API key never appears in one.

use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;

use reqwest::Url;

use super::ModelError;
use super::assemble::Broken;
use super::classify::{Class, classify};
use super::client::CONNECT_TIMEOUT;
use super::quirks::Remedy;
use super::retry::{GiveUp, Patience};
use super::server_error::{ServerError, line};
use crate::config::Settings;

/// Why one attempt gave no reply.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The person interrupted.
    Cancelled,
    /// Another attempt cannot help.
    Final(ModelError),
    /// Another attempt may help.
    Again {
        reason: String,
        /// The wait that the server asks for.
        asked: Option<Duration>,
        patience: Patience,
    },
    /// The server refuses a field: send the request without it.
    Refused(Remedy),
}

/// Where requests go, and how that is called in messages.
pub(crate) struct Endpoint<'a> {
    pub settings: &'a Settings,
    pub url: Url,
    /// Scheme, host and port.
    pub name: String,
    /// `base_url` without a password that may be in it.
    base: String,
}

impl<'a> Endpoint<'a> {
    /// `path` below the `base_url` of the settings.
    pub fn new(settings: &'a Settings, path: &str) -> Result<Self, ModelError> {
        let base = settings.base_url.trim();
        let invalid = |why: &str| {
            let base = line(base, 100);
            ModelError::Rejected(format!("`base_url` is {base:?}, {why}"))
        };
        if !base.starts_with("http://") && !base.starts_with("https://") {
            return Err(invalid("it must begin with http:// or https://"));
        }
        let mut url =
            Url::parse(base).map_err(|error| invalid(&format!("which is no URL ({error})")))?;
        let below = url.path().trim_end_matches('/');
        let below = below.strip_suffix("/chat/completions").unwrap_or(below).to_owned();
        url.set_path(&format!("{below}{path}"));
        let host = url.host_str().unwrap_or_default();
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let name = format!("{}://{host}{port}", url.scheme());
        let base = format!("{name}{below}");
        Ok(Self { settings, url, name, base })
    }

    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// A message of the server without the key, should it quote it.
    fn hide_key(&self, message: &str) -> String {
        let key = self.settings.api_key.trim();
        if key.len() < 8 { message.to_owned() } else { message.replace(key, "[api_key]") }
    }
}

fn again(reason: String, patience: Patience) -> Fault {
    Fault::Again { reason, asked: None, patience }
}

fn rejected(message: String) -> Fault {
    Fault::Final(ModelError::Rejected(message))
}

fn unauthorized(message: String) -> Fault {
    Fault::Final(ModelError::Unauthorized(message))
}

/// A server's error.
pub(crate) fn of_server(error: &ServerError, at: &Endpoint<'_>) -> Fault {
    let (model, base_url) = (&at.settings.model, &at.base);
    let said = match (at.hide_key(&error.message), error.web_page) {
        (message, _) if message.is_empty() => "no explanation".to_owned(),
        (message, true) => format!("a web page, \"{message}\""),
        (message, false) => message,
    };
    let what = match error.status {
        Some(status) => format!("HTTP {status} from {}: {said}", at.name),
        None => format!("error from {}: {said}", at.name),
    };
    let retried = || Fault::Again {
        reason: what.clone(),
        asked: error.retry_after,
        patience: Patience::Full,
    };
    match classify(error) {
        Class::Overflow => Fault::Final(ModelError::ContextFull(said)),
        Class::ReasoningRequired => Fault::Final(ModelError::NeedsReasoning(what)),
        Class::RateLimit if error.words.contains("request too large") => rejected(format!(
            "{what} (the request alone is over the limit: waiting does not help, a shorter conversation does)"
        )),
        Class::RateLimit if matches!(error.status, None | Some(429 | 500..)) => retried(),
        Class::Trouble => retried(),
        Class::Quota => {
            rejected(format!("{what} (the account behind `api_key` has nothing left to spend)"))
        }
        Class::Auth if at.settings.api_key.is_empty() => {
            unauthorized(format!("{what} (no key was sent; set `api_key` or OPENAI_API_KEY)"))
        }
        Class::Auth => {
            unauthorized(format!("{what} (is `api_key` right, and may it use {model}?)"))
        }
        Class::NoModel => rejected(format!(
            "{what} (is `model` right? it is {model:?}, at `base_url` {base_url})"
        )),
        _ if error.status == Some(404) => rejected(format!(
            "{what} (is `base_url` right? it is {base_url}, and most end in /v1; `model` is {model:?})"
        )),
        _ => rejected(what),
    }
}

/// A reply that is none.
pub(crate) fn of_reply(broken: &Broken, at: &Endpoint<'_>) -> Fault {
    let name = &at.name;
    match broken {
        Broken::Cut => {
            again(format!("the reply of {name} was cut off before its end"), Patience::Full)
        }
        Broken::Error(error) => of_server(error, at),
        Broken::Malformed(words) => {
            again(format!("{name} sent something that is not JSON: {words}"), Patience::Little)
        }
        Broken::TooLong => rejected(format!("{name} sent a reply that is too long to be one")),
    }
}

/// A web page in place of a reply.
pub(crate) fn of_page(title: &str, at: &Endpoint<'_>) -> Fault {
    rejected(format!(
        "{} answered with a web page, \"{title}\", in place of JSON (is `base_url` right? it is {}, and most end in /v1)",
        at.name, at.base
    ))
}

/// A redirect, which is never followed.
pub(crate) fn of_redirect(status: u16, location: Option<&str>, at: &Endpoint<'_>) -> Fault {
    let to = line(location.unwrap_or("nowhere"), 200);
    rejected(format!(
        "HTTP {status} from {}: redirects to {to} (set `base_url` to the address that is meant)",
        at.name
    ))
}

/// Nothing came for as long as the settings allow.
pub(crate) fn of_silence(timeout: Duration, at: &Endpoint<'_>) -> Fault {
    let seconds = timeout.as_secs_f64();
    again(format!("{} sent nothing for {seconds} s (`timeout`)", at.name), Patience::Full)
}

/// A connection that failed.
pub(crate) fn of_transport(error: &reqwest::Error, at: &Endpoint<'_>) -> Fault {
    let (name, host) = (&at.name, at.host());
    let causes: Vec<_> = causes(error).collect();
    if let Some(tls) = causes.iter().find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        return of_tls(tls, at);
    }
    if causes.iter().any(|cause| cause.to_string().starts_with("dns error")) {
        let reason =
            format!("no address found for {host} (is `base_url` right, and the network up?)");
        return again(reason, Patience::Little);
    }
    if error.is_timeout() {
        let seconds = CONNECT_TIMEOUT.as_secs();
        return again(format!("no connection to {name} within {seconds} s"), Patience::Full);
    }
    let http = causes.iter().find_map(|cause| cause.downcast_ref::<hyper::Error>());
    if http.is_some_and(hyper::Error::is_parse) {
        let reason = format!(
            "{name} does not answer in HTTP (if it speaks TLS, `base_url` must begin with https://)"
        );
        return again(reason, Patience::Little);
    }
    let kind = causes
        .iter()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>())
        .map(std::io::Error::kind);
    let reason = match kind {
        Some(ErrorKind::ConnectionRefused) => {
            format!("{name} refuses the connection (is the server running, and `base_url` right?)")
        }
        Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof) => {
            format!("the connection to {name} was cut")
        }
        _ if http.is_some_and(hyper::Error::is_incomplete_message) => {
            format!("the connection to {name} was cut")
        }
        _ => {
            let cause = causes.last().map(ToString::to_string).unwrap_or_default();
            format!("the connection to {name} failed: {}", line(&cause, 200))
        }
    };
    again(reason, Patience::Full)
}

fn of_tls(error: &rustls::Error, at: &Endpoint<'_>) -> Fault {
    use rustls::{Error, InvalidMessage};

    let (host, said) = (at.host(), line(&error.to_string(), 200));
    match error {
        Error::InvalidCertificate(_) => rejected(format!(
            "the TLS certificate of {host} is not trusted: {said} (SSL_CERT_FILE can name a private authority)"
        )),
        Error::General(_) if said.contains("No CA certificates") => rejected(format!(
            "no root certificates on this system, so {host} cannot be trusted \
             (install ca-certificates, or name a file of them in SSL_CERT_FILE)"
        )),
        Error::General(_) => rejected(format!("TLS with {host} is not possible: {said}")),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => rejected(format!(
            "{host} does not speak TLS (is `base_url` meant to begin with http://?)"
        )),
        _ => again(format!("TLS with {host} failed: {said}"), Patience::Full),
    }
}

/// The error and what caused it, down to the first cause; `io::Error` hides the one that it wraps.
fn causes<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error as &(dyn Error + 'static)), |&error| {
        let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
    })
}

/// The last fault of a request that is given up.
pub(crate) fn give_up(why: GiveUp, reason: &str, attempts: u32) -> ModelError {
    ModelError::Unreachable(match why {
        GiveUp::Attempts if attempts == 1 => reason.to_owned(),
        GiveUp::Attempts => format!("{reason}; gave up after {attempts} attempts"),
        GiveUp::AskedTooMuch(wait) => {
            format!("{reason}; the server asks to wait {}, which is too long", duration(wait))
        }
        GiveUp::Waited => format!("{reason}; gave up after waiting several minutes"),
    })
}

fn duration(wait: Duration) -> String {
    match wait.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} minutes", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} hours", seconds / 3600),
        seconds if seconds < 86_400 * 1000 => format!("{} days", seconds / 86_400),
        _ => "for years".to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn settings(base_url: &str) -> Settings {
        Settings {
            base_url: base_url.to_owned(),
            model: "gpt-nope".to_owned(),
            api_key: "sk-secret-key".to_owned(),
            ..Settings::default()
        }
    }

    fn told(settings: &Settings, status: u16, body: &str) -> String {
        let at = Endpoint::new(settings, "/chat/completions").unwrap();
        match of_server(&ServerError::from_body(status, body.as_bytes()), &at) {
            Fault::Final(error) => error.to_string(),
            Fault::Again { reason, .. } => format!("again: {reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_url_is_built_whatever_the_form_of_the_base() {
        for (base, url) in [
            ("http://h:1/v1", "http://h:1/v1/chat/completions"),
            ("http://h/v1/ ", "http://h/v1/chat/completions"),
            ("https://h", "https://h/chat/completions"),
            ("https://h/v1/chat/completions", "https://h/v1/chat/completions"),
            ("https://h/d/x?api-version=1", "https://h/d/x/chat/completions?api-version=1"),
        ] {
            let settings = settings(base);
            assert_eq!(Endpoint::new(&settings, "/chat/completions").unwrap().url.as_str(), url);
        }
        for base in ["", "localhost:8080/v1", "ftp://h", "http://"] {
            let settings = settings(base);
            let Err(error) = Endpoint::new(&settings, "/x") else { panic!("{base}") };
            assert!(error.to_string().starts_with("`base_url` is "), "{error}");
        }
    }

    #[test]
    fn a_name_in_a_message_holds_no_password() {
        let settings = settings("http://user:pass@h:8/v1");
        assert_eq!(Endpoint::new(&settings, "/x").unwrap().name, "http://h:8");
    }

    #[test]
    fn messages_name_the_setting_that_is_to_be_changed_and_hide_the_key() {
        let settings = settings("http://h/v1");
        let told = |status, body| told(&settings, status, body);
        assert_eq!(
            told(401, r#"{"error":{"message":"Incorrect API key provided: sk-secret-key"}}"#),
            "HTTP 401 from http://h: Incorrect API key provided: [api_key] (is `api_key` right, and may it use gpt-nope?)"
        );
        assert_eq!(
            told(404, r#"{"error":{"message":"The model `gpt-nope` does not exist"}}"#),
            "HTTP 404 from http://h: The model `gpt-nope` does not exist (is `model` right? it is \"gpt-nope\", at `base_url` http://h/v1)"
        );
        assert_eq!(
            told(404, "<html><title>404 Not Found</title>"),
            "HTTP 404 from http://h: a web page, \"404 Not Found\" (is `base_url` right? it is http://h/v1, and most end in /v1; `model` is \"gpt-nope\")"
        );
        assert_eq!(told(503, ""), "again: HTTP 503 from http://h: no explanation");
        assert_eq!(told(418, "x\ny"), "HTTP 418 from http://h: x y");
    }

    #[test]
    fn without_a_key_the_message_says_so() {
        let settings = Settings { api_key: String::new(), ..settings("http://h/v1") };
        assert!(told(&settings, 401, "{}").contains("no key was sent; set `api_key`"));
    }

    #[test]
    fn only_what_can_pass_is_tried_again() {
        let settings = settings("http://h/v1");
        for (status, body) in
            [(408, ""), (409, ""), (429, ""), (500, ""), (502, ""), (503, ""), (529, "")]
        {
            assert!(told(&settings, status, body).starts_with("again: "), "{status}");
        }
        for (status, body) in [
            (400, ""),
            (402, ""),
            (403, ""),
            (405, ""),
            (422, ""),
            (501, ""),
            (400, "rate limit"),
            (429, "insufficient_quota"),
            (429, "Request too large for x on tokens per min (TPM): Limit 1, Requested 2"),
        ] {
            assert!(!told(&settings, status, body).starts_with("again: "), "{status} {body}");
        }
    }
}
