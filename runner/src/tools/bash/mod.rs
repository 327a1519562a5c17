//! The one built-in tool: runs a command in bash and gives back what it printed and how it ended.
//!
//! Invariants: a command can wait for nobody (no stdin, no terminal, no pager, no editor); nobody it leaves behind can
//! hold the call; after a time limit, an interruption or a dropped future nothing of it is left. The directory a
//! command ends in is where the next one starts.

mod arguments;
mod capture;
mod directory;
mod environment;
mod execute;

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CStr, CString};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use self::capture::Capture;
use self::directory::Report;
use self::environment::{Environment, c_string};
use self::execute::{Limits, Pipe, execute};
use super::out::OutDir;
use super::process::{Child, Output, Pid, Spawn, group_is_empty, kill_all, signal_name};
use super::{CallContext, ToolResult, ToolStatus};
use crate::env::Env;
use crate::project::Project;

pub use self::arguments::{Command, DEFAULT_TIMEOUT};
pub use self::execute::End;

/// A command longer than this goes into a file: Linux takes no argument of 128 KiB.
const LONGEST_ARGUMENT: usize = 100_000;

/// What the model is told about the tool.
pub fn schema() -> &'static str {
    concat!(
        r#"{"type":"function","function":{"name":"bash","description":"Run a bash command; "#,
        r#"returns stdout and stderr together. The working directory persists between calls; "#,
        r#"stdin is closed. Long output keeps both ends and names a file with all of it. "#,
        r#"Background processes (&) live until the session ends; redirect their output.","#,
        r#""parameters":{"type":"object","properties":{"command":{"type":"string"},"#,
        r#""timeout":{"type":"number","description":"Seconds until it is killed (default 120)."}},"#,
        r#""required":["command"]}}}"#,
    )
}

/// A shell that keeps its directory from one command to the next.
///
/// Dropping it ends what its commands left running, but for what they started under `setsid`.
pub struct Bash {
    root: PathBuf,
    out: OutDir,
    env: Env,
    environment: OnceCell<Environment>,
    place: RefCell<Place>,
    report: Cell<Option<Report>>,
    /// Leaders of the sessions that may still have members.
    families: RefCell<Vec<Pid>>,
    /// Processes that read what background processes print, so that these neither block nor break.
    readers: RefCell<Vec<Child>>,
}

/// Where the next command starts, and where the one before that did (`cd -`).
struct Place {
    now: PathBuf,
    before: Option<PathBuf>,
}

/// What a command gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it printed, clipped.
    pub output: String,
    /// How it ended.
    pub end: End,
    /// How long it ran.
    pub elapsed: Duration,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub enum BashError {
    /// The arguments make no command.
    #[error("{0}")]
    Arguments(String),
    /// There is no bash.
    #[error("{0}")]
    NoBash(String),
    /// The directory that an earlier command changed to was removed.
    #[error(
        "the working directory {gone} is gone; the working directory is now {root}. The command was not run: \
         send it again if that is the right place for it"
    )]
    DirectoryGone {
        /// Where the command would have run.
        gone: String,
        /// Where the next one runs.
        root: String,
    },
    /// The system would not run it.
    #[error("bash could not be started in {directory}: {source}")]
    Start {
        /// Where it should have run.
        directory: String,
        /// Why not.
        source: io::Error,
    },
}

impl Bash {
    /// A shell in the project's root.
    pub fn new(env: &Env, project: &Project) -> Self {
        Self {
            root: project.root().to_owned(),
            out: OutDir::new(project.out()),
            env: env.clone(),
            environment: OnceCell::new(),
            place: RefCell::new(Place { now: project.root().to_owned(), before: None }),
            report: Cell::new(None),
            families: RefCell::new(Vec::new()),
            readers: RefCell::new(Vec::new()),
        }
    }

    /// The directory in which the next command starts.
    pub fn cwd(&self) -> PathBuf {
        self.place.borrow().now.clone()
    }

