//! `approve`: with nobody to ask, what the policy does not let pass does not run.

use autocode_tests::Reply;
use serde_json::json;

use crate::scripted;

#[test]
fn what_only_looks_runs_and_what_writes_does_not() {
    let (server, env) =
        scripted([Reply::bash("ls"), Reply::bash("ls; touch made"), Reply::text("done")]);
    env.write("seen", "");
    let run = env.cmd(["--ask", "-p", "go"]).run();
    run.answered("done\n").stderr_has("touch").stderr_has("--yes");
    let requests = server.requests();
    assert!(requests[1].tool_result().contains("seen"));
    assert!(requests[2].tool_result().contains("did not run"));
    assert!(!env.has("made"));
}

#[test]
fn yes_runs_what_the_settings_would_ask_about() {
    let (_server, mut env) = scripted([Reply::bash("touch made"), Reply::text("done")]);
    env.set("AUTOCODE_APPROVE", "always");
    env.cmd(["--yes", "-p", "go"]).run().answered("done\n");
    assert!(env.has("made"));
}

#[test]
fn an_agent_cannot_loosen_the_policy_it_works_under() {
    let (_server, mut env) = scripted([
        Reply::call(
            "bash",
            json!({ "command": "echo '{\"approve\": \"never\"}' > .autocode/config.json" }),
        ),
        Reply::bash("touch made"),
        Reply::text("done"),
    ]);
    env.set("AUTOCODE_APPROVE", "writes");
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert!(!env.has("made"));
}
