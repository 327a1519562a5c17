//! What a tool asks of the agent, with and without the grant.

use std::sync::LazyLock;

use autocode_tests::wat::assemble;

use super::Fixture;
use crate::env::Env;
use crate::tools::ToolStatus;
use crate::tools::wasm::{Compiler, Loader, SharedEngine};

/// A tool that calls every host function and answers with what `bash` gave. `progress` comes first and last.
fn asks() -> Vec<u8> {
    assemble(
        r#"(module
        (import "autocode:tool/host@0.1.0" "progress" (func $progress (param i32 i32)))
        (import "autocode:tool/host@0.1.0" "bash" (func $bash (param i32 i32 i32 i32 i32)))
        (import "autocode:tool/host@0.1.0" "complete" (func $complete (param i32 i32 i32)))
        (import "autocode:tool/host@0.1.0" "agent" (func $agent (param i32 i32 i32)))
        (import "autocode:tool/host@0.1.0" "call" (func $call (param i32 i32 i32 i32 i32)))
        (import "autocode:tool/host@0.1.0" "state-get" (func $get (param i32 i32 i32)))
        (import "autocode:tool/host@0.1.0" "state-set" (func $set (param i32 i32 i32 i32)))
        (memory (export "memory") 2)
        (data (i32.const 64) "{\22description\22:\22Asks.\22}")
        (data (i32.const 256) "word{}")
        (global $top (mut i32) (i32.const 4096))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.get $top)
            (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
        (func (export "schema") (result i32)
            (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 23)) (i32.const 0))
        (func (export "run") (param i32 i32) (result i32)
            (call $progress (i32.const 256) (i32.const 4))
            (call $complete (i32.const 256) (i32.const 4) (i32.const 512))
            (call $agent (i32.const 256) (i32.const 4) (i32.const 512))
            (call $call (i32.const 256) (i32.const 4) (i32.const 260) (i32.const 2) (i32.const 512))
            (call $get (i32.const 256) (i32.const 4) (i32.const 512))
            (call $bash (i32.const 256) (i32.const 4) (i32.const 1) (i32.const 9) (i32.const 16))
            (call $set (i32.const 256) (i32.const 4) (i32.const 256) (i32.const 4))
            (i32.const 16)))"#,
    )
}

#[tokio::test]
async fn a_tool_without_grants_is_refused_with_the_grant_it_lacks() {
    let mut fixture = Fixture::new();
    fixture.write("asks.wasm", asks());
    fixture.rescan().await;
    let result = fixture.call("asks", "{}").await;
    assert_eq!(result.status, ToolStatus::Failed);
    assert_eq!(
        result.content,
        "bash is not granted to this tool; \"bash\": true in .autocode/tools/asks.grants.json would allow it"
    );
    assert_eq!(*fixture.host.log.borrow(), ["progress word", "get word", "set word"]);
}

#[tokio::test]
async fn granted_questions_reach_the_agent_in_order() {
    let mut fixture = Fixture::new();
    fixture.write("asks.wasm", asks());
    fixture.write("asks.grants.json", r#"{"bash": true, "model": true, "tools": ["word"]}"#);
    fixture.rescan().await;
    let result = fixture.call("asks", "{}").await;
    assert_eq!(
        (result.status, result.content.as_str()),
        (ToolStatus::Ok, "answer to bash word Some(9s)")
    );
    assert_eq!(
        *fixture.host.log.borrow(),
        [
            "progress word",
            "complete word",
            "agent word",
            "call word {}",
            "get word",
            "bash word Some(9s)",
            "set word"
        ]
    );
    assert_eq!(
        fixture.host.state.borrow().as_deref(),
        Some("word"),
        "set as the last thing before the end"
    );
}

#[tokio::test]
async fn a_call_that_waits_for_the_agent_can_be_cancelled() {
    let mut fixture = Fixture::new();
    fixture.host.silent = true;
    fixture.write("asks.wasm", asks());
    fixture.write("asks.grants.json", r#"{"model": true}"#);
    fixture.rescan().await;
    let call = fixture.call("asks", "{}");
    let cancel = async {
        while fixture.host.log.borrow().len() < 2 {
            tokio::task::yield_now().await;
        }
        fixture.cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.status, ToolStatus::Cancelled);
}

#[tokio::test]
async fn stdout_is_progress_and_stderr_is_told_with_a_trap() {
    let mut fixture = Fixture::new();
    fixture.write(
        "talks.wasm",
        assemble(
            r#"(module
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 2)
            (data (i32.const 64) "{\22description\22:\22Talks.\22}")
            (data (i32.const 256) "one\0atwo\0aboom\0a")
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 2048)
            (func (export "schema") (result i32)
                (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 24)) (i32.const 0))
            (func $say (param i32 i32 i32)
                (i32.store (i32.const 512) (local.get 1)) (i32.store (i32.const 516) (local.get 2))
                (drop (call $write (local.get 0) (i32.const 512) (i32.const 1) (i32.const 520))))
            (func (export "run") (param i32 i32) (result i32)
                (call $say (i32.const 1) (i32.const 256) (i32.const 8))
                (call $say (i32.const 2) (i32.const 264) (i32.const 5))
                unreachable))"#,
        ),
    );
    fixture.rescan().await;
    let result = fixture.call("talks", "{}").await;
    assert!(result.content.contains("last lines of stderr:\nboom\n"), "{}", result.content);
    assert_eq!(*fixture.host.log.borrow(), ["progress one", "progress two"]);
}

