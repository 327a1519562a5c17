//! Where a model can come from, and which of these are at hand: a key in the environment, a server that runs here.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::env::Env;

/// All probing together takes no longer.
const PROBE: Duration = Duration::from_millis(500);

/// A service or server with an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Provider {
    /// Its name.
    pub name: String,
    /// Its endpoint; empty: the person types one.
    #[serde(default)]
    pub base_url: String,
    /// The variable that usually holds its key; none for servers of one's own.
    #[serde(default)]
    pub key: Option<String>,
}

/// Why a provider is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// This variable holds a key.
    Key(String),
    /// A server answers.
    Running,
}

impl Provider {
    /// `host` or `host:port`.
    pub fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default()
    }

    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        let host = self.host();
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|local| {
            host.strip_prefix(local).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        })
    }
}

/// Those that autocode knows, the one of `OPENAI_BASE_URL` first and "another URL" last.
pub fn providers(env: &Env) -> Vec<Provider> {
    let known = include_str!("../../../assets/providers.json");
    let mut list: Vec<Provider> = serde_json::from_str(known).unwrap_or_default();
    if let Some(url) = env.get("OPENAI_BASE_URL").map(|url| url.trim_end_matches('/'))
        && !list.iter().any(|provider| provider.base_url == url)
    {
        let key = env.get("OPENAI_API_KEY").map(|_| "OPENAI_API_KEY".to_owned());
        list.insert(
            0,
            Provider { name: "OPENAI_BASE_URL".to_owned(), base_url: url.to_owned(), key },
        );
    }
    list.push(Provider { name: "another URL".to_owned(), base_url: String::new(), key: None });
    list
}

/// Looks which are at hand, all at once.
pub fn marks(list: &[Provider], env: &Env) -> Vec<Option<Mark>> {
    let mut marks: Vec<Option<Mark>> = list
        .iter()
        .map(|provider| provider.key.clone().filter(|key| env.get(key).is_some()).map(Mark::Key))
        .collect();
    let (send, receive) = mpsc::channel();
    for (at, provider) in list.iter().enumerate().filter(|(_, p)| p.key.is_none() && p.is_local()) {
        let (send, host, url) =
            (send.clone(), provider.host().to_owned(), provider.base_url.clone());
        std::thread::spawn(move || {
            if answers(&host, &url) {
                // Nobody listens any more when it took too long.
                let _ = send.send(at);
            }
        });
    }
    drop(send);
    let end = Instant::now() + PROBE;
    while let Ok(at) = receive.recv_timeout(end.saturating_duration_since(Instant::now())) {
        marks[at] = Some(Mark::Running);
    }
    marks
}

/// Whether an HTTP server at `host` knows `/models`.
fn answers(host: &str, base_url: &str) -> bool {
    let path = base_url.split_once(host).map_or("", |(_, path)| path);
    let addresses = host.to_socket_addrs().map(Vec::from_iter).unwrap_or_default();
    addresses.iter().any(|address| {
        let ask = || -> std::io::Result<bool> {
            let mut stream = TcpStream::connect_timeout(address, PROBE)?;
            stream.set_read_timeout(Some(PROBE))?;
            stream.set_write_timeout(Some(PROBE))?;
            write!(
                stream,
                "GET {path}/models HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n"
            )?;
            let mut start = [0; 13];
            stream.read_exact(&mut start)?;
            Ok(start.starts_with(b"HTTP/1.") && matches!(&start[9..12], b"200" | b"401" | b"403"))
        };
        ask().unwrap_or(false)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn provider(base_url: &str) -> Provider {
        Provider { name: "x".to_owned(), base_url: base_url.to_owned(), key: None }
    }

    fn serve(reply: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut piece = [0; 1024];
                let n = stream.read(&mut piece).unwrap();
                assert!(n > 0, "the request ends within its head");
                request.extend_from_slice(&piece[..n]);
            }
            assert!(request.starts_with(b"GET /v1/models HTTP/1.0\r\n"));
            stream.write_all(reply.as_bytes()).unwrap();
        });
        format!("http://{address}/v1")
    }

    #[test]
    fn the_list_that_ships_is_sound() {
        let list = providers(&Env::at("/"));
        assert!(list.len() > 8);
        for provider in &list[..list.len() - 1] {
            assert!(provider.base_url.starts_with("http"), "{}", provider.name);
            assert_eq!(provider.is_local(), provider.key.is_none(), "{}", provider.name);
        }
        let env =
            Env::at("/").with("OPENAI_BASE_URL", "http://mine/v1/").with("OPENAI_API_KEY", "k");
        assert_eq!(providers(&env)[0].base_url, "http://mine/v1");
        assert_eq!(
            marks(&providers(&env)[..1], &env),
            [Some(Mark::Key("OPENAI_API_KEY".to_owned()))]
        );
    }

    #[test]
    fn hosts_are_told_from_urls() {
        assert_eq!(provider("https://api.x.ai/v1").host(), "api.x.ai");
        assert!(provider("http://localhost:8080/v1").is_local());
        assert!(provider("http://[::1]:8080/v1").is_local());
        assert!(!provider("http://localhost.evil.org/v1").is_local());
    }

    #[test]
    fn servers_that_run_are_marked_and_silent_ones_do_not_delay() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let list = [
            provider(&serve("HTTP/1.1 200 OK\r\n\r\n{}")),
            provider(&serve("HTTP/1.1 404 Not Found\r\n\r\n")),
            provider(&serve("SSH-2.0-OpenSSH_9.9\r\n")),
            provider(&format!("http://{}/v1", silent.local_addr().unwrap())),
            provider(&serve("HTTP/1.1 401 Unauthorized\r\n\r\n")),
        ];
        let marks = marks(&list, &Env::at("/"));
        assert_eq!(marks, [Some(Mark::Running), None, None, None, Some(Mark::Running)]);
    }
}
