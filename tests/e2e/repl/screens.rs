//! What a person sees, kept as snapshots: change a screen, and the difference is there to read.
//!
//! What differs from run to run (times, ids, ports, the version) is masked. Written anew with `INSTA_UPDATE=always`.

use autocode_tests::pty::{Key, Pty, Screen, Size};
use autocode_tests::server::{Gate, ReasoningField, Spot};
use autocode_tests::{Reply, Server, TestEnv};
use serde_json::json;

use super::prompt_shown;
use crate::scripted;

/// The pictures of the spinner where there is more than ASCII.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const REPLY: &str = r"Two files make up the shop:

| file | lines | what it does |
|:--|--:|:--|
| `cart.py` | 120 | the basket and its *total* |
| `prices.py` | 48 | VAT, discounts |

The total leaves the discount out:

```python
def total(items):
    # the discount is missing
    return sum(item.price for item in items)
```

It should be $\sum_i p_i (1 - d)$, so that

$$\bar{p} = \frac{1}{n} \sum_{i=1}^{n} p_i$$

1. **Mend** `total`
2. Run the tests again
";

/// A project that reads `~/shop`, and a model with these replies.
fn shop(replies: impl IntoIterator<Item = Reply>) -> (Server, TestEnv) {
    let (server, mut env) = scripted(replies);
    env.at_home("shop");
    (server, env)
}

/// A turn that waits in its command for the file `go`.
fn waiting() -> Reply {
    Reply::bash("echo collecting 12 tests; until test -e go; do sleep 0.01; done")
        .saying("I will run the tests.")
}

#[track_caller]
fn snapshot(name: &str, content: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, masked(content));
    });
}

/// The screen with an edge at its left, so that blank rows are seen, and the cursor's place.
fn picture(screen: &Screen) -> String {
    let (row, column) = screen.cursor;
    let cursor = match screen.cursor_hidden {
        true => "no cursor".to_owned(),
        false => format!("cursor in row {row}, column {column}"),
    };
    let rows: Vec<String> = screen.rows.iter().map(|row| format!("│{row}\n")).collect();
    format!("{cursor}\n{}", rows.concat())
}

#[track_caller]
fn keep(name: &str, pty: &Pty) {
    snapshot(name, &picture(&pty.screen()));
}

/// The text without what differs from run to run.
fn masked(text: &str) -> String {
    let mut text = text.replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    for (shape, mask) in [
        ("########-######-#", "20261130-161555"),
        ("########-######", "20261130-161555"),
        ("127.0.0.1:#####", "127.0.0.1:55555"),
        ("+.# s", "0.0 s"),
        ("## s", "0.0 s"),
    ] {
        text = replaced(&text, shape, mask);
    }
    // After a second the status line has times, and then less room for its figures, which have a test of their own.
    let rows = text.lines().map(|row| match row.split_once("Ctrl-C interrupts") {
        Some((before, _)) => format!("{} Ctrl-C interrupts", before.replace(" 0.0 s", "").trim()),
        None => row.replace("running bash 0.0 s", "running bash"),
    });
    let text = rows.collect::<Vec<_>>().join("\n");
    let text = text.replace(SPINNER, "*");
    ["|", "/", "-", "\\"]
        .iter()
        .fold(text, |text, picture| text.replace(&format!("│{picture} running"), "│* running"))
}

/// Puts `mask` in the place of what has this shape: `#` is a digit, `+` some digits.
fn replaced(text: &str, shape: &str, mask: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let inside = out.ends_with(|c: char| c.is_ascii_digit());
        match length(rest, shape).filter(|_| !inside) {
            Some(length) => {
                out.push_str(mask);
                rest = &rest[length..];
            }
            None => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    out
}

fn length(text: &str, shape: &str) -> Option<usize> {
    let mut rest = text;
    for c in shape.chars() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest = match c {
            '#' => rest.get(1..).filter(|_| digits > 0)?,
            '+' => rest.get(digits..).filter(|_| digits > 0)?,
            c => rest.strip_prefix(c)?,
        };
    }
    Some(text.len() - rest.len())
}

#[test]
fn the_first_prompt() {
    for (columns, rows) in [(120, 40), (60, 15), (20, 5)] {
        let (_server, env) = shop([]);
        let pty = env.pty(Size::new(columns, rows), []);
        prompt_shown(&pty);
        keep(&format!("first-prompt-{columns}x{rows}"), &pty);
    }
}

