//! Everything that servers stream: shapes of calls, places of usage, framings, line ends.

use std::time::Duration;

use autocode_tests::server::{CallShape, Framing, ReasoningField, UsagePlace};
use autocode_tests::{Reply, Request};
use serde_json::{Value, json};

use crate::{assert_valid, scripted};

/// Contents of the tool results at the end of a conversation, in order.
fn results(request: &Request) -> Vec<String> {
    let messages = request.messages();
    let tools = messages.iter().rev().take_while(|message| message["role"] == "tool");
    let mut contents: Vec<String> =
        tools.map(|message| message["content"].as_str().unwrap().trim_end().to_owned()).collect();
    contents.reverse();
    contents
}

#[test]
fn two_calls_in_one_reply_run_once_each_in_every_shape() {
    use CallShape::*;
    for shape in
        [Indexed, Whole, IdOnly, FirstIdOnly, NoId, EmptyLater, Repeated, Bytewise, Interleaved]
    {
        let step = Reply::bash("echo 1 >> log; echo 'öne {\"'")
            .and_call("bash", json!({ "command": "echo 2 >> log; echo two" }))
            .shape(shape);
        let (server, env) = scripted([step, Reply::text("done")]);
        env.cmd(["-p", "go"]).run().answered("done\n");

        assert_eq!(env.read("log"), "1\n2\n", "{shape:?}");
        let second = &server.requests()[1];
        assert_valid(second);
        assert_eq!(results(second), ["öne {\"", "two"], "{shape:?}");
    }
}

