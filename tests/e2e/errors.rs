//! Each bad input has one clear line, the right exit code, and a transcript that is kept.

use autocode_tests::server::Refusing;
use autocode_tests::{Reply, Run, Server, TestEnv};
use serde_json::json;

use crate::AUTOCODE;

/// A run against a server that answers every request so.
fn run_against(reply: impl Fn() -> Reply + Send + 'static) -> (Run, Server, TestEnv) {
    let server = Server::start();
    server.respond(move |_| reply());
    let env = TestEnv::with_server(AUTOCODE, &server);
    let run = env.cmd(["-p", "remember me"]).run();
    (run, server, env)
}

/// It failed with one error line that holds these words, and the message is in the transcript.
#[track_caller]
fn assert_failed(run: &Run, env: &TestEnv, words: &[&str]) {
    run.failed(1, words);
    let errors: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("error:")).collect();
    run.require(errors.len() == 1, "one line that begins with error:");
    run.require(
        words.iter().all(|word| errors[0].contains(word)),
        &format!("{words:?} in the error line"),
    );
    assert_eq!(env.transcript().messages()[0]["content"], "remember me");
}

#[test]
fn a_rejected_key() {
    let (run, server, env) = run_against(|| Reply::error(401, "Incorrect API key provided: sk-x"));
    assert_failed(&run, &env, &["401", "Incorrect API key provided", "api_key"]);
    assert_eq!(server.requests().len(), 1, "asking again cannot help");
}

#[test]
fn a_key_that_is_not_in_the_environment() {
    let server = Server::start();
    let env = TestEnv::with_server(AUTOCODE, &server);
    env.user_config(&json!({ "api_key": "$NOT_SET_ANYWHERE" }));
    env.cmd(["-p", "hi"]).run().failed(2, &["config.json", "api_key", "NOT_SET_ANYWHERE"]);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_model_that_does_not_exist() {
    let (run, server, env) =
        run_against(|| Reply::error(404, "The model `scripted` does not exist"));
    assert_failed(&run, &env, &["404", "does not exist"]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn other_refusals_are_asked_once() {
    for status in [400, 403, 405, 422] {
        let (run, server, env) = run_against(move || Reply::error(status, "no such thing here"));
        assert_failed(&run, &env, &[&status.to_string(), "no such thing here"]);
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

#[test]
fn a_server_that_refuses_connections() {
    let refusing = Refusing::port();
    let mut env = TestEnv::new(AUTOCODE);
    env.use_url(&refusing.url());
    let run = env.cmd(["-p", "remember me"]).run();
    let host = refusing.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    assert_failed(&run, &env, &[&host, "refuses"]);
}

#[test]
fn a_server_that_comes_up_while_it_is_waited_for() {
    let refusing = Refusing::port();
    let mut env = TestEnv::new(AUTOCODE);
    env.use_url(&refusing.url()).set("AUTOCODE_RETRY_BASE_MS", "300");
    let running = env.cmd(["-p", "hi"]).spawn();
    running.wait_for_stderr("refuses");
    let server = refusing.open();
    server.reply(Reply::text("here now"));
    running.wait().answered("here now\n");
}

#[test]
fn a_host_that_does_not_exist() {
    let mut env = TestEnv::new(AUTOCODE);
    env.use_url("http://no-such-host.invalid/v1");
    let run = env.cmd(["-p", "remember me"]).run();
    assert_failed(&run, &env, &["no-such-host.invalid"]);
}

#[test]
fn a_server_that_does_not_speak_tls() {
    let server = Server::start();
    let mut env = TestEnv::new(AUTOCODE);
    env.use_url(&server.url().replace("http:", "https:"));
    let run = env.cmd(["-p", "remember me"]).run();
    assert_failed(&run, &env, &["TLS"]);
}

#[test]
fn a_reply_that_is_no_json() {
    let (run, _server, env) = run_against(|| Reply::bytes("application/json", b"{\"choices\": [{"));
    assert_failed(&run, &env, &["JSON"]);
}

#[test]
fn a_stream_whose_events_are_no_json() {
    let (run, _server, env) =
        run_against(|| Reply::events("data: {\"choices\": [{]\n\ndata: [DONE]\n\n"));
    assert_failed(&run, &env, &["JSON"]);
}

#[test]
fn a_web_page_instead_of_json() {
    let (run, _server, env) = run_against(Reply::html);
    assert_failed(&run, &env, &["web page", "Welcome", "base_url"]);
}

#[test]
fn a_web_page_with_an_error_status() {
    let (run, _server, env) = run_against(|| Reply::html().with_status(404));
    assert_failed(&run, &env, &["404"]);
    run.stderr_lacks("<!DOCTYPE");
}

#[test]
fn an_error_in_the_middle_of_a_stream() {
    let (run, _server, env) = run_against(|| {
        Reply::events(
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\ndata: {\"error\":{\"message\":\"quota exceeded for today\",\"code\":402}}\n\n",
        )
    });
    assert_failed(&run, &env, &["quota exceeded for today"]);
}

#[test]
fn user_settings_that_are_no_json_or_no_file() {
    let server = Server::start();
    let env = TestEnv::with_server(AUTOCODE, &server);
    let path = env.write_home(autocode_tests::USER_CONFIG, "{\n  \"model\": \n}\n");
    env.cmd(["-p", "hi"]).run().failed(2, &["config.json:3"]);
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    env.cmd(["-p", "hi"]).run().failed(2, &["config.json", "directory"]);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_url_that_is_none() {
    let mut env = TestEnv::new(AUTOCODE);
    env.use_url("localhost:8080/v1");
    env.cmd(["-p", "hi"]).run().failed(2, &["http://"]);
}

#[test]
fn what_a_server_says_cannot_act_on_the_terminal() {
    let (run, ..) = run_against(|| Reply::error(400, "bad \u{1b}]0;owned\u{7} \u{9b}31m request"));
    run.failed(1, &["bad", "request"]);
    let harmless = |c: char| c == '\n' || c == '\t' || !c.is_control();
    run.require(run.stderr.chars().all(harmless), "no control characters on stderr");
}