    /// Makes `cwd`, an absolute path, the directory in which the next command starts.
    pub fn set_cwd(&self, cwd: impl Into<PathBuf>) {
        let cwd = cwd.into();
        let mut place = self.place.borrow_mut();
        if place.now != cwd {
            place.before = Some(std::mem::replace(&mut place.now, cwd));
        }
    }

    /// Runs a call of the model. It runs in the shell's own directory, not in the context's.
    pub async fn run(&self, arguments: &str, cx: CallContext<'_>) -> ToolResult {
        let started = Instant::now();
        let outcome = match Command::parse(arguments) {
            Ok(command) => self.execute(&command, cx.output_limit, cx.cancel, cx.progress).await,
            Err(error) => Err(BashError::Arguments(error)),
        };
        match outcome {
            Ok(outcome) => ToolResult {
                content: outcome.to_string(),
                status: outcome.status(),
                elapsed: outcome.elapsed,
            },
            Err(error) => ToolResult {
                content: error.to_string(),
                status: ToolStatus::Failed,
                elapsed: started.elapsed(),
            },
        }
    }

    /// Runs `command`; `limit` characters of its output are given back. Dropping the future kills it.
    ///
    /// # Errors
    /// When it could not be run at all.
    pub async fn execute(
        &self,
        command: &Command,
        limit: usize,
        cancel: &CancellationToken,
        progress: &dyn Fn(&str),
    ) -> Result<Outcome, BashError> {
        let started = Instant::now();
        let report = self.report_for(&command.text);
        let pipe = Pipe::new().map_err(|error| self.not_started(error))?;
        let script = Script::of(&command.text).map_err(|error| self.not_started(error))?;
        let mut child = self.start(&script, report.as_ref(), &pipe)?;
        let mut capture = Capture::new(limit, &self.out);
        let limits = Limits { timeout: command.timeout, cancel, progress };
        let ended = execute(&mut child, pipe, &mut capture, &limits).await;
        let (end, left) = ended.map_err(|error| self.not_started(error))?;
        self.look_after(&child, command, left);
        if let Some(report) = report {
            if let Some(cwd) = report.read() {
                self.set_cwd(cwd);
            }
            self.report.set(Some(report));
        }
        Ok(Outcome { output: capture.finish(), end, elapsed: started.elapsed() })
    }

    /// Ends what the commands of this session left running, but for what they started under `setsid`.
    pub fn kill_background(&self) {
        kill_all(&self.families.take());
        self.readers.take().into_iter().for_each(Child::leave);
    }

    fn environment(&self) -> &Environment {
        self.environment
            .get_or_init(|| Environment::new(&self.env, std::env::current_exe().ok().as_deref()))
    }

    /// What tells where the command leaves the shell; `None` if it stays where it is, or that cannot be told.
    fn report_for(&self, command: &str) -> Option<Report> {
        let environment = self.environment();
        let may_change = environment.startup.is_some()
            || environment.has_functions
            || directory::may_change(command);
        if !may_change {
            return None;
        }
        let report = self.report.take().or_else(|| Report::new().ok())?;
        report.arm(command, environment.startup.as_deref()).ok()?;
        Some(report)
    }

    fn start(
        &self,
        script: &Script,
        report: Option<&Report>,
        pipe: &Pipe,
    ) -> Result<Child, BashError> {
        let environment = self.environment();
        let bash = environment.bash.as_ref().map_err(|e| BashError::NoBash(e.clone()))?;
        let failed = |error| self.not_started(error);
        let startup = match (report, &environment.startup) {
            (Some(report), _) => Some(report.variable.clone()),
            (None, Some(file)) => c_string(format!("BASH_ENV={file}").as_bytes()),
            (None, None) => None,
        };
        let place = self.place.borrow();
        let variable =
            |name: &[u8], dir: &Path| c_string(&[name, dir.as_os_str().as_bytes()].concat());
        let own = [
            startup,
            variable(b"PWD=", &place.now),
            place.before.as_deref().and_then(|before| variable(b"OLDPWD=", before)),
        ];
        let vars: Vec<&CStr> =
            environment.vars().chain(own.iter().flatten().map(CString::as_c_str)).collect();
        let directory = variable(b"", &place.now);
        let writer = pipe.writer();
        let output = writer.as_ref().map_or(Output::Discard, |writer| Output::To(writer.as_fd()));
        let child = Spawn {
            program: bash,
            arguments: &script.arguments(),
            environment: &vars,
            directory: directory.as_deref(),
            stdin: None,
            output,
        }
        .start();
        drop(place);
        child.map_err(failed)
    }

