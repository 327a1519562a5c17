//! What servers and models do beside the standard, and what is made of it: fields refused, thinking wanted back,
//! replies cut, arguments malformed, calls written as text.

use autocode_tests::server::{CallShape, Fault, ReasoningField, Spot};
use autocode_tests::{Reply, Server, TestEnv};
use serde_json::json;

use crate::{AUTOCODE, assert_valid, scripted};

#[test]
fn a_refused_optional_field_is_dropped_for_the_session_and_only_that_one() {
    for (status, message) in [
        (400, "Unrecognized request argument supplied: stream_options"),
        (422, "body -> stream_options: extra fields not permitted"),
    ] {
        let server = Server::start();
        let mut steps = 0;
        server.respond(move |request| {
            if request.body().get("stream_options").is_some() {
                return Reply::error(status, message);
            }
            steps += 1;
            if steps < 3 { Reply::bash("true") } else { Reply::text("done") }
        });
        let env = TestEnv::with_server(AUTOCODE, &server);
        env.cmd(["-p", "go"]).run().answered("done\n");
        let with: Vec<bool> = server
            .requests()
            .iter()
            .map(|request| request.body().get("stream_options").is_some())
            .collect();
        assert_eq!(with, [true, false, false, false], "{status}");
        assert!(server.requests().iter().all(|request| request.body()["stream"] == true));
    }
}

#[test]
fn thinking_that_a_provider_wants_back_goes_back_in_its_field() {
    let fields = [
        (ReasoningField::Content, "reasoning_content"),
        (ReasoningField::Plain, "reasoning"),
        (ReasoningField::Text, "reasoning_text"),
    ];
    for (field, name) in fields {
        let server = Server::start();
        let mut steps = 0;
        server.respond(move |request| {
            let bare = |message: &serde_json::Value| {
                message["role"] == "assistant"
                    && message["tool_calls"].is_array()
                    && message[name] != "deep thoughts"
            };
            if request.messages().iter().any(bare) {
                return Reply::error(
                    400,
                    &format!("The `{name}` in the thinking mode must be passed back to the API."),
                );
            }
            steps += 1;
            if steps < 3 {
                Reply::bash("true").thinking(field, "deep thoughts")
            } else {
                Reply::text("done")
            }
        });
        let env = TestEnv::with_server(AUTOCODE, &server);
        env.cmd(["-p", "go"]).run().answered("done\n");
        let refused = server.requests().len() - 3;
        assert!(refused <= 1, "{name}: asked {refused} times too often");
    }
}

#[test]
fn thinking_goes_back_only_where_it_was_configured_but_details_always() {
    let step = |field| Reply::bash("true").thinking(field, "thoughts");
    for (keep, field, name, back) in [
        ("false", ReasoningField::Content, "reasoning_content", false),
        ("true", ReasoningField::Content, "reasoning_content", true),
        ("true", ReasoningField::Plain, "reasoning", true),
        ("false", ReasoningField::Details, "reasoning_details", true),
    ] {
        let (server, mut env) = scripted([step(field), Reply::text("done")]);
        env.set("AUTOCODE_KEEP_REASONING", keep);
        env.cmd(["-p", "go"]).run().answered("done\n");
        let second = server.requests()[1].clone();
        let reply = second.messages().into_iter().find(|m| m["role"] == "assistant").unwrap();
        assert_eq!(reply.get(name).is_some(), back, "keep_reasoning={keep}: {reply:#}");
        if back && field == ReasoningField::Details {
            assert_eq!(reply[name][0]["text"], "thoughts");
        }
    }
}

#[test]
fn a_reply_cut_in_its_text_is_asked_for_again_and_never_shown_as_the_answer() {
    for fault in [Fault::End, Fault::Cut, Fault::Reset] {
        let cut = Reply::text("Half of an answer").fault(Spot::InText, fault);
        let (server, env) = scripted([cut, Reply::text("The whole answer")]);
        env.cmd(["-p", "hi"]).run().answered("The whole answer\n");
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!(requests[0].raw, requests[1].raw, "the same request again");
    }
}

