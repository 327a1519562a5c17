//! The shell as the model uses it.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::fs;
use std::net::TcpListener;

use futures_util::future::LocalBoxFuture;
use tokio::task::yield_now;

use super::*;
use crate::tools::Host;

struct Shell {
    bash: Bash,
    dir: tempfile::TempDir,
    progress: RefCell<String>,
}

struct Nobody;

impl Host for Nobody {
    fn bash<'a>(
        &'a self,
        _: &'a str,
        _: Option<Duration>,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        unreachable!()
    }
    fn complete<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        unreachable!()
    }
    fn agent<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        unreachable!()
    }
    fn call<'a>(&'a self, _: &'a str, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        unreachable!()
    }
    fn state_get(&self, _: &str) -> Option<String> {
        unreachable!()
    }
    fn state_set(&self, _: &str, _: &str) {
        unreachable!()
    }
}

impl Shell {
    fn new() -> Self {
        Self::with(|env| env)
    }

    fn with(change: impl FnOnce(Env) -> Env) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = change(Env::at(dir.path()).with("HOME", dir.path().to_str().unwrap()));
        let bash = Bash::new(&env, &Project::at(dir.path().canonicalize().unwrap()));
        Self { bash, dir, progress: RefCell::default() }
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    async fn call(&self, arguments: &str, limit: usize, cancel: &CancellationToken) -> ToolResult {
        let progress = |text: &str| self.progress.borrow_mut().push_str(text);
        let cx = CallContext {
            cancel,
            progress: &progress,
            host: &Nobody,
            cwd: PathBuf::from("/nonexistent"),
            output_limit: limit,
        };
        self.bash.run(arguments, cx).await
    }

    async fn run(&self, command: &str) -> ToolResult {
        let arguments = serde_json::json!({ "command": command }).to_string();
        self.call(&arguments, 30_000, &CancellationToken::new()).await
    }

    async fn says(&self, command: &str) -> String {
        self.run(command).await.content
    }
}

