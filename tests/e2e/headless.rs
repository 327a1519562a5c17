//! Runs without a person: failures that never end, limits, and the event stream for programs.

use autocode_tests::server::{Fault, Spot};
use autocode_tests::{Reply, Run, Server, TestEnv};
use serde_json::Value;

use crate::{AUTOCODE, scripted};

fn always(reply: impl Fn() -> Reply + Send + 'static) -> (Server, TestEnv) {
    let server = Server::start();
    server.respond(move |_| reply());
    let env = TestEnv::with_server(AUTOCODE, &server);
    (server, env)
}

fn events(run: &Run) -> Vec<Value> {
    let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    run.stdout.lines().map(parse).collect()
}

#[test]
fn a_rejected_key_fails_at_once() {
    let (_server, env) = always(|| Reply::error(401, "Unauthorized"));
    env.cmd(["-p", "hi"]).run().failed(1, &["401"]);
}

#[test]
fn a_rate_limit_that_never_ends_is_given_up() {
    let (server, env) = always(|| Reply::error(429, "slow down").header("Retry-After", "0"));
    env.cmd(["-p", "hi"]).run().failed(1, &["429", "slow down"]);
    let asked = server.requests().len();
    assert!((2..=20).contains(&asked), "asked {asked} times");
}

#[test]
fn a_stream_that_always_ends_early_is_given_up() {
    let (server, env) = always(|| Reply::text("Half of it").fault(Spot::InText, Fault::End));
    env.cmd(["-p", "hi"]).run().failed(1, &[]);
    assert!(server.requests().len() >= 2);
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept_and_shown() {
    let (server, env) =
        scripted([Reply::error(503, "overloaded").header("Retry-After", "1"), Reply::text("ok")]);
    env.cmd(["-p", "hi"]).run().answered("ok\n").stderr_has("503");
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!(waited.as_secs_f64() >= 1.0, "asked again after {waited:?}");
}

#[test]
fn a_wait_may_be_given_as_a_date() {
    let when = std::time::SystemTime::now() + std::time::Duration::from_secs(3);
    let date = httpdate::fmt_http_date(when);
    let (server, env) =
        scripted([Reply::error(429, "slow down").header("Retry-After", &date), Reply::text("ok")]);
    env.cmd(["-p", "hi"]).run().answered("ok\n");
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!(waited.as_secs_f64() >= 1.0, "asked again after {waited:?}");
}

#[test]
fn a_long_wait_ends_with_ctrl_c() {
    let (_server, env) = scripted([Reply::error(429, "slow down").header("Retry-After", "200")]);
    let running = env.cmd(["-p", "hi"]).spawn();
    running.wait_for_stderr("429");
    running.interrupt();
    running.wait().failed(130, &[]);
}

#[test]
fn a_turn_ends_at_the_step_limit() {
    let (server, env) = always(|| Reply::bash("true"));
    env.cmd(["--max-steps", "3", "-p", "go"]).run().failed(1, &["3"]);
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn the_event_stream_tells_the_whole_run_in_order() {
    let (_server, env) =
        scripted([Reply::bash("echo hi; exit 2").usage(50, 5), Reply::text("Done.").usage(80, 3)]);
    let run = env.cmd(["-p", "--json", "go"]).run();
    run.require(run.code == Some(0), "exit code 0");
    let events = events(&run);
    let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    let order = ["session", "step", "call", "result", "step", "text", "end"];
    let mut seen = types.iter();
    assert!(
        order.iter().all(|kind| seen.any(|t| t == kind)),
        "expected {order:?} in order, got {types:?}"
    );

    let find = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap();
    assert_eq!(find("session")["v"], 1);
    assert_eq!(find("call")["arguments"]["command"], "echo hi; exit 2");
    assert_eq!(find("result")["exit"], 2);
    let end = events.last().unwrap();
    assert_eq!(
        (&end["status"], &end["exit"], &end["answer"]),
        (&"answered".into(), &0.into(), &"Done.".into())
    );
}

#[test]
fn the_event_stream_tells_a_failure_and_its_exit_code() {
    let (_server, env) = always(|| Reply::error(401, "Unauthorized"));
    let run = env.cmd(["-p", "--json", "go"]).run();
    run.require(run.code == Some(1), "exit code 1");
    let events = events(&run);
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["status"], &end["exit"]),
        (&"end".into(), &"failed".into(), &1.into())
    );
    assert!(end["error"].as_str().unwrap().contains("401"));
}

#[test]
fn the_trace_is_ascii_where_the_locale_has_no_more() {
    let (_server, mut env) = scripted([
        Reply::error(500, "busy"),
        Reply::bash(r"seq 20; printf 'a bell: \007\n'; exit 3").saying("Look:"),
        Reply::bash("printf 'a bell: \\007'"),
        Reply::text("done"),
    ]);
    env.set("LC_ALL", "en_US.ISO-8859-1");
    let run = env.cmd(["-p", "go"]).run();
    run.answered("done\n").stderr_has("... +").stderr_has("a bell: ?");
    assert!(run.stderr.is_ascii(), "{}", run.stderr);
}
