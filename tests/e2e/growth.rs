//! The agent grows within one turn: it writes a tool in Rust with bash, compiles it with bash, calls it in the next step.

use std::path::Path;
use std::process::Command;

use autocode_tests::Reply;
use serde_json::json;

use crate::scripted;

/// The tool contract by hand, so that nothing but a compiler is needed: answers with its arguments in capitals.
const SOURCE: &str = r##"
use std::alloc::{Layout, alloc, realloc};

#[repr(C)]
pub struct Text(*const u8, usize);

#[repr(C)]
pub struct Outcome { is_err: u8, text: Text }

fn leak(text: String) -> Text {
    let bytes = text.into_bytes().leak();
    Text(bytes.as_ptr(), bytes.len())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cabi_realloc(old: *mut u8, size: usize, align: usize, new: usize) -> *mut u8 {
    unsafe {
        if size == 0 { alloc(Layout::from_size_align_unchecked(new.max(1), align)) }
        else { realloc(old, Layout::from_size_align_unchecked(size, align), new) }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn schema() -> *const Text {
    let json = r#"{"description":"Shouts.","parameters":{"type":"object","properties":{"text":{"type":"string"}}}}"#;
    Box::leak(Box::new(leak(json.to_owned())))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn run(args: *const u8, len: usize) -> *const Outcome {
    let args = unsafe { std::slice::from_raw_parts(args, len) };
    let text = leak(String::from_utf8_lossy(args).to_uppercase());
    Box::leak(Box::new(Outcome { is_err: 0, text }))
}
"##;

/// A compiler that has the wasm target, if there is one: `AUTOCODE_WASM_RUSTC`, else plain `rustc`.
fn compiler() -> Option<String> {
    let rustc = std::env::var("AUTOCODE_WASM_RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let asked = ["--print", "target-libdir", "--target", "wasm32-wasip1"];
    let output = Command::new(&rustc).args(asked).output().ok()?;
    let dir = String::from_utf8(output.stdout).ok()?;
    let found = Path::new(dir.trim()).read_dir().ok()?.flatten();
    found
        .map(|entry| entry.file_name())
        .any(|n| n.to_string_lossy().starts_with("libstd"))
        .then_some(rustc)
}

#[test]
fn a_tool_written_in_rust_and_compiled_with_bash_is_called_in_the_next_step() {
    let Some(rustc) = compiler() else {
        eprintln!("left out: no compiler with wasm32-wasip1 (rustup target add wasm32-wasip1)");
        return;
    };
    let write = format!("cat > shout.rs <<'END'\n{SOURCE}END\n");
    let build = format!(
        "'{rustc}' --edition 2024 --crate-type cdylib --target wasm32-wasip1 -O shout.rs -o .autocode/tools/shout.wasm"
    );
    let (server, mut env) = scripted([
        Reply::bash("echo 'not wasm' > .autocode/tools/shout.wasm"),
        Reply::bash(&format!("{write}{build}")),
        Reply::call("shout", json!({ "text": "hi" })),
        Reply::text("done"),
    ]);
    env.with_rust();
    env.cmd(["-p", "give yourself a tool"]).run().answered("done\n");
    let requests = server.requests();
    let broken = requests[1].tool("shout").unwrap();
    let description = broken["description"].as_str().unwrap();
    assert!(description.starts_with("BROKEN:"), "{description}");
    let mended = requests[2].tool("shout");
    let result = requests[2].tool_result();
    assert_eq!(mended.unwrap()["description"], "Shouts.", "{result}");
    assert_eq!(requests[3].tool_result(), r#"{"TEXT":"HI"}"#);
}

#[test]
fn with_reflect_a_program_thrown_away_is_answered_with_a_reminder() {
    let program = "python3 - <<'E'\na = 1\nb = 2\nc = a + b\nprint(c)\nE\ntrue";
    for reflect in [true, false] {
        let (server, env) = scripted([Reply::bash(program), Reply::text("done")]);
        env.user_config(&json!({ "reflect": reflect }));
        env.cmd(["-p", "go"]).run().answered("done\n");
        let last = server.requests()[1].messages().last().unwrap().clone();
        let reminded = last["role"] == "user"
            && last["content"].as_str().is_some_and(|text| text.contains("make it a tool"));
        assert_eq!(reminded, reflect, "{last}");
        crate::assert_valid(&server.requests()[1]);
    }
}
