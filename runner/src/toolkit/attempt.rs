//! `autocode tool run`: one call of a tool, with the grants and limits it has when the agent calls it.

use std::io::Write;

use tokio_util::sync::CancellationToken;

use super::host::Alone;
use super::{Result, Toolkit, ToolkitError};
use crate::render::sanitize;
use crate::tools::{CallContext, ToolStatus};

impl Toolkit<'_> {
    pub(super) async fn attempt(&mut self, name: &str, arguments: &str) -> Result {
        let toolbox = self.toolbox(false).await?;
        let names: Vec<String> = toolbox.describe().into_iter().map(|tool| tool.name).collect();
        if !names.iter().any(|known| known == name) {
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(ToolkitError::Usage(format!(
                "there is no tool `{name}` here; there are: {known}"
            )));
        }
        let cancel = CancellationToken::new();
        let host = Alone::new(&toolbox, self.env, &self.project, &cancel);
        let cx = CallContext {
            cancel: &cancel,
            progress: &show_progress,
            host: &host,
            cwd: host.cwd(),
            output_limit: usize::MAX,
        };
        let call = toolbox.call(name, arguments, cx);
        tokio::pin!(call);
        let result = tokio::select! {
            result = &mut call => result,
            _ = tokio::signal::ctrl_c() => {
                cancel.cancel();
                call.await
            }
        };
        match result.status {
            ToolStatus::Ok => {
                self.say(result.content);
                Ok(())
            }
            ToolStatus::Cancelled => Err(ToolkitError::Interrupted),
            _ => Err(ToolkitError::Failed(result.content)),
        }
    }
}

/// A line that the tool shows while it runs; standard output is for its answer.
fn show_progress(line: &str) {
    let _ = writeln!(std::io::stderr(), "{}", sanitize(line));
}
