//! A session with a person at a terminal: one module a thing that people do there.

mod commands;
mod conversation;
mod reflow;
mod screens;
mod scrollback;
mod sessions;
mod steering;
mod terminals;
mod typing;

use autocode_tests::TestEnv;
use autocode_tests::pty::{Pty, Screen, Size};

/// The terminal that most people have.
const USUAL: Size = Size::new(80, 24);

/// The binary in a terminal, waiting for its first message.
fn repl(env: &TestEnv) -> Pty {
    let pty = env.pty(USUAL, []);
    prompt_shown(&pty);
    pty
}

/// Waits until a line can be typed and nothing is under way.
pub(crate) fn prompt_shown(pty: &Pty) -> Screen {
    pty.wait_for("a prompt", |screen| {
        is_idle(screen) && screen.rows.iter().any(|row| is_prompt(row))
    })
}

/// Whether this row is the prompt with nothing on it.
fn is_prompt(row: &str) -> bool {
    row.trim().strip_suffix("% ❯").is_some_and(|meter| meter.parse::<u32>().is_ok())
}

fn is_idle(screen: &Screen) -> bool {
    !screen.has("Ctrl-C interrupts")
}