#[test]
fn a_reply_with_a_table_code_and_maths() {
    let (_server, env) = shop([Reply::text(REPLY).pieces(7)]);
    let pty = env.pty(Size::new(80, 40), []);
    prompt_shown(&pty);
    pty.enter("what is wrong with the total?");
    pty.wait_for_text("Run the tests again");
    prompt_shown(&pty);
    keep("reply", &pty);
}

#[test]
fn a_turn_with_calls() {
    let (_server, env) = shop([
        Reply::bash("seq 1 20")
            .saying("Let me count.")
            .thinking(ReasoningField::Content, "Numbers are wanted.\nTwenty of them."),
        Reply::bash("cd src 2>/dev/null\ngrep -rn total . | head -3\nexit 3").saying("And look:"),
        Reply::text("There are **twenty**."),
    ]);
    let pty = env.pty(Size::new(80, 40), []);
    prompt_shown(&pty);
    pty.enter("count to twenty, and do it in a way that takes a message of more than one row on the screen");
    pty.wait_for_text("3 steps");
    prompt_shown(&pty);
    keep("calls", &pty);
}

#[test]
fn while_it_works_and_after_an_interrupt() {
    for (columns, rows) in [(80, 24), (60, 15), (20, 5)] {
        let (_server, env) = shop([waiting()]);
        let pty = env.pty(Size::new(columns, rows), []);
        prompt_shown(&pty);
        pty.enter("run the tests");
        // The smallest one has no room for output.
        pty.wait_for_text(if rows > 5 { "⎿ collecting" } else { "running bash" });
        pty.enter("only the fast ones");
        pty.wait_for_text("↳ only the");
        pty.type_text("and then");
        pty.wait_for_text("and then");
        let size = format!("{columns}x{rows}");
        snapshot(&format!("working-{size}"), &picture(&pty.screen()));
        pty.press(Key::Ctrl('c'));
        pty.wait_for("the words on the line", |screen| {
            screen.has("! interrupted") && !screen.has("↳") && super::is_idle(screen)
        });
        // On the smallest one nothing else tells that the turn is over.
        pty.wait_for("the end of the turn", |screen| !screen.has("finishing"));
        keep(&format!("interrupted-{size}"), &pty);
    }
}

#[test]
fn a_question_before_a_command_runs() {
    let (_server, env) = shop([
        Reply::bash("rm -rf build && git push --force origin main").saying("I will clean up."),
        Reply::text("As you like."),
    ]);
    let pty = env.pty(Size::new(80, 24), ["--ask"]);
    prompt_shown(&pty);
    pty.enter("clean up");
    pty.wait_for_text("filter: ");
    keep("approval", &pty);
    pty.press(Key::Down).press(Key::Enter);
    pty.wait_for_text("As you like.");
    prompt_shown(&pty);
    keep("approval-refused", &pty);
}

#[test]
fn what_commands_show() {
    let (_server, env) = shop([Reply::text("Hello.")]);
    let pty = env.pty(Size::new(100, 40), []);
    prompt_shown(&pty);
    pty.enter("/help");
    pty.wait_for_text("While it works, just type");
    prompt_shown(&pty);
    keep("help", &pty);
    pty.press(Key::Ctrl('l'));
    pty.enter("/config");
    pty.wait_for_text("AUTOCODE_* variables");
    prompt_shown(&pty);
    keep("config", &pty);
}

#[test]
fn lists_below_the_line() {
    let (_server, env) = shop([]);
    for file in ["src/cart.py", "src/prices.py", "tests/test_cart.py"] {
        env.write(file, "");
    }
    let pty = env.pty(Size::new(80, 20), []);
    prompt_shown(&pty);
    pty.type_text("/");
    pty.wait_for_text("show this list");
    keep("commands", &pty);
    pty.press(Key::Ctrl('u')).type_text("mend @cart");
    pty.wait_for_text("tests/test_cart.py");
    keep("files", &pty);
}

#[test]
fn the_list_of_sessions_and_a_resumed_one() {
    let (_server, env) = shop([
        Reply::text("VAT is in `prices.py`."),
        Reply::bash("true"),
        Reply::text("It was a **rounding** error."),
    ]);
    for (question, answer) in [
        ("where is VAT added?", "VAT is in"),
        ("why does the third test in tests/test_cart.py fail since yesterday?", "2 steps"),
    ] {
        let pty = env.pty(Size::new(80, 24), [question]);
        pty.wait_for_text(answer);
        prompt_shown(&pty);
        pty.press(Key::Ctrl('d'));
        pty.wait_exit();
    }
    let pty = env.pty(Size::new(80, 24), ["-r"]);
    pty.wait_for_text("2/2");
    keep("sessions", &pty);
    pty.press(Key::Enter);
    pty.wait_for_text("rounding");
    prompt_shown(&pty);
    keep("resumed", &pty);
    pty.press(Key::Ctrl('d'));
    pty.wait_exit();
    keep("left", &pty);
}

