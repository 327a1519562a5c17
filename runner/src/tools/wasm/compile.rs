//! From a module's bytes to native code in a file, usually in a child of our own binary: the compiler's memory, time
//! and crashes stay out of the agent.
//!
//! The child reads the module on stdin, writes the code to the file it is told, and says on stdout how it went. It
//! inherits no environment.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::broken::{Broken, Phase, clip, one_line};
use super::{engine, lift};
use crate::env::Env;

/// First argument of the child; `main` hands the rest to [`compile_child_main`] before it parses anything.
pub const COMPILE_COMMAND: &str = "__compile-wasm";
/// Longest a compilation may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Most that is read of what a child says.
const MAX_ANSWER: u64 = 64 << 10;

/// Who compiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// A child process of this program, which must be an autocode of the same build.
    Child(PathBuf),
    /// This process: for tests, and where memory does not matter.
    InProcess,
}

impl Compiler {
    /// A child of the running binary; this process, where nobody knows what that is.
    pub fn own_binary(env: &Env) -> Self {
        // The link names the running file even after an upgrade put another in its place.
        let running = Path::new("/proc/self/exe");
        match &env.exe {
            Some(_) if cfg!(target_os = "linux") && running.exists() => {
                Self::Child(running.to_owned())
            }
            Some(exe) => Self::Child(exe.clone()),
            None => Self::InProcess,
        }
    }

    /// Compiles `bytes` into the file `output`.
    pub(crate) fn compile(&self, bytes: &[u8], output: &Path) -> Result<(), Broken> {
        match self {
            Self::InProcess => compile(bytes, output),
            Self::Child(program) => {
                let child = Command::new(program)
                    .arg(COMPILE_COMMAND)
                    .arg(output)
                    .env_clear()
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .map_err(|error| {
                        let program = program.display();
                        Broken::new(
                            Phase::Parse,
                            format!("the compiler {program} does not start: {error}"),
                        )
                        .passing()
                    })?;
                supervise(child, bytes)
            }
        }
    }
}

/// What the child says.
#[derive(Serialize, Deserialize)]
enum Answer {
    Compiled,
    Broken(Broken),
}

/// The child's `main`: `arguments` are those after [`COMPILE_COMMAND`].
pub fn compile_child_main(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> ExitCode {
    let Some(output) = arguments.into_iter().next() else {
        return ExitCode::from(2);
    };
    let mut bytes = Vec::new();
    let result = match std::io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => compile(&bytes, Path::new(&output)),
        Err(error) => Err(Broken::new(Phase::Read, error.to_string()).passing()),
    };
    let answer = result.map_or_else(Answer::Broken, |()| Answer::Compiled);
    let said = serde_json::to_writer(std::io::stdout().lock(), &answer);
    if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn compile(bytes: &[u8], output: &Path) -> Result<(), Broken> {
    let component = lift::lift(bytes)?;
    let engine = engine::compiler().map_err(|error| Broken::new(Phase::Parse, error).passing())?;
    let code = engine.precompile_component(&component).map_err(|error| {
        Broken::new(Phase::Parse, format!("the module does not compile: {error:#}"))
    })?;
    std::fs::write(output, code).map_err(|error| {
        Broken::new(Phase::Read, format!("cannot write {}: {error}", output.display())).passing()
    })
}

fn supervise(mut child: Child, bytes: &[u8]) -> Result<(), Broken> {
    let fail = |cause: String| Broken::new(Phase::Parse, cause).passing();
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let answer = std::thread::scope(|scope| {
        // A child that died early closes the pipe; its end says why.
        scope.spawn(move || stdin.is_some_and(|mut pipe| pipe.write_all(bytes).is_ok()));
        let answer = scope.spawn(move || read(stdout));
        let trouble = scope.spawn(move || read(stderr));
        let status = wait(&mut child);
        let text =
            |thread: std::thread::ScopedJoinHandle<'_, Vec<u8>>| thread.join().unwrap_or_default();
        (status, text(answer), text(trouble))
    });
    match answer {
        (Err(error), ..) => Err(fail(error)),
        (Ok(_), answer, trouble) => match serde_json::from_slice(&answer) {
            Ok(Answer::Compiled) => Ok(()),
            Ok(Answer::Broken(broken)) => Err(broken),
            Err(_) => {
                let trouble = String::from_utf8_lossy(&trouble);
                Err(fail(format!(
                    "the compiler crashed on the module: {}",
                    one_line(clip(&trouble, 2000), 300)
                )))
            }
        },
    }
}

fn read(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What arrived before an error is still worth showing.
        _ = pipe.take(MAX_ANSWER).read_to_end(&mut bytes);
    }
    bytes
}

/// Waits for the child, which is killed at the time limit.
fn wait(child: &mut Child) -> Result<(), String> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return Ok(()),
            Ok(None) if start.elapsed() > TIME_LIMIT => {
                _ = child.kill();
                _ = child.wait();
                return Err(format!("compiling took longer than {} s", TIME_LIMIT.as_secs()));
            }
            Ok(None) => std::thread::sleep(pause),
            Err(error) => return Err(format!("the compiler was lost: {error}")),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