/// Whether a process with this id lives. (A zombie does not, and where nobody reaps orphans it stays one.)
#[cfg(target_os = "linux")]
fn lives(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[cfg(not(target_os = "linux"))]
fn lives(pid: &str) -> bool {
    Pid::from_raw(pid.trim().parse().unwrap())
        .is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

async fn until_gone(pid: &str) {
    while lives(pid) {
        yield_now().await;
    }
}

#[test]
fn the_schema_is_json() {
    let schema: serde_json::Value = serde_json::from_str(schema()).unwrap();
    assert_eq!(schema["function"]["name"], "bash");
    assert_eq!(schema["function"]["parameters"]["required"][0], "command");
}

#[tokio::test]
async fn stdout_and_stderr_come_together_with_the_exit_status() {
    let shell = Shell::new();
    let result = shell.run("echo one; echo two >&2; exit 3").await;
    assert_eq!(result.content, "one\ntwo\n[exit 3]");
    assert_eq!(result.status, ToolStatus::Exit(3));
    assert_eq!(shell.says("true").await, "(no output)");
    assert_eq!(shell.says("false").await, "[exit 1]");
    assert_eq!(shell.says("printf x; false").await, "x\n[exit 1]");
}

#[tokio::test]
async fn a_script_that_writes_to_dev_stderr_loses_nothing() {
    let shell = Shell::new();
    let output =
        shell.says("echo one; echo two >/dev/stderr; echo three >/dev/stdout; echo four").await;
    assert_eq!(output, "one\ntwo\nthree\nfour\n");
}

#[tokio::test]
async fn a_signal_is_named() {
    let shell = Shell::new();
    let result = shell.run("kill -SEGV $$").await;
    assert_eq!(result.content, "[killed by SIGSEGV]");
    assert_eq!(result.status, ToolStatus::Exit(139));
    assert!(
        shell.says("sh -c 'kill -9 $$'; exit $?").await.ends_with("[exit 137] (killed by SIGKILL)")
    );
    assert_eq!(shell.says("exit 255").await, "[exit 255]");
}

#[tokio::test]
async fn the_directory_stays_from_one_command_to_the_next() {
    let shell = Shell::new();
    let root = shell.root();
    fs::create_dir_all(root.join("a b/c")).unwrap();
    for (command, ends_in) in [
        ("cd 'a b'; exit 4", "a b"),
        ("(cd c)", "a b"),
        ("cd c & wait", "a b"),
        ("echo $(cd c; pwd)", "a b"),
        ("set -xeC; cd c; false", "a b/c"),
        ("cd - >/dev/null", "a b"),
        ("cd c; for x in", "a b"),
        ("trap 'echo mine' EXIT; cd c", "a b/c"),
        ("cd ..; exec true", "a b"),
        ("cd c; cat <<X\nhere\nX", "a b/c"),
        ("echo 'pushd ../.. >/dev/null' >s; . ./s", ""),
        ("d='a b'; eval 'cd \"$d\"'; kill -TERM $$", "a b"),
        ("cd /nonexistent", "a b"),
    ] {
        shell.run(command).await;
        assert_eq!(shell.bash.cwd(), root.join(ends_in), "after {command}");
        let expected = if ends_in.is_empty() { root.clone() } else { root.join(ends_in) };
        assert_eq!(shell.says("pwd").await, format!("{}\n", expected.display()));
    }
}

#[tokio::test]
async fn commands_mean_what_they_mean_in_bash() {
    let shell = Shell::new();
    for (command, output) in [
        ("cd .; trap 'echo bye' EXIT; exit 2", "bye\n[exit 2]"),
        ("cd . && set -x; true", "+ true\n"),
        ("cd .\nnosuchcommand", "bash: line 2: nosuchcommand: command not found\n[exit 127]"),
        ("cd /nonexistent", "bash: line 1: cd: /nonexistent: No such file or directory\n[exit 1]"),
        ("cd .; echo $0 $# ${BASH_ENV-none}", "bash 0 none\n"),
        ("cd . && bash -c 'exit 7'", "[exit 7]"),
        ("cat <<'X'\na $b\nX", "a $b\n"),
    ] {
        assert_eq!(shell.says(command).await, output, "{command}");
    }
    assert!(shell.says("cd .; for x in").await.contains("syntax error"));
    let descriptors = shell.says("ls /dev/fd").await;
    assert_eq!(shell.says("cd .; ls /dev/fd").await, descriptors);
}

#[tokio::test]
async fn a_directory_that_is_gone_is_told_and_left() {
    let shell = Shell::new();
    let root = shell.root();
    shell.run("mkdir gone; cd gone; rmdir ../gone").await;
    let result = shell.run("touch here").await;
    assert_eq!(result.status, ToolStatus::Failed);
    assert!(
        result.content.contains("gone is gone; the working directory is now"),
        "{}",
        result.content
    );
    assert!(!root.join("here").exists());
    assert_eq!(shell.says("pwd").await, format!("{}\n", root.display()));
}

#[tokio::test]
async fn the_persons_startup_file_still_runs() {
    let shell = Shell::with(|env| env.with("BASH_ENV", "$HOME/start file"));
    fs::write(shell.dir.path().join("start file"), "go() { cd /usr; }\n").unwrap();
    assert_eq!(shell.says("go; echo \"$BASH_ENV\"").await, "$HOME/start file\n");
    assert_eq!(shell.bash.cwd(), Path::new("/usr"));
}

#[tokio::test]
async fn a_background_child_does_not_hold_the_call() {
    for command in [
        "sleep 300 & echo hi; echo $! >pid",
        "setsid sh -c 'echo $$ >pid; exec sleep 300' & echo hi; until [ -s pid ]; do :; done",
    ] {
        let shell = Shell::new();
        let result = shell.run(command).await;
        assert_eq!(result.content, "hi\n");
        let pid = fs::read_to_string(shell.root().join("pid")).unwrap();
        assert!(lives(&pid), "{command}");
        drop(shell);
        if command.contains("setsid") {
            assert!(lives(&pid));
            std::process::Command::new("kill").arg(pid.trim()).status().unwrap();
        }
        until_gone(&pid).await;
    }
}

#[tokio::test]
async fn a_background_child_goes_on_printing() {
    let shell = Shell::new();
    let loud =
        "(until [ -e stop ]; do echo xxxxxxxxxxxxxxxxxxxxxxxxxx; done; echo done >end) & echo hi";
    assert!(shell.says(loud).await.contains("hi\n"));
    shell.bash.readers.borrow_mut().first_mut().unwrap().try_wait();
    fs::write(shell.root().join("stop"), "").unwrap();
    while !shell.root().join("end").exists() {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_group_of_its_own_ends_with_the_session_too() {
    let shell = Shell::new();
    shell.run("timeout 300 sleep 299 >/dev/null 2>&1 & echo $! >pid; set -m; sleep 298 >/dev/null 2>&1 & echo $! >pid2").await;
    let pids = ["pid", "pid2"].map(|name| fs::read_to_string(shell.root().join(name)).unwrap());
    assert!(pids.iter().all(|pid| lives(pid)));
    drop(shell);
    for pid in pids {
        until_gone(&pid).await;
    }
}

#[tokio::test]
async fn output_of_a_process_substitution_is_not_lost() {
    let shell = Shell::new();
    assert_eq!(shell.says("echo hi > >(cat)").await, "hi\n");
}

#[tokio::test]
async fn nothing_waits_for_a_person() {
    let shell = Shell::new();
    shell.run("git init -q . && git config user.email a@b && git config user.name n && touch f && git add f").await;
    assert!(shell.says("git commit").await.contains("Aborting commit due to empty commit message"));
    shell.run("git commit -qm one").await;
    assert!(shell.says("git log").await.contains("    one\n"));
    assert_eq!(shell.says("read x").await, "[exit 1]");
    assert_eq!(shell.says("echo text >f; less f || cat f").await.lines().last(), Some("text"));
    // Whatever sudo says here, or that there is none: it says so at once.
    assert_ne!(shell.run("timeout 20 sudo -k true").await.status, ToolStatus::Exit(124));
    assert_eq!(
        shell.says("tty; cat; (: </dev/tty) 2>/dev/null || echo none").await,
        "not a tty\nnone\n"
    );
}

#[tokio::test]
async fn long_output_keeps_both_ends_and_names_the_file() {
    let shell = Shell::new();
    let arguments = r#"{"command": "seq 1000000; exit 2"}"#;
    let result = shell.call(arguments, 1000, &CancellationToken::new()).await;
    let content = &result.content;
    assert!(content.starts_with("1\n2\n3\n"), "{content}");
    assert!(content.ends_with("\n999999\n1000000\n[exit 2]"), "{content}");
    assert!(content.chars().count() < 1200);
    let (left_out, path) = content.split_once(" left out; full output: ").unwrap();
    let path = path.split_once(" ...]").unwrap().0;
    assert!(left_out.contains(" characters in 99"), "{left_out}");
    assert!(Path::new(path).starts_with(shell.root().join(".autocode/out")));
    let whole = fs::read_to_string(path).unwrap();
    assert_eq!((whole.lines().count(), whole.len()), (1_000_000, 6_888_896));
}

#[tokio::test]
async fn any_bytes_give_valid_text() {
    let shell = Shell::new();
    let bytes: Vec<u8> = (0..200u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(shell.root().join("bytes"), bytes).unwrap();
    let result = shell.run("cat bytes").await;
    assert_eq!(result.status, ToolStatus::Ok);
    assert!(!result.content.contains('\0'));
}

#[tokio::test]
async fn a_time_limit_ends_everything_and_keeps_what_was_printed() {
    let shell = Shell::new();
    let command = r#"{"command": "mkdir d; cd d; echo $$ >pid; timeout 300 sleep 299 & echo $! >pid2; echo started; sleep 300", "timeout": "0.3"}"#;
    let result = shell.call(command, 1000, &CancellationToken::new()).await;
    assert_eq!(result.content, "started\n[timed out after 0.3 s; killed]");
    assert_eq!(result.status, ToolStatus::TimedOut);
    for name in ["d/pid", "d/pid2"] {
        assert!(!lives(&fs::read_to_string(shell.root().join(name)).unwrap()), "{name}");
    }
    assert_eq!(shell.bash.cwd(), shell.root().join("d"));
}

#[tokio::test]
async fn a_command_that_ignores_the_polite_signal_is_killed() {
    let shell = Shell::new();
    let command =
        r#"{"command": "trap '' TERM; echo $$ >pid; while :; do sleep 1; done", "timeout": 0.2}"#;
    let result = shell.call(command, 1000, &CancellationToken::new()).await;
    assert_eq!(result.status, ToolStatus::TimedOut);
    assert!(!lives(&fs::read_to_string(shell.root().join("pid")).unwrap()));
}

/// A command that listens on `port` in a child, and tells when it does.
fn server(port: u16) -> String {
    let python = format!(
        "import socket,time; s=socket.socket(); s.bind(('127.0.0.1',{port})); s.listen(); \
         open('up','w').write('1'); time.sleep(300)"
    );
    serde_json::json!({ "command": format!("python3 -c \"{python}\"; echo never") }).to_string()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn has_python() -> bool {
    let found = std::process::Command::new("python3").arg("--version").output().is_ok();
    if !found {
        eprintln!("left out: there is no python3 to run a server");
    }
    found
}

async fn until_there(file: PathBuf) {
    while !file.exists() {
        yield_now().await;
    }
}

#[tokio::test]
async fn an_interruption_frees_the_port_of_a_foreground_server() {
    if !has_python() {
        return;
    }
    let (shell, cancel, port) = (Shell::new(), CancellationToken::new(), free_port());
    let command = server(port);
    let interrupt = async {
        until_there(shell.root().join("up")).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(shell.call(&command, 1000, &cancel), interrupt);
    assert_eq!(result.content, "[interrupted by the user; killed]");
    assert_eq!(result.status, ToolStatus::Cancelled);
    TcpListener::bind(("127.0.0.1", port)).unwrap();
}

#[tokio::test]
async fn a_dropped_call_frees_the_port_too() {
    if !has_python() {
        return;
    }
    let (shell, cancel, port) = (Shell::new(), CancellationToken::new(), free_port());
    let command = server(port);
    tokio::select! {
        result = shell.call(&command, 1000, &cancel) => panic!("{result:?}"),
        () = until_there(shell.root().join("up")) => {}
    }
    while TcpListener::bind(("127.0.0.1", port)).is_err() {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_long_command_shows_what_it_prints() {
    let shell = Shell::new();
    let command = "echo first; until [ -e go ]; do sleep 0.01; done; echo last";
    let watch = async {
        while !shell.progress.borrow().contains("first") {
            yield_now().await;
        }
        fs::write(shell.root().join("go"), "").unwrap();
    };
    let (result, ()) = tokio::join!(shell.run(command), watch);
    assert_eq!(result.content, "first\nlast\n");
}

#[tokio::test]
async fn a_command_longer_than_an_argument_may_be_runs() {
    let shell = Shell::new();
    let text = "x".repeat(300_000);
    let command = format!("cd /usr; cat >\"$HOME/f\" <<'END'\n{text}\nEND\nexit 6");
    assert_eq!(shell.says(&command).await, "[exit 6]");
    assert_eq!(fs::read_to_string(shell.root().join("f")).unwrap().trim_end(), text);
    assert_eq!(shell.bash.cwd(), Path::new("/usr"));
}

#[tokio::test]
async fn what_cannot_run_is_told_in_a_sentence() {
    let shell = Shell::new();
    let result = shell.call("{}", 1000, &CancellationToken::new()).await;
    assert_eq!(result.status, ToolStatus::Failed);
    assert!(result.content.starts_with("command is missing"));
    let shell = Shell::with(|env| env.with("PATH", "/nonexistent"));
    assert!(shell.says("ls").await.contains("bash was not found on PATH (/nonexistent)"));
}
