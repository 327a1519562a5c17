//! Rust: cargo, with the SDK that autocode carries and one target directory for all tools of the user.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::compiler::{self, Compiler, RUST_TARGET};
use super::super::{Result, ToolkitError, sdk};
use crate::env::Env;

pub(super) fn build(env: &Env, source: &Path) -> Result<Vec<u8>> {
    let Some(cargo) = Compiler::named(env, "cargo") else {
        return Err(ToolkitError::Failed(
            "cargo is not installed: https://rustup.rs installs it\n\
             JavaScript needs nothing installed: autocode tool new NAME --lang js"
                .to_owned(),
        ));
    };
    if !compiler::has_wasm_target(env) {
        return Err(ToolkitError::Failed(format!(
            "Rust cannot build for {RUST_TARGET} yet: rustup target add {RUST_TARGET}"
        )));
    }
    let target = env.cache_dir.join("target");
    let sdk = sdk::unpack(env)?;
    // Two builds of crates that share a name would write the same file; it is read before the next may begin.
    let _lock = lock(&target)?;
    let mut command = cargo.command(env, source);
    command
        .args([
            "build",
            "--quiet",
            "--release",
            "--target",
            RUST_TARGET,
            "--message-format=json",
            "--config",
        ])
        .arg(format!(
            "patch.crates-io.autocode-tool.path={:?}",
            sdk.join("tool-sdk").to_string_lossy()
        ))
        .env("CARGO_TARGET_DIR", &target);
    let output = compiler::output(&mut command)?;
    let messages = read_messages(&output.stdout);
    if !output.status.success() {
        return Err(ToolkitError::Failed(complaints(
            &messages,
            &String::from_utf8_lossy(&output.stderr),
        )));
    }
    let module = module(&messages, source).ok_or_else(|| {
        ToolkitError::Failed(
            "the crate makes no module: Cargo.toml needs [lib] crate-type = [\"cdylib\"]"
                .to_owned(),
        )
    })?;
    fs::read(&module)
        .map_err(|error| ToolkitError::io(format_args!("cannot read {}", module.display()), &error))
}

fn lock(target: &Path) -> Result<File> {
    fs::create_dir_all(target)
        .and_then(|()| File::create(target.join(".autocode-lock")))
        .and_then(|file| file.lock().map(|()| file))
        .map_err(|error| {
            ToolkitError::io(format_args!("cannot write to {}", target.display()), &error)
        })
}

/// A line that cargo writes, as far as it matters here.
#[derive(Debug, Deserialize)]
#[serde(tag = "reason")]
enum Message {
    #[serde(rename = "compiler-message")]
    Complaint { message: Diagnostic },
    #[serde(rename = "compiler-artifact")]
    Artifact { manifest_path: PathBuf, filenames: Vec<PathBuf> },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
struct Diagnostic {
    level: String,
    rendered: Option<String>,
    spans: Vec<serde::de::IgnoredAny>,
}

fn read_messages(stdout: &[u8]) -> Vec<Message> {
    stdout
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// The module that the crate in `source` made.
fn module(messages: &[Message], source: &Path) -> Option<PathBuf> {
    let manifest = source.join("Cargo.toml");
    // Cargo resolves links on the way to the manifest.
    let real = manifest.canonicalize().ok();
    let same = |path: &PathBuf| *path == manifest || real.as_ref() == Some(path);
    messages.iter().rev().find_map(|message| match message {
        Message::Artifact { manifest_path, filenames } if same(manifest_path) => filenames
            .iter()
            .find(|file| file.extension().is_some_and(|extension| extension == "wasm"))
            .cloned(),
        _ => None,
    })
}

/// The compiler's errors as it renders them, or what cargo says when it didn't get that far. Warnings stay away.
fn complaints(messages: &[Message], stderr: &str) -> String {
    let errors: Vec<&str> = messages
        .iter()
        .filter_map(|message| match message {
            // The last error, "could not compile … due to 2 previous errors", points nowhere and tells nothing.
            Message::Complaint { message }
                if message.level == "error" && !message.spans.is_empty() =>
            {
                message.rendered.as_deref()
            }
            _ => None,
        })
        .map(str::trim_end)
        .collect();
    let text = if errors.is_empty() { without_warnings(stderr) } else { errors.join("\n\n") };
    compiler::bounded(&text)
}

fn without_warnings(stderr: &str) -> String {
    stderr.lines().filter(|line| !line.starts_with("warning:")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARGO: &str = r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"warning: unused\n","spans":[{}]}}
{"reason":"compiler-message","message":{"level":"error","rendered":"error[E0425]: no x\n --> src/lib.rs:3:5\n","spans":[{}]}}
{"reason":"compiler-message","message":{"level":"error","rendered":"error: aborting due to 1 previous error\n","spans":[]}}
{"reason":"build-finished","success":false}
not json"#;

    #[test]
    fn errors_are_whole_and_nothing_else_is_shown() {
        let shown = complaints(&read_messages(CARGO.as_bytes()), "error: could not compile\n");
        assert_eq!(shown, "error[E0425]: no x\n --> src/lib.rs:3:5");
    }

    #[test]
    fn what_cargo_itself_says_is_shown_when_nothing_was_compiled() {
        let shown = complaints(
            &[],
            "warning: unused config\nerror: no matching package named `nope` found\n",
        );
        assert_eq!(shown, "error: no matching package named `nope` found");
    }

    #[test]
    fn the_module_is_the_crate_s_own() {
        let cargo = br#"{"reason":"compiler-artifact","manifest_path":"/r/dep/Cargo.toml","filenames":["/t/dep.wasm"]}
{"reason":"compiler-artifact","manifest_path":"/p/a/Cargo.toml","filenames":["/t/a.d","/t/a.wasm"]}"#;
        let messages = read_messages(cargo);
        assert_eq!(module(&messages, Path::new("/p/a")), Some("/t/a.wasm".into()));
        assert_eq!(module(&messages, Path::new("/p/b")), None);
    }
}
