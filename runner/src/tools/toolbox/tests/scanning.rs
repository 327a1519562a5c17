//! What is offered, in which order, and when it changes.

use std::fs;

use autocode_tests::wat::{Behaviour, tool, tool_with_schema};
use futures_util::FutureExt;
use serde_json::json;

use super::Fixture;
use crate::tools::toolbox::{ToolInfo, ToolState, Wait};
use crate::tools::wasm::{Compiler, Loader};
use crate::tools::{ToolChange, ToolStatus};

fn added(name: &str) -> ToolChange {
    ToolChange::Added(name.into())
}

fn named(name: &str, says: &str) -> Vec<u8> {
    tool_with_schema(&json!({"name": name, "description": "Named."}), Behaviour::Returns(says))
}

#[tokio::test]
async fn tools_come_and_go_with_their_files() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.rescan().await, []);
    assert_eq!(fixture.names(), ["bash"]);
    assert_eq!(&fixture.toolbox.schemas()[..], br#"[{"bash":1}]"#);

    fixture.write("zeta.wasm", tool("Last by name.", Behaviour::Returns("z")));
    assert_eq!(fixture.rescan().await, [added("zeta")]);
    fixture.write("alpha.wasm", tool("First by name.", Behaviour::Returns("a")));
    assert_eq!(fixture.rescan().await, [added("alpha")]);
    assert_eq!(fixture.names(), ["bash", "zeta", "alpha"], "in the order of first load");
    assert_eq!(
        fixture.schemas()[1],
        json!({"type": "function", "function": {
            "name": "zeta", "description": "Last by name.", "parameters": {"type": "object", "properties": {}},
        }})
    );

    fs::remove_file(fixture.file("zeta.wasm")).unwrap();
    assert_eq!(fixture.rescan().await, [ToolChange::Removed("zeta".into())]);
    assert_eq!(fixture.names(), ["bash", "alpha"]);
    let gone = fixture.call("zeta", "{}").await;
    assert_eq!(gone.status, ToolStatus::Failed);
    assert_eq!(gone.content, "there is no tool `zeta`. The tools are: bash, alpha");
    assert!(fixture.call("alhpa", "{}").await.content.contains("Did you mean `alpha`?"));
}

#[tokio::test]
async fn the_array_is_the_same_bytes_until_a_tool_changes() {
    let mut fixture = Fixture::new();
    fixture.write("a.wasm", tool("One.", Behaviour::Returns("1")));
    fixture.rescan().await;
    let first = fixture.toolbox.schemas();
    fixture.write("a.wasm", tool("One.", Behaviour::Returns("1")));
    assert_eq!(fixture.rescan().await, [], "the same bytes written again");
    assert_eq!(fixture.toolbox.schemas(), first);
    fixture.write("a.wasm", tool("One.", Behaviour::Returns("2")));
    assert_eq!(fixture.rescan().await, [ToolChange::Updated("a".into())]);
    assert_eq!(fixture.toolbox.schemas(), first, "another module with the same schema");
    assert_eq!(fixture.call("a", "{}").await.content, "2");
    fixture.write("a.wasm", tool("Two.", Behaviour::Returns("2")));
    assert_eq!(fixture.rescan().await, [ToolChange::Updated("a".into())]);
    assert_ne!(fixture.toolbox.schemas(), first);
}

#[tokio::test]
async fn a_running_call_keeps_its_instance_and_the_next_gets_the_new_one() {
    let mut fixture = Fixture::new();
    fixture.write("slow.wasm", tool("Waits.", Behaviour::Waits("v1")));
    fixture.rescan().await;
    let running = {
        let cx = crate::tools::CallContext {
            cancel: &fixture.cancel.clone(),
            progress: &|_| {},
            host: &super::Recorder::default(),
            cwd: fixture.root().to_owned(),
            output_limit: 1000,
        };
        let call = fixture.toolbox.call("slow", "{}", cx);
        tokio::pin!(call);
        let started = fixture.dir.path().join("started");
        while !started.exists() {
            let early = call.as_mut().now_or_never();
            assert_eq!(early, None, "it waits");
            tokio::task::yield_now().await;
        }
        // The toolbox is free to change while the call runs.
        fs::write(
            fixture.dir.path().join(".autocode/tools/slow.wasm"),
            tool("Does not wait.", Behaviour::Returns("v2")),
        )
        .unwrap();
        fixture.toolbox.rescan_all(true).await;
        fs::create_dir(fixture.dir.path().join("go")).unwrap();
        call.await
    };
    assert_eq!(running.content, "v1");
    assert_eq!(fixture.description("slow"), "Does not wait.");
    assert_eq!(fixture.call("slow", "{}").await.content, "v2");
}

#[tokio::test]
async fn a_taken_name_is_broken_and_never_shadowed() {
    let mut fixture = Fixture::new();
    fixture.write("b.wasm", named("same", "first"));
    fixture.rescan().await;
    fixture.write("a.wasm", named("same", "second"));
    fixture.write("bash.wasm", tool("Not the real one.", Behaviour::Returns("fake")));
    fixture.rescan().await;
    assert_eq!(fixture.names(), ["bash", "same", "a", "bash_2"]);
    assert_eq!(fixture.call("same", "{}").await.content, "first");
    assert!(
        fixture.description("a").contains("the name `same` is taken by .autocode/tools/b.wasm")
    );
    assert!(
        fixture.description("bash_2").contains("the name `bash` is taken by the built-in tool")
    );

    fs::remove_file(fixture.file("b.wasm")).unwrap();
    fixture.rescan().await;
    assert_eq!(fixture.call("same", "{}").await.content, "second", "the name is free again");
}

