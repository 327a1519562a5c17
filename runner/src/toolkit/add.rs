//! `autocode tool add`: the tools that come with autocode.

use std::fs;

use super::place::{ToolName, size};
use super::{Result, Toolkit, ToolkitError};

/// A tool that comes with autocode: of use as it is, and a model to copy.
struct Bundled {
    name: &'static str,
    about: &'static str,
    form: Form,
    /// What it can do nothing without, as its grants file says it.
    needs: Option<&'static str>,
}

/// What travels in the binary.
enum Form {
    /// A script, installed with its source and built there.
    Script(&'static str),
    /// A module that `example-tools/build.sh --bundle` made and the build script deflated.
    Module(&'static [u8]),
}

macro_rules! script {
    ($name:literal) => {
        Form::Script(include_str!(concat!("../../../example-tools/", $name, "/tool.js")))
    };
}

macro_rules! module {
    ($name:literal) => {
        Form::Module(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".wasm.deflate")))
    };
}

const BUNDLED: &[Bundled] = &[
    Bundled {
        name: "add",
        about: "the sum of two numbers: the smallest tool in Rust",
        form: module!("add"),
        needs: None,
    },
    Bundled {
        name: "fetch",
        about: "a URL as text",
        form: module!("fetch"),
        needs: Some(r#"{"net": ["docs.rs", "api.github.com:443"]}"#),
    },
    Bundled {
        name: "outline",
        about: "what source files declare, with line numbers",
        form: script!("outline"),
        needs: None,
    },
    Bundled {
        name: "search",
        about: "ripgrep's search, without a ripgrep",
        form: module!("search"),
        needs: None,
    },
    Bundled {
        name: "todo",
        about: "a todo list kept with the session",
        form: script!("todo"),
        needs: None,
    },
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
        let name = ToolName::parse(tool.name)?;
        let source = self.source(&name);
        for taken in [self.module(&name), source.clone()] {
            if fs::symlink_metadata(&taken).is_ok() {
                let taken = self.project.short(&taken);
                return Err(ToolkitError::Usage(format!("{taken} exists already")));
            }
        }
        match tool.form {
            Form::Script(script) => {
                let file = source.join("tool.js");
                let written = fs::create_dir_all(&source).and_then(|()| fs::write(&file, script));
                written.map_err(|error| {
                    ToolkitError::io(
                        format_args!("cannot write {}", self.project.short(&file)),
                        &error,
                    )
                })?;
                self.build_one(&name)?;
            }
            Form::Module(packed) => {
                let module = miniz_oxide::inflate::decompress_to_vec(packed)
                    .map_err(|error| ToolkitError::Failed(format!("{name}: {error}")))?;
                let prepared = self.prepare(&module)?;
                let path = self.install(&name, prepared)?;
                let path = self.project.short(&path).to_string();
                self.say(format_args!(
                    "installed {path} ({}): {}",
                    size(module.len() as u64),
                    tool.about
                ));
            }
        }
        if let Some(grant) = tool.needs {
            let file = self.project.short(&self.grants(&name)).to_string();
            self.say(format_args!("it needs a grant, for example in {file}: {grant}"));
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use sha2::{Digest, Sha256};

    use super::*;

    /// `example-tools/build.sh --bundle` writes the digest of what it built from.
    #[test]
    fn bundled_modules_were_built_from_the_sources_beside_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let examples = root.join("example-tools");
        for tool in BUNDLED.iter().filter(|tool| matches!(tool.form, Form::Module(_))) {
            let mut files = vec!["Cargo.toml".to_owned(), format!("{}/Cargo.toml", tool.name)];
            for entry in fs::read_dir(examples.join(tool.name).join("src")).unwrap() {
                files.push(format!(
                    "{}/src/{}",
                    tool.name,
                    entry.unwrap().file_name().to_str().unwrap()
                ));
            }
            files.sort();
            let mut digest = Sha256::new();
            for file in files {
                let text = fs::read(examples.join(&file)).unwrap();
                digest.update(format!("{:x}  {file}\n", Sha256::digest(text)));
            }
            let recorded = root.join("assets/tools").join(format!("{}.wasm.src-sha256", tool.name));
            let recorded = fs::read_to_string(recorded).unwrap();
            assert_eq!(
                format!("{:x}", digest.finalize()),
                recorded.trim(),
                "{}: run build.sh --bundle",
                tool.name
            );
        }
    }
}
