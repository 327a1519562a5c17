//! A project with tools, and an agent's side that records what tools ask of it.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::env::Env;
use crate::project::Project;
use crate::tools::toolbox::Toolbox;
use crate::tools::wasm::{Compiler, Loader};
use crate::tools::{CallContext, Host, ToolChange, ToolResult};

/// A project, its toolbox and the agent's side.
pub(crate) struct Fixture {
    pub dir: TempDir,
    pub env: Env,
    pub toolbox: Toolbox,
    pub host: Recorder,
    pub cancel: CancellationToken,
    pub output_limit: usize,
}

impl Fixture {
    pub fn new() -> Self {
        Self::with(|env| Loader::new(&env.cache_dir, Compiler::InProcess, None))
    }

    pub fn with(loader: impl FnOnce(&Env) -> Loader) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join(".autocode/tools")).unwrap();
        let env = Env::at(dir.path());
        let toolbox = Toolbox::new(&Project::at(dir.path()), &env, loader(&env), r#"{"bash":1}"#);
        let (host, cancel) = (Recorder::default(), CancellationToken::new());
        Self { dir, env, toolbox, host, cancel, output_limit: 10_000 }
    }

    /// A second process in the same project.
    pub fn restart(&mut self, loader: Loader) {
        self.toolbox =
            Toolbox::new(&Project::at(self.dir.path()), &self.env, loader, r#"{"bash":1}"#);
    }

    pub fn root(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.root().join(".autocode/tools").join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.file(name), bytes).unwrap();
    }

    /// Waits for everything, so that a slow machine changes nothing.
    pub async fn rescan(&mut self) -> Vec<ToolChange> {
        self.toolbox.rescan_all(true).await
    }

    pub async fn call(&self, name: &str, arguments: &str) -> ToolResult {
        self.call_in(self.root().to_owned(), name, arguments).await
    }

    pub async fn call_in(&self, cwd: PathBuf, name: &str, arguments: &str) -> ToolResult {
        let progress = |line: &str| self.host.log.borrow_mut().push(format!("progress {line}"));
        let cx = CallContext {
            cancel: &self.cancel,
            progress: &progress,
            host: &self.host,
            cwd,
            output_limit: self.output_limit,
        };
        self.toolbox.call(name, arguments, cx).await
    }

    /// The entries of the `tools` array.
    pub fn schemas(&self) -> Vec<Value> {
        serde_json::from_slice(&self.toolbox.schemas()).unwrap()
    }

    /// The description that the model reads.
    #[track_caller]
    pub fn description(&self, name: &str) -> String {
        let schemas = self.schemas();
        let entry = schemas.iter().find(|entry| entry["function"]["name"] == name);
        let entry = entry.unwrap_or_else(|| panic!("no {name} in {schemas:#?}"));
        entry["function"]["description"].as_str().unwrap().to_owned()
    }

    pub fn names(&self) -> Vec<String> {
        self.toolbox.names().map(str::to_owned).collect()
    }
}

/// Answers everything and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Recorder {
    pub log: RefCell<Vec<String>>,
    pub state: RefCell<Option<String>>,
    /// Never answers a command: the call has to be ended.
    pub silent: bool,
}

impl Recorder {
    fn answer(&self, line: String) -> LocalBoxFuture<'_, Result<String, String>> {
        self.log.borrow_mut().push(line.clone());
        if self.silent {
            return std::future::pending().boxed_local();
        }
        async move { Ok(format!("answer to {line}")) }.boxed_local()
    }
}

impl Host for Recorder {
    fn bash<'a>(
        &'a self,
        command: &'a str,
        timeout: Option<Duration>,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        self.answer(format!("bash {command} {timeout:?}"))
    }

    fn complete<'a>(&'a self, prompt: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        self.answer(format!("complete {prompt}"))
    }

    fn agent<'a>(&'a self, task: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        self.answer(format!("agent {task}"))
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        args: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        self.answer(format!("call {tool} {args}"))
    }

    fn state_get(&self, key: &str) -> Option<String> {
        self.log.borrow_mut().push(format!("get {key}"));
        self.state.borrow().clone()
    }

    fn state_set(&self, key: &str, value: &str) {
        self.log.borrow_mut().push(format!("set {key}"));
        *self.state.borrow_mut() = Some(value.to_owned());
    }
}
