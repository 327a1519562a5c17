//! Compilers on the user's machine: finding them, running them, and their complaints in a bounded, readable form.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Result, ToolkitError};
use crate::env::Env;

/// The target that Rust tools are built for.
pub(super) const RUST_TARGET: &str = "wasm32-wasip1";

/// Most of a compiler's complaints that is shown: the first are the ones to mend first.
const MAX_COMPLAINTS: usize = 6_000;

/// A compiler, with the arguments that come before ours (`python3 -m ziglang`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Compiler {
    program: PathBuf,
    before: Vec<OsString>,
}

impl Compiler {
    /// The program of that name on `PATH`.
    pub fn named(env: &Env, name: &str) -> Option<Self> {
        Some(Self { program: find(env, name)?, before: Vec::new() })
    }

    /// A program at a known place.
    pub fn at(program: PathBuf) -> Option<Self> {
        program.is_file().then_some(Self { program, before: Vec::new() })
    }

    /// A module of the Python on `PATH`, if it is installed.
    pub fn python_module(env: &Env, module: &str) -> Option<Self> {
        let python = find(env, "python3")?;
        let mut probe = command(env, &python);
        probe.args([
            "-c",
            &format!("import importlib.util as u; exit(u.find_spec({module:?}) is None)"),
        ]);
        let there = probe
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        there.then(|| Self { program: python, before: vec!["-m".into(), module.into()] })
    }

    /// The same, with more arguments before ours.
    pub fn with(mut self, args: &[&str]) -> Self {
        self.before.extend(args.iter().map(OsString::from));
        self
    }

    /// A command line of it, to run in `dir`.
    pub fn command(&self, env: &Env, dir: &Path) -> Command {
        let mut command = command(env, &self.program);
        command.current_dir(dir).args(&self.before);
        command
    }
}

/// Runs a compiler to its end.
///
/// # Errors
/// Its complaints, when it fails.
pub(super) fn compile(mut command: Command) -> Result {
    let output = output(&mut command)?;
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    if text.trim().is_empty() {
        text = format!("{} ended with {}", command.get_program().to_string_lossy(), output.status);
    }
    Err(ToolkitError::Failed(bounded(&text)))
}

/// Runs a command to its end, with its output.
pub(super) fn output(command: &mut Command) -> Result<std::process::Output> {
    command.output().map_err(|error| {
        ToolkitError::io(
            format_args!("cannot run {}", command.get_program().to_string_lossy()),
            &error,
        )
    })
}

/// A command with the environment it would have in a shell, without colours and without input.
fn command(env: &Env, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(env.vars()).env("NO_COLOR", "1").env("CARGO_TERM_COLOR", "never");
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    command
}

/// The program `name` on `PATH`, or at its own place if `name` is an absolute path.
pub(super) fn find(env: &Env, name: &str) -> Option<PathBuf> {
    let dirs: Vec<PathBuf> = std::env::split_paths(OsStr::new(env.get("PATH")?)).collect();
    dirs.into_iter().map(|dir| dir.join(name)).find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether Rust's standard library for tools is installed.
pub(super) fn has_wasm_target(env: &Env) -> bool {
    let Some(rustc) = find(env, env.get("RUSTC").unwrap_or("rustc")) else { return false };
    let mut probe = command(env, &rustc);
    probe.args(["--print", "target-libdir", "--target", RUST_TARGET]);
    let Ok(output) = probe.output() else { return false };
    let dir = String::from_utf8_lossy(&output.stdout);
    // The directory may be there without the library.
    let Ok(entries) = std::fs::read_dir(dir.trim()) else { return false };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore"))
}

/// The beginning of a compiler's complaints, whole lines, with a word on what was left out.
pub(super) fn bounded(text: &str) -> String {
    let text = text.trim_end();
    let Some(cut) = text.char_indices().map(|(at, _)| at).find(|at| *at >= MAX_COMPLAINTS) else {
        return text.to_owned();
    };
    let kept = text[..cut].rfind('\n').map_or(&text[..cut], |line_end| &text[..line_end]);
    let left = text[kept.len()..].trim_start_matches('\n').lines().count();
    format!("{kept}\n… {left} more lines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_complaints_keep_their_beginning_in_whole_lines() {
        let text = "x.c:1: a complaint\n".repeat(1000);
        let shown = bounded(&text);
        assert!(shown.len() <= MAX_COMPLAINTS + 30);
        let kept = shown.lines().count() - 1;
        assert!(shown.lines().take(kept).all(|line| line == "x.c:1: a complaint"));
        assert!(shown.ends_with(&format!("… {} more lines", 1000 - kept)), "{shown}");
    }

    #[test]
    fn short_complaints_stay_as_they_are() {
        assert_eq!(bounded("one\ntwo\n"), "one\ntwo");
    }
}
