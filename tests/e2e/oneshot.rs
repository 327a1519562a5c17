//! `autocode -p`: one answer on standard output, everything else on standard error, an exit code that says how it
//! went.

use autocode_tests::pty::Size;
use autocode_tests::server::{Gate, ReasoningField, Spot};
use autocode_tests::{Reply, TestEnv};

use crate::{AUTOCODE, scripted};

#[test]
fn the_answer_alone_is_on_stdout_and_ends_in_one_newline() {
    let cases = [
        ("Hello", "Hello\n"),
        ("Hello\n", "Hello\n"),
        ("# T\n\n- a\n- `b`\n\n", "# T\n\n- a\n- `b`\n"),
    ];
    for (said, printed) in cases {
        let (_server, env) = scripted([Reply::text(said)]);
        env.cmd(["-p", "hi"]).run().answered(printed);
    }
}

#[test]
fn the_trace_is_on_stderr() {
    let step = Reply::bash("echo from-the-command")
        .saying("Let me look.")
        .thinking(ReasoningField::Content, "hmm");
    let (server, env) = scripted([step, Reply::text("It says so.")]);
    let run = env.cmd(["-p", "what does it say?"]).run();
    run.answered("It says so.\n");
    run.stderr_has("echo from-the-command").stderr_has("Let me look.");
    assert_eq!(server.requests()[1].tool_result().trim_end(), "from-the-command");
}

#[test]
fn piped_output_has_no_control_codes() {
    let (_server, env) =
        scripted([Reply::bash("printf '\\033[31mred\\033[0m\\n'"), Reply::text("**done**")]);
    let run = env.cmd(["-p", "hi"]).run();
    run.answered("**done**\n");
    run.require(!run.stderr.contains('\u{1b}'), "no escape on stderr");
}

#[test]
fn words_of_the_command_line_are_one_message() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-p", "fix", "the test"]).run().answered("ok\n");
    assert_eq!(server.single_request().last_message()["content"], "fix the test");
}

#[test]
fn piped_input_is_appended_to_the_message() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-p", "review this"]).stdin("-old\n+new\n").run().answered("ok\n");
    assert_eq!(server.single_request().last_message()["content"], "review this\n\n-old\n+new");
}

#[test]
fn piped_input_alone_is_the_message() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-p"]).stdin("hello from a pipe\n").run().answered("ok\n");
    assert_eq!(server.single_request().last_message()["content"], "hello from a pipe");
}

#[test]
fn an_open_and_silent_pipe_does_not_hold_a_run_that_has_a_message() {
    let (server, env) = scripted([Reply::text("ok")]);
    let running = env.cmd(["-p", "hi"]).open_stdin().spawn();
    server.wait_for_requests(1);
    running.wait().answered("ok\n");
}

#[test]
fn nothing_to_say_is_a_usage_error() {
    let (server, env) = scripted([]);
    env.cmd(["-p"]).run().failed(2, &[]);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn an_unknown_flag_is_a_usage_error() {
    let (_server, env) = scripted([]);
    env.cmd(["--no-such-flag"]).run().failed(2, &["--no-such-flag"]);
}

#[test]
fn without_a_model_the_ways_to_set_one_are_told() {
    let env = TestEnv::new(AUTOCODE);
    env.cmd(["-p", "hi"]).run().failed(2, &["--setup", "AUTOCODE_MODEL", "config.json"]);
}

#[test]
fn the_model_of_the_command_line_wins() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.cmd(["-m", "other", "-p", "hi"]).run().answered("ok\n");
    assert_eq!(server.single_request().body()["model"], "other");
}

#[test]
fn an_interrupt_while_the_model_answers_exits_130_and_keeps_the_message() {
    let gate = Gate::new();
    let (_server, env) = scripted([Reply::text("never seen whole").hold(Spot::InText, &gate)]);
    let running = env.cmd(["-p", "remember me"]).spawn();
    gate.wait_until_reached();
    running.interrupt();
    let run = running.wait();
    run.failed(130, &[]);
    let transcript = env.transcript();
    assert_eq!(transcript.messages()[0]["content"], "remember me");
}

#[test]
fn a_terminated_run_leaves_a_transcript_that_can_be_resumed() {
    let gate = Gate::new();
    let (server, env) =
        scripted([Reply::text("late").hold(Spot::InText, &gate), Reply::text("ok")]);
    let running = env.cmd(["-p", "first"]).spawn();
    gate.wait_until_reached();
    running.terminate();
    let run = running.wait();
    run.require(run.code != Some(0) && run.stdout.is_empty(), "a failure with nothing on stdout");
    env.cmd(["-c", "-p", "second"]).run().answered("ok\n");
    crate::assert_valid(&server.requests()[1]);
}

#[test]
fn version_and_help_need_no_model_and_no_project() {
    let env = TestEnv::new(AUTOCODE);
    let version = env.cmd(["--version"]).run();
    version.answered(&format!("autocode {}\n", env!("CARGO_PKG_VERSION")));
    let help = env.cmd(["--help"]).var("COLUMNS", "80").run();
    help.require(help.code == Some(0), "exit code 0");
    for flag in ["--print", "--continue", "--resume", "--model", "--demo", "Exit codes"] {
        help.require(help.stdout.contains(flag), &format!("{flag} in the help"));
    }
    help.require(
        help.stdout.lines().all(|line| line.chars().count() <= 80),
        "no line over 80 columns",
    );
    assert!(!env.has(".autocode"), "asking for help must not scaffold a project");
}

#[test]
fn the_project_is_found_from_a_directory_below_it() {
    let (_server, env) = scripted([Reply::text("one"), Reply::text("two")]);
    env.cmd(["-p", "hi"]).run().answered("one\n");
    env.write("deep/er/file", "");
    env.cmd(["-p", "hi"]).in_dir(env.project().join("deep/er")).run().answered("two\n");
    assert_eq!(env.transcripts().len(), 2);
    assert!(!env.has("deep/er/.autocode"));
}

#[test]
fn the_projects_own_instructions_are_in_the_system_prompt() {
    let (server, env) = scripted([Reply::text("ok")]);
    env.write("AGENTS.md", "Always answer in Esperanto.\n");
    env.cmd(["-p", "hi"]).run().answered("ok\n");
    let system = server.single_request().messages()[0].clone();
    assert_eq!(system["role"], "system");
    assert!(
        system["content"].as_str().unwrap().contains("Always answer in Esperanto."),
        "{system:#}"
    );
}

#[test]
fn on_a_terminal_all_that_came_is_drawn_while_the_model_pauses() {
    let gate = Gate::new();
    let words = "one two three four five six seven";
    let (_server, env) = scripted([Reply::text(words).pieces(3).hold(Spot::BeforeDone, &gate)]);
    let pty = env.pty(Size::new(80, 24), ["-p", "go"]);
    pty.wait_for_text(words);
    gate.open();
    assert_eq!(pty.wait_exit(), 0);
}
