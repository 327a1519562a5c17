//! `autocode log`: what a session did, for people and for programs.

use autocode_tests::pty::Size;
use autocode_tests::{Reply, Run};
use serde_json::{Value, json};

use crate::scripted;

fn lines(run: &Run) -> Vec<Value> {
    run.require(run.code == Some(0), "exit code 0");
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn steps_commands_edits_and_approvals_are_listed() {
    let (_server, mut env) = scripted([
        Reply::bash("ls; exit 3").saying("Let me look."),
        Reply::bash("touch made"),
        Reply::bash("echo '{\"timeout\": 5}' > .autocode/config.json"),
        Reply::text("done"),
    ]);
    env.set("TZ", "UTC");
    env.cmd(["-p", "tidy \u{1b}[31mup"]).run().answered("done\n");
    let id = env.transcript().id();

    let run = env.cmd(["log"]).run();
    run.require(run.code == Some(0), "exit code 0");
    let text = &run.stdout;
    for part in [
        &format!("session {id} · tidy"),
        "you       tidy ␛[31mup\n",
        "step 1    Let me look.\n",
        "bash      ls; exit 3\n",
        "exit 3 after 0.",
        "exit 0 after 0.",
        "edit      timeout 600 → 5 · .autocode/config.json\n",
        "step 4    done\n",
    ] {
        run.require(text.contains(part), part);
    }
    run.require(!text.contains('\u{1b}'), "plain text");

    let told = lines(&env.cmd(["log", &id, "--json"]).run());
    assert_eq!(told[0], json!({"type": "session", "v": 1, "id": id, "title": told[0]["title"]}));
    let calls: Vec<&Value> = told.iter().filter(|line| line["type"] == "call").collect();
    assert_eq!(calls.len(), 3);
    assert_eq!((&calls[0]["status"], &calls[0]["exit"]), (&json!("exit"), &json!(3)));
    assert_eq!(calls[1]["arguments"]["command"], "touch made");
    assert_eq!(calls[1]["status"], "ok");
    assert!(told.iter().any(|line| line["type"] == "edit"));
}

#[test]
fn an_approval_says_what_was_asked_and_answered() {
    let (_server, env) = scripted([Reply::bash("touch made"), Reply::text("done")]);
    env.cmd(["--ask", "-p", "go"]).run().answered("done\n");
    let run = env.cmd(["log"]).run();
    run.require(run.stdout.contains("asked     touch made\n"), "what was asked");
    run.require(run.stdout.contains("no: nobody is there to ask"), "the answer");
    let told = lines(&env.cmd(["log", "--json"]).run());
    let approval = told.iter().find(|line| line["type"] == "approval").unwrap();
    assert_eq!((&approval["asked"], &approval["allowed"]), (&json!("touch made"), &json!(false)));
    let call = told.iter().find(|line| line["type"] == "call").unwrap();
    assert_eq!(call["status"], "refused");
    assert_eq!(approval["cwd"], env.project().to_str().unwrap());
}

#[test]
fn a_rule_that_an_answer_adds_is_in_the_log() {
    let (_server, env) = scripted([Reply::bash("touch made"), Reply::text("All done.")]);
    let pty = env.pty(Size::new(80, 24), ["--ask"]);
    crate::repl::prompt_shown(&pty);
    pty.enter("go");
    pty.wait_for_text("always in this session");
    let down = autocode_tests::pty::Key::Down;
    pty.press(down).press(down).press(down).press(autocode_tests::pty::Key::Enter);
    pty.wait_for_text("All done.");
    crate::repl::prompt_shown(&pty);
    let run = env.cmd(["log"]).run();
    run.require(run.stdout.contains("yes, always in this session: touch made"), "the rule");
    assert!(env.has("made"));
}

/// A summary replaces the conversation; the log tells what was before it, and nothing twice.
#[test]
fn a_summary_hides_nothing() {
    let (_server, mut env) = scripted([
        Reply::bash("echo first").usage(10_000, 10),
        Reply::bash("echo second").usage(90_000, 10),
        Reply::text("A SUMMARY"),
        Reply::text("done"),
    ]);
    env.set("AUTOCODE_CONTEXT_WINDOW", "100000");
    env.cmd(["-p", "go"]).run().answered("done\n").stderr_has("summarised");
    let told = lines(&env.cmd(["log", "--json"]).run());
    let said = |text: &str| told.iter().filter(|line| line.to_string().contains(text)).count();
    assert_eq!(
        [said("echo first"), said("echo second"), said("A SUMMARY")],
        [1, 1, 1],
        "{told:#?}"
    );
    assert_eq!(told.iter().filter(|line| line["type"] == "user").count(), 1);
}

#[test]
fn an_unknown_session_is_one_clear_line() {
    let (_server, env) = scripted([Reply::text("hi")]);
    let run = env.cmd(["log"]).run();
    run.failed(2, &["this project has no sessions yet"]);
    env.cmd(["-p", "hi"]).run().answered("hi\n");
    for id in ["20000101-000000", "../../etc/passwd", ""] {
        let run = env.cmd(["log", id]).run();
        run.failed(2, &["there is no session"]);
        run.require(run.stderr.lines().count() == 1, "one line");
    }
}

#[test]
fn rows_fit_the_terminal() {
    let (_server, env) = scripted([
        Reply::bash("echo a long command that does not fit into a narrow terminal at all"),
        Reply::text("done"),
    ]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let pty = env.pty(Size::new(40, 24), ["log"]);
    assert_eq!(pty.wait_exit(), 0);
    let text = pty.scrollback();
    assert!(text.lines().any(|row| row.trim() == "not fit into a narrow terminal"), "{text}");
}

#[test]
fn a_turn_that_failed_says_why() {
    let (_server, env) = scripted([Reply::error(401, "no such key")]);
    env.cmd(["-p", "hi"]).run().failed(1, &["401"]);
    let run = env.cmd(["log"]).run();
    let last = run.stdout.lines().last().unwrap_or_default();
    run.require(last.contains("failed    ") && last.contains("401"), "the reason");
}
