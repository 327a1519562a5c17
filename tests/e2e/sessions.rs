//! Transcripts: continued, resumed, repaired, locked; nothing that was shown as done is ever lost.

use autocode_tests::server::{Gate, Spot};
use autocode_tests::{Reply, Server, TestEnv};
use serde_json::Value;

use crate::{AUTOCODE, assert_valid, scripted, wait_for_line};

fn contents(messages: &[Value]) -> Vec<String> {
    messages.iter().filter_map(|m| m["content"].as_str()).map(str::to_owned).collect()
}

#[test]
fn a_new_run_is_a_new_session_and_c_continues_the_latest() {
    let (server, env) = scripted(["one", "two", "three"].map(Reply::text));
    env.cmd(["-p", "first"]).run().answered("one\n");
    env.cmd(["-p", "second"]).run().answered("two\n");
    env.cmd(["-c", "-p", "third"]).run().answered("three\n");
    assert_eq!(env.transcripts().len(), 2);
    let requests = server.requests();
    assert_eq!(contents(&requests[1].messages()[1..]), ["second"]);
    assert_eq!(contents(&requests[2].messages()[1..]), ["second", "two", "third"]);
}

#[test]
fn r_resumes_by_id_and_an_unknown_id_is_a_usage_error() {
    let (server, env) = scripted(["one", "two", "three"].map(Reply::text));
    env.cmd(["-p", "first"]).run().answered("one\n");
    let id = env.transcript().id();
    env.cmd(["-p", "second"]).run().answered("two\n");
    env.cmd(["-r", &id, "-p", "third"]).run().answered("three\n");
    assert_eq!(contents(&server.requests()[2].messages()[1..]), ["first", "one", "third"]);
    env.cmd(["-r", "no-such-id", "-p", "hi"]).run().failed(2, &["no-such-id"]);
    env.cmd(["-r", "../../../etc/passwd", "-p", "hi"]).run().failed(2, &[]);
}

