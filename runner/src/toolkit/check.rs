//! `autocode tool check`: a module looked at as the agent would, phase by phase.

use std::path::Path;

use super::{Result, Toolkit, ToolkitError};
use crate::tools::wasm::{Inspected, is_name};

impl Toolkit<'_> {
    pub(super) fn check(&mut self, file: &Path) -> Result {
        let path = self.env.cwd.join(file);
        let shown = file.display().to_string();
        if !path.exists() {
            return Err(ToolkitError::Usage(format!("there is no {shown}")));
        }
        let inspection = self.loader().inspect(&path);
        for (phase, note) in &inspection.phases {
            self.say(format_args!("{:<7} ok  {note}", phase.to_string()));
        }
        let tool = inspection.tool.map_err(|broken| ToolkitError::Failed(broken.report(&shown)))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = tool.name.clone().unwrap_or(stem);
        if name == "bash" || !is_name(&name) {
            return Err(ToolkitError::Failed(format!(
                "{shown} is called `{name}`, which no tool can be: a-z, 0-9, - and _, beginning with a letter, not bash"
            )));
        }
        self.describe(&name, &tool);
        Ok(())
    }

    fn describe(&mut self, name: &str, tool: &Inspected) {
        self.say(format_args!("\n{name}: {}", tool.description));
        // As the tool wrote it, if it cannot be laid out.
        let laid_out = serde_json::from_str::<serde_json::Value>(&tool.parameters)
            .and_then(|parameters| serde_json::to_string_pretty(&parameters));
        self.say(laid_out.unwrap_or_else(|_| tool.parameters.clone()));
    }
}
