//! `autocode tool add`: the tools that come with autocode.

use std::fs;

use super::place::ToolName;
use super::{Result, Toolkit, ToolkitError};

/// A tool that comes with autocode: a model to copy, and of use as it is. Its source is installed with it.
struct Bundled {
    name: &'static str,
    about: &'static str,
    script: &'static str,
}

macro_rules! javascript {
    ($name:literal, $about:literal) => {
        Bundled {
            name: $name,
            about: $about,
            script: include_str!(concat!("../../../example-tools/", $name, "/tool.js")),
        }
    };
}

const BUNDLED: &[Bundled] = &[
    javascript!("outline", "what source files declare, with line numbers"),
    javascript!("todo", "a todo list kept with the session"),
];

impl Toolkit<'_> {
    /// Lists them.
    pub(super) fn bundled(&mut self) {
        for tool in BUNDLED {
            self.say(format_args!("{:<10} {}", tool.name, tool.about));
        }
    }

    pub(super) fn add(&mut self, name: &str) -> Result {
        let Some(tool) = BUNDLED.iter().find(|tool| tool.name == name) else {
            let names: Vec<&str> = BUNDLED.iter().map(|tool| tool.name).collect();
            return Err(ToolkitError::Usage(format!(
                "autocode brings no tool {name}; it has {}",
                names.join(", ")
            )));
        };
        self.add_script(tool)
    }

    fn add_script(&mut self, tool: &Bundled) -> Result {
        let name = ToolName::parse(tool.name)?;
        let source = self.source(&name);
        for taken in [self.module(&name), source.clone()] {
            if fs::symlink_metadata(&taken).is_ok() {
                return Err(ToolkitError::Usage(format!(
                    "{} exists already",
                    self.project.short(&taken)
                )));
            }
        }
        let file = source.join("tool.js");
        fs::create_dir_all(&source).and_then(|()| fs::write(&file, tool.script)).map_err(
            |error| {
                ToolkitError::io(format_args!("cannot write {}", self.project.short(&file)), &error)
            },
        )?;
        self.build_one(&name)
    }
}