/// Gives the variables it sees, each ended by a zero byte.
fn shows_its_environment() -> Vec<u8> {
    assemble(
        r#"(module
        (import "wasi_snapshot_preview1" "environ_sizes_get" (func $sizes (param i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "environ_get" (func $get (param i32 i32) (result i32)))
        (memory (export "memory") 3)
        (data (i32.const 64) "{\22description\22:\22Shows.\22}")
        (global $top (mut i32) (i32.const 32768))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.get $top)
            (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
        (func (export "schema") (result i32)
            (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 24)) (i32.const 0))
        (func (export "run") (param i32 i32) (result i32)
            (drop (call $sizes (i32.const 32) (i32.const 36)))
            (drop (call $get (i32.const 1024) (i32.const 4096)))
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store (i32.const 20) (i32.const 4096)) (i32.store (i32.const 24) (i32.load (i32.const 36)))
            (i32.const 16)))"#,
    )
}

#[tokio::test]
async fn a_tool_sees_the_variables_it_was_granted_and_no_others() {
    let variables =
        |env: &Env| env.clone().with("GITHUB_TOKEN", "token").with("OPENAI_API_KEY", "key");
    let mut fixture = Fixture::new();
    fixture.env = variables(&fixture.env);
    fixture.restart(Loader::new(&fixture.env.cache_dir, Compiler::InProcess, None));
    fixture.write("shows.wasm", shows_its_environment());
    fixture.rescan().await;
    let seen = fixture.call("shows", "{}").await.content;
    assert!(seen.contains("PWD=") && !seen.contains("key") && !seen.contains("token"), "{seen:?}");
    fixture.write("shows.grants.json", r#"{"env": ["GITHUB_TOKEN", "NOT_SET"]}"#);
    fixture.rescan().await;
    let seen = fixture.call("shows", "{}").await.content;
    assert!(seen.contains("GITHUB_TOKEN=token") && !seen.contains("key"), "{seen:?}");
    assert!(!seen.contains("NOT_SET"), "{seen:?}");
}

/// A script engine: `load` keeps the script, `schema` and `run` give it back.
fn engine() -> Vec<u8> {
    assemble(
        r#"(module (memory (export "memory") 2)
        (global $top (mut i32) (i32.const 4096))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.get $top)
            (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
        (func (export "load") (param i32 i32) (result i32)
            (i32.store (i32.const 0) (local.get 0)) (i32.store (i32.const 4) (local.get 1))
            (i32.store8 (i32.const 32) (i32.eqz (local.get 1)))
            (i32.store (i32.const 36) (i32.const 0)) (i32.store (i32.const 40) (i32.const 0))
            (i32.const 32))
        (func (export "schema") (result i32) (i32.const 0))
        (func (export "run") (param i32 i32) (result i32)
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store (i32.const 20) (i32.load (i32.const 0))) (i32.store (i32.const 24) (i32.load (i32.const 4)))
            (i32.const 16)))"#,
    )
}

/// In this toy, a script is joined by appending it in a custom section's place: after the engine's bytes.
fn split(module: &[u8]) -> Option<(&'static [u8], &str)> {
    Some((&ENGINE, std::str::from_utf8(module.strip_prefix(ENGINE.as_slice())?).ok()?))
}

static ENGINE: LazyLock<Vec<u8>> = LazyLock::new(engine);

#[tokio::test]
async fn scripts_share_one_compiled_engine() {
    let module: &[u8] = &ENGINE;
    let shared = SharedEngine { split };
    let mut fixture =
        Fixture::with(|env| Loader::new(&env.cache_dir, Compiler::InProcess, Some(shared)));
    for name in ["a", "b"] {
        let script = format!(r#"{{"description":"Script {name}."}}"#);
        fixture.write(&format!("{name}.wasm"), [module, script.as_bytes()].concat());
    }
    fixture.rescan().await;
    assert_eq!(fixture.description("b"), "Script b.");
    assert_eq!(fixture.call("a", "{}").await.content, r#"{"description":"Script a."}"#);
    let compiled = std::fs::read_dir(fixture.env.cache_dir.join("wasm/code")).unwrap();
    let files: usize =
        compiled.map(|key| std::fs::read_dir(key.unwrap().path()).unwrap().count()).sum();
    assert_eq!(files, 1);

    let loader =
        Loader::new(&fixture.env.cache_dir, Compiler::Child("/bin/false".into()), Some(shared));
    fixture.restart(loader);
    fixture.rescan().await;
    assert_eq!(
        fixture.call("b", "{}").await.content,
        r#"{"description":"Script b."}"#,
        "found in a second process"
    );
}
