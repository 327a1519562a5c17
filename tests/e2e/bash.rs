//! The one built-in tool: commands that leave children, wait for a person, write too much, or must be stopped.

use autocode_tests::pty::{Key, Size};
use autocode_tests::{Reply, valid_history};
use serde_json::json;

use crate::{scripted, wait_for_line, wait_until_gone};

/// Runs one command as the model would; the result the model gets.
fn result_of(command: &str) -> String {
    let (server, env) = scripted([Reply::bash(command), Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    server.requests()[1].tool_result()
}

#[test]
fn a_result_is_the_output_of_both_streams_and_the_exit_code() {
    assert_eq!(result_of("echo out; echo err >&2; exit 3").trim_end(), "out\nerr\n[exit 3]");
    assert_eq!(result_of("printf 'no newline'; exit 1").trim_end(), "no newline\n[exit 1]");
    assert!(!result_of("true").is_empty(), "an empty result says that it is empty");
}

#[test]
fn the_working_directory_is_kept_between_calls() {
    let replies = [Reply::bash("mkdir -p a/b && cd a/b"), Reply::bash("pwd"), Reply::text("done")];
    let (server, env) = scripted(replies);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let expected = env.project().join("a/b").display().to_string();
    assert_eq!(server.requests()[2].tool_result().trim_end(), expected);
}

#[test]
fn a_directory_that_is_gone_does_not_end_the_session() {
    let replies = [
        Reply::bash("mkdir gone && cd gone && rmdir ../gone"),
        Reply::bash("touch misplaced"),
        Reply::bash("echo alive"),
        Reply::text("done"),
    ];
    let (server, env) = scripted(replies);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert!(server.requests()[2].tool_result().contains("is gone"));
    assert!(!env.has("misplaced"), "a command ran where it was not meant to");
    assert!(server.requests()[3].tool_result().contains("alive"));
}

#[test]
fn a_background_child_does_not_hold_the_call() {
    for command in
        ["sleep 300 & echo $! > pid; echo hi", "setsid sleep 300 & echo $! > pid; echo hi"]
    {
        let (server, env) = scripted([Reply::bash(command), Reply::text("done")]);
        env.cmd(["-p", "go"]).run().answered("done\n");
        assert_eq!(server.requests()[1].tool_result().trim_end(), "hi", "{command}");
        kill(env.read("pid").trim());
    }
}

#[test]
fn a_background_child_survives_the_call_but_not_the_session() {
    let replies = [
        Reply::bash("sleep 300 & echo $! > pid"),
        Reply::bash("kill -0 $(cat pid) && echo alive"),
        Reply::text("done"),
    ];
    let (server, env) = scripted(replies);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(server.requests()[2].tool_result().trim_end(), "alive");
    wait_until_gone(env.read("pid").trim());
}

#[test]
fn a_child_with_its_own_session_outlives_the_run() {
    let (_server, env) =
        scripted([Reply::bash("setsid sleep 300 & echo $! > pid"), Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let pid = env.read("pid");
    let alive = rustix::process::test_kill_process(
        pid.trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap(),
    );
    assert!(alive.is_ok(), "setsid did not keep it");
    kill(pid.trim());
}

#[test]
fn nothing_waits_for_a_person() {
    let git =
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first";
    for command in [
        "read x; echo \"read gave $?\"".to_owned(),
        format!("{git} && git -c user.name=a -c user.email=a@b commit --allow-empty; echo ended"),
        format!("{git} && git log; echo ended"),
        "less /etc/passwd < /dev/null; echo ended".to_owned(),
        "sudo -k true; echo ended".to_owned(),
        "git clone https://127.0.0.1:1/private.git x; echo ended".to_owned(),
        "cat; echo ended".to_owned(),
    ] {
        let result = result_of(&command);
        assert!(result.contains("ended") || result.contains("read gave 1"), "{command}: {result}");
    }
}

#[test]
fn git_log_ends_under_a_terminal_too() {
    let git =
        "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first";
    let (server, env) =
        scripted([Reply::bash(&format!("{git} && git log; echo ended")), Reply::text("done")]);
    let pty = env.pty(Size::new(80, 24), ["-p", "go"]);
    assert_eq!(pty.wait_exit(), 0);
    assert!(server.requests()[1].tool_result().contains("ended"));
}

#[test]
fn output_without_end_is_bounded_and_both_ends_are_kept() {
    let result = result_of("echo FIRST; yes | head -c 50M; echo LAST");
    assert!(result.chars().count() < 32_000, "{} characters", result.chars().count());
    assert!(result.starts_with("FIRST\n") && result.trim_end().ends_with("LAST"));
    assert!(result.contains(".autocode/out/"), "the file is named");
    let (_, notice) = result.split_once("[... ").expect("a notice of what was left out");
    let left_out: String = notice.chars().take_while(char::is_ascii_digit).collect();
    let left_out: usize = left_out.parse().expect("how much was left out");
    let whole = 52_428_800 + "FIRST\nLAST\n".len();
    assert!((whole - 30_100..=whole - 29_000).contains(&left_out), "{}", middle(&result));
}

#[test]
fn the_whole_of_a_clipped_output_is_in_the_named_file() {
    let replies =
        [Reply::bash("seq 1 100000"), Reply::bash("wc -l .autocode/out/*"), Reply::text("done")];
    let (server, env) = scripted(replies);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert!(server.requests()[2].tool_result().starts_with("100000 "));
}

#[test]
fn any_bytes_become_valid_text() {
    for command in
        ["head -c 200 /dev/urandom", "printf '\\xff\\xfe\\x00\\x80ok'", "printf '\\xe6\\xbc'"]
    {
        result_of(command); // the request was JSON, so it was text
    }
}

#[test]
fn a_clip_never_cuts_a_character() {
    let (server, mut env) =
        scripted([Reply::bash("printf '漢字é%.0s' {1..5000}"), Reply::text("done")]);
    env.set("AUTOCODE_OUTPUT_LIMIT", "1001");
    env.cmd(["-p", "go"]).run().answered("done\n");
    let result = server.requests()[1].tool_result();
    assert!(!result.contains('\u{fffd}'), "{}", middle(&result));
    assert!(result.starts_with("漢字é"));
}

#[test]
fn a_command_that_takes_too_long_is_killed_with_its_children() {
    let step = Reply::call(
        "bash",
        json!({ "command": "sleep 300 & echo $! > pid; echo begun; wait", "timeout": 1 }),
    );
    let (server, env) = scripted([step, Reply::text("done")]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let result = server.requests()[1].tool_result();
    assert!(result.contains("begun") && result.contains("1"), "{result}");
    assert!(result.to_lowercase().contains("time"), "{result}");
    wait_until_gone(env.read("pid").trim());
}

#[test]
fn ctrl_c_ends_the_command_and_everything_it_started() {
    let serve = "sleep 300 & echo $! > child; echo $$ > shell; wait";
    let (_server, env) = scripted([Reply::bash(serve)]);
    let running = env.cmd(["-p", "go"]).spawn();
    let shell = wait_for_line(&env.project().join("shell"));
    running.interrupt();
    running.wait().failed(130, &[]);
    wait_until_gone(&shell);
    wait_until_gone(&wait_for_line(&env.project().join("child")));
    let transcript = env.transcript();
    assert_eq!(transcript.roles(), ["user", "assistant", "tool"]);
    valid_history(&transcript.messages().into_iter().cloned().collect::<Vec<_>>()).unwrap();
}

#[test]
fn ctrl_c_in_a_terminal_does_the_same() {
    let serve = "trap '' INT; sleep 300 & echo $! > child; echo $$ > shell; wait; wait";
    let (_server, env) = scripted([Reply::bash(serve)]);
    let pty = env.pty(Size::new(80, 24), ["-p", "go"]);
    let shell = wait_for_line(&env.project().join("shell"));
    pty.press(Key::Ctrl('c'));
    assert_eq!(pty.wait_exit(), 130);
    wait_until_gone(&shell);
    wait_until_gone(&wait_for_line(&env.project().join("child")));
}

#[test]
fn the_command_runs_as_it_is_written() {
    let command = "cat <<'EOF'\n$HOME `x` \\n 'quoted' \"twice\"\nEOF\necho \"$0|$#\"";
    assert!(result_of(command).starts_with("$HOME `x` \\n 'quoted' \"twice\"\n"));
    let heredoc_at_the_end = "cat <<EOF\nlast\nEOF";
    assert_eq!(result_of(heredoc_at_the_end).trim_end(), "last");
    assert_eq!(result_of("echo a # a comment").trim_end(), "a");
}

#[test]
fn a_command_has_no_terminal() {
    assert_eq!(result_of("tty; test -t 0 || echo none").trim_end(), "not a tty\nnone");
}

fn kill(pid: &str) {
    if let Some(pid) = pid.parse().ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

/// What lies around the cut.
fn middle(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars[chars.len() / 2 - 200.min(chars.len() / 2)..].iter().take(400).collect()
}