#[test]
fn c_without_a_session_begins_one() {
    let (_server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-c", "-p", "hi"]).run().answered("ok\n");
    assert_eq!(env.transcript().roles(), ["user", "assistant"]);
}

#[test]
fn the_transcript_is_one_message_a_line() {
    let (_server, env) = scripted([Reply::bash("echo hi"), Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let transcript = env.transcript();
    assert_eq!(transcript.roles(), ["user", "assistant", "tool", "assistant"]);
    let messages = transcript.messages();
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], r#"{"command":"echo hi"}"#);
    assert_eq!(messages[2]["tool_call_id"], messages[1]["tool_calls"][0]["id"]);
}

#[test]
fn a_resumed_session_sends_the_same_bytes_again() {
    let (server, env) = scripted([Reply::bash("echo ü"), Reply::text("one"), Reply::text("two")]);
    env.cmd(["-p", "first"]).run().answered("one\n");
    env.cmd(["-c", "-p", "second"]).run().answered("two\n");
    let requests = server.requests();
    let (before, after) = (requests[1].messages_bytes(), requests[2].messages_bytes());
    assert!(after.starts_with(&before[..before.len() - 1]), "the prefix changed");
}

#[test]
fn damage_costs_only_what_is_damaged() {
    let (server, env) = scripted([
        Reply::text("one"),
        Reply::text("two"),
        Reply::text("three"),
        Reply::text("four"),
    ]);
    env.cmd(["-p", "line\u{2028}separator"]).run().answered("one\n");
    env.cmd(["-c", "-p", "second"]).run().answered("two\n");
    let path = env.transcript().path;

    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (head, tail) = lines.split_at(lines.len() - 2);
    let damaged = format!(
        "{}\nthis is no JSON\n{}\n\0\0\0\0\0\0\n{{\"role\":\"user\",\"cont",
        head.join("\n"),
        tail.join("\n")
    );
    std::fs::write(&path, damaged).unwrap();

    let run = env.cmd(["-c", "-p", "third"]).run();
    run.answered("three\n").stderr_has("3");
    let third = &server.requests()[2];
    assert_valid(third);
    assert_eq!(
        contents(&third.messages()[1..]),
        ["line\u{2028}separator", "one", "second", "two", "third"]
    );

    env.cmd(["-c", "-p", "fourth"]).run().answered("four\n");
    let fourth = contents(&server.requests()[3].messages()[1..]);
    assert_eq!(
        fourth[4..],
        ["third", "three", "fourth"],
        "what was appended after the damage is whole"
    );
}

#[test]
fn an_interrupted_tool_leaves_a_valid_history() {
    let (server, env) = scripted([
        Reply::bash("echo $$ > started; sleep 300")
            .and_call("bash", serde_json::json!({ "command": "true" })),
        Reply::text("going on"),
    ]);
    let running = env.cmd(["-p", "go"]).spawn();
    wait_for_line(&env.project().join("started"));
    running.interrupt();
    running.wait().failed(130, &[]);
    env.cmd(["-c", "-p", "continue"]).run().answered("going on\n");
    assert_valid(&server.requests()[1]);
}

#[test]
fn a_run_killed_in_a_tool_leaves_a_valid_history() {
    let (server, env) =
        scripted([Reply::bash("echo $$ > started; sleep 60"), Reply::text("going on")]);
    let running = env.cmd(["-p", "go"]).spawn();
    let shell = wait_for_line(&env.project().join("started"));
    running.kill();
    assert_eq!(running.wait().signal, Some(9));
    if let Some(pid) = shell.parse().ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    env.cmd(["-c", "-p", "continue"]).run().answered("going on\n");
    assert_valid(&server.requests()[1]);
}

#[test]
fn a_second_writer_is_refused_and_told_who_writes() {
    let gate = Gate::new();
    let (_server, env) =
        scripted([Reply::text("one"), Reply::text("two is long").hold(Spot::InText, &gate)]);
    env.cmd(["-p", "first"]).run().answered("one\n");
    let id = env.transcript().id();
    let running = env.cmd(["-r", &id, "-p", "second"]).spawn();
    gate.wait_until_reached();
    let refused = env.cmd(["-r", &id, "-p", "third"]).run();
    refused.require(refused.code != Some(0) && refused.stdout.is_empty(), "a refusal");
    refused.stderr_has(&running.pid().to_string());
    gate.open();
    running.wait().answered("two is long\n");
    assert_eq!(env.transcript().roles(), ["user", "assistant", "user", "assistant"]);
}

/// How often a run is killed at some moment; `AUTOCODE_KILLS` makes it more.
fn kills() -> u32 {
    std::env::var("AUTOCODE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(12)
}

/// Steps of the run that is killed.
const STEPS: usize = 20;

#[test]
fn a_run_killed_at_any_moment_loses_nothing_and_can_go_on() {
    let seed: u64 = std::env::var("AUTOCODE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut moments = fastrand::Rng::with_seed(seed);
    for round in 0..kills() {
        // Up to a step's length after one of the requests.
        let (step, pause) = (moments.usize(1..=STEPS + 1), moments.u64(0..6000));
        kill_in(step, std::time::Duration::from_micros(pause))
            .unwrap_or_else(|why| panic!("round {round} of seed {seed}, in step {step}: {why}"));
    }
}

/// Kills a run of some steps so long after a request, and lets the session go on.
fn kill_in(step: usize, pause: std::time::Duration) -> Result<(), String> {
    let server = Server::start();
    let mut asked = 0;
    server.respond(move |_| {
        asked += 1;
        if asked <= STEPS { Reply::bash("echo x").usage(100, 5) } else { Reply::text("done") }
    });
    let env = TestEnv::with_server(AUTOCODE, &server);
    let running = env.cmd(["-p", "--json", "go"]).spawn();
    server.wait_for_requests(step);
    std::thread::sleep(pause);
    running.kill();
    let shown = running.wait().stdout;

    let sent = server.requests().last().unwrap().messages();
    server.respond(|_| Reply::text("going on"));
    env.cmd(["-c", "-p", "continue"]).run().answered("going on\n");
    let request = server.requests().last().unwrap().clone();
    assert_valid(&request);
    let kept = request.messages();
    // The person's words that had no answer yet are one message with the next ones.
    let (newest, earlier) = sent.split_last().unwrap();
    let in_place = &kept[sent.len() - 1];
    let goes_on =
        |text: &Value| in_place["content"].as_str().unwrap().starts_with(text.as_str().unwrap());
    let is_kept = in_place == newest || newest["role"] == "user" && goes_on(&newest["content"]);
    if !kept.starts_with(earlier) || !is_kept {
        return Err(format!("sent messages were lost: {sent:#?}\n{kept:#?}"));
    }
    // What was shown as done is in the transcript as it was shown; the last line may be torn.
    for event in shown.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let is_there = match event["type"].as_str().unwrap() {
            "user" => kept.iter().any(|m| {
                m["role"] == "user"
                    && m["content"].as_str().unwrap().starts_with(event["text"].as_str().unwrap())
            }),
            "call" => kept.iter().any(|m| m["tool_calls"][0]["id"] == event["id"]),
            "result" => kept
                .iter()
                .any(|m| m["tool_call_id"] == event["id"] && m["content"] == event["content"]),
            "end" => kept.iter().any(|m| m["content"] == event["answer"]),
            _ => true,
        };
        if !is_there {
            return Err(format!("shown and lost: {event}\n{kept:#?}"));
        }
    }
    Ok(())
}

#[test]
fn a_transcript_that_cannot_be_written_is_told_once_and_the_turn_still_ends() {
    let (server, env) = scripted([Reply::bash("echo x"), Reply::bash("echo y"), Reply::text("ok")]);
    env.write(".autocode/sessions", "a file in the directory's place");
    let run = env.cmd(["-p", "--trust", "hi"]).run();
    run.answered("ok\n");
    let told = run.stderr.matches("cannot be written").count();
    run.require(told == 1, "told once");
    assert_eq!(server.requests()[2].tool_result().trim_end(), "y");
}

#[test]
fn a_directory_that_cannot_be_written_is_told_and_the_turn_still_ends() {
    use std::os::unix::fs::PermissionsExt;
    let (_server, env) = scripted([Reply::text("one"), Reply::text("two")]);
    env.cmd(["-p", "hi"]).run().answered("one\n");
    let sessions = env.project().join(".autocode/sessions");
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(sessions.join("probe"), "").is_ok() {
        eprintln!("left out: this user may write everywhere");
        return;
    }
    let run = env.cmd(["-p", "hi"]).run();
    std::fs::set_permissions(&sessions, std::fs::Permissions::from_mode(0o700)).unwrap();
    run.answered("two\n").stderr_has("sessions");
}
