//! What is measured: our binary, and the peers that this machine has.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use autocode_tests::{Server, TestEnv};
use tempfile::TempDir;

/// The contestants.
pub(crate) struct Subjects {
    /// The release build of autocode.
    pub autocode: PathBuf,
    /// The Python autocode: `AUTOCODE_PYTHON`, or on the path.
    pub python: Option<PathBuf>,
    /// curl, on the path.
    pub curl: Option<PathBuf>,
    /// Where ours is installed.
    _dir: TempDir,
}

impl Subjects {
    pub(crate) fn find() -> Result<Self> {
        let python = match std::env::var_os("AUTOCODE_PYTHON") {
            Some(path) => Some(PathBuf::from(path)),
            None => on_path("autocode").filter(|path| is_python(path)),
        };
        // Installed, as the peers are. What a linker wrote lies in the page cache in single pages, and mapping them
        // costs a start a fifth more; no program that was copied or read from a disk pays that.
        let dir = tempfile::tempdir()?;
        let installed = dir.path().join("autocode");
        std::fs::copy(autocode()?, &installed).context("installing autocode")?;
        Ok(Self { autocode: installed, python, curl: on_path("curl"), _dir: dir })
    }

    /// A fresh project whose model is `server`'s, with a window that nothing fills.
    pub(crate) fn place(&self, server: &Server) -> TestEnv {
        let mut env = TestEnv::with_server(&self.autocode, server);
        env.set("AUTOCODE_CONTEXT_WINDOW", "1000000000");
        env
    }

    /// Whether the binary knows this flag or subcommand.
    pub(crate) fn knows(&self, arguments: &[&str], word: &str) -> bool {
        Command::new(&self.autocode).args(arguments).arg("--help").output().is_ok_and(|output| {
            output.status.success() && String::from_utf8_lossy(&output.stdout).contains(word)
        })
    }
}

/// `AUTOCODE_BIN`; or, under cargo, a build of it; or the binary beside this one.
fn autocode() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("AUTOCODE_BIN") {
        return Ok(path.into());
    }
    if cfg!(debug_assertions) {
        bail!(
            "this is a debug build; run it with: cargo run --release -p autocode-tests --bin bench"
        );
    }
    if let Some(cargo) = std::env::var_os("CARGO") {
        eprintln!("building autocode …");
        let status =
            Command::new(cargo).args(["build", "--release", "--package", "autocode"]).status()?;
        anyhow::ensure!(status.success(), "autocode does not build");
    }
    let path = std::env::current_exe()?.with_file_name("autocode");
    anyhow::ensure!(
        path.exists(),
        "{} is not there; build it with: cargo build --release -p autocode",
        path.display()
    );
    path.canonicalize().context("the binary's path")
}

/// Where the path has this program.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}

/// Whether it is a script for Python.
fn is_python(path: &Path) -> bool {
    let start = std::fs::read(path).unwrap_or_default();
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!") && line.windows(6).any(|window| window == b"python")
}