#[test]
fn a_reply_cut_in_its_arguments_runs_nothing() {
    for shape in [CallShape::Indexed, CallShape::Bytewise] {
        let cut = Reply::bash("echo first >> log; echo second >> log")
            .shape(shape)
            .fault(Spot::InArguments, Fault::End);
        let (server, env) = scripted([cut, Reply::text("done")]);
        env.cmd(["-p", "go"]).run().answered("done\n");
        assert!(!env.has("log"), "half a command ran");
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_whole_call_in_a_reply_that_was_cut_later_does_not_run_either() {
    let cut = Reply::bash("echo 1 >> log")
        .and_call("bash", json!({ "command": "echo 2 >> log; echo 3 >> log" }))
        .without_finish()
        .without_done();
    let (_server, env) = scripted([cut, Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert!(!env.has("log"), "a call of half a reply ran");
}

#[test]
fn malformed_arguments_are_an_error_to_the_model_and_never_in_the_history() {
    let (server, env) =
        scripted([Reply::call_raw("bash", "{\"command\": \"ls"), Reply::text("sorry")]);
    env.cmd(["-p", "go"]).run().answered("sorry\n");
    let second = &server.requests()[1];
    assert_valid(second);
    let result = second.tool_result();
    assert!(result.contains("JSON"), "{result}");
    assert_valid_transcript(&env);
}

#[test]
fn a_model_that_never_gets_arguments_right_does_not_run_for_ever() {
    let server = Server::start();
    server.respond(|_| Reply::call_raw("bash", "{\"command\": \"ls"));
    let env = TestEnv::with_server(AUTOCODE, &server);
    env.cmd(["-p", "go"]).run().failed(1, &["arguments"]);
    assert!(server.requests().len() <= 10);
}

#[test]
fn an_unknown_tool_is_an_error_that_names_what_there_is() {
    let (server, env) =
        scripted([Reply::call("grep", json!({ "pattern": "x" })), Reply::text("ok")]);
    env.cmd(["-p", "go"]).run().answered("ok\n");
    let result = server.requests()[1].tool_result();
    assert!(result.contains("grep") && result.contains("bash"), "{result}");
}

#[test]
fn a_call_written_as_text_does_not_run_and_is_told() {
    let written = [
        "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"touch made\"}}\n</tool_call>",
        "<function_calls>\n<invoke name=\"bash\">\n<parameter name=\"command\">touch made</parameter>\n</invoke>\n</function_calls>",
    ];
    for text in written {
        let (_server, env) = scripted([Reply::text(text)]);
        let run = env.cmd(["-p", "go"]).run();
        assert!(!env.has("made"), "it ran");
        run.stderr_has("text_tool_calls");
    }
}

#[test]
fn the_model_hears_that_its_written_call_did_not_run() {
    let text = "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"touch made\"}}\n</tool_call>";
    let (server, env) = scripted([Reply::text(text), Reply::text("ok"), Reply::text("ok")]);
    env.cmd(["-p", "go"]).run();
    env.cmd(["-c", "-p", "go on"]).run();
    let told = server.requests().last().unwrap().text();
    assert!(told.contains("did not run"), "{told}");
}

#[test]
fn a_call_written_as_text_runs_where_the_settings_say_so() {
    let text = "I will.\n<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"echo yes | tee made\"}}\n</tool_call>";
    let (server, mut env) = scripted([Reply::text(text), Reply::text("done")]);
    env.set("AUTOCODE_TEXT_TOOL_CALLS", "true");
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(env.read("made"), "yes\n");
    let second = &server.requests()[1];
    assert_valid(second);
    assert_eq!(second.tool_result().trim_end(), "yes");
}

#[test]
fn an_empty_reply_is_told_and_asked_again() {
    let (server, env) = scripted([Reply::text(""), Reply::text("Here I am.")]);
    let run = env.cmd(["-p", "hi"]).run();
    run.answered("Here I am.\n").stderr_has("empty");
    assert_eq!(server.requests().len(), 2);
    assert_valid(&server.requests()[1]);
}

#[test]
fn a_configured_window_wins_over_what_the_models_name_suggests() {
    for (window, compacts) in [("4000", true), ("128000", false)] {
        let server = Server::start();
        let mut steps = 0;
        server.respond(move |request| {
            if request.body()["tool_choice"] == "none" {
                return Reply::text("A summary.").usage(3600, 10);
            }
            steps += 1;
            match steps {
                1 => Reply::bash("true").usage(3500, 20),
                _ => Reply::text("done").usage(300, 10),
            }
        });
        let mut env = TestEnv::with_server(AUTOCODE, &server);
        env.set("AUTOCODE_CONTEXT_WINDOW", window).set("AUTOCODE_MODEL", "gpt-4-32k");
        env.cmd(["-p", "go"]).run().answered("done\n");
        let asked = server.requests().iter().any(|request| request.body()["tool_choice"] == "none");
        assert_eq!(asked, compacts, "window {window}");
    }
}

fn assert_valid_transcript(env: &TestEnv) {
    let transcript = env.transcript();
    let messages: Vec<_> = transcript.messages().into_iter().cloned().collect();
    autocode_tests::valid_history(&messages).unwrap();
}
