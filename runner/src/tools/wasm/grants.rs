//! What a tool may do beyond the project's directory: `NAME.grants.json` beside the module.
//!
//! Nothing is granted that the file does not name, and a file with a mistake in it grants nothing. Whether the file is
//! obeyed at all is the project's trust, decided by the caller.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// Longest a call runs unless a grant says otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
/// Most memory a call gets unless a grant says otherwise, in MiB.
const DEFAULT_MEMORY_MB: u64 = 256;
/// What a grant can say at most.
const MAX_TIMEOUT_S: u64 = 24 * 60 * 60;
const MAX_MEMORY_MB: u64 = 4096;

/// What one tool is granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Grants {
    /// Directories besides the project's.
    pub(crate) fs: Vec<Directory>,
    /// Servers that HTTP requests may go to.
    pub(crate) net: Vec<Server>,
    /// Environment variables it sees.
    pub(crate) env: Vec<Variable>,
    /// Commands through the agent's bash and its approvals.
    pub(crate) bash: bool,
    /// Model calls and sub-agents.
    pub(crate) model: bool,
    /// Other tools.
    pub(crate) tools: Tools,
    timeout_s: Option<Bounded<MAX_TIMEOUT_S>>,
    memory_mb: Option<Bounded<MAX_MEMORY_MB>>,
}

impl Grants {
    /// Reads a grants file's text.
    ///
    /// # Errors
    /// One sentence with the line, when it is not what a grants file is.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// How long a call may run.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_s.map_or(DEFAULT_TIMEOUT, |limit| Duration::from_secs(limit.0))
    }

    /// How much memory a call may use, in MiB.
    pub(crate) fn memory_mb(&self) -> u64 {
        self.memory_mb.map_or(DEFAULT_MEMORY_MB, |limit| limit.0)
    }
}

/// One line for people: what is granted, `none` when nothing is.
impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let mut list = |label: &str, items: Vec<String>| {
            if !items.is_empty() {
                parts.push(format!("{label} {}", items.join(", ")));
            }
        };
        list("fs", self.fs.iter().map(Directory::to_string).collect());
        list("net", self.net.iter().map(Server::to_string).collect());
        list("env", self.env.iter().map(|name| name.0.clone()).collect());
        match &self.tools {
            Tools::Listed(names) => list("tools", names.clone()),
            Tools::All => list("tools", vec!["all".into()]),
        }
        let mut flag = |on: bool, label: String| {
            if on {
                parts.push(label);
            }
        };
        flag(self.bash, "bash".into());
        flag(self.model, "model".into());
        flag(self.timeout_s.is_some(), format!("{} s", self.timeout().as_secs()));
        flag(self.memory_mb.is_some(), format!("{} MiB", self.memory_mb()));
        if parts.is_empty() { f.write_str("none") } else { f.write_str(&parts.join("; ")) }
    }
}

/// A directory: `PATH` to read, `PATH:rw` to read and write. `~` is the home directory; a relative path starts at the
/// project's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    path: PathBuf,
    /// Whether it may be written to.
    pub write: bool,
}

impl Directory {
    fn parse(text: &str) -> Result<Self, String> {
        let (path, write) = match text.strip_suffix(":rw") {
            Some(path) => (path, true),
            None => (text.strip_suffix(":ro").unwrap_or(text), false),
        };
        if path.is_empty() || path.contains('\0') {
            return Err(format!("`{text}` is not a directory; expected \"PATH\" or \"PATH:rw\""));
        }
        Ok(Self { path: path.into(), write })
    }

    /// Where it is, absolute.
    pub fn path(&self, root: &Path, home: Option<&Path>) -> PathBuf {
        match (self.path.strip_prefix("~"), home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => root.join(&self.path),
        }
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path.display(), if self.write { " (read and write)" } else { "" })
    }
}

/// A server: `HOST`, `HOST:PORT`, `*.HOST:PORT`, `HOST:*`. Without a port it is 80 and 443.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    host: String,
    port: Port,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Web,
    Any,
    Only(u16),
}

impl Server {
    fn parse(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is not a server; expected \"HOST:PORT\", such as \"api.example.com:443\""
            )
        };
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = match port {
            None => Port::Web,
            Some("*") => Port::Any,
            Some(number) => Port::Only(number.parse().map_err(|_| bad())?),
        };
        let name = host.strip_prefix("*.").unwrap_or(if host == "*" { "any" } else { host });
        let bracketed = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let valid = match bracketed {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
            None => {
                !name.is_empty()
                    && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'))
            }
        };
        if valid { Ok(Self { host: host.to_lowercase(), port }) } else { Err(bad()) }
    }

    /// Whether a request to `host` at `port` goes here.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        let host = host.to_lowercase();
        let host_fits = match self.host.strip_prefix('*') {
            Some("") => true,
            Some(ending) => host.len() > ending.len() && host.ends_with(ending),
            None => self.host == host,
        };
        let port_fits = match self.port {
            Port::Web => port == 80 || port == 443,
            Port::Any => true,
            Port::Only(only) => only == port,
        };
        host_fits && port_fits
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Port::Web => f.write_str(&self.host),
            Port::Any => write!(f, "{}:*", self.host),
            Port::Only(port) => write!(f, "{}:{port}", self.host),
        }
    }
}

