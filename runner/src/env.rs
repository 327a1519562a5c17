//! The one place where the process's environment comes in: variables, directories, clock.
//!
//! Everything below takes an [`Env`], so that tests need no global state and run in parallel.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A snapshot of what the process was started with.
#[derive(Clone, Debug, Default)]
pub struct Env {
    vars: BTreeMap<String, String>,
    /// Directory the process was started in, absolute.
    pub cwd: PathBuf,
    /// Where the user's `config.json` and `trusted.json` are.
    pub config_dir: PathBuf,
    /// Where compiled wasm, the SDK and cargo's target directory are.
    pub cache_dir: PathBuf,
    /// The user's home directory, if it is known.
    pub home: Option<PathBuf>,
}

impl Env {
    /// The process's own. Variables that are not UTF-8 are left out.
    ///
    /// # Errors
    /// When the current directory is gone.
    pub fn from_process() -> std::io::Result<Self> {
        let vars = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect();
        let base = directories::BaseDirs::new();
        let fallback = || std::env::temp_dir().join("autocode-user");
        Ok(Self {
            vars,
            cwd: std::env::current_dir()?,
            config_dir: base.as_ref().map_or_else(fallback, |b| b.config_dir().join("autocode")),
            cache_dir: base.as_ref().map_or_else(fallback, |b| b.cache_dir().join("autocode")),
            home: base.map(|b| b.home_dir().to_owned()),
        })
    }

    /// An environment below `dir`: `dir` itself as cwd, `dir/.config` and `dir/.cache` for the user's files.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let cwd = dir.into();
        Self {
            vars: BTreeMap::new(),
            config_dir: cwd.join(".config"),
            cache_dir: cwd.join(".cache"),
            home: Some(cwd.clone()),
            cwd,
        }
    }

    /// This environment with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The value of a variable; empty counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// All variables, sorted by name.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}
