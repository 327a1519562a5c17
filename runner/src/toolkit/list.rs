//! `autocode tool list`.

use std::borrow::Cow;

use serde::Serialize;

use super::build::first_line;
use super::place::size;
use super::{Result, Toolkit};
use crate::tools::toolbox::{ToolInfo, ToolState};

/// A tool as `--json` shows it.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    state: &'static str,
    size: u64,
    grants: &'a str,
    description: &'a str,
    file: String,
    /// Why it is broken.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Toolkit<'_> {
    pub(super) async fn list(&mut self, json: bool) -> Result {
        let tools = self.toolbox(true).await?.describe();
        if json {
            let listed: Vec<Listed<'_>> = tools.iter().map(|tool| self.listed(tool)).collect();
            // Nothing in it can fail to be written as JSON.
            self.say(serde_json::to_string_pretty(&listed).unwrap_or_default());
            return Ok(());
        }
        if tools.is_empty() {
            let dir = self.project.short(&self.project.tools()).to_string();
            self.say(format_args!("there are no tools in {dir}; `autocode tool new NAME` starts one, `autocode tool add` lists some"));
            return Ok(());
        }
        let width = tools.iter().map(|tool| tool.name.len()).max().unwrap_or(0);
        for tool in &tools {
            let (state, about) = match &tool.state {
                ToolState::Ready => (state(tool), first_line(&tool.description)),
                ToolState::Compiling => (state(tool), Cow::Borrowed("")),
                ToolState::Broken(report) => (state(tool), Cow::Borrowed(report.as_str())),
            };
            let (name, size) = (&tool.name, size(tool.size));
            self.say(format_args!(
                "{name:<width$}  {state:<9}  {size:>9}  grants: {}\n  {about}",
                tool.grants
            ));
        }
        Ok(())
    }

    fn listed<'a>(&self, tool: &'a ToolInfo) -> Listed<'a> {
        Listed {
            name: &tool.name,
            state: state(tool),
            size: tool.size,
            grants: &tool.grants,
            description: &tool.description,
            file: self.project.short(&tool.file).to_string(),
            error: match &tool.state {
                ToolState::Broken(report) => Some(report),
                _ => None,
            },
        }
    }
}

fn state(tool: &ToolInfo) -> &'static str {
    match tool.state {
        ToolState::Ready => "ready",
        ToolState::Compiling => "compiling",
        ToolState::Broken(_) => "broken",
    }
}
