//! autocode from outside: the built binary against a scripted model, in a fresh project and home, one module an area.
//!
//! Each test says what the model answers, runs the binary once or twice, and looks at what came out: standard
//! output, standard error, the exit code, the requests, the transcript, the files.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod approvals;
mod attack;
mod bash;
mod compaction;
mod config;
mod corruption;
mod demo;
mod endpoint;
mod errors;
mod faults;
mod grants;
mod growth;
mod headless;
mod log;
mod oneshot;
mod pulled;
mod quirks;
mod readme;
mod repl;
mod selfedit;
mod sessions;
mod tools;
mod tools_json;

use std::path::Path;
use std::time::{Duration, Instant};

use autocode_tests::{Reply, Request, Server, TestEnv, valid_history};

/// The binary under test.
const AUTOCODE: &str = env!("CARGO_BIN_EXE_autocode");

/// A server with these replies, and a project whose model it is.
fn scripted(replies: impl IntoIterator<Item = Reply>) -> (Server, TestEnv) {
    let server = Server::start();
    replies.into_iter().for_each(|reply| {
        server.reply(reply);
    });
    let env = TestEnv::with_server(AUTOCODE, &server);
    (server, env)
}

/// Runs git as nobody in particular, without the machine's settings.
#[track_caller]
fn git(dir: &Path, arguments: &[&str]) {
    let output = std::process::Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .expect("git");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {said}");
}

/// The conversation that was sent is one that every provider takes.
#[track_caller]
fn assert_valid(request: &Request) {
    if let Err(why) = valid_history(&request.messages()) {
        panic!("request {}: {why}\n{:#}", request.number, request.body());
    }
}

/// Waits until a file is there and has a line in it; the line.
#[track_caller]
fn wait_for_line(path: &Path) -> String {
    poll(&format!("a line in {}", path.display()), || {
        std::fs::read_to_string(path)
            .ok()
            .filter(|text| text.ends_with('\n'))
            .map(|text| text.trim().to_owned())
    })
}

/// Waits until no process has this id.
#[track_caller]
fn wait_until_gone(pid: &str) {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw).expect("a process id");
    poll(&format!("the end of process {pid:?}"), || rustix::process::test_kill_process(pid).err());
}

/// Asks again and again until there is an answer.
#[track_caller]
fn poll<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
