//! Going on with earlier sessions.

use autocode_tests::Reply;
use autocode_tests::pty::Key;

use super::{USUAL, prompt_shown, repl};
use crate::scripted;

#[test]
fn a_resumed_session_shows_its_last_exchange() {
    let (server, env) =
        scripted([Reply::text("The *first* answer."), Reply::text("The second answer.")]);
    let pty = repl(&env);
    pty.enter("first question");
    pty.wait_for_text("The first answer.");
    prompt_shown(&pty);
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();
    assert!(pty.scrollback().contains("resume with: autocode -r "));

    let pty = env.pty(USUAL, ["-c"]);
    pty.wait_for_text("❯ first question");
    pty.wait_for_text("The first answer.");
    prompt_shown(&pty);
    pty.enter("second question");
    pty.wait_for_text("The second answer.");
    assert_eq!(server.requests()[1].messages().len(), 4);
}

#[test]
fn a_session_is_picked_from_the_list_at_start() {
    let (server, env) =
        scripted([Reply::text("Apples."), Reply::text("Pears."), Reply::text("More apples.")]);
    for question in ["about apples", "about pears"] {
        let pty = env.pty(USUAL, [question]);
        pty.wait_for_text("s.");
        prompt_shown(&pty);
        pty.press(Key::Ctrl('d'));
        pty.wait_exit();
    }
    let pty = env.pty(USUAL, ["-r"]);
    let screen = pty.wait_for_text("about apples");
    assert!(screen.has("about pears") && screen.has("2 messages"), "{}", screen.text());
    pty.type_text("apples");
    pty.wait_for_text("1/2");
    pty.press(Key::Enter);
    pty.wait_for_text("Apples.");
    prompt_shown(&pty);
    pty.enter("go on");
    pty.wait_for_text("More apples.");
    assert_eq!(server.requests()[2].messages().len(), 4);
}

#[test]
fn leaving_the_list_starts_nothing() {
    let (_server, env) = scripted([Reply::text("Once.")]);
    let pty = env.pty(USUAL, ["hello"]);
    pty.wait_for_text("Once.");
    prompt_shown(&pty);
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();
    let pty = env.pty(USUAL, ["-r"]);
    pty.wait_for_text("hello");
    pty.press(Key::Esc);
    assert_eq!(pty.wait_exit(), 130);
}

#[test]
fn a_session_is_resumed_within_the_repl() {
    let (server, env) =
        scripted([Reply::text("Apples."), Reply::text("Pears."), Reply::text("More apples.")]);
    let pty = repl(&env);
    pty.enter("about apples");
    pty.wait_for_text("Apples.");
    prompt_shown(&pty);
    pty.enter("/new");
    pty.wait_for_text("new session");
    prompt_shown(&pty);
    pty.enter("about pears");
    pty.wait_for_text("Pears.");
    prompt_shown(&pty);
    pty.enter("/resume");
    pty.wait_for_text("2/2");
    pty.press(Key::Down).press(Key::Enter);
    pty.wait_for("the other session", |screen| {
        screen.rows.iter().filter(|row| row.contains("about apples")).count() == 2
    });
    prompt_shown(&pty);
    pty.enter("go on");
    pty.wait_for_text("More apples.");
    assert_eq!(server.requests()[2].messages().len(), 4);
}
