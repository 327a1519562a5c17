//! The harness on a shell.

use super::*;

fn sh(size: Size, script: &str) -> Pty {
    let vars = BTreeMap::from([
        ("PATH".into(), std::env::var_os("PATH").unwrap()),
        ("TERM".into(), "xterm".into()),
    ]);
    Pty::spawn(Path::new("/bin/sh"), &["-c", script], Path::new("/"), &vars, size)
}

#[test]
fn what_is_typed_is_echoed_and_read() {
    let pty = sh(Size::new(40, 10), "read line; echo \"<$line>\"; exit 3");
    pty.enter("hello");
    assert_eq!(pty.wait_exit(), 3);
    assert_eq!(pty.screen().text(), "hello\n<hello>");
}

#[test]
fn the_scrollback_holds_what_left_the_screen_once_and_in_order() {
    let pty = sh(Size::new(20, 5), "i=1; while [ $i -le 37 ]; do echo line $i; i=$((i+1)); done");
    pty.wait_exit();
    let expected: Vec<String> = (1..=37).map(|i| format!("line {i}")).collect();
    assert_eq!(pty.scrollback(), expected.join("\n"));
    assert_eq!(pty.screen().text(), "line 34\nline 35\nline 36\nline 37");
}

#[test]
fn queries_are_answered_as_a_terminal_does() {
    let pty = sh(
        Size::new(40, 10),
        "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -c",
    );
    pty.wait_exit();
    assert!(pty.scrollback().contains("033   [   1   ;   3   R"), "{}", pty.scrollback());
}

#[test]
fn a_resize_reaches_the_program() {
    let pty = sh(Size::new(80, 24), "read x; stty size");
    pty.resize(Size::new(60, 15)).enter("");
    pty.wait_exit();
    assert!(pty.screen().has("15 60"));
}

#[test]
fn a_half_drawn_update_is_not_looked_at() {
    let script = "printf '\\033[?2026hone'; read x; printf 'two\\033[?2026l'; read x";
    let pty = sh(Size::new(40, 10), script);
    pty.wait_for_bytes(b"one");
    pty.enter("");
    let screen = pty.wait_for("a whole update", |screen| screen.has("one"));
    assert!(screen.has("two"), "{screen:?}");
}

#[test]
fn ctrl_c_interrupts() {
    let pty =
        sh(Size::new(40, 10), "trap 'echo caught; exit 9' INT; echo up; while :; do read x; done");
    pty.wait_for_text("up");
    pty.press(Key::Ctrl('c'));
    assert_eq!(pty.wait_exit(), 9);
    assert!(pty.screen().has("caught"));
}

#[test]
fn a_long_paste_arrives_whole_while_queries_are_answered() {
    // Each round of the program asks and reads: answers go between the pasted bytes.
    let script = "stty raw -echo; echo ready; i=0; while [ $i -lt 30 ]; do \
                  printf '\\033[5n'; head -c 10000 > /dev/null; i=$((i+1)); done; echo whole";
    let pty = sh(Size::new(40, 10), script);
    pty.wait_for_text("ready");
    pty.paste(&"x".repeat(300_000));
    pty.wait_for_text("whole");
}