#[test]
fn ids_that_no_delta_has_are_minted_and_unique() {
    let step = || {
        Reply::bash("true").and_call("bash", json!({ "command": "true" })).shape(CallShape::NoId)
    };
    let (server, env) = scripted([step(), step(), Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_valid(&server.requests()[2]);
}

#[test]
fn an_id_used_on_every_turn_runs_each_call_once_and_stays_paired() {
    let step = |n: u32| Reply::bash(&format!("echo {n} >> log; echo result-{n}")).ids(&["call_0"]);
    let (server, env) = scripted([step(1), step(2), step(3), Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(env.read("log"), "1\n2\n3\n");
    let last = &server.requests()[3];
    assert_valid(last);
    for (message, n) in last.messages().iter().filter(|m| m["role"] == "tool").zip(1..) {
        assert_eq!(message["content"].as_str().unwrap().trim_end(), format!("result-{n}"));
    }
}

#[test]
fn the_same_reply_comes_out_of_every_framing() {
    let reply = || {
        Reply::text("Ünïcödé 漢字 🦀 “quoted” \\n \\u0041 done")
            .thinking(ReasoningField::Plain, "höhö")
    };
    let variants: Vec<(&str, Reply)> = vec![
        ("stream", reply()),
        ("plain JSON", reply().plain()),
        ("CRLF", reply().crlf()),
        ("comments", reply().comments()),
        ("comments and CRLF, split at every byte", reply().comments().crlf().chunked(1)),
        ("split at every byte", reply().chunked(1)),
        ("split at every third byte", reply().chunked(3)),
        ("one character a delta", reply().pieces(1)),
        ("content length", reply().framed(Framing::Length)),
        ("until close", reply().framed(Framing::Close)),
        ("plain JSON, split at every byte", reply().plain().chunked(1)),
        ("plain JSON, until close", reply().plain().framed(Framing::Close)),
        ("without [DONE]", reply().without_done()),
        ("without finish_reason", reply().without_finish()),
        ("slow", reply().slow_drip(Duration::from_micros(50))),
    ];
    for (name, variant) in variants {
        let (server, env) = scripted([variant]);
        let run = env.cmd(["-p", "hi"]).run();
        run.require(run.code == Some(0), name);
        run.answered("Ünïcödé 漢字 🦀 “quoted” \\n \\u0041 done\n");
        assert_eq!(server.requests().len(), 1, "{name}");
    }
}

#[test]
fn a_call_comes_out_of_a_plain_reply() {
    let step = Reply::bash("echo plain").and_call("bash", json!({ "command": "echo too" })).plain();
    let (server, env) = scripted([step, Reply::text("done").plain()]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(results(&server.requests()[1]), ["plain", "too"]);
}

#[test]
fn tokens_are_counted_wherever_the_server_puts_them() {
    for place in [
        UsagePlace::LastChunk,
        UsagePlace::LastChunkWithChoice,
        UsagePlace::Choice,
        UsagePlace::EveryChunk,
        UsagePlace::Nowhere,
    ] {
        let (_server, env) = scripted([Reply::text("Hello there").usage(1234, 56).usage_in(place)]);
        let run = env.cmd(["-p", "--json", "hi"]).run();
        run.require(run.code == Some(0), &format!("{place:?} answered"));
        let events: Vec<Value> =
            run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let usage = events.iter().find(|event| event["type"] == "usage").expect("a usage event");
        if place == UsagePlace::Nowhere {
            assert_eq!(usage["step"], Value::Null, "{usage}");
            assert!(usage["context"].as_u64().is_some_and(|n| n > 0), "an estimate: {usage}");
        } else {
            assert_eq!(
                (&usage["step"]["prompt"], &usage["step"]["completion"]),
                (&json!(1234), &json!(56)),
                "{place:?}"
            );
            assert_eq!(usage["session"]["prompt"], 1234, "counted once: {usage}");
        }
    }
}

#[test]
fn thinking_is_no_part_of_the_answer_in_any_field() {
    use ReasoningField::*;
    for field in [Content, Plain, Text, Details, Tags] {
        for plain in [false, true] {
            let reply = Reply::text("The answer.").thinking(field, "secret thoughts");
            let (_server, env) = scripted([if plain { reply.plain() } else { reply }]);
            env.cmd(["-p", "hi"]).run().answered("The answer.\n");
        }
    }
}

#[test]
fn the_request_holds_the_minimum_and_what_was_configured() {
    let (server, mut env) = scripted([Reply::text("ok"), Reply::text("ok")]);
    env.cmd(["-p", "hi"]).run().answered("ok\n");
    let first = &server.requests()[0];
    let mut keys: Vec<String> = first.body().as_object().unwrap().keys().cloned().collect();
    keys.sort_unstable();
    assert_eq!(keys, ["messages", "model", "stream", "stream_options", "tools"]);
    assert_eq!(first.header("authorization"), None);
    assert_eq!(first.header("content-type"), Some("application/json"));

    env.set("SOME_KEY", "sk-123")
        .set("AUTOCODE_TEMPERATURE", "0.5")
        .set("AUTOCODE_MAX_TOKENS", "77");
    env.user_config(&json!({
        "api_key": "$SOME_KEY",
        "headers": { "X-Team": "${SOME_KEY}-team" },
        "extra_body": { "top_k": 3, "stream_options": null },
    }));
    env.cmd(["-p", "hi"]).run().answered("ok\n");
    let second = &server.requests()[1];
    let body = second.body();
    assert_eq!(
        (&body["temperature"], &body["max_tokens"], &body["top_k"]),
        (&json!(0.5), &json!(77), &json!(3))
    );
    assert!(body.get("stream_options").is_none(), "null removes a key: {body:#}");
    assert_eq!(second.header("authorization"), Some("Bearer sk-123"));
    assert_eq!(second.header("x-team"), Some("sk-123-team"));
}

#[test]
fn the_first_request_is_small() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-p", "hi"]).run().answered("ok\n");
    // About four bytes a token: 700 tokens.
    let length = server.single_request().length;
    assert!(
        length <= 2800,
        "the first request has {length} bytes:\n{}",
        server.single_request().text()
    );
}

#[test]
fn steps_share_one_connection() {
    let steps = (0..10).map(|_| Reply::bash("true")).chain([Reply::text("done")]);
    let (server, env) = scripted(steps);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!((server.requests().len(), server.connections()), (11, 1));
}
