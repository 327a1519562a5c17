//! `autocode tool build`: from a source directory to a module in its place.

mod javascript;
mod native;
mod rust;

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::time::Instant;

use crate::{drift, files};

use super::place::{self, ToolName};
use super::{Language, Result, Toolkit, ToolkitError};

impl Toolkit<'_> {
    pub(super) fn build(&mut self, name: Option<&str>) -> Result {
        let Some(name) = name else { return self.build_here_or_all() };
        let name = ToolName::parse(name)?;
        if !self.source(&name).is_dir() {
            return Err(ToolkitError::Usage(format!(
                "there is no {}; `autocode tool new {name}` starts one",
                self.project.short(&self.source(&name))
            )));
        }
        self.build_one(&name)
    }

    /// The tool whose source the current directory is in, or all.
    fn build_here_or_all(&mut self) -> Result {
        let sources = self.project.sources();
        if let Ok(inside) = self.env.cwd.strip_prefix(&sources)
            && let Some(first) = inside.components().next()
        {
            let name = ToolName::parse(&first.as_os_str().to_string_lossy())?;
            return self.build_one(&name);
        }
        let names = self.sources()?;
        let mut failures = Vec::new();
        for name in &names {
            // One that fails keeps none of the others from being built.
            if let Err(error) = self.build_one(name) {
                failures.push(error.to_string());
            }
        }
        if failures.is_empty() { Ok(()) } else { Err(ToolkitError::Failed(failures.join("\n"))) }
    }

    /// The names under `.autocode/src/`.
    fn sources(&self) -> Result<Vec<ToolName>> {
        let dir = self.project.sources();
        let entries = fs::read_dir(&dir).into_iter().flatten().flatten();
        let mut names: Vec<ToolName> = entries
            .filter(|entry| Language::of(&entry.path()).is_some())
            .filter_map(|entry| ToolName::parse(entry.file_name().to_str()?).ok())
            .collect();
        names.sort();
        if names.is_empty() {
            let dir = self.project.short(&dir);
            return Err(ToolkitError::Usage(format!(
                "there is nothing to build in {dir}; `autocode tool new NAME` starts a tool"
            )));
        }
        Ok(names)
    }

    pub(super) fn build_one(&mut self, name: &ToolName) -> Result {
        let started = Instant::now();
        let source = self.source(name);
        let failed = |text: String| ToolkitError::Failed(format!("{name} does not build\n{text}"));
        let module = self.compile(name, &source).map_err(|error| match error {
            ToolkitError::Failed(text) => failed(text),
            other => other,
        })?;
        let prepared = self.prepare(&module)?;
        // A module that the agent could not load never takes the place of one that it can.
        let inspected = self.loader().inspect(prepared.path()).tool.map_err(|broken| {
            failed(match Language::of(&source) {
                Some(Language::JavaScript) => javascript::explain(&broken, name, &source),
                _ => broken.report(&self.project.short(&self.module(name)).to_string()),
            })
        })?;
        let path = self.install(name, prepared)?;
        // What `--diff` compares with later.
        if let Err(error) = drift::record_build(&self.project, name.as_str()) {
            self.say(format_args!("the build was not noted: {}", files::reason(&error)));
        }
        let path = self.project.short(&path).to_string();
        let size = place::size(module.len() as u64);
        let took = started.elapsed();
        let called = inspected.name.as_deref().unwrap_or(name.as_str());
        self.say(format_args!(
            "built {path} ({size}) in {took:.1?}: {called}, {}",
            first_line(&inspected.description)
        ));
        Ok(())
    }

    fn compile(&self, name: &ToolName, source: &Path) -> Result<Vec<u8>> {
        match Language::of(source) {
            Some(Language::JavaScript) => javascript::build(name, source),
            Some(Language::Rust) => rust::build(self.env, source),
            Some(other) => native::build(self.env, other, source),
            None => {
                let marks = Language::ALL.map(Language::mark).join(", ");
                let source = self.project.short(source);
                Err(ToolkitError::Usage(format!(
                    "{source} holds no tool: none of {marks} is there"
                )))
            }
        }
    }
}

/// The beginning of a description, for a line of a list.
pub(super) fn first_line(text: &str) -> Cow<'_, str> {
    const MOST: usize = 100;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}...", line[..end].trim_end())),
        None => Cow::Borrowed(line),
    }
}