    /// The error for a start that failed, which is the directory's fault if that is gone.
    fn not_started(&self, source: io::Error) -> BashError {
        let cwd = self.cwd();
        let directory = cwd.display().to_string();
        if cwd == self.root || cwd.is_dir() {
            return BashError::Start { directory, source };
        }
        *self.place.borrow_mut() = Place { now: self.root.clone(), before: None };
        BashError::DirectoryGone { gone: directory, root: self.root.display().to_string() }
    }

    /// Remembers a command that may have left something running, and has its output read on.
    fn look_after(&self, child: &Child, command: &Command, left: Option<OwnedFd>) {
        self.readers.borrow_mut().retain_mut(|reader| reader.try_wait().is_none());
        // A background process that neither prints nor stays in the group is not to be seen, so `&` alone counts.
        if left.is_some() || command.text.contains('&') || !group_is_empty(child.pid()) {
            self.families.borrow_mut().push(child.pid());
        }
        let Some(pipe) = left else { return };
        match self.environment().read_on(pipe.as_fd()) {
            Some(reader) => self.readers.borrow_mut().push(reader),
            None => {
                thread::spawn(move || io::copy(&mut File::from(pipe), &mut io::sink()));
            }
        }
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        self.kill_background();
    }
}

impl Outcome {
    /// How it ended, as the model's tools say it. A command killed by a signal has the status a shell gives it.
    pub fn status(&self) -> ToolStatus {
        match self.end {
            End::Exit(0) => ToolStatus::Ok,
            End::Exit(code) => ToolStatus::Exit(code),
            End::Signal(signal) => ToolStatus::Exit(128 + signal),
            End::TimedOut(_) => ToolStatus::TimedOut,
            End::Cancelled => ToolStatus::Cancelled,
        }
    }

    /// `[exit 1]` and the like; `None` for success.
    fn mark(&self) -> Option<String> {
        let name =
            |signal| signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned);
        match self.end {
            End::Exit(0) => None,
            End::Exit(code @ 129..) if signal_name(code - 128).is_some() => {
                Some(format!("[exit {code}] (killed by {})", name(code - 128)))
            }
            End::Exit(code) => Some(format!("[exit {code}]")),
            End::Signal(signal) => Some(format!("[killed by {}]", name(signal))),
            End::TimedOut(limit) => {
                Some(format!("[timed out after {} s; killed]", limit.as_secs_f64()))
            }
            End::Cancelled => Some("[interrupted by the user; killed]".to_owned()),
        }
    }
}

/// As the model reads it.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.output)?;
        match self.mark() {
            None if self.output.is_empty() => f.write_str("(no output)"),
            None => Ok(()),
            Some(mark) if self.output.is_empty() || self.output.ends_with('\n') => {
                f.write_str(&mark)
            }
            Some(mark) => write!(f, "\n{mark}"),
        }
    }
}

/// A command's text, where bash finds it.
enum Script {
    Argument(CString),
    File { name: CString, _removed_at_last: tempfile::TempPath },
}

impl Script {
    fn of(text: &str) -> io::Result<Self> {
        if text.len() <= LONGEST_ARGUMENT {
            return Ok(Self::Argument(CString::new(text)?));
        }
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(text.as_bytes())?;
        let path = file.into_temp_path();
        let name = CString::new(path.as_os_str().as_bytes())?;
        Ok(Self::File { name, _removed_at_last: path })
    }

    fn arguments(&self) -> Vec<&CStr> {
        match self {
            Self::Argument(text) => vec![c"bash", c"-c", text],
            Self::File { name, .. } => vec![c"bash", c"-c", c". \"$0\"", name],
        }
    }
}

#[cfg(test)]
mod tests;
