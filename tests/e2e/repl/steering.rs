//! Typing while the agent works.

use autocode_tests::pty::Key;
use autocode_tests::server::{Gate, Spot};
use autocode_tests::{Reply, Server, TestEnv};

use super::{prompt_shown, repl};
use crate::{assert_valid, scripted};

/// A turn that waits in its command for the file `go`, and then for more.
fn waiting() -> (Server, TestEnv) {
    scripted([
        Reply::bash("echo begun; until test -e go; do sleep 0.01; done"),
        Reply::text("Understood."),
        Reply::text("That too."),
    ])
}

#[test]
fn a_message_is_queued_and_enters_before_the_next_step() {
    let (server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.enter("use tabs");
    pty.wait_for_text("↳ use tabs");
    env.write("go", "");
    let screen = pty.wait_for_text("Understood.");
    assert!(!screen.has("↳ use tabs"));
    let second = &server.requests()[1];
    assert_valid(second);
    assert_eq!(second.last_message()["content"], "use tabs");
    // Once as a bar, where it entered.
    assert_eq!(pty.scrollback().matches("use tabs").count(), 1);
}

#[test]
fn esc_gives_a_queued_message_back() {
    let (server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.enter("use tabs");
    pty.wait_for_text("↳ use tabs");
    pty.press(Key::Esc);
    pty.wait_for("the message on the line", |screen| {
        screen.has("❯ use tabs") && !screen.has("↳ use tabs")
    });
    pty.type_text(", please").press(Key::Enter);
    pty.wait_for_text("↳ use tabs, please");
    env.write("go", "");
    pty.wait_for_text("Understood.");
    assert_eq!(server.requests()[1].last_message()["content"], "use tabs, please");
}

#[test]
fn a_draft_survives_the_end_of_the_turn() {
    let (server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.type_text("and the");
    pty.wait_for_text("❯ and the");
    env.write("go", "");
    pty.wait_for("the end of the turn", |screen| {
        screen.has("Understood.") && !screen.has("Ctrl-C interrupts")
    });
    pty.enter(" rest");
    pty.wait_for_text("That too.");
    assert_eq!(server.requests()[2].last_message()["content"], "and the rest");
}

#[test]
fn an_interrupt_gives_back_what_was_queued_and_typed() {
    let (server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.enter("first");
    pty.enter("second");
    pty.wait_for_text("↳ second");
    pty.type_text("draft").press(Key::Ctrl('c'));
    pty.wait_for_text("interrupted");
    let screen = pty.wait_for("the words on the line", |screen| screen.has("draft"));
    assert!(screen.has("❯ first") && screen.has("second"), "{}", screen.text());
    pty.press(Key::Enter);
    pty.wait_for_text("Understood.");
    let request = &server.requests()[1];
    assert_valid(request);
    assert_eq!(request.last_message()["content"], "first\nsecond\ndraft");
}

#[test]
fn typing_is_seen_while_the_network_is_silent() {
    let gate = Gate::new();
    let (_server, env) = scripted([Reply::text("Late.").hold(Spot::BeforeHeaders, &gate)]);
    let pty = repl(&env);
    pty.enter("hello");
    gate.wait_until_reached();
    pty.type_text("still there");
    pty.wait_for_text("❯ still there");
    gate.open();
    pty.wait_for_text("Late.");
    pty.wait_for_text("❯ still there");
}

#[test]
fn ctrl_c_twice_leaves_and_keeps_the_draft() {
    let (_server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.type_text("half a thought");
    pty.wait_for_text("half a thought");
    pty.press(Key::Ctrl('c')).press(Key::Ctrl('c'));
    pty.wait_exit();
    let pty = repl(&env);
    pty.press(Key::Up);
    pty.wait_for_text("❯ half a thought");
}

#[test]
fn ctrl_d_leaves_while_it_works_and_the_session_can_go_on() {
    let (server, env) = waiting();
    let pty = repl(&env);
    pty.enter("work");
    pty.wait_for_text("⎿ begun");
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    let pty = env.pty(super::USUAL, ["-c"]);
    prompt_shown(&pty);
    pty.enter("go on");
    pty.wait_for_text("Understood.");
    assert_valid(&server.requests()[1]);
}
