//! One call: arguments, answers, limits, and what is seen of the file system.

use std::fs;
use std::os::unix::fs::symlink;

use autocode_tests::wat::{Behaviour, assemble, tool, tool_with_schema};
use futures_util::FutureExt;
use serde_json::json;

use super::Fixture;
use crate::tools::ToolStatus;

#[tokio::test]
async fn a_tool_built_from_rust_runs() {
    let mut fixture = Fixture::new();
    fixture.write("add.wasm", include_bytes!("../../../../../assets/tools/add.wasm"));
    fixture.rescan().await;
    assert_eq!(fixture.description("add"), "Add two numbers.");
    let added = fixture.call("add", r#"{"a": 19, "b": 23}"#).await;
    assert_eq!((added.status, added.content.as_str()), (ToolStatus::Ok, "42"));
    assert_eq!(fixture.call("add", r#"{"a": "1.5", "b": 2}"#).await.content, "3.5");
    let refused = fixture.call("add", r#"{"a": "one", "b": 2}"#).await;
    assert_eq!(refused.status, ToolStatus::Failed);
    assert!(
        refused.content.contains("/a: \"one\" is not of type \"number\""),
        "{}",
        refused.content
    );
}

#[tokio::test]
async fn what_goes_wrong_is_said_and_counted_as_a_failure() {
    let cases: Vec<(&str, Behaviour<'_>, &[&str])> = vec![
        ("fails", Behaviour::Fails("its own words"), &["its own words"]),
        (
            "traps",
            Behaviour::Traps,
            &["the tool trapped: wasm `unreachable`", "wasm backtrace:", "at run"],
        ),
        ("recurses", Behaviour::Recurses, &["nested too deeply", "at run (20 times or more)"]),
        (
            "hoards",
            Behaviour::Hoards,
            &["memory limit of 32 MiB", "\"memory_mb\" in .autocode/tools/hoards.grants.json"],
        ),
    ];
    let mut fixture = Fixture::new();
    fixture.write("hoards.grants.json", r#"{"memory_mb": 32}"#);
    for (name, behaviour, _) in &cases {
        fixture.write(&format!("{name}.wasm"), tool("Goes wrong.", *behaviour));
    }
    fixture.rescan().await;
    for (name, _, words) in &cases {
        let result = fixture.call(name, "{}").await;
        assert_eq!(result.status, ToolStatus::Failed);
        for word in *words {
            assert!(
                result.content.contains(word),
                "{name}: expected {word:?} in: {}",
                result.content
            );
        }
    }
}

#[tokio::test]
async fn an_endless_tool_ends_at_its_limit_and_when_it_is_cancelled() {
    let mut fixture = Fixture::new();
    fixture.write("loops.wasm", tool("Never ends.", Behaviour::Loops));
    fixture.write("loops.grants.json", r#"{"timeout_s": 1}"#);
    fixture.rescan().await;
    let result = fixture.call("loops", "{}").await;
    assert_eq!(result.status, ToolStatus::TimedOut);
    assert!(result.content.contains("time limit of 1 s; \"timeout_s\" in"), "{}", result.content);

    // The guest gives way, so that others get to cancel it on the same thread.
    let call = fixture.call("loops", "{}");
    let cancel = async {
        tokio::task::yield_now().await;
        fixture.cancel.cancel();
    };
    let (result, ()) = tokio::join!(call, cancel);
    assert_eq!(result.status, ToolStatus::Cancelled);
}

#[tokio::test]
async fn calls_that_are_given_up_end_their_guests() {
    let mut fixture = Fixture::new();
    fixture.write("loops.wasm", tool("Never ends.", Behaviour::Loops));
    fixture.write("works.wasm", tool("Works.", Behaviour::Returns("here")));
    fixture.rescan().await;
    // More than can be alive at once.
    for _ in 0..100 {
        let call = fixture.call("loops", "{}");
        tokio::pin!(call);
        assert_eq!(call.as_mut().now_or_never(), None);
    }
    while fixture.call("works", "{}").await.status != ToolStatus::Ok {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_tool_that_is_stuck_in_a_system_call_can_be_cancelled() {
    let mut fixture = Fixture::new();
    fixture.write("reader.wasm", reader());
    fixture.rescan().await;
    let pipe = fixture.root().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let call = fixture.call("reader", r#"{"fd":"3","path":"pipe"}"#);
    let cancel = async {
        let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
        loop {
            // There is no writing end before somebody reads.
            match rustix::fs::open(&pipe, flags, rustix::fs::Mode::empty()) {
                Ok(writer) => {
                    fixture.cancel.cancel();
                    break writer;
                }
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let (result, writer) = tokio::join!(call, cancel);
    assert_eq!(result.status, ToolStatus::Cancelled);
    drop(writer);
}

/// A tool whose answer is `length` bytes at the start of its memory, each `byte`.
fn long_answer(length: u32, byte: u8) -> Vec<u8> {
    let pages = length / 65536 + 2;
    let schema = r#"{\22description\22:\22Long.\22}"#;
    assemble(&format!(
        r#"(module (memory (export "memory") {pages})
        (data (i32.const 64) "{schema}")
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
        (func (export "schema") (result i32)
            (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const 23)) (i32.const 0))
        (func (export "run") (param i32 i32) (result i32)
            (memory.fill (i32.const 2048) (i32.const {byte}) (i32.const {length}))
            (i32.store8 (i32.const 16) (i32.const 0)) (i32.store (i32.const 20) (i32.const 2048))
            (i32.store (i32.const 24) (i32.const {length})) (i32.const 16)))"#
    ))
}

#[tokio::test]
async fn a_long_answer_is_cut_and_an_absurd_one_refused() {
    let mut fixture = Fixture::new();
    fixture.output_limit = 100;
    fixture.write("long.wasm", long_answer(1 << 20, b'x'));
    fixture.write("absurd.wasm", long_answer(100 << 20, b'x'));
    fixture.write("binary.wasm", long_answer(10, 0xff));
    fixture.rescan().await;
    let long = fixture.call("long", "{}").await;
    assert_eq!(long.status, ToolStatus::Ok);
    assert!(long.content.len() < 300 && long.content.contains("left out"), "{}", long.content);
    fixture.output_limit = 10_000;
    let absurd = fixture.call("absurd", "{}").await;
    assert_eq!(absurd.status, ToolStatus::Failed);
    assert!(absurd.content.contains("more than 32 MiB at once"), "{}", absurd.content);
    let binary = fixture.call("binary", "{}").await;
    assert!(binary.content.contains("not UTF-8"), "{}", binary.content);
}

/// A tool that opens `path` in the preopened directory `fd` and answers with what is in it.
fn reader() -> Vec<u8> {
    let schema = json!({"description": "Reads."}).to_string();
    let schema_text: String = schema.bytes().map(|b| format!("\\{b:02x}")).collect();
    assemble(&format!(
        r#"(module
        (import "wasi_snapshot_preview1" "path_open"
            (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
        (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
        (memory (export "memory") 4)
        (data (i32.const 64) "{schema_text}")
        (data (i32.const 256) "errno ")
        (global $top (mut i32) (i32.const 4096))
        (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
            (global.get $top)
            (global.set $top (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
        (func (export "schema") (result i32)
            (i32.store (i32.const 0) (i32.const 64)) (i32.store (i32.const 4) (i32.const {length})) (i32.const 0))
        (func (export "run") (param $text i32) (param $length i32) (result i32) (local $error i32)
            ;; the arguments are {{"fd":"D","path":"…"}}
            (local.set $error (call $open
                (i32.sub (i32.load8_u (i32.add (local.get $text) (i32.const 7))) (i32.const 48))
                (i32.const 1)
                (i32.add (local.get $text) (i32.const 18))
                (i32.sub (local.get $length) (i32.const 20))
                (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 512)))
            (if (local.get $error) (then
                (i32.store8 (i32.const 262) (i32.add (i32.const 48) (i32.div_u (local.get $error) (i32.const 10))))
                (i32.store8 (i32.const 263) (i32.add (i32.const 48) (i32.rem_u (local.get $error) (i32.const 10))))
                (i32.store8 (i32.const 16) (i32.const 1))
                (i32.store (i32.const 20) (i32.const 256)) (i32.store (i32.const 24) (i32.const 8))
                (return (i32.const 16))))
            (i32.store (i32.const 528) (i32.const 1024)) (i32.store (i32.const 532) (i32.const 1024))
            (drop (call $read (i32.load (i32.const 512)) (i32.const 528) (i32.const 1) (i32.const 540)))
            (i32.store8 (i32.const 16) (i32.const 0))
            (i32.store (i32.const 20) (i32.const 1024)) (i32.store (i32.const 24) (i32.load (i32.const 540)))
            (i32.const 16)))"#,
        length = schema.len(),
    ))
}

#[tokio::test]
async fn files_are_the_projects_and_relative_paths_start_at_the_working_directory() {
    let mut fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    fs::create_dir(fixture.root().join("sub")).unwrap();
    fs::write(fixture.root().join("top.txt"), "top").unwrap();
    fs::write(fixture.root().join("sub/in.txt"), "in").unwrap();
    symlink(outside.path().join("secret"), fixture.root().join("link")).unwrap();
    symlink(outside.path(), fixture.root().join("dir")).unwrap();
    fixture.write("reader.wasm", reader());
    fixture.rescan().await;
    let sub = fixture.root().join("sub");
    // The working directory comes last, after the project under each of its names.
    let last = if fixture.root().canonicalize().unwrap() == fixture.root() { 4 } else { 5 };
    let read = async |fd: u8, path: &str| {
        let arguments = format!(r#"{{"fd":"{fd}","path":"{path}"}}"#);
        fixture.call_in(sub.clone(), "reader", &arguments).await
    };
    assert_eq!(read(3, "top.txt").await.content, "top");
    assert_eq!(read(last, "in.txt").await.content, "in");
    for escape in ["link", "dir/secret", "../x", "sub/../../x", "/etc/passwd"] {
        let result = read(3, escape).await;
        assert_eq!(result.status, ToolStatus::Failed, "{escape}: {}", result.content);
        assert!(result.content.starts_with("errno "), "{escape}: {}", result.content);
    }
    let refused = read(3, "/etc/passwd").await.content;
    assert!(
        refused.contains(
            "/etc/passwd is outside of the project; \"fs\": [\"/etc/passwd\"] in .autocode/tools/reader.grants.json would allow it"
        ),
        "{refused}"
    );

    let granted = outside.path().display();
    fixture.write("reader.grants.json", format!(r#"{{"fs": ["{granted}"]}}"#));
    fixture.rescan().await;
    let arguments = format!(r#"{{"fd":"{last}","path":"secret"}}"#);
    let result = fixture.call_in(sub, "reader", &arguments).await;
    assert_eq!(result.content, "secret", "a granted directory comes after the project");
}

#[tokio::test]
async fn arguments_reach_the_tool_checked_and_mended() {
    let mut fixture = Fixture::new();
    let schema = json!({
        "description": "Counts.",
        "parameters": {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
    });
    fixture.write("count.wasm", tool_with_schema(&schema, Behaviour::Echoes));
    fixture.rescan().await;
    assert_eq!(fixture.call("count", r#"{"count": 7}"#).await.content, r#"{"count": 7}"#);
    assert_eq!(fixture.call("count", r#"{"count": "7"}"#).await.content, r#"{"count":7}"#);
    assert!(fixture.call("count", "").await.content.contains("\"count\" is a required property"));
    assert!(fixture.call("count", "{").await.content.contains("not JSON"));
}