/// The name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable(pub String);

impl Variable {
    fn parse(text: &str) -> Result<Self, String> {
        let valid = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!("`{text}` is not the name of a variable"))
        }
    }
}

/// Which other tools may be called: `true` for all, or names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tools {
    /// Every one.
    All,
    /// These; none when empty.
    Listed(Vec<String>),
}

impl Default for Tools {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl Tools {
    /// Whether `name` may be called.
    pub fn allow(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Listed(names) => names.iter().any(|listed| listed == name),
        }
    }
}

impl<'de> Deserialize<'de> for Tools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Tools;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, or a list of tools' names")
            }
            fn visit_bool<E: de::Error>(self, all: bool) -> Result<Tools, E> {
                Ok(if all { Tools::All } else { Tools::default() })
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, mut names: A) -> Result<Tools, A::Error> {
                let mut listed = Vec::new();
                while let Some(name) = names.next_element()? {
                    listed.push(name);
                }
                Ok(Tools::Listed(listed))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

macro_rules! read_from_text {
    ($($type:ident)*) => {$(
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).map_err(de::Error::custom)
            }
        }
    )*};
}
read_from_text!(Directory Server Variable);

/// A number from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounded<const MAX: u64>(u64);

impl<'de, const MAX: u64> Deserialize<'de> for Bounded<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u64::deserialize(deserializer)?;
        if (1..=MAX).contains(&value) {
            Ok(Self(value))
        } else {
            Err(de::Error::custom(format!("{value} is not between 1 and {MAX}")))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_grant_is_read_and_shown_on_one_line() {
        let grants = Grants::parse(
            r#"{"fs": ["~/notes", "/srv/data:rw", "../shared:ro"], "net": ["api.github.com:443", "*.example.com", "localhost:*"],
                "env": ["GITHUB_TOKEN"], "bash": true, "model": true, "tools": ["search"], "timeout_s": 300, "memory_mb": 512}"#,
        )
        .unwrap();
        assert_eq!(
            grants.to_string(),
            "fs ~/notes, /srv/data (read and write), ../shared; net api.github.com:443, *.example.com, localhost:*; \
             env GITHUB_TOKEN; tools search; bash; model; 300 s; 512 MiB"
        );
        let paths: Vec<PathBuf> = grants
            .fs
            .iter()
            .map(|dir| dir.path(Path::new("/p/app"), Some(Path::new("/home/u"))))
            .collect();
        assert_eq!(paths, ["/home/u/notes", "/srv/data", "/p/app/../shared"].map(PathBuf::from));
    }

    #[test]
    fn nothing_is_granted_by_default() {
        let grants = Grants::parse("{}").unwrap();
        assert_eq!(grants, Grants::default());
        assert_eq!(grants.to_string(), "none");
        assert_eq!(grants.timeout(), DEFAULT_TIMEOUT);
        assert!(!grants.tools.allow("add"));
    }

    #[test]
    fn mistakes_are_named() {
        let error = |text: &str| Grants::parse(text).unwrap_err();
        assert!(
            error(r#"{"network": true}"#)
                .contains("unknown field `network`, expected one of `fs`, `net`")
        );
        assert!(error(r#"{"net": "x"}"#).contains("expected a sequence"));
        assert!(
            error("{\n\"net\": [\"http://x/y\"]}")
                .contains("is not a server; expected \"HOST:PORT\"")
        );
        assert!(error("{\n\"net\": [\"x:99999\"]}").contains("line 2"));
        assert!(error(r#"{"env": ["A=B"]}"#).contains("not the name of a variable"));
        assert!(error(r#"{"timeout_s": 0}"#).contains("0 is not between 1 and"));
        assert!(error(r#"{"memory_mb": 9999}"#).contains("9999 is not between"));
        assert!(error(r#"{"tools": "all"}"#).contains("true, false, or a list of tools' names"));
        assert!(error(r#"{"bash": "yes"}"#).contains("expected a boolean"));
    }

    #[test]
    fn a_server_fits_by_host_and_port() {
        let allows = |pattern: &str, host: &str, port: u16| {
            Server::parse(pattern).unwrap().allows(host, port)
        };
        assert!(allows("api.github.com:443", "API.github.com", 443));
        assert!(!allows("api.github.com:443", "api.github.com", 80));
        assert!(
            allows("example.com", "example.com", 80) && allows("example.com", "example.com", 443)
        );
        assert!(!allows("example.com", "example.com", 8080));
        assert!(!allows("example.com", "evil-example.com", 443));
        assert!(allows("*.example.com:443", "a.b.example.com", 443));
        assert!(!allows("*.example.com:443", "example.com", 443));
        assert!(!allows("*.example.com:443", "evilexample.com", 443));
        assert!(allows("*:*", "anything", 1));
        assert!(allows("[::1]:8080", "[::1]", 8080));
        assert!(allows("[::1]", "[::1]", 80));
    }
}
