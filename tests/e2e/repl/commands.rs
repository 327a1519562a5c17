//! What is typed after `/` and `!`.

use autocode_tests::pty::Key;
use autocode_tests::server::ReasoningField;
use autocode_tests::{Reply, Server, TestEnv};
use serde_json::json;

use super::{prompt_shown, repl};
use crate::scripted;

#[test]
fn help_lists_every_command() {
    let (_server, env) = scripted([]);
    let pty = env.pty(autocode_tests::pty::Size::new(100, 40), []);
    prompt_shown(&pty);
    pty.enter("/help");
    let screen = pty.wait_for_text("While it works, just type");
    for command in
        ["/help", "/model", "/config", "/tools", "/compact", "/new", "/resume", "/sessions"]
    {
        assert!(screen.has(command), "{command} in\n{}", screen.text());
    }
}

#[test]
fn an_unknown_command_stays_on_the_line_with_a_hint() {
    let (server, env) = scripted([]);
    let pty = repl(&env);
    pty.enter("/modle x");
    let screen = pty.wait_for_text("did you mean /model?");
    assert!(screen.has("❯ /modle x"));
    assert!(server.requests().is_empty());
}

#[test]
fn a_shell_command_runs_here_and_the_model_sees_it_with_the_next_message() {
    let (server, env) = scripted([Reply::text("I see it.")]);
    let pty = repl(&env);
    pty.enter("!mkdir -p sub && cd sub && echo from_the_person");
    pty.wait_for_text("⎿ from_the_person");
    prompt_shown(&pty);
    assert!(server.requests().is_empty());
    pty.enter("what did I do?");
    pty.wait_for_text("I see it.");
    let message = server.single_request().last_message()["content"].as_str().unwrap().to_owned();
    assert!(
        message.contains("from_the_person") && message.ends_with("what did I do?"),
        "{message}"
    );
}

#[test]
fn settings_are_shown_with_their_source_and_secrets_masked() {
    let (_server, mut env) = scripted([]);
    env.set("AUTOCODE_API_KEY", "sk-very-secret-key-of-someone");
    let pty = repl(&env);
    pty.enter("/config");
    let screen = pty.wait_for_text("AUTOCODE_* variables");
    assert!(!pty.scrollback().contains("very-secret"), "{}", screen.text());
}

#[test]
fn a_setting_is_kept_where_the_person_says() {
    let (_server, env) = scripted([]);
    let pty = repl(&env);
    pty.enter("/config compact_at 0.5");
    pty.wait_for_text("this project");
    pty.press(Key::Down).press(Key::Enter);
    pty.wait_for_text("compact_at 0.8 → 0.5");
    assert!(env.read(".autocode/config.json").contains("\"compact_at\": 0.5"));
    prompt_shown(&pty);
    pty.enter("/config compact_at high");
    pty.wait_for_text("must be a number between 0 and 1");
}

#[test]
fn a_model_is_chosen_from_the_servers_list() {
    let server = Server::start();
    server.models(Reply::json(
        200,
        &json!({"data": [{"id": "small"}, {"id": "large", "context_length": 200_000}, {"id": "scripted"}]}),
    ));
    server.reply(Reply::text("Large."));
    let mut env = TestEnv::with_server(crate::AUTOCODE, &server);
    env.unset("AUTOCODE_MODEL");
    env.user_config(&json!({"model": "scripted"}));
    let pty = repl(&env);
    pty.enter("/model");
    pty.wait_for_text("3/3");
    pty.type_text("lar");
    pty.wait_for_text("1/3");
    pty.press(Key::Enter);
    pty.wait_for_text("this session");
    pty.press(Key::Enter);
    pty.wait_for_text("model scripted → large");
    prompt_shown(&pty);
    pty.enter("hello");
    pty.wait_for_text("Large.");
    assert_eq!(server.single_request().body()["model"], "large");
}

#[test]
fn thinking_is_folded_and_can_be_shown_whole() {
    let (_server, env) = scripted([
        Reply::text("So be it.").thinking(ReasoningField::Content, "First this,\nthen that.")
    ]);
    let pty = repl(&env);
    pty.enter("think");
    pty.wait_for_text("So be it.");
    let screen = prompt_shown(&pty);
    assert!(screen.has("✻ Thought for") && !screen.has("then that."), "{}", screen.text());
    pty.enter("/thinking");
    pty.wait_for_text("then that.");
}

#[test]
fn the_last_answer_is_copied_through_the_terminal() {
    let (_server, env) = scripted([Reply::text("copy me")]);
    let pty = repl(&env);
    pty.enter("hello");
    pty.wait_for_text("copy me");
    prompt_shown(&pty);
    pty.enter("/copy");
    pty.wait_for_text("on the clipboard");
    assert_eq!(pty.clipboard(), [b"Y29weSBtZQ==".to_vec()]);
}

#[test]
fn a_new_session_knows_nothing_of_the_old_one() {
    let (server, env) = scripted([Reply::text("One."), Reply::text("Two.")]);
    let pty = repl(&env);
    pty.enter("first");
    pty.wait_for_text("One.");
    prompt_shown(&pty);
    pty.enter("/new");
    pty.wait_for_text("new session");
    prompt_shown(&pty);
    pty.enter("second");
    pty.wait_for_text("Two.");
    assert_eq!(server.requests()[1].messages().len(), 2);
    assert_eq!(env.transcripts().len(), 2);
}

#[test]
fn a_changed_prompt_is_shown_and_put_back() {
    let (_server, env) = scripted([]);
    let pty = repl(&env);
    env.write(".autocode/prompt.md", "Be brief.\n");
    pty.enter("/diff");
    pty.wait_for_text("+Be brief.");
    prompt_shown(&pty);
    pty.enter("/reset prompts");
    pty.wait_for_text("Put the agent's files back");
    pty.press(Key::Down).press(Key::Enter);
    pty.wait_for("the prompt that ships", |_| {
        !env.read(".autocode/prompt.md").contains("Be brief.")
    });
}
