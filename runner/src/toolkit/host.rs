//! What a tool may ask for when no agent is there: everything but a model.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tokio_util::sync::CancellationToken;

use crate::env::Env;
use crate::project::Project;
use crate::tools::bash::Bash;
use crate::tools::toolbox::Toolbox;
use crate::tools::{CallContext, Host, ToolResult, ToolStatus};

/// How many tools may be between the command and a tool that one calls.
const MAX_DEPTH: usize = 4;
/// Characters of a command's output that a tool gets.
const OUTPUT_LIMIT: usize = 30_000;

/// The host functions of a tool that is run from the command line. State lives as long as the command.
pub(super) struct Alone<'a> {
    toolbox: &'a Toolbox,
    bash: Bash,
    cancel: &'a CancellationToken,
    depth: Cell<usize>,
    state: RefCell<BTreeMap<String, String>>,
}

impl<'a> Alone<'a> {
    pub fn new(
        toolbox: &'a Toolbox,
        env: &Env,
        project: &Project,
        cancel: &'a CancellationToken,
    ) -> Self {
        let bash = Bash::new(env, project);
        if env.cwd.starts_with(project.root()) {
            bash.set_cwd(&env.cwd);
        }
        Self { toolbox, bash, cancel, depth: Cell::new(1), state: RefCell::default() }
    }

    /// Where relative paths start.
    pub fn cwd(&self) -> PathBuf {
        self.bash.cwd()
    }

    fn context<'b>(&'b self, progress: &'b dyn Fn(&str)) -> CallContext<'b> {
        CallContext {
            cancel: self.cancel,
            progress,
            host: self,
            cwd: self.cwd(),
            output_limit: OUTPUT_LIMIT,
        }
    }
}

fn quiet(_: &str) {}

fn as_result(result: ToolResult) -> Result<String, String> {
    match result.status {
        ToolStatus::Ok => Ok(result.content),
        _ => Err(result.content),
    }
}

fn no_model<'a>(what: &'static str) -> LocalBoxFuture<'a, Result<String, String>> {
    let text = format!("{what} needs a model, which a tool has only when the agent calls it");
    async move { Err(text) }.boxed_local()
}

impl Host for Alone<'_> {
    fn bash<'a>(
        &'a self,
        command: &'a str,
        timeout: Option<Duration>,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        async move {
            let timeout = timeout.map(|timeout| timeout.as_secs());
            let arguments = serde_json::json!({ "command": command, "timeout": timeout });
            as_result(self.bash.run(&arguments.to_string(), self.context(&quiet)).await)
        }
        .boxed_local()
    }

    fn complete<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        no_model("complete")
    }

    fn agent<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        no_model("agent")
    }

    fn call<'a>(
        &'a self,
        tool: &'a str,
        args: &'a str,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        async move {
            if self.depth.get() >= MAX_DEPTH {
                return Err(format!(
                    "tools call each other {MAX_DEPTH} deep at most; {tool} was not called"
                ));
            }
            self.depth.set(self.depth.get() + 1);
            let result = self.toolbox.call(tool, args, self.context(&quiet)).await;
            self.depth.set(self.depth.get() - 1);
            as_result(result)
        }
        .boxed_local()
    }

    fn state_get(&self, key: &str) -> Option<String> {
        self.state.borrow().get(key).cloned()
    }

    fn state_set(&self, key: &str, value: &str) {
        self.state.borrow_mut().insert(key.to_owned(), value.to_owned());
    }
}