#[test]
fn a_turn_that_fails() {
    let (_server, env) = shop([Reply::error(401, "Incorrect API key provided")]);
    let pty = env.pty(Size::new(80, 20), []);
    prompt_shown(&pty);
    pty.enter("hello");
    pty.wait_for_text("Incorrect API key");
    prompt_shown(&pty);
    keep("failed", &pty);
}

#[test]
fn a_smaller_terminal_while_a_reply_comes() {
    // All of it fits into the smaller one: the emulator drops rows that do not.
    let reply = "| file | lines | what it does |\n|:--|--:|:--|\n| `cart.py` | 120 | the basket and its *total* |\n\n\
                 The total leaves the **discount** out, which the third test sees, and the second one would if it had any.";
    let gate = Gate::new();
    let (_server, env) = shop([Reply::text(reply).pieces(7).hold(Spot::BeforeDone, &gate)]);
    let pty = env.pty(Size::new(120, 40), []);
    prompt_shown(&pty);
    pty.enter("what is wrong?");
    gate.wait_until_reached();
    pty.wait_for_text("if it had any.");
    pty.type_text("thanks");
    pty.wait_for_text("❯ thanks");
    pty.resize(Size::new(60, 15));
    pty.wait_for("the words in rows of the new width", |screen| {
        screen.rows.iter().any(|row| row == "sees, and the second one would if it had any.")
    });
    keep("resized-while-streaming", &pty);
    gate.open();
    pty.wait_for("the end", |screen| super::is_idle(screen) && screen.has("❯ thanks"));
    keep("resized", &pty);
}

#[test]
fn a_terminal_that_only_writes() {
    let (_server, mut env) = shop([
        Reply::bash("seq 1 20").saying("Let me count."),
        Reply::text("There are **twenty**:\n\n- one\n- two"),
    ]);
    env.set("TERM", "dumb");
    let pty = env.pty(Size::new(80, 40), []);
    pty.wait_for_text("0% >");
    pty.enter("count");
    pty.wait_for("the next prompt", |screen| {
        screen.rows.iter().filter(|row| row.starts_with("0% >")).count() == 2
    });
    keep("dumb", &pty);
}

#[test]
fn without_utf8() {
    let (_server, mut env) = shop([
        waiting().thinking(ReasoningField::Content, "The tests, then."),
        Reply::text("There are **two**:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
    ]);
    env.set("LC_ALL", "C");
    let pty = env.pty(Size::new(80, 40), []);
    prompt_shown_in_ascii(&pty);
    pty.enter("run the tests");
    pty.wait_for_text("| collecting");
    pty.enter("only the fast ones");
    pty.wait_for_text("+ only the fast ones");
    snapshot("ascii-working", &picture(&pty.screen()));
    env.write("go", "");
    pty.wait_for_text("2 steps");
    prompt_shown_in_ascii(&pty);
    pty.enter("/config model other");
    pty.wait_for_text("this session");
    pty.press(Key::Enter);
    pty.wait_for_text("scripted -> other");
    prompt_shown_in_ascii(&pty);
    keep("ascii", &pty);
    assert!(pty.scrollback().is_ascii(), "{}", pty.scrollback());
}

fn prompt_shown_in_ascii(pty: &Pty) -> Screen {
    pty.wait_for("a prompt", |screen| {
        super::is_idle(screen) && screen.rows.iter().any(|row| row.trim() == "0% >")
    })
}

#[test]
fn models_to_choose_from() {
    let (server, mut env) = shop([]);
    server.models(Reply::json(
        200,
        &json!({"data": [{"id": "small"}, {"id": "large", "context_length": 200_000}, {"id": "scripted"}]}),
    ));
    env.unset("AUTOCODE_MODEL");
    env.user_config(&json!({"model": "scripted"}));
    let pty = env.pty(Size::new(80, 20), []);
    prompt_shown(&pty);
    pty.enter("/model");
    pty.wait_for_text("3/3");
    keep("models", &pty);
}
