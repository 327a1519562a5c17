//! The binary as a child process: started with a given environment, watched, and killed at the deadline.
//!
//! The child leads its own process group, so that a test can interrupt it as a terminal would and nothing of it
//! outlives the test.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::deadline;

/// A run of the binary, not yet started.
pub struct Command {
    program: PathBuf,
    arguments: Vec<OsString>,
    vars: BTreeMap<OsString, OsString>,
    cwd: PathBuf,
    stdin: Input,
}

enum Input {
    /// `/dev/null`.
    Null,
    /// A pipe with these bytes, then its end.
    Bytes(Vec<u8>),
    /// A pipe that stays open and silent until the test writes or closes it.
    Open,
}

impl Command {
    pub(crate) fn new(program: PathBuf, cwd: PathBuf, vars: BTreeMap<OsString, OsString>) -> Self {
        Self { program, arguments: Vec::new(), vars, cwd, stdin: Input::Null }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of this run.
    #[must_use]
    pub fn var(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.vars.insert(name.into(), value.as_ref().to_owned());
        self
    }

    /// Runs without a variable.
    #[must_use]
    pub fn without_var(mut self, name: &str) -> Self {
        self.vars.remove(OsStr::new(name));
        self
    }

    /// Starts in this directory.
    #[must_use]
    pub fn in_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.cwd = dir.into();
        self
    }

    /// What stands on standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = Input::Bytes(bytes.as_ref().to_vec());
        self
    }

    /// Standard input is a pipe that stays open and silent.
    #[must_use]
    pub fn open_stdin(mut self) -> Self {
        self.stdin = Input::Open;
        self
    }

    /// Runs to the end.
    pub fn run(self) -> Run {
        self.spawn().wait()
    }

    /// Starts.
    pub fn spawn(self) -> Running {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.cwd).env_clear().envs(&self.vars);
        command.stdin(if matches!(self.stdin, Input::Null) {
            Stdio::null()
        } else {
            Stdio::piped()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", self.program.display()));
        let shared = Arc::new(Shared::default());
        let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        read_into(stdout, &shared, |state| &mut state.stdout);
        read_into(stderr, &shared, |state| &mut state.stderr);
        let mut stdin = child.stdin.take();
        if let Input::Bytes(bytes) = self.stdin {
            let mut pipe = stdin.take().unwrap();
            // The child may leave without reading it all.
            std::thread::spawn(move || pipe.write_all(&bytes));
        }
        let pid = Pid::from_child(&child);
        wait_for(child, &shared);
        let shown: Vec<_> =
            self.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
        Running { shared, pid, stdin, shown: shown.join(" "), started: Instant::now() }
    }
}

/// The binary while it runs; killed with its process group when dropped.
pub struct Running {
    shared: Arc<Shared>,
    pid: Pid,
    stdin: Option<ChildStdin>,
    shown: String,
    started: Instant,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    stdout: Stream,
    stderr: Stream,
    status: Option<ExitStatus>,
}

#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    ended: bool,
}

impl Running {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Ctrl-C, as a terminal sends it: to the whole process group.
    pub fn interrupt(&self) {
        let _ = kill_process_group(self.pid, Signal::INT);
    }

    /// `kill`, to this process alone.
    pub fn terminate(&self) {
        let _ = kill_process(self.pid, Signal::TERM);
    }

    /// `kill -9`, to this process alone.
    pub fn kill(&self) {
        let _ = kill_process(self.pid, Signal::KILL);
    }

