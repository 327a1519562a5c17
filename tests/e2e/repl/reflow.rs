//! A terminal that wraps its rows anew when its width changes, as most do: tmux is one that a script can drive.

use std::process::{Command, Output};

use autocode_tests::{Reply, TestEnv};

use crate::{AUTOCODE, poll, scripted};

/// The binary in a tmux of its own, which ends with it.
struct Tmux<'a> {
    env: &'a TestEnv,
}

impl<'a> Tmux<'a> {
    /// `None` where there is no tmux.
    fn start(env: &'a TestEnv, columns: u16, rows: u16) -> Option<Self> {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let tmux = Self { env };
        let started = ["new-session", "-d", "-x", &columns, "-y", &rows, AUTOCODE];
        let output = tmux.command(&started).output().ok()?;
        assert!(output.status.success(), "{output:?}");
        Some(tmux)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.env.program("tmux");
        command.args(["-f", "/dev/null"]).args(arguments);
        command
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(arguments).output().unwrap();
        assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap()
    }

    fn enter(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
        self.run(&["send-keys", "Enter"]);
    }

    /// Everything from the first row that scrolled off to the last row of the screen.
    fn scrollback(&self) -> String {
        self.run(&["capture-pane", "-p", "-S", "-"])
    }

    #[track_caller]
    fn wait_for(&self, what: &str, reached: impl Fn(&[&str]) -> bool) {
        poll(what, || {
            let screen = self.run(&["capture-pane", "-p"]);
            reached(&screen.lines().collect::<Vec<_>>()).then_some(())
        });
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).output();
    }
}

#[test]
fn no_row_is_lost_or_there_twice_whatever_the_terminal_wraps() {
    const DRAFT: &str =
        "a draft that is long enough to take two rows in a terminal of only sixty columns";
    let story: String = (0..8).map(|n| format!("{n}. line_{n}\n")).collect();
    let (_server, mut env) = scripted([
        Reply::text(&story),
        Reply::bash("echo begun; until test -e go; do sleep 0.01; done"),
        Reply::text("All_done."),
    ]);
    env.set("TMUX_TMPDIR", env.home());
    let Some(tmux) = Tmux::start(&env, 120, 40) else {
        println!("left out: there is no tmux");
        return;
    };
    let has = |text: &'static str| move |rows: &[&str]| rows.iter().any(|row| row.contains(text));
    tmux.wait_for("the prompt", has("❯"));
    tmux.enter("first");
    tmux.wait_for("the first answer", has("line_7"));
    tmux.enter("second");
    tmux.wait_for("the command", has("⎿ begun"));
    tmux.enter("a message that waits");
    tmux.wait_for("the message", has("↳ a message"));
    tmux.run(&["send-keys", "-l", DRAFT]);
    tmux.wait_for("the draft", has("sixty columns"));
    for (columns, rows) in [(60_usize, 15), (100, 30), (40, 12), (120, 40)] {
        tmux.run(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        // What autocode wraps begins below the text, what tmux wraps at the edge.
        let lead = "0% ❯ ".len();
        tmux.wait_for("the draft in new rows", |rows| {
            let Some(at) = rows.iter().position(|row| row.contains("❯ a draft")) else {
                return false;
            };
            let whole = columns > DRAFT.len() + lead;
            rows[at].contains(DRAFT) == whole
                && rows.get(at + 1).is_none_or(|row| whole == row.trim().is_empty())
                && (whole || rows[at + 1].starts_with("      "))
        });
        let all = tmux.scrollback();
        let marks = ["⎿ begun", "running bash", "↳ a message", "❯ a draft", "line_0", "line_7"];
        for mark in marks {
            assert_eq!(all.matches(mark).count(), 1, "{mark:?} at {columns} columns in\n{all}");
        }
    }
    env.write("go", "");
    tmux.wait_for("the end of the turn", has("All_done."));
    let all = tmux.scrollback();
    for n in 0..8 {
        assert_eq!(all.matches(&format!("line_{n}")).count(), 1, "{all}");
    }
}
