//! The scrollback is the transcript: no line twice, none lost, whatever the terminal's size does.

use autocode_tests::Reply;
use autocode_tests::pty::{Key, Pty, Size};
use autocode_tests::server::{Gate, Spot};

use super::prompt_shown;
use crate::scripted;

/// Every one of these stands on exactly one row.
#[track_caller]
fn assert_once(pty: &Pty, marks: impl Iterator<Item = String>) {
    let all = pty.scrollback();
    for mark in marks {
        let count = all.lines().filter(|line| line.contains(&mark)).count();
        assert_eq!(count, 1, "{mark:?} in\n{all}");
    }
}

fn code_block() -> String {
    let lines: String = (0..200).map(|n| format!("let row_{n:03} = {n};\n")).collect();
    format!("```rust\n{lines}```\n")
}

fn table() -> String {
    let rows: String = (0..60).map(|n| format!("| cell_{n:03} | 日本 {n} | ✅ |\n")).collect();
    format!("| name | 名前 | ok |\n|---|---|---|\n{rows}")
}

#[test]
fn a_block_longer_than_the_screen_is_there_once() {
    let (_server, env) =
        scripted([Reply::text(&format!("{}\n{}\nThe end.", code_block(), table())).pieces(7)]);
    let pty = env.pty(Size::new(80, 24), ["go"]);
    pty.wait_for_text("The end.");
    prompt_shown(&pty);
    assert_once(&pty, (0..200).map(|n| format!("row_{n:03}")));
    assert_once(&pty, (0..60).map(|n| format!("cell_{n:03}")));
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();
    assert_once(&pty, (0..200).map(|n| format!("row_{n:03}")));
}

#[test]
fn a_resize_while_streaming_loses_nothing() {
    let gate = Gate::new();
    let text = format!("{}\n{}\nThe end.", code_block(), table());
    let (_server, env) = scripted([Reply::text(&text).pieces(7).hold(Spot::InText, &gate)]);
    let pty = env.pty(Size::new(120, 40), ["go"]);
    gate.wait_until_reached();
    pty.type_text("draft");
    pty.wait_for_text("draft");
    pty.resize(Size::new(60, 15));
    pty.wait_for("the line at its new place", |screen| {
        screen.rows.len() == 15 && screen.has("draft")
    });
    gate.open();
    pty.wait_for_text("The end.");
    pty.resize(Size::new(100, 30));
    let screen =
        pty.wait_for("the line again", |screen| screen.rows.len() == 30 && screen.has("draft"));
    assert_eq!(screen.rows.iter().filter(|row| row.contains("draft")).count(), 1);
    assert_once(&pty, (0..200).map(|n| format!("row_{n:03}")));
    assert_once(&pty, (0..60).map(|n| format!("cell_{n:03}")));
}

#[test]
fn messages_calls_and_answers_are_there_once_each() {
    let (_server, env) = scripted([
        Reply::bash("echo output_one").saying("Saying one."),
        Reply::bash("echo output_two").saying("Saying two."),
        Reply::text("Answer three."),
        Reply::text("Answer four."),
    ]);
    let pty = env.pty(Size::new(50, 12), []);
    prompt_shown(&pty);
    pty.enter("message_one");
    pty.wait_for_text("Answer three.");
    prompt_shown(&pty);
    pty.enter("message_two");
    pty.wait_for_text("Answer four.");
    prompt_shown(&pty);
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();
    let marks = [
        "message_one",
        "Saying one.",
        "echo output_one",
        "⎿ output_one",
        "Saying two.",
        "echo output_two",
        "⎿ output_two",
        "Answer three.",
        "message_two",
        "Answer four.",
    ];
    assert_once(&pty, marks.iter().map(|mark| (*mark).to_owned()));
    let all = pty.scrollback();
    let places: Vec<usize> = marks.iter().map(|mark| all.find(mark).unwrap()).collect();
    assert!(places.is_sorted(), "{all}");
}

#[test]
fn nothing_of_a_model_or_a_tool_acts_on_the_terminal() {
    let evil = "\u{1b}]0;gotcha\u{7}\u{1b}]52;c;Z290\u{7}\u{1b}[2J\u{1b}[1;1H\u{9b}31m\u{9d}0;x\u{7}end_mark";
    let script = r"printf '\033]0;tool\007\033[2Jout_mark\033]52;c;eA=='";
    let (_server, env) = scripted([Reply::bash(script).saying(evil), Reply::text(evil)]);
    let pty = env.pty(Size::new(80, 24), ["go"]);
    pty.wait_for("the end", |screen| {
        screen.rows.iter().filter(|row| row.contains("end_mark")).count() == 2
    });
    prompt_shown(&pty);
    assert!(pty.screen().has("out_mark"));
    assert!(pty.titles().is_empty() && pty.clipboard().is_empty());
}
