//! A fresh project and a fresh home to run the binary in, with nothing of the machine's own settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::pty::{Pty, Size};
use crate::{Command, Server, Transcript};

/// The user's settings, from the home directory.
pub const USER_CONFIG: &str = if cfg!(target_os = "macos") {
    "Library/Application Support/autocode/config.json"
} else {
    ".config/autocode/config.json"
};

/// The directories and variables that a run sees. Removed when dropped.
pub struct TestEnv {
    root: PathBuf,
    _dir: TempDir,
    binary: PathBuf,
    project: PathBuf,
    vars: BTreeMap<OsString, OsString>,
}

impl TestEnv {
    /// An empty project and home for runs of `binary`; no model is configured.
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        let dir = tempfile::Builder::new().prefix("autocode-test-").tempdir().unwrap();
        // Without symlinks, so that paths in output compare equal to ours.
        let root = dir.path().canonicalize().unwrap();
        let (project, vars) = (root.join("project"), BTreeMap::new());
        let mut env = Self { root, _dir: dir, binary: binary.into(), project, vars };
        for place in ["project", "home", "tmp"] {
            std::fs::create_dir_all(env.path(place)).unwrap();
        }
        env.set("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        env.set("HOME", env.home());
        env.set("XDG_CONFIG_HOME", env.path("home/.config"));
        env.set("XDG_CACHE_HOME", env.path("home/.cache"));
        env.set("TMPDIR", env.path("tmp"));
        env.set("LANG", "C.UTF-8");
        env.set("TERM", "xterm-256color");
        // Waits between attempts grow from this.
        env.set("AUTOCODE_RETRY_BASE_MS", "10");
        env
    }

    /// A project whose model is `server`'s.
    pub fn with_server(binary: impl Into<PathBuf>, server: &Server) -> Self {
        let mut env = Self::new(binary);
        env.use_url(&server.url());
        env
    }

    /// Points autocode at an endpoint, with the model named `scripted`.
    pub fn use_url(&mut self, url: &str) -> &mut Self {
        self.set("AUTOCODE_BASE_URL", url);
        self.set("AUTOCODE_MODEL", "scripted")
    }

    /// Sets a variable of all runs.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) -> &mut Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// Takes a variable away.
    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.vars.remove(std::ffi::OsStr::new(name));
        self
    }

    /// Lets runs find this machine's Rust, which lies in the real home.
    pub fn with_rust(&mut self) -> &mut Self {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        for (name, place) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            self.set(name, std::env::var_os(name).unwrap_or_else(|| home.join(place).into()));
        }
        self
    }

    /// Moves the project into the home, where it reads `~/NAME` on every machine.
    pub fn at_home(&mut self, name: &str) -> &mut Self {
        self.project = self.home().join(name);
        std::fs::create_dir_all(&self.project).unwrap();
        self
    }

    /// The project's directory.
    pub fn project(&self) -> PathBuf {
        self.project.clone()
    }

    /// The user's home.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// A run of the binary with these arguments.
    pub fn cmd<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        Command::new(self.binary.clone(), self.project(), self.vars.clone()).args(arguments)
    }

    /// Any program with this project's directory and variables, for measuring.
    pub fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
        let mut command = std::process::Command::new(program);
        command.current_dir(self.project()).env_clear().envs(&self.vars);
        command
    }

    /// The binary in a terminal.
    pub fn pty<'a>(&self, size: Size, arguments: impl IntoIterator<Item = &'a str>) -> Pty {
        self.program_in_pty(&self.binary, size, arguments)
    }

    /// Any program in a terminal, with this project's directory and variables.
    pub fn program_in_pty<'a>(
        &self,
        program: &Path,
        size: Size,
        arguments: impl IntoIterator<Item = &'a str>,
    ) -> Pty {
        let arguments: Vec<&str> = arguments.into_iter().collect();
        Pty::spawn(program, &arguments, &self.project(), &self.vars, size)
    }

    /// Writes a file of the project; directories are made.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.project().join(path), content.as_ref())
    }

    /// Writes a file of the user's home; directories are made.
    pub fn write_home(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        write(&self.home().join(path), content.as_ref())
    }

    /// Writes the user's settings.
    pub fn user_config(&self, settings: &Value) -> PathBuf {
        self.write_home(USER_CONFIG, settings.to_string())
    }

    /// The text of a file of the project.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        let path = self.project().join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Whether the project has this file.
    pub fn has(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    /// The project's sessions, oldest first.
    pub fn transcripts(&self) -> Vec<Transcript> {
        let Ok(entries) = std::fs::read_dir(self.project().join(".autocode/sessions")) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
            .collect();
        paths.sort_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok());
        paths.iter().map(|path| Transcript::read(path)).collect()
    }

    /// The one session there is.
    #[track_caller]
    pub fn transcript(&self) -> Transcript {
        let mut all = self.transcripts();
        assert_eq!(all.len(), 1, "expected one session, got {}", all.len());
        all.remove(0)
    }

    /// Where one session's file would be.
    pub fn session_path(&self, id: &str) -> String {
        format!(".autocode/sessions/{id}.jsonl")
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }
}

fn write(path: &Path, content: &[u8]) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
    path.to_owned()
}
