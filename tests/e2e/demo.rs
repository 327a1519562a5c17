//! `--demo` and `--replay`: the real loop with a scripted model, no key and no network.

use autocode_tests::{Reply, TestEnv};

use crate::{AUTOCODE, scripted};

#[test]
fn the_demo_runs_to_its_end_with_nothing_configured_and_leaves_the_directory_alone() {
    let env = TestEnv::new(AUTOCODE);
    env.write("mine.txt", "mine");
    let run = env.cmd(["--demo"]).run();
    run.require(run.code == Some(0), "exit code 0");
    let all = format!("{}{}", run.stdout, run.stderr);
    run.require(all.contains("script"), "that the model is scripted is said");
    run.require(all.contains(".wasm"), "a tool is made");
    let left: Vec<_> =
        std::fs::read_dir(env.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
}

#[test]
fn a_saved_session_replays_with_its_tools_run_for_real() {
    let (server, env) = scripted([Reply::bash("echo x >> log; cat log"), Reply::text("It ran.")]);
    env.cmd(["-p", "go"]).run().answered("It ran.\n");
    let saved = env.transcript().path;
    std::fs::rename(&saved, env.project().join("saved.jsonl")).unwrap();
    env.cmd(["--replay", "saved.jsonl", "-p", "go"])
        .without_var("AUTOCODE_BASE_URL")
        .run()
        .answered("It ran.\n");
    assert_eq!(env.read("log"), "x\nx\n");
    assert_eq!(server.requests().len(), 2, "the replay asks no server");
}
