//! What happens on the line before Enter.

use autocode_tests::pty::Key;
use autocode_tests::{Reply, Server};

use super::{prompt_shown, repl};
use crate::scripted;

fn last_message(server: &Server) -> String {
    let requests = server.requests();
    requests.last().unwrap().last_message()["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_of_several_lines() {
    let (server, env) = scripted([Reply::text("Read.")]);
    let pty = repl(&env);
    pty.type_text("one").press(Key::AltEnter).type_text("two\\").press(Key::Enter).enter("three");
    pty.wait_for_text("Read.");
    assert_eq!(last_message(&server), "one\ntwo\nthree");
}

#[test]
fn a_long_paste_is_folded_on_the_line_and_sent_whole() {
    let (server, env) = scripted([Reply::text("Long.")]);
    let pty = repl(&env);
    let text: String = (0..500).map(|n| format!("line {n} of it\n")).collect();
    pty.type_text("see ");
    pty.paste(&text);
    pty.wait_for_text("see [paste 1: 500 lines]");
    pty.press(Key::Enter);
    pty.wait_for_text("Long.");
    assert_eq!(last_message(&server), format!("see {}", text.trim_end()));
}

#[test]
fn earlier_messages_come_back_in_the_next_session() {
    let (server, env) = scripted([Reply::text("One."), Reply::text("Two."), Reply::text("Three.")]);
    let pty = repl(&env);
    pty.enter("first message");
    pty.wait_for_text("One.");
    prompt_shown(&pty);
    pty.enter("second message");
    pty.wait_for_text("Two.");
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();

    let pty = repl(&env);
    pty.press(Key::Up);
    pty.wait_for_text("❯ second message");
    pty.press(Key::Ctrl('c'));
    prompt_shown(&pty);
    pty.press(Key::Ctrl('r')).type_text("first");
    pty.wait_for_text("search \"first\": first message");
    pty.press(Key::Enter);
    pty.wait_for_text("❯ first message");
    pty.press(Key::Enter);
    pty.wait_for_text("Three.");
    assert_eq!(last_message(&server), "first message");
}

#[test]
fn commands_are_completed_with_what_they_are_for() {
    let (_server, env) = scripted([]);
    let pty = repl(&env);
    pty.type_text("/co");
    let screen = pty.wait_for_text("/cost");
    assert!(screen.has("summarise the conversation now"), "{}", screen.text());
    pty.type_text("st").press(Key::Enter);
    pty.wait_for_text("tokens in");
}

#[test]
fn a_named_file_is_found_and_the_model_told_to_read_it() {
    let (server, env) = scripted([Reply::text("Read it.")]);
    for file in ["src/main.rs", "src/agent/loop.rs", "docs/readme.md"] {
        env.write(file, "x");
    }
    let pty = repl(&env);
    pty.type_text("explain @agl");
    pty.wait_for_text("❯ src/agent/loop.rs");
    pty.press(Key::Tab);
    pty.wait_for_text("explain @src/agent/loop.rs");
    pty.press(Key::Enter);
    pty.wait_for_text("Read it.");
    let message = last_message(&server);
    assert!(message.starts_with("explain @src/agent/loop.rs"), "{message}");
    assert!(message.ends_with("read them first: src/agent/loop.rs]"), "{message}");
    assert!(!pty.scrollback().contains("read them first"));
}

#[test]
fn vi_keys_where_readline_has_them() {
    let (server, env) = scripted([Reply::text("Good.")]);
    env.write_home(".inputrc", "set editing-mode vi\n");
    let pty = repl(&env);
    pty.type_text("one two three").press(Key::Esc);
    pty.wait_for_text("❮ one two three");
    pty.type_text("bdw0dwA!");
    pty.wait_for_text("❯ two !");
    pty.press(Key::Enter);
    pty.wait_for_text("Good.");
    assert_eq!(last_message(&server), "two !");
}

#[test]
fn what_ctrl_c_takes_off_the_line_is_in_the_history() {
    let (_server, env) = scripted([]);
    let pty = repl(&env);
    pty.type_text("a long thought").press(Key::Ctrl('c'));
    prompt_shown(&pty);
    pty.press(Key::Up);
    pty.wait_for_text("❯ a long thought");
}
