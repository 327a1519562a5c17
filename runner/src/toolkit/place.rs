//! Names of tools, and where their parts lie in a project.

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use tempfile::NamedTempFile;

use super::{Result, Toolkit, ToolkitError};
use crate::tools::wasm::is_name;

/// The name of a tool: `[a-z][a-z0-9_-]{0,63}`, not `bash`. Safe as a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ToolName(String);

impl ToolName {
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "bash" => Err(ToolkitError::Usage(
                "bash is the agent's own tool; choose another name".to_owned(),
            )),
            _ if is_name(text) => Ok(Self(text.to_owned())),
            _ => Err(ToolkitError::Usage(format!(
                "`{text}` is no name for a tool: a-z, 0-9, - and _, beginning with a letter, at most 64 characters"
            ))),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ToolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Toolkit<'_> {
    /// `.autocode/src/NAME/`.
    pub fn source(&self, name: &ToolName) -> PathBuf {
        self.project.sources().join(name.as_str())
    }

    /// `.autocode/tools/NAME.wasm`.
    pub fn module(&self, name: &ToolName) -> PathBuf {
        self.project.tools().join(format!("{name}.wasm"))
    }

    /// `.autocode/tools/NAME.grants.json`.
    pub fn grants(&self, name: &ToolName) -> PathBuf {
        self.project.tools().join(format!("{name}.grants.json"))
    }

    /// A module beside its place, to be looked at before it is put there.
    pub fn prepare(&self, module: &[u8]) -> Result<NamedTempFile> {
        let tools = self.project.tools();
        let write = || -> std::io::Result<NamedTempFile> {
            fs::create_dir_all(&tools)?;
            // Not ending in .wasm, so that a scan never takes it for a tool.
            let mut file = tempfile::Builder::new().prefix(".building-").tempfile_in(&tools)?;
            file.write_all(module)?;
            set_readable(file.as_file())?;
            Ok(file)
        };
        write().map_err(|error| {
            ToolkitError::io(format_args!("cannot write to {}", self.project.short(&tools)), &error)
        })
    }

    /// Puts a prepared module in its place, whole or not at all: the agent may be looking.
    pub fn install(&self, name: &ToolName, prepared: NamedTempFile) -> Result<PathBuf> {
        let path = self.module(name);
        prepared.persist(&path).map_err(|error| {
            ToolkitError::io(
                format_args!("cannot write {}", self.project.short(&path)),
                &error.error,
            )
        })?;
        Ok(path)
    }
}

/// Temporary files are made for their owner alone; a tool is committed like any other file.
fn set_readable(file: &fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// A size for people: `712 kB`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
