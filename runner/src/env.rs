//! The one place where the process's environment comes in: variables, directories, clock.
//!
//! Everything below takes an [`Env`], so that tests need no global state and run in parallel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// A snapshot of what the process was started with.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Shared: every part of the program keeps an environment.
    vars: Arc<BTreeMap<String, String>>,
    /// Directory the process was started in, absolute.
    pub cwd: PathBuf,
    /// Where the user's `config.json` and `trusted.json` are.
    pub config_dir: PathBuf,
    /// Where compiled wasm, the SDK and cargo's target directory are.
    pub cache_dir: PathBuf,
    /// The user's home directory, if it is known.
    pub home: Option<PathBuf>,
    /// This program's own file, if it is known.
    pub exe: Option<PathBuf>,
    /// Where the clock stands still, in tests.
    fixed: Option<Timestamp>,
}

impl Env {
    /// The process's own. Variables that are not UTF-8 are left out.
    ///
    /// # Errors
    /// When the current directory is gone.
    pub fn from_process() -> std::io::Result<Self> {
        let vars = std::env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect::<BTreeMap<_, _>>();
        let base = directories::BaseDirs::new();
        let fallback = || std::env::temp_dir().join("autocode-user");
        Ok(Self {
            vars: Arc::new(vars),
            cwd: std::env::current_dir()?,
            config_dir: base.as_ref().map_or_else(fallback, |b| b.config_dir().join("autocode")),
            cache_dir: base.as_ref().map_or_else(fallback, |b| b.cache_dir().join("autocode")),
            home: base.map(|b| b.home_dir().to_owned()),
            exe: std::env::current_exe().ok(),
            fixed: None,
        })
    }

    /// An environment below `dir`: `dir` itself as cwd, `dir/.config` and `dir/.cache` for the user's files.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        let cwd = dir.into();
        Self {
            vars: Arc::default(),
            config_dir: cwd.join(".config"),
            cache_dir: cwd.join(".cache"),
            home: Some(cwd.clone()),
            exe: None,
            fixed: None,
            cwd,
        }
    }

    /// This environment with one more variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        Arc::make_mut(&mut self.vars).insert(name.to_owned(), value.to_owned());
        self
    }

    /// This environment with the clock standing still at `now`.
    #[must_use]
    pub fn at_time(mut self, now: Timestamp) -> Self {
        self.fixed = Some(now);
        self
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.fixed.unwrap_or_else(Timestamp::now)
    }

    /// Date and time where the user is.
    pub fn local_time(&self) -> DateTime {
        self.zone().to_datetime(self.now())
    }

    /// A moment as date and time where the user is.
    pub fn local(&self, time: Timestamp) -> DateTime {
        self.zone().to_datetime(time)
    }

    /// `TZ`'s zone, else the system's. jiff's own look-up of a name lists the whole zone database first, which takes
    /// milliseconds; one file is enough.
    fn zone(&self) -> TimeZone {
        let named = self.get("TZ").and_then(|name| {
            let name = name.trim_start_matches(':');
            let data = std::fs::read(Path::new("/usr/share/zoneinfo").join(name)).ok()?;
            TimeZone::tzif(name, &data).ok()
        });
        named.unwrap_or_else(TimeZone::system)
    }

    /// This environment without the variables whose names begin like this.
    #[must_use]
    pub fn without(mut self, prefix: &str) -> Self {
        Arc::make_mut(&mut self.vars).retain(|name, _| !name.starts_with(prefix));
        self
    }

    /// This environment as a user without settings has it in `dir`.
    #[must_use]
    pub fn started_in(self, dir: &Path) -> Self {
        Self { cwd: dir.to_owned(), config_dir: dir.join(".config/autocode"), ..self }
    }

    /// The value of a variable; empty counts as unset.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|v| !v.is_empty())
    }

    /// `path` with the user's home as `~`, for showing to people.
    pub fn short(&self, path: &Path) -> String {
        match self.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }

    /// All variables, sorted by name.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        self.vars.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_the_users() {
        let late = "2026-03-01T23:30:00Z".parse().unwrap();
        let env = Env::at("/").at_time(late);
        assert_eq!(env.now(), late);
        if Path::new("/usr/share/zoneinfo/Asia/Tokyo").exists() {
            let tokyo = env.with("TZ", ":Asia/Tokyo");
            assert_eq!(tokyo.local_time().date().to_string(), "2026-03-02");
        }
    }

    #[test]
    fn paths_below_home_are_shown_with_a_tilde() {
        let env = Env::at("/home/ada");
        assert_eq!(env.short(Path::new("/home/ada/x")), "~/x");
        assert_eq!(env.short(Path::new("/home/adam/x")), "/home/adam/x");
    }
}
