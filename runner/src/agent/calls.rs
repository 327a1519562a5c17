//! One tool call: from the model's words to a result. The agent's side of host functions is here too.

use std::cell::RefCell;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::approval::{Asked, Desk, Gate};
use super::channel::Events;
use super::event::Event;
use super::spent::Spent;
use super::subagent::Subagent;
use crate::config::Settings;
use crate::model::message::{Assistant, ToolCall};
use crate::model::{Finish, Model, Request, sanitize_arguments};
use crate::project::Project;
use crate::session::{Meta, Note, Session};
use crate::tools::bash::Bash;
use crate::tools::toolbox::Toolbox;
use crate::tools::{CallContext, Host, ToolResult, ToolStatus};

/// How deep tools may call tools, and agents agents.
const MAX_DEPTH: u32 = 4;

/// What the model hears of a call that the end of its reply may have cut.
const CUT_CALL: &str = "The reply was cut at its length limit within this call, so it did not run. Send it again, in \
     smaller parts.";

/// What calls run with; shared by the agent, its sub-agents and the tools they call.
#[derive(Clone, Copy)]
pub(super) struct Workshop<'a> {
    pub(super) settings: &'a Settings,
    pub(super) system: &'a str,
    /// The instructions for a summary.
    pub(super) compact: &'a str,
    pub(super) project: &'a Project,
    pub(super) model: &'a dyn Model,
    pub(super) toolbox: &'a Toolbox,
    pub(super) bash: &'a Bash,
    pub(super) session: &'a RefCell<Session>,
    pub(super) gate: &'a Gate,
    pub(super) spent: &'a Spent,
    pub(super) events: &'a Events,
    pub(super) cancel: &'a CancellationToken,
    /// The call that all this happens for: progress is shown under it.
    pub(super) call_id: &'a str,
    pub(super) depth: u32,
}

impl Agent {
    /// Runs one call; `bad_arguments` says why its arguments cannot be used.
    pub(super) async fn run_call(
        &self,
        call: &ToolCall,
        bad_arguments: Option<&str>,
        cancel: &CancellationToken,
    ) -> ToolResult {
        let name = &call.function.name;
        if let Some(why) = bad_arguments {
            return failed(why.to_owned());
        }
        self.events.send(Event::ToolStarted {
            id: call.id.clone(),
            name: name.clone(),
            arguments: call.function.arguments.clone(),
            cwd: self.bash.cwd(),
        });
        self.workshop(&call.id, cancel).run(name, &call.function.arguments).await
    }

    /// What the call of this id runs with.
    pub(super) fn workshop<'a>(
        &'a self,
        call_id: &'a str,
        cancel: &'a CancellationToken,
    ) -> Workshop<'a> {
        Workshop {
            settings: self.live.settings(),
            system: self.live.system(),
            compact: self.live.compact(),
            project: &self.project,
            model: &*self.model,
            toolbox: &self.toolbox,
            bash: &self.bash,
            session: &self.session,
            gate: &self.gate,
            spent: &self.spent,
            events: &self.events,
            cancel,
            call_id,
            depth: 0,
        }
    }
}

impl<'a> Workshop<'a> {
    /// Runs the tool `name`, bash included, if it may.
    pub(super) async fn run(&self, name: &str, arguments: &str) -> ToolResult {
        let cwd = self.bash.cwd();
        let asked = Asked { id: self.call_id, name, arguments, cwd: &cwd };
        let policy = self.settings.approve;
        let note = |note: &Note| {
            if let Err(error) = self.session.borrow_mut().note(note) {
                self.events.warn(error.to_string());
            }
        };
        let desk = Desk { events: self.events, cancel: self.cancel, note: &note };
        if let Err(refusal) = self.gate.pass(asked, policy, desk).await {
            return refusal;
        }
        let progress = |text: &str| self.progress(text);
        let context = CallContext {
            cancel: self.cancel,
            progress: &progress,
            host: self,
            cwd,
            output_limit: self.settings.output_limit,
        };
        if name == "bash" {
            self.bash.run(arguments, context).await
        } else {
            self.toolbox.call(name, arguments, context).await
        }
    }

