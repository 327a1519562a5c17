//! Terminals of all kinds, and how they are left.

use autocode_tests::Reply;
use autocode_tests::pty::{Key, Pty, Size};
use rustix::process::{Pid, Signal, kill_process};

use super::{is_prompt, prompt_shown, repl};
use crate::scripted;

/// The modes that were switched on are off again.
#[track_caller]
fn assert_restored(pty: &Pty) {
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let at = |code: &str| raw.rfind(code);
    assert!(at("\x1b[?2004l") > at("\x1b[?2004h"), "bracketed paste is still on");
    assert!(at("\x1b[?25h") > at("\x1b[?25l"), "the cursor is still hidden");
    assert!(!raw.contains("\x1b[?1049h"));
}

#[test]
fn every_way_out_leaves_the_terminal_as_it_was() {
    let (_server, env) = scripted([]);
    let pty = repl(&env);
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    assert_restored(&pty);

    let pty = repl(&env);
    pty.press(Key::Ctrl('c'));
    pty.wait_for_text("Ctrl-C again leaves");
    pty.press(Key::Ctrl('c'));
    assert_eq!(pty.wait_exit(), 0);
    assert_restored(&pty);

    let pty = repl(&env);
    let pid = Pid::from_raw(pty.pid().unwrap().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    pty.wait_exit();
    assert_restored(&pty);
}

#[test]
fn a_tiny_terminal_is_enough() {
    let (_server, env) =
        scripted([Reply::bash("seq 50").saying("On it."), Reply::text("Done, all of it.")]);
    let pty = env.pty(Size::new(20, 5), []);
    prompt_shown(&pty);
    pty.enter("a message that is longer than the row");
    pty.wait_for_text("20 out");
    let screen = prompt_shown(&pty);
    assert!(screen.rows.iter().any(|row| is_prompt(row)));
    let all = pty.scrollback();
    assert!(all.contains("+44 lines") && all.contains("Done, all of it."), "{all}");
}

#[test]
fn a_terminal_that_only_writes_gets_plain_lines() {
    let (_server, mut env) = scripted([Reply::text("A **bold** answer."), Reply::text("Another.")]);
    env.set("TERM", "dumb");
    let pty = env.pty(Size::new(80, 24), []);
    pty.wait_for_text("0% >");
    pty.enter("hello");
    pty.wait_for_text("A bold answer.");
    pty.enter("more");
    pty.wait_for_text("Another.");
    pty.press(Key::Ctrl('d'));
    assert_eq!(pty.wait_exit(), 0);
    assert!(!pty.raw().contains(&0x1b), "{}", String::from_utf8_lossy(&pty.raw()));
}

#[test]
fn without_utf8_everything_of_ours_is_ascii() {
    let (_server, mut env) = scripted([Reply::bash("echo hi"), Reply::text("- done")]);
    env.set("LANG", "C").set("LC_ALL", "C");
    let pty = env.pty(Size::new(80, 24), []);
    pty.wait_for_text("0% >");
    pty.enter("hello");
    pty.wait_for_text("done");
    let screen = pty.wait_for("the end of the turn", |screen| screen.has("2 steps"));
    assert!(pty.scrollback().is_ascii(), "{}", screen.text());
}

#[test]
fn other_terminals_work_alike() {
    for term in ["xterm", "screen", "tmux-256color", "linux"] {
        let (_server, mut env) = scripted([Reply::text("Hello.")]);
        env.set("TERM", term);
        let pty = repl(&env);
        pty.enter("hi");
        pty.wait_for_text("Hello.");
        prompt_shown(&pty);
        pty.press(Key::Ctrl('d'));
        assert_eq!(pty.wait_exit(), 0, "{term}");
        assert_restored(&pty);
    }
}

#[test]
fn no_colours_where_none_are_wanted() {
    let (_server, mut env) = scripted([Reply::text("A **bold** answer.")]);
    env.set("NO_COLOR", "1");
    let pty = repl(&env);
    pty.enter("hi");
    pty.wait_for_text("A bold answer.");
    prompt_shown(&pty);
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let coloured = raw.match_indices("\x1b[").any(|(at, _)| {
        let rest = &raw[at + 2..];
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    });
    assert!(!coloured, "{raw:?}");
}
