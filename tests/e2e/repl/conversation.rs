//! Messages and answers.

use autocode_tests::pty::{Key, Size};
use autocode_tests::server::{Gate, ReasoningField, Spot};
use autocode_tests::{Reply, valid_history};

use super::{USUAL, prompt_shown, repl};
use crate::{assert_valid, scripted};

#[test]
fn a_message_is_answered_and_the_next_one_continues() {
    let (server, env) = scripted([Reply::text("Hello, person."), Reply::text("Still here.")]);
    let pty = repl(&env);
    pty.enter("hello");
    pty.wait_for_text("Hello, person.");
    prompt_shown(&pty);
    pty.enter("and now?");
    pty.wait_for_text("Still here.");
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    let second = &server.requests()[1];
    assert_valid(second);
    assert_eq!(second.messages().len(), 4);
    assert!(!pty.screen().alternate);
}

#[test]
fn a_message_on_the_command_line_starts_the_session() {
    let (server, env) = scripted([Reply::text("On it.")]);
    let pty = env.pty(USUAL, ["fix the test"]);
    pty.wait_for_text("On it.");
    prompt_shown(&pty);
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    assert_eq!(server.single_request().last_message()["content"], "fix the test");
}

#[test]
fn a_turn_with_tools_reads_like_this() {
    let (_server, env) = scripted([
        Reply::bash("seq 1 20")
            .saying("Let me count.")
            .thinking(ReasoningField::Content, "Numbers are wanted."),
        Reply::text("There are **twenty** of them:\n\n- one\n- two"),
    ]);
    let pty = env.pty(Size::new(80, 40), []);
    prompt_shown(&pty);
    pty.enter("count");
    let screen = pty.wait_for("the end of the turn", |screen| screen.has("2 steps"));
    let rows: Vec<&str> = screen.rows.iter().map(|row| row.trim()).collect();
    let from = rows.iter().position(|row| *row == "❯ count").unwrap();
    assert!(rows[from + 2].starts_with("✻ Thought for "), "{}", screen.text());
    let expected = [
        "",
        "Let me count.",
        "",
        "● bash  seq 1 20",
        "⎿ 1",
        "2",
        "3",
        "4",
        "5",
        "6",
        "… +14 lines",
        "",
        "There are twenty of them:",
        "",
        "• one",
        "• two",
        "",
    ];
    assert_eq!(rows[from + 3..from + 3 + expected.len()], expected, "{}", screen.text());
}

#[test]
fn ctrl_c_ends_the_turn_and_not_the_session() {
    let gate = Gate::new();
    let (server, env) =
        scripted([Reply::text("a long story").hold(Spot::InText, &gate), Reply::text("Yes?")]);
    let pty = repl(&env);
    pty.enter("tell me");
    gate.wait_until_reached();
    pty.press(Key::Ctrl('c'));
    pty.wait_for_text("interrupted");
    prompt_shown(&pty);
    pty.enter("stop");
    pty.wait_for_text("Yes?");
    assert_valid(&server.requests()[1]);
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
}

#[test]
fn ctrl_c_ends_a_command_and_what_it_started() {
    let (server, env) =
        scripted([Reply::bash("echo $$ > pid; sleep 300 & wait"), Reply::text("As you wish.")]);
    let pty = repl(&env);
    pty.enter("serve");
    let pid = crate::wait_for_line(&env.project().join("pid"));
    pty.press(Key::Ctrl('c'));
    pty.wait_for_text("interrupted");
    crate::wait_until_gone(&pid);
    prompt_shown(&pty);
    pty.enter("continue");
    pty.wait_for_text("As you wish.");
    valid_history(&server.requests()[1].messages()).unwrap();
}

#[test]
fn a_failed_turn_says_why_and_the_next_one_works() {
    let (_server, env) = scripted([Reply::error(401, "no such key"), Reply::text("Better.")]);
    let pty = env.pty(Size::new(100, 24), []);
    prompt_shown(&pty);
    pty.enter("hello");
    pty.wait_for_text("no such key");
    prompt_shown(&pty);
    pty.enter("again");
    pty.wait_for_text("Better.");
}

#[test]
fn the_output_of_a_running_command_is_seen() {
    let (_server, env) = scripted([
        Reply::bash("echo begun; until test -e go; do sleep 0.01; done"),
        Reply::text("Done."),
    ]);
    let pty = repl(&env);
    pty.enter("run");
    pty.wait_for_text("⎿ begun");
    pty.wait_for_text("running bash");
    env.write("go", "");
    pty.wait_for_text("Done.");
}
