//! Tools that the agent makes while it works: loaded, broken, mended, replaced, removed, all within a turn.

use autocode_tests::wat::{Behaviour, assemble, tool, tool_with_schema, tool_with_schema_text};
use autocode_tests::{Reply, Request};
use serde_json::{Value, json};

use crate::scripted;

/// Puts a module into the project's tools, as the model would.
fn install(from: &str, name: &str) -> Reply {
    Reply::bash(&format!("cp {from} .autocode/tools/{name}.wasm"))
}

fn call(name: &str) -> Reply {
    Reply::call(name, json!({}))
}

/// The description of a tool that must be broken.
#[track_caller]
fn broken(request: &Request, name: &str) -> String {
    let schema = request
        .tool(name)
        .unwrap_or_else(|| panic!("no tool {name}, only {:?}", request.tool_names()));
    let description = schema["description"].as_str().unwrap().to_owned();
    assert!(description.starts_with("BROKEN:"), "{description}");
    assert!(description.len() <= 1500, "{} bytes", description.len());
    description
}

#[test]
fn a_tool_is_there_in_the_step_after_it_was_written_and_gone_after_it_was_deleted() {
    let (server, env) = scripted([
        install("hello.wasm", "hello"),
        call("hello"),
        Reply::bash("rm .autocode/tools/hello.wasm"),
        call("hello"),
        Reply::text("done"),
    ]);
    env.write("hello.wasm", tool("Says hello.", Behaviour::Returns("hello from wasm")));
    env.cmd(["-p", "make a tool"]).run().answered("done\n");

    let requests = server.requests();
    assert_eq!(requests[0].tool_names(), ["bash"]);
    assert_eq!(requests[1].tool_names(), ["bash", "hello"]);
    assert_eq!(requests[1].tool("hello").unwrap()["description"], "Says hello.");
    assert_eq!(requests[2].tool_result(), "hello from wasm");
    assert_eq!(requests[3].tool_names(), ["bash"]);
    assert!(requests[4].tool_result().contains("hello"), "an unknown tool is named");
}

#[test]
fn a_committed_tool_built_from_rust_runs() {
    let built = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/tools/add.wasm");
    let (server, env) = scripted([
        Reply::bash(&format!("cp '{}' .autocode/tools/add.wasm", built.display())),
        Reply::call("add", json!({ "a": 19, "b": 23 })),
        Reply::text("done"),
    ]);
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(server.requests()[2].tool_result(), "42");
}

#[test]
fn a_broken_tool_says_why_and_the_mended_one_works_without_a_restart() {
    let (server, env) = scripted([
        Reply::bash("echo garbage > .autocode/tools/fix.wasm"),
        call("fix"),
        install("good.wasm", "fix"),
        call("fix"),
        Reply::text("done"),
    ]);
    env.write("good.wasm", tool("Works.", Behaviour::Returns("mended")));
    let run = env.cmd(["-p", "go"]).run();
    run.answered("done\n").stderr_has("fix");

    let requests = server.requests();
    let why = broken(&requests[1], "fix");
    assert!(
        requests[2]
            .tool_result()
            .contains(why.trim_start_matches("BROKEN:").lines().next().unwrap().trim())
    );
    assert_eq!(requests[3].tool("fix").unwrap()["description"], "Works.");
    assert_eq!(requests[4].tool_result(), "mended");
}