    /// Writes to its standard input.
    pub fn write(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("started with an open standard input");
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits until standard error holds `text`.
    pub fn wait_for_stderr(&self, text: &str) -> &Self {
        self.wait_until(&format!("{text:?} on stderr"), |state| has(&state.stderr.bytes, text));
        self
    }

    /// Waits until standard output holds `text`.
    pub fn wait_for_stdout(&self, text: &str) -> &Self {
        self.wait_until(&format!("{text:?} on stdout"), |state| has(&state.stdout.bytes, text));
        self
    }

    /// Waits for the end, its standard input left as it is.
    pub fn wait(self) -> Run {
        self.wait_until("its end", |state| {
            state.status.is_some() && state.stdout.ended && state.stderr.ended
        });
        let state = self.lock();
        let status = state.status.unwrap();
        Run {
            command: self.shown.clone(),
            stdout: String::from_utf8_lossy(&state.stdout.bytes).into_owned(),
            stderr: String::from_utf8_lossy(&state.stderr.bytes).into_owned(),
            code: status.code(),
            signal: status.signal(),
            elapsed: self.started.elapsed(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }

    fn wait_until(&self, what: &str, reached: impl Fn(&State) -> bool) {
        let (state, found) =
            deadline::wait(&self.shared.changed, self.lock(), |state| reached(state).then_some(()));
        if found.is_none() {
            let shown = (lossy(&state.stdout.bytes), lossy(&state.stderr.bytes), state.status);
            drop(state);
            let _ = kill_process_group(self.pid, Signal::KILL);
            let (stdout, stderr, status) = shown;
            panic!(
                "autocode {}\nwaited for: {what}\nstatus:     {status:?}\n── stdout ──\n{stdout}\n── stderr ──\n{stderr}",
                self.shown
            );
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            let Ok(state) = self.shared.state.lock() else { return };
            if state.status.is_some() {
                return;
            }
            // A killed program leaves the commands behind that it was running.
            let _ = kill_process_group(self.pid, signal);
            let left = |state: &mut State| state.status.is_none();
            let _ = self.shared.changed.wait_timeout_while(state, deadline::GRACE, left);
        }
    }
}

/// What a run came to.
#[derive(Clone, Debug)]
pub struct Run {
    /// The arguments, for messages.
    pub command: String,
    /// Standard output, invalid UTF-8 replaced.
    pub stdout: String,
    /// Standard error, invalid UTF-8 replaced.
    pub stderr: String,
    /// The exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// How long it ran.
    pub elapsed: Duration,
}

impl Run {
    /// It exited with 0 and `stdout` is all it wrote there.
    #[track_caller]
    pub fn answered(&self, stdout: &str) -> &Self {
        let met = self.code == Some(0) && self.stdout == stdout;
        self.require(met, &format!("exit code 0, stdout {stdout:?}"))
    }

    /// It exited with `code`, wrote nothing on stdout, and told the reason on stderr in these words (each of them).
    #[track_caller]
    pub fn failed(&self, code: i32, words: &[&str]) -> &Self {
        let met = self.code == Some(code) && self.stdout.is_empty();
        self.require(met, &format!("exit code {code}, nothing on stdout"));
        for word in words {
            self.stderr_has(word);
        }
        self
    }

    /// Standard error holds `text`.
    #[track_caller]
    pub fn stderr_has(&self, text: &str) -> &Self {
        self.require(self.stderr.contains(text), &format!("{text:?} on stderr"))
    }

    /// Standard error does not hold `text`.
    #[track_caller]
    pub fn stderr_lacks(&self, text: &str) -> &Self {
        self.require(!self.stderr.contains(text), &format!("no {text:?} on stderr"))
    }

    /// Whether it is so; what was expected and what came are printed side by side when it is not.
    #[track_caller]
    pub fn require(&self, met: bool, expected: &str) -> &Self {
        assert!(
            met,
            "autocode {}\nexpected: {expected}\ngot:      exit code {:?}, signal {:?}\n── stdout ──\n{}\n── stderr ──\n{}",
            self.command, self.code, self.signal, self.stdout, self.stderr
        );
        self
    }
}

fn read_into(
    mut from: impl Read + Send + 'static,
    shared: &Arc<Shared>,
    stream: fn(&mut State) -> &mut Stream,
) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let got = from.read(&mut buffer).unwrap_or(0);
            let mut state = shared.state.lock().unwrap();
            let stream = stream(&mut state);
            stream.bytes.extend_from_slice(&buffer[..got]);
            stream.ended = got == 0;
            drop(state);
            shared.changed.notify_all();
            if got == 0 {
                return;
            }
        }
    });
}

fn wait_for(mut child: Child, shared: &Arc<Shared>) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let status = child.wait().unwrap();
        shared.state.lock().unwrap().status = Some(status);
        shared.changed.notify_all();
    });
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len().max(1)).any(|window| window == text.as_bytes())
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let vars = BTreeMap::from([("PATH".into(), std::env::var_os("PATH").unwrap())]);
        Command::new("/bin/sh".into(), "/".into(), vars).args(["-c", script])
    }

    #[test]
    fn both_streams_and_the_code_are_kept_apart() {
        let run = sh("cat; echo err >&2; exit 3").stdin("in").run();
        assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.code), ("in", "err\n", Some(3)));
    }

    #[test]
    fn only_the_given_variables_are_there() {
        let run = sh("echo ${HOME:-none} $X").var("X", "1").run();
        run.answered("none 1\n");
    }

    #[test]
    fn an_interrupt_reaches_the_group_and_its_signal_is_seen() {
        // What `cat` says shows that it runs: a child that has not begun yet would miss the signal.
        let mut running = sh("cat").open_stdin().spawn();
        running.write("up");
        running.wait_for_stdout("up");
        running.interrupt();
        assert_eq!(running.wait().signal, Some(2));
    }

    #[test]
    fn an_open_pipe_can_be_written_and_closed() {
        let mut running = sh("cat").open_stdin().spawn();
        running.write("a");
        running.wait_for_stdout("a");
        running.write("b");
        running.close_stdin();
        running.wait().answered("ab");
    }

    #[test]
    #[should_panic(expected = "exit code 0, stdout \"x\"")]
    fn what_was_expected_is_said() {
        sh("echo y").run().answered("x");
    }
}
