//! Files that are no tools: each with its phase and cause, and none that stops the others.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use autocode_tests::wat::{Behaviour, assemble, text, tool, tool_with_schema_text};

use super::Fixture;
use crate::tools::ToolStatus;
use crate::tools::wasm::{Compiler, Loader, Phase};

fn module(body: &str) -> Vec<u8> {
    assemble(&format!("(module {body})"))
}

const MEMORY: &str = r#"(memory (export "memory") 1)"#;

#[tokio::test]
async fn every_way_to_be_no_module_is_named_with_its_phase() {
    let exports = r#"(func (export "schema") (result i32) i32.const 0) (func (export "run") (param i32 i32) (result i32) i32.const 0)"#;
    let whole = tool("Whole.", Behaviour::Returns("x"));
    let cases: Vec<(&str, Vec<u8>, &[&str])> = vec![
        ("empty", Vec::new(), &["phase parse", "empty"]),
        ("native", b"\x7fELF\x02\x01\x01".to_vec(), &["phase parse", "native code"]),
        ("text", b"(module)".to_vec(), &["phase parse", "WebAssembly text"]),
        ("half", whole[..whole.len() / 2].to_vec(), &["phase parse", "half written"]),
        ("invalid", module_with_a_type_error(), &["phase parse", "not valid"]),
        ("nothing", module(""), &["phase link", "does not export a function `schema`"]),
        (
            "no-run",
            module(&format!(r#"{MEMORY} (func (export "schema") (result i32) i32.const 0)"#)),
            &["phase link", "`run`", "exports found: memory, schema"],
        ),
        (
            "program",
            module(&format!(r#"{MEMORY} (func (export "_start"))"#)),
            &["phase link", "this is a program"],
        ),
        ("no-memory", module(exports), &["phase link", "memory"]),
        ("no-realloc", module(&format!("{MEMORY} {exports}")), &["phase link", "cabi_realloc"]),
        (
            "wrong-type",
            module(&format!(r#"{MEMORY} (func (export "schema")) (func (export "run"))"#)),
            &["phase link", "schema"],
        ),
        (
            "import",
            module(r#"(import "env" "system" (func (param i32)))"#),
            &["phase link", "missing imports: env.system"],
        ),
        (
            "bindgen",
            module(r#"(import "__wbindgen_placeholder__" "x" (func))"#),
            &["phase link", "JavaScript host"],
        ),
        (
            "newer",
            module(r#"(import "autocode:tool/host@0.2.0" "progress" (func (param i32 i32)))"#),
            &[
                "phase link",
                "built for autocode:tool/host@0.2.0; this runner speaks autocode:tool@0.1",
            ],
        ),
        (
            "component",
            assemble("(component)"),
            &["phase link", "does not export `schema: func() -> string`"],
        ),
        (
            "component-import",
            assemble(
                r#"(component (import "acme:gpu/draw@1.0.0" (instance (export "go" (func)))))"#,
            ),
            &["phase link", "missing imports: acme:gpu/draw@1.0.0"],
        ),
        (
            "schema-text",
            tool_with_schema_text("{nope", Behaviour::Returns("x")),
            &["phase schema", "did not return JSON"],
        ),
        (
            "schema-trap",
            assemble(
                &text("{}", Behaviour::Returns("x"))
                    .replace("(i32.store (i32.const 0) (i32.const 64))", "unreachable"),
            ),
            &["phase schema", "unreachable"],
        ),
    ];
    let mut fixture = Fixture::new();
    for (name, bytes, _) in &cases {
        fixture.write(&format!("{name}.wasm"), bytes);
    }
    fixture.write("works.wasm", whole);
    fixture.rescan().await;
    for (name, _, words) in &cases {
        let report = fixture.description(name);
        assert!(
            report.starts_with(&format!("BROKEN: .autocode/tools/{name}.wasm fails in phase")),
            "{report}"
        );
        assert!(report.len() <= 1500);
        for word in *words {
            assert!(report.contains(word), "{name}: expected {word:?} in: {report}");
        }
        let called = fixture.call(name, "{}").await;
        assert_eq!((called.status, called.content), (ToolStatus::Failed, report));
    }
    assert_eq!(fixture.call("works", "{}").await.content, "x");
}

fn module_with_a_type_error() -> Vec<u8> {
    assemble("(module (func (result i32) i64.const 0))")
}

#[tokio::test]
async fn what_is_no_file_is_broken_without_anyone_waiting_for_it() {
    let mut fixture = Fixture::new();
    fs::create_dir(fixture.file("dir.wasm")).unwrap();
    symlink("loop.wasm", fixture.file("loop.wasm")).unwrap();
    symlink("nowhere", fixture.file("dangling.wasm")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        fixture.file("pipe.wasm"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _listener = UnixListener::bind(fixture.file("socket.wasm")).unwrap();
    let huge = fs::File::create(fixture.file("huge.wasm")).unwrap();
    huge.set_len(1 << 30).unwrap();
    fixture.write("locked.wasm", tool("Locked.", Behaviour::Returns("x")));
    fs::set_permissions(fixture.file("locked.wasm"), fs::Permissions::from_mode(0o0)).unwrap();
    fixture.write("Upper Case.wasm", tool("No name.", Behaviour::Returns("x")));
    fixture.rescan().await;
    let expected = [
        ("dir", "it is a directory, not a file"),
        ("loop", "its links form a loop"),
        ("dangling", "the link leads to nothing"),
        ("pipe", "it is a named pipe, not a file"),
        ("socket", "phase read"),
        ("huge", "it has 1024 MiB; a tool has at most 64"),
        ("upper_case", "`Upper Case` is not a tool's name"),
    ];
    for (name, words) in expected {
        let report = fixture.description(name);
        assert!(report.contains(words), "{report}");
    }
    // Root may read everything.
    if fs::read(fixture.file("locked.wasm")).is_err() {
        assert!(fixture.description("locked").contains("no permission to read it"));
    }
}

#[tokio::test]
async fn a_half_written_tool_is_taken_as_soon_as_it_is_whole() {
    let mut fixture = Fixture::new();
    let whole = tool("Whole.", Behaviour::Returns("complete"));
    for end in [0, 7, whole.len() / 2, whole.len() - 1] {
        fixture.write("t.wasm", &whole[..end]);
        fixture.rescan().await;
        assert!(fixture.description("t").starts_with("BROKEN:"), "{end} bytes");
    }
    fixture.write("t.wasm", &whole);
    fixture.rescan().await;
    assert_eq!(fixture.description("t"), "Whole.");
    assert_eq!(fixture.call("t", "{}").await.content, "complete");
}

#[tokio::test]
async fn a_compiler_that_crashes_breaks_the_tool_alone() {
    let mut fixture = Fixture::with(|env| {
        Loader::new(&env.cache_dir, Compiler::Child("/bin/false".into()), None)
    });
    fixture.write("a.wasm", tool("A.", Behaviour::Returns("a")));
    fixture.rescan().await;
    assert!(
        fixture.description("a").contains("the compiler crashed on the module"),
        "{}",
        fixture.description("a")
    );
}

#[tokio::test]
async fn an_inspection_tells_phase_by_phase() {
    let fixture = Fixture::new();
    let loader = Loader::new(&fixture.env.cache_dir, Compiler::InProcess, None);
    fixture.write("a.wasm", tool("A.", Behaviour::Returns("a")));
    let good = loader.inspect(&fixture.file("a.wasm"));
    let phases: Vec<Phase> = good.phases.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(phases, [Phase::Read, Phase::Parse, Phase::Link, Phase::Schema]);
    assert_eq!(good.tool.unwrap().description, "A.");

    fixture.write("b.wasm", module(""));
    let bad = loader.inspect(&fixture.file("b.wasm"));
    assert_eq!(bad.phases.len(), 1);
    assert_eq!(bad.tool.unwrap_err().phase, Phase::Link);
    assert_eq!(loader.inspect(&fixture.file("c.wasm")).tool.unwrap_err().phase, Phase::Read);
}
