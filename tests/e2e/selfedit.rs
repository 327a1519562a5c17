//! The agent changes itself within one turn, without a restart: settings, a slip that it is told of and mends, and the
//! prompt it works under.

use autocode_tests::{Reply, Server, TestEnv};
use serde_json::json;

use crate::{AUTOCODE, assert_valid};

/// Every text that `prev/` keeps under this name, oldest first.
fn kept(env: &TestEnv, name: &str) -> Vec<String> {
    let prev = env.project().join(".autocode/prev");
    let mut dirs: Vec<_> =
        std::fs::read_dir(prev).unwrap().map(|entry| entry.unwrap().path()).collect();
    // A second of one number comes after the second itself: 120000, 120000-2, 120000-3.
    dirs.sort_by_key(|dir| {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        let parts: Vec<String> = name.split('-').map(|part| format!("{part:0>8}")).collect();
        parts
    });
    dirs.iter().filter_map(|dir| std::fs::read_to_string(dir.join(name)).ok()).collect()
}

#[test]
fn it_compacts_earlier_breaks_its_config_mends_it_and_writes_a_better_prompt_in_one_turn() {
    const BROKEN: &str = "{\n  \"compact_at\": 0.5,\n  \"timeout\": \"soon\"\n}\n";
    let write = |file: &str, text: &str| {
        Reply::bash(&format!("cat > .autocode/{file} <<'END'\n{}\nEND", text.trim_end()))
    };
    let server = Server::start();
    for reply in [
        write("config.json", r#"{"compact_at": 0.5}"#).usage(60_000, 20),
        Reply::text("A summary, at 60 of 100 thousand tokens.").usage(60_000, 20),
        write("config.json", BROKEN).usage(1_000, 20),
        write("config.json", r#"{"compact_at": 0.5, "timeout": 30}"#).usage(1_100, 20),
        write("prompt.md", "You work in {root}, and you work better now.").usage(1_200, 20),
        Reply::text("I am better.").usage(1_300, 20),
    ] {
        server.reply(reply);
    }
    let mut env = TestEnv::with_server(AUTOCODE, &server);
    env.set("AUTOCODE_CONTEXT_WINDOW", "100000");
    let run = env.cmd(["-p", "improve yourself"]).run();
    run.answered("I am better.\n");

    // Each change is told, old and new.
    run.stderr_has("compact_at 0.8 → 0.5 · .autocode/config.json")
        .stderr_has("summarised")
        .stderr_has(".autocode/config.json:3: timeout must be")
        .stderr_has("the settings from before stay in force")
        .stderr_has("timeout 600 → 30 · .autocode/config.json")
        .stderr_has(".autocode/prompt.md changed (+1 −")
        .stderr_has("in force from here on");

    let requests = server.requests();
    requests.iter().for_each(|request| assert_valid(request));
    // The slip: file, line and reason, to the model, in the step that follows it.
    let told = requests[3].last_message()["content"].as_str().unwrap().to_owned();
    assert!(told.contains(".autocode/config.json:3: timeout must be"), "{told}");
    assert!(told.contains("soon"), "{told}");
    // The prompt serves the next step of the same turn.
    let system = |n: usize| requests[n].messages()[0]["content"].as_str().unwrap().to_owned();
    assert!(!system(4).contains("better now"));
    let place = env.project().display().to_string();
    assert_eq!(system(5), format!("You work in {place}, and you work better now."));

    // What was replaced is kept.
    let configs = kept(&env, "config.json");
    assert_eq!(configs.len(), 3, "{configs:?}");
    assert!(configs[1].contains("0.5") && !configs[1].contains("timeout"), "{configs:?}");
    assert_eq!(configs[2], BROKEN);
    assert!(kept(&env, "prompt.md")[0].starts_with("You are autocode"));

    let log = env.cmd(["log", "--json"]).run();
    for line in ["compact_at 0.8 → 0.5", "timeout 600 → 30", "prompt.md changed"] {
        log.require(log.stdout.contains(line), line);
    }
    // All of it is trusted, since it was made here.
    server.reply(Reply::text("Still better."));
    env.cmd(["-p", "hi"]).run().answered("Still better.\n").stderr_lacks("trust");
    let last = server.requests().last().unwrap().messages()[0]["content"].clone();
    assert_eq!(last, json!(format!("You work in {place}, and you work better now.")));
}