#[test]
fn each_way_to_be_broken_names_its_phase_and_cause() {
    let text = |body: &str| assemble(&format!("(module {body})"));
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("empty", Vec::new(), &["parse"]),
        ("garbage", b"\x7fELF not wasm".to_vec(), &["parse"]),
        ("truncated", tool("Half.", Behaviour::Returns("x"))[..60].to_vec(), &["parse"]),
        ("no-exports", text(""), &["schema", "run"]),
        (
            "no-run",
            text(
                r#"(memory (export "memory") 1) (func (export "schema") (result i32) i32.const 0)"#,
            ),
            &["run"],
        ),
        (
            "wrong-type",
            text(r#"(memory (export "memory") 1) (func (export "schema")) (func (export "run"))"#),
            &["schema"],
        ),
        (
            "unknown-import",
            text(r#"(import "env" "system" (func (param i32))) (memory (export "memory") 1)"#),
            &["system"],
        ),
        ("schema-no-json", tool_with_schema_text("{nope", Behaviour::Returns("x")), &["schema"]),
        (
            "schema-bad-name",
            tool_with_schema(
                &json!({ "name": "Not Allowed", "description": "x" }),
                Behaviour::Returns("x"),
            ),
            &["name"],
        ),
    ];
    let copies: Vec<String> =
        cases.iter().map(|(name, ..)| format!("cp {name}.wasm .autocode/tools/")).collect();
    let (server, env) = scripted([Reply::bash(&copies.join("; ")), Reply::text("done")]);
    for (name, bytes, _) in &cases {
        env.write(&format!("{name}.wasm"), bytes);
    }
    env.cmd(["-p", "go"]).run().answered("done\n");
    for (name, _, words) in &cases {
        let why = broken(&server.requests()[1], name);
        for word in *words {
            assert!(why.contains(word), "{name}: expected {word:?} in: {why}");
        }
    }
}

#[test]
fn bash_and_a_name_that_is_taken_are_never_shadowed() {
    let named = |name: &str, says| {
        tool_with_schema(&json!({ "name": name, "description": "x" }), Behaviour::Returns(says))
    };
    let (server, env) = scripted([
        Reply::bash("cp bash.wasm .autocode/tools/; cp first.wasm .autocode/tools/"),
        Reply::bash("cp second.wasm .autocode/tools/; echo real bash"),
        call("same"),
        Reply::text("done"),
    ]);
    env.write("bash.wasm", tool("Not the real one.", Behaviour::Returns("fake")));
    env.write("first.wasm", named("same", "first"));
    env.write("second.wasm", named("same", "second"));
    env.cmd(["-p", "go"]).run().answered("done\n");

    let requests = server.requests();
    assert_eq!(requests[2].tool_result().trim_end(), "real bash");
    assert_eq!(requests[3].tool_result(), "first");
    let names = requests[2].tool_names();
    let of = |name: &str| names.iter().filter(|n| *n == name).count();
    assert_eq!((of("bash"), of("same")), (1, 1), "names are unique: {names:?}");
    broken(&requests[2], "second");
}

#[test]
fn a_new_version_serves_the_next_step() {
    let (server, env) = scripted([
        install("v1.wasm", "tool"),
        call("tool"),
        install("v2.wasm", "tool"),
        call("tool"),
        Reply::text("done"),
    ]);
    env.write("v1.wasm", tool("One.", Behaviour::Returns("v1")));
    env.write("v2.wasm", tool("Two.", Behaviour::Returns("v2")));
    env.cmd(["-p", "go"]).run().answered("done\n");
    let requests = server.requests();
    assert_eq!(
        (requests[2].tool_result().as_str(), requests[4].tool_result().as_str()),
        ("v1", "v2")
    );
    assert_eq!(requests[3].tool("tool").unwrap()["description"], "Two.");
}

#[test]
fn a_running_call_keeps_the_version_it_began_with() {
    // The first version waits for `go`; a child replaces the file before it makes `go`.
    let replace = "(while [ ! -e started ]; do sleep 0.01; done; cp v2.wasm .autocode/tools/slow.wasm; mkdir go) &";
    let (server, env) = scripted([
        Reply::bash(&format!("cp v1.wasm .autocode/tools/slow.wasm; {replace}")),
        call("slow"),
        call("slow"),
        Reply::text("done"),
    ]);
    env.write("v1.wasm", tool("Waits.", Behaviour::Waits("v1")));
    env.write("v2.wasm", tool("Does not wait.", Behaviour::Returns("v2")));
    env.cmd(["-p", "go"]).run().answered("done\n");
    let requests = server.requests();
    assert_eq!(requests[2].tool_result(), "v1");
    assert_eq!(requests[2].tool("slow").unwrap()["description"], "Does not wait.");
    assert_eq!(requests[3].tool_result(), "v2");
}

#[test]
fn a_half_written_tool_is_taken_when_it_is_whole() {
    let (server, env) = scripted([
        Reply::bash("head -c 50 whole.wasm > .autocode/tools/t.wasm"),
        Reply::bash("tail -c +51 whole.wasm >> .autocode/tools/t.wasm"),
        call("t"),
        Reply::text("done"),
    ]);
    env.write("whole.wasm", tool("Whole.", Behaviour::Returns("complete")));
    env.cmd(["-p", "go"]).run().answered("done\n");
    let requests = server.requests();
    broken(&requests[1], "t");
    assert_eq!(requests[3].tool_result(), "complete");
}

#[test]
fn what_goes_wrong_in_a_call_is_a_result_and_the_run_goes_on() {
    let cases: Vec<(&str, Behaviour, &[&str])> = vec![
        ("fails", Behaviour::Fails("the tool's own words"), &["the tool's own words"]),
        ("traps", Behaviour::Traps, &["unreachable"]),
        ("recurses", Behaviour::Recurses, &["stack"]),
        ("hoards", Behaviour::Hoards, &["memory", "256"]),
    ];
    let installs: Vec<String> =
        cases.iter().map(|(name, ..)| format!("cp {name}.wasm .autocode/tools/")).collect();
    let replies = std::iter::once(Reply::bash(&installs.join("; ")))
        .chain(cases.iter().map(|(name, ..)| call(name)))
        .chain([Reply::text("done")]);
    let (server, env) = scripted(replies);
    for (name, behaviour, _) in &cases {
        env.write(&format!("{name}.wasm"), tool("Goes wrong.", *behaviour));
    }
    env.cmd(["-p", "go"]).run().answered("done\n");
    for ((name, _, words), request) in cases.iter().zip(&server.requests()[2..]) {
        let result = request.tool_result();
        for word in *words {
            assert!(result.contains(word), "{name}: expected {word:?} in: {result}");
        }
    }
}

#[test]
fn a_tool_that_never_ends_is_ended_by_ctrl_c() {
    let (server, env) =
        scripted([install("loops.wasm", "loops"), call("loops"), Reply::text("going on")]);
    env.write("loops.wasm", tool("Never ends.", Behaviour::Loops));
    let running = env.cmd(["-p", "go"]).spawn();
    running.wait_for_stderr("loops.wasm");
    server.wait_for_requests(2);
    // The call begins once the reply has arrived; an interrupt before that ends the turn as well.
    running.interrupt();
    running.wait().failed(130, &[]);
    env.cmd(["-c", "-p", "continue"]).run().answered("going on\n");
    crate::assert_valid(server.requests().last().unwrap());
}

#[test]
fn arguments_are_checked_against_the_schema_before_the_call() {
    let schema = json!({
        "description": "Counts.",
        "parameters": {
            "type": "object",
            "properties": { "count": { "type": "integer" }, "names": { "type": "array", "items": { "type": "string" } } },
            "required": ["count"],
        },
    });
    let (server, env) = scripted([
        install("count.wasm", "count"),
        Reply::call("count", json!({ "count": "many" })),
        Reply::call("count", json!({})),
        Reply::call("count", json!({ "count": "7", "names": "one" })),
        Reply::text("done"),
    ]);
    env.write("count.wasm", tool_with_schema(&schema, Behaviour::Echoes));
    env.cmd(["-p", "go"]).run().answered("done\n");
    let requests = server.requests();
    assert!(requests[2].tool_result().contains("count"), "{}", requests[2].tool_result());
    assert!(requests[3].tool_result().contains("count"), "{}", requests[3].tool_result());
    let taken: Value = serde_json::from_str(&requests[4].tool_result()).unwrap();
    assert_eq!(taken, json!({ "count": 7, "names": ["one"] }), "unambiguous slips are accepted");
}
