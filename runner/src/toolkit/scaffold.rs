//! `autocode tool new`: a source directory that builds and runs as it is.

use std::fs;
use std::path::Path;

use super::place::ToolName;
use super::{Language, Result, Toolkit, ToolkitError, compiler, sdk};

impl Toolkit<'_> {
    pub(super) fn new_tool(&mut self, name: &str, language: Option<Language>) -> Result {
        let name = ToolName::parse(name)?;
        let source = self.source(&name);
        for taken in [source.clone(), self.module(&name)] {
            if fs::symlink_metadata(&taken).is_ok() {
                return Err(ToolkitError::Usage(format!(
                    "{} exists; choose another name, or edit what is there and `autocode tool build {name}`",
                    self.project.short(&taken)
                )));
            }
        }
        let language = language.unwrap_or_else(|| self.preferred_language());
        write_all(&source, language, &name).map_err(|error| {
            ToolkitError::io(format_args!("cannot write {}", self.project.short(&source)), &error)
        })?;
        let entry = source.join(language.entry());
        let entry = self.project.short(&entry).to_string();
        let sample = language.sample(&entry);
        self.say(format_args!("wrote {entry} ({}): a tool that works as it is", language.label()));
        self.say(format_args!(
            "edit it, then: autocode tool build {name} && autocode tool run {name} '{sample}'"
        ));
        Ok(())
    }

    /// Rust where it can be built, else the language that needs nothing.
    fn preferred_language(&self) -> Language {
        let rust =
            compiler::find(self.env, "cargo").is_some() && compiler::has_wasm_target(self.env);
        if rust { Language::Rust } else { Language::JavaScript }
    }
}

fn write_all(source: &Path, language: Language, name: &ToolName) -> std::io::Result<()> {
    for (path, text) in language.templates() {
        let path = source.join(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        let text = text.replace("{{name}}", name.as_str()).replace("{{sdk}}", sdk::VERSION);
        fs::write(path, text)?;
    }
    Ok(())
}
