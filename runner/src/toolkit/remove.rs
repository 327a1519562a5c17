//! `autocode tool remove`.

use std::fs;
use std::io::ErrorKind;

use super::place::ToolName;
use super::{Result, Toolkit, ToolkitError};

impl Toolkit<'_> {
    pub(super) fn remove(&mut self, name: &str) -> Result {
        let name = ToolName::parse(name)?;
        let mut removed = Vec::new();
        for file in [self.module(&name), self.grants(&name)] {
            let shown = self.project.short(&file).to_string();
            match fs::remove_file(&file) {
                Ok(()) => removed.push(shown),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(ToolkitError::io(format_args!("cannot remove {shown}"), &error));
                }
            }
        }
        if removed.is_empty() {
            return Err(ToolkitError::Usage(format!(
                "there is no tool {name} in {}",
                self.project.short(&self.project.tools())
            )));
        }
        self.say(format_args!("removed {}", removed.join(" and ")));
        let source = self.source(&name);
        if source.exists() {
            let source = self.project.short(&source).to_string();
            self.say(format_args!("its source stays in {source}"));
        }
        Ok(())
    }
}