    pub(super) fn progress(&self, text: &str) {
        self.events
            .send(Event::ToolProgress { id: self.call_id.to_owned(), text: text.to_owned() });
    }

    /// The same workshop one level further down.
    fn deeper(&self, what: &str) -> Result<Self, String> {
        if self.depth + 1 >= MAX_DEPTH {
            return Err(format!(
                "{what}: calls are nested {MAX_DEPTH} deep already; do it in this call instead"
            ));
        }
        Ok(Self { depth: self.depth + 1, ..*self })
    }
}

impl Host for Workshop<'_> {
    fn bash<'b>(
        &'b self,
        command: &'b str,
        timeout: Option<Duration>,
    ) -> LocalBoxFuture<'b, Result<String, String>> {
        let arguments =
            serde_json::json!({ "command": command, "timeout": timeout.map(|t| t.as_secs()) });
        async move { as_result(self.run("bash", &arguments.to_string()).await) }.boxed_local()
    }

    fn complete<'b>(&'b self, prompt: &'b str) -> LocalBoxFuture<'b, Result<String, String>> {
        async move {
            let message = crate::model::message::Message::user(prompt);
            let messages = serde_json::to_vec(&message).map_err(|e| e.to_string())?;
            let request = Request {
                settings: self.settings,
                system: "",
                messages: messages.into(),
                tools: bytes::Bytes::new(),
                forbid_tools: false,
            };
            let completion = self.model.complete(request, self.cancel, &mut |_| {}).await;
            let completion = completion.map_err(|e| e.to_string())?;
            self.spent.add(completion.usage);
            completion.message.content.ok_or_else(|| "the model sent an empty reply".to_owned())
        }
        .boxed_local()
    }

    fn agent<'b>(&'b self, task: &'b str) -> LocalBoxFuture<'b, Result<String, String>> {
        async move { Subagent::new(self.deeper("agent")?).work(task).await }.boxed_local()
    }

    fn call<'b>(
        &'b self,
        tool: &'b str,
        args: &'b str,
    ) -> LocalBoxFuture<'b, Result<String, String>> {
        async move { as_result(self.deeper(tool)?.run(tool, args).await) }.boxed_local()
    }

    fn state_get(&self, key: &str) -> Option<String> {
        self.session.borrow().state(key).map(str::to_owned)
    }

    fn state_set(&self, key: &str, value: &str) {
        if let Err(error) = self.session.borrow_mut().set_state(key, value) {
            self.events.warn(error.to_string());
        }
    }
}

/// Makes the arguments of a reply's calls fit for the conversation. Gives place and reason of the calls that must not
/// run: what is malformed, and what the end of the reply may have cut.
pub(super) fn unfit(reply: &mut Assistant, finish: Finish) -> Vec<(usize, String)> {
    let mut unfit = sanitize_arguments(reply);
    if finish == Finish::Length
        && let Some(last) = reply.tool_calls.len().checked_sub(1)
        && !unfit.iter().any(|(at, _)| *at == last)
    {
        unfit.push((last, CUT_CALL.to_owned()));
    }
    unfit
}

/// A result as host functions give it.
fn as_result(result: ToolResult) -> Result<String, String> {
    match result.status {
        ToolStatus::Ok => Ok(result.content),
        _ => Err(result.content),
    }
}

/// The result of a call that could not run.
pub(super) fn failed(content: String) -> ToolResult {
    ToolResult { content, status: ToolStatus::Failed, elapsed: Duration::ZERO }
}

/// What the transcript keeps of a result beside its content.
pub(super) fn meta(result: &ToolResult) -> Meta {
    let status = match result.status {
        ToolStatus::Ok => None,
        ToolStatus::Exit(code) => Some(format!("exit {code}")),
        ToolStatus::Failed => Some("failed".to_owned()),
        ToolStatus::TimedOut => Some("timed out".to_owned()),
        ToolStatus::Cancelled => Some("interrupted".to_owned()),
    };
    let elapsed_ms = u64::try_from(result.elapsed.as_millis()).ok();
    Meta { status, elapsed_ms, ..Meta::now() }
}
