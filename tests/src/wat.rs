//! Small tools, written by hand as WebAssembly text: core modules that meet the tool world with nothing but the
//! canonical ABI, so that tests need no compiler and no committed binaries.

use serde_json::{Value, json};

/// What a tool does when it is called.
#[derive(Clone, Copy, Debug)]
pub enum Behaviour<'a> {
    /// Gives this text.
    Returns(&'a str),
    /// Fails with this text.
    Fails(&'a str),
    /// Gives its arguments back.
    Echoes,
    /// Executes `unreachable`.
    Traps,
    /// Never ends.
    Loops,
    /// Calls itself for ever.
    Recurses,
    /// Takes memory until there is none.
    Hoards,
    /// Makes a directory `started` in the project, waits until there is something named `go`, then gives this text.
    Waits(&'a str),
}

/// A tool without arguments that is named after its file.
pub fn tool(description: &str, behaviour: Behaviour) -> Vec<u8> {
    let parameters = json!({ "type": "object", "properties": {} });
    tool_with_schema(&json!({ "description": description, "parameters": parameters }), behaviour)
}

/// A tool with this schema.
pub fn tool_with_schema(schema: &Value, behaviour: Behaviour) -> Vec<u8> {
    tool_with_schema_text(&schema.to_string(), behaviour)
}

/// A tool of about so many bytes: the rest is code that is compiled and never run.
pub fn tool_of_size(description: &str, words: &str, bytes: usize) -> Vec<u8> {
    const FUNCTION: usize = 520; // bytes that one function of `filler` takes
    let schema = json!({ "description": description, "parameters": { "type": "object" } });
    let text = text(&schema.to_string(), Behaviour::Returns(words));
    let fillers: String = (0..bytes / FUNCTION).map(filler).collect();
    assemble(&format!("{}{fillers})", text.strip_suffix(')').unwrap_or(&text)))
}

/// A function with branches, memory and arithmetic, different for each number.
fn filler(n: usize) -> String {
    let mut body = String::new();
    for i in 0..16 {
        let (at, shift) = (1024 + (n * 16 + i) * 8, i % 7 + 1);
        body += &format!(
            "(if (i32.gt_u (local.get 0) (i32.const {at}))
               (then (i32.store (i32.const 32) (i32.add (i32.load (i32.const 32)) (local.get 1))))
               (else (local.set 1 (i32.xor (local.get 0) (i32.shl (local.get 1) (i32.const {shift}))))))"
        );
    }
    format!("(func (export \"f{n}\") (param i32 i32) (result i32) {body} (local.get 1))")
}

/// A tool whose `schema` gives this text, JSON or not.
pub fn tool_with_schema_text(schema: &str, behaviour: Behaviour) -> Vec<u8> {
    assemble(&text(schema, behaviour))
}

/// The module of a tool, as text.
pub fn text(schema: &str, behaviour: Behaviour) -> String {
    const SCHEMA_AT: usize = 64;
    let (failed, words) = match behaviour {
        Behaviour::Returns(words) | Behaviour::Waits(words) => (0, words),
        Behaviour::Fails(words) => (1, words),
        _ => (0, ""),
    };
    let (schema_length, words_length) = (schema.len(), words.len());
    let words_at = (SCHEMA_AT + schema_length).next_multiple_of(16);
    let names_at = (words_at + words_length).next_multiple_of(16);
    let heap = (names_at + 32).next_multiple_of(16);
    // Two pages are what the preview 1 adapter takes for itself through `cabi_realloc`.
    let pages = heap / 65536 + 4;
    let answer = match behaviour {
        Behaviour::Echoes => "(local.get 0) (local.get 1)".to_owned(),
        _ => format!("(i32.const {words_at}) (i32.const {words_length})"),
    };
    let (imports, act) = match behaviour {
        Behaviour::Traps => ("", "unreachable".to_owned()),
        Behaviour::Loops => ("", "(loop $again (br $again))".to_owned()),
        Behaviour::Recurses => ("", "(drop (call $run (local.get 0) (local.get 1)))".to_owned()),
        Behaviour::Hoards => ("", "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable".to_owned()),
        Behaviour::Waits(_) => (WASI_IMPORTS, waiting(names_at)),
        Behaviour::Returns(_) | Behaviour::Fails(_) | Behaviour::Echoes => ("", String::new()),
    };
    format!(
        r#"(module
  {imports}
  (memory (export "memory") {pages})
  (data (i32.const {SCHEMA_AT}) "{schema}")
  (data (i32.const {words_at}) "{words}")
  (data (i32.const {names_at}) "startedgo")
  (global $top (mut i32) (i32.const {heap}))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $top)
    (global.set $top
      (i32.and (i32.add (i32.add (global.get $top) (local.get 3)) (i32.const 15)) (i32.const -16))))
  (func (export "schema") (result i32)
    (i32.store (i32.const 0) (i32.const {SCHEMA_AT}))
    (i32.store (i32.const 4) (i32.const {schema_length}))
    (i32.const 0))
  (func $answer (param i32 i32) (result i32)
    (i32.store8 (i32.const 16) (i32.const {failed}))
    (i32.store (i32.const 20) (local.get 0))
    (i32.store (i32.const 24) (local.get 1))
    (i32.const 16))
  (func $run (export "run") (param i32 i32) (result i32)
    {act}
    (call $answer {answer})))"#,
        schema = escaped(schema),
        words = escaped(words),
    )
}

/// A module from its text.
pub fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const WASI_IMPORTS: &str = r#"(import "wasi_snapshot_preview1" "path_create_directory"
    (func $mkdir (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_get"
    (func $stat (param i32 i32 i32 i32 i32) (result i32)))"#;

/// Descriptor 3 is the first preopened directory: the project. A `filestat` takes 64 bytes; the heap has room.
fn waiting(names_at: usize) -> String {
    let go_at = names_at + "started".len();
    format!(
        "(drop (call $mkdir (i32.const 3) (i32.const {names_at}) (i32.const 7)))
    (loop $again
      (br_if $again (call $stat (i32.const 3) (i32.const 0) (i32.const {go_at}) (i32.const 2) (global.get $top))))"
    )
}

/// A string literal's inside.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_behaviour_is_a_module() {
        use Behaviour::*;
        for behaviour in
            [Returns("ü\"\\"), Fails("no"), Echoes, Traps, Loops, Recurses, Hoards, Waits("v1")]
        {
            assert!(tool("does things", behaviour).starts_with(b"\0asm"), "{behaviour:?}");
        }
    }

    #[test]
    fn a_tool_has_about_the_size_that_was_asked_for() {
        let length = tool_of_size("large", "ok", 100_000).len();
        assert!((90_000..110_000).contains(&length), "{length}");
    }
}
