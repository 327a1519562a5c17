//! A session with a person at a terminal.

use autocode_tests::Reply;
use autocode_tests::pty::{Key, Size};
use autocode_tests::server::{Gate, Spot};

use crate::{assert_valid, scripted};

#[test]
fn a_message_is_answered_and_the_next_one_continues() {
    let (server, env) = scripted([Reply::text("Hello, person."), Reply::text("Still here.")]);
    let pty = env.pty(Size::new(80, 24), []);
    prompt_shown(&pty);
    pty.enter("hello");
    pty.wait_for_text("Hello, person.");
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
    let pty = env.pty(Size::new(80, 24), ["fix the test"]);
    pty.wait_for_text("On it.");
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    assert_eq!(server.single_request().last_message()["content"], "fix the test");
}

#[test]
fn ctrl_c_ends_the_turn_and_not_the_session() {
    let gate = Gate::new();
    let (server, env) =
        scripted([Reply::text("a long story").hold(Spot::InText, &gate), Reply::text("Yes?")]);
    let pty = env.pty(Size::new(80, 24), []);
    prompt_shown(&pty);
    pty.enter("tell me");
    gate.wait_until_reached();
    pty.press(Key::Ctrl('c'));
    pty.wait_for_text("interrupted");
    pty.enter("stop");
    pty.wait_for_text("Yes?");
    assert_valid(&server.requests()[1]);
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
}

/// Waits until something is on the screen to type at.
fn prompt_shown(pty: &autocode_tests::pty::Pty) {
    pty.wait_for("a prompt", |screen| !screen.text().is_empty() && screen.cursor != (0, 0));
}