#[tokio::test]
async fn an_untrusted_project_has_no_tools() {
    let mut fixture = Fixture::new();
    fixture.write("a.wasm", tool("Reads well.", Behaviour::Returns("a")));
    assert_eq!(fixture.toolbox.rescan_all(false).await, []);
    assert_eq!(fixture.names(), ["bash"]);
    assert_eq!(fixture.rescan().await, [added("a")]);
    assert_eq!(fixture.toolbox.rescan_all(false).await, [ToolChange::Removed("a".into())]);
    assert_eq!(fixture.rescan().await, [added("a")]);

    // Nor does it say what they would be granted.
    fixture.write("a.grants.json", r#"{"bash": true}"#);
    fixture.rescan().await;
    fixture.write("a.grants.json", r#"{"bash": true, "model": true}"#);
    assert_eq!(fixture.toolbox.rescan_all(false).await, [ToolChange::Removed("a".into())]);
}

#[tokio::test]
async fn a_known_tool_is_neither_opened_nor_compiled_before_it_is_called() {
    let mut fixture = Fixture::new();
    for name in ["b", "a"] {
        fixture.write(&format!("{name}.wasm"), tool(name, Behaviour::Returns(name)));
        fixture.rescan().await;
    }
    // Files too young to be told apart are not kept as known; a look later they are old enough.
    while fixture.toolbox.slots.iter().any(|slot| slot.unsaved) {
        fixture.rescan().await;
    }
    let before = fixture.toolbox.schemas();
    let without_compiler =
        Loader::new(&fixture.env.cache_dir, Compiler::Child("/nonexistent/compiler".into()), None);
    fixture.restart(without_compiler);
    let changes = fixture.toolbox.rescan_and(true, Wait::Nothing).await;
    assert_eq!(changes, [], "what was there last time is no news");
    assert!(
        fixture.toolbox.slots.iter().all(|slot| slot.pending.is_none()),
        "nothing is on its way"
    );
    assert_eq!(fixture.toolbox.schemas(), before, "the order of first load outlives the process");
    assert_eq!(fixture.call("a", "{}").await.content, "a", "the code comes from the cache");
}

#[tokio::test]
async fn lost_code_is_compiled_again_when_the_tool_is_called() {
    let mut fixture = Fixture::new();
    fixture.write("a.wasm", tool("a", Behaviour::Returns("a")));
    fixture.rescan().await;
    fs::remove_dir_all(fixture.env.cache_dir.join("wasm/code")).unwrap();
    let loader = Loader::new(&fixture.env.cache_dir, Compiler::InProcess, None);
    fixture.restart(loader);
    fixture.rescan().await;
    assert_eq!(fixture.call("a", "{}").await.content, "a");
}

#[tokio::test]
async fn a_tool_that_is_still_compiling_is_waited_for_by_its_call_alone() {
    let mut fixture = Fixture::new();
    fixture.write("big.wasm", tool("Big.", Behaviour::Returns("done")));
    let changes = fixture.toolbox.rescan_and(true, Wait::Nothing).await;
    // A fast machine may be done already.
    assert!(
        changes == [ToolChange::Compiling("big".into())] || changes == [added("big")],
        "{changes:?}"
    );
    assert_eq!(fixture.call("big", "{}").await.content, "done");
    fixture.rescan().await;
    assert_eq!(fixture.names(), ["bash", "big"]);
}

#[tokio::test]
async fn grants_are_told_when_they_change_and_mistakes_grant_nothing() {
    let mut fixture = Fixture::new();
    let grants = |before: &str, now: &str| ToolChange::Grants {
        name: "a".into(),
        before: Some(before.into()),
        now: now.into(),
    };
    fixture.write("a.wasm", tool("A.", Behaviour::Returns("a")));
    assert_eq!(fixture.rescan().await, [added("a")]);
    fixture.write("a.grants.json", r#"{"bash": true}"#);
    assert_eq!(fixture.rescan().await, [grants("none", "bash")]);
    fixture.write("a.grants.json", r#"{ "bash": true }"#);
    assert_eq!(fixture.rescan().await, [], "the same grants in other words");
    fixture.write("a.grants.json", r#"{"bash": 1}"#);
    let changes = fixture.rescan().await;
    assert!(
        matches!(&changes[..], [ToolChange::Grants { now, .. }] if now.starts_with("none (a.grants.json: invalid type")),
        "{changes:?}"
    );
    fs::remove_file(fixture.file("a.grants.json")).unwrap();
    let changes = fixture.rescan().await;
    assert!(
        matches!(&changes[..], [ToolChange::Grants { now, .. }] if now == "none"),
        "{changes:?}"
    );
}

#[tokio::test]
async fn tools_are_described_for_people() {
    let mut fixture = Fixture::new();
    let module = tool("A.", Behaviour::Returns("a"));
    fixture.write("a.wasm", &module);
    fixture.write("a.grants.json", r#"{"net": ["x.org:443"]}"#);
    fixture.write("b.wasm", "");
    fixture.rescan().await;
    let infos = fixture.toolbox.describe();
    assert_eq!(
        infos[0],
        ToolInfo {
            name: "a".into(),
            state: ToolState::Ready,
            size: module.len() as u64,
            grants: "net x.org:443".into(),
            description: "A.".into(),
            file: fixture.file("a.wasm"),
        }
    );
    assert!(
        matches!(&infos[1].state, ToolState::Broken(report) if report.contains("the file is empty"))
    );
}
