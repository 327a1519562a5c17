//! QuickJS as a tool: the engine that every JavaScript tool shares.
//!
//! A tool is this module with one more data segment that fills [`slot`]; `schema` and `run` then serve that script.
//! A host that keeps the engine compiled gives the script to `load` instead, which also says what is wrong with it.
//! Nothing here may trap on a script's account: what a script does wrong comes back as text with its line.

mod abi;
mod fault;
mod fs;
mod globals;
mod grants;
mod host;
mod modules;
mod script;
mod slot;
mod text;

use std::cell::RefCell;

use abi::{Answer, Text};
use script::Script;

thread_local! {
    static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

/// Gives `act` the script, read from the slot unless one was loaded before.
fn with_script<T>(act: impl FnOnce(&Script) -> Result<T, String>) -> Result<T, String> {
    SCRIPT.with_borrow_mut(|current| {
        if current.is_none() {
            *current = Some(Script::load(&slot::read()?)?);
        }
        current.as_ref().map_or_else(|| Err("no script".to_owned()), act)
    })
}

unsafe extern "C" {
    fn __wasm_call_ctors();
}

/// Runs libc's constructors once. Without this export the linker wraps every other export in them.
#[unsafe(export_name = "_initialize")]
extern "C" fn initialize() {
    // SAFETY: the linker defines the function; the host calls `_initialize` once, before anything else.
    unsafe { __wasm_call_ctors() }
}

/// `schema: func() -> string`. There is no way to return an error, so a bad script is told on stderr and traps.
#[unsafe(export_name = "schema")]
extern "C" fn schema() -> *const Text {
    match with_script(|script| Ok(script.schema().to_owned())) {
        Ok(json) => abi::text(json),
        Err(message) => {
            eprintln!("{message}");
            abi::trap()
        }
    }
}

/// `run: func(args: string) -> result<string, string>`.
///
/// # Safety
/// `ptr` and `len` describe bytes that the host allocated through `cabi_realloc`.
#[unsafe(export_name = "run")]
unsafe extern "C" fn run(ptr: *mut u8, len: usize) -> *const Answer {
    // SAFETY: as the caller promises.
    let args = unsafe { abi::take(ptr, len) };
    abi::answer(with_script(|script| script.run(&args)))
}

/// `load: func(source: string) -> result<_, string>`: this script from now on.
///
/// # Safety
/// As for [`run`].
#[unsafe(export_name = "load")]
unsafe extern "C" fn load(ptr: *mut u8, len: usize) -> *const Answer {
    // SAFETY: as the caller promises.
    let source = unsafe { abi::take(ptr, len) };
    SCRIPT.set(None);
    abi::answer(Script::load(&source).map(|script| {
        SCRIPT.set(Some(script));
        String::new()
    }))
}

/// Frees what `schema` returned.
///
/// # Safety
/// `text` is what `schema` returned, once.
#[unsafe(export_name = "cabi_post_schema")]
unsafe extern "C" fn post_schema(text: *mut Text) {
    // SAFETY: as the caller promises.
    unsafe { abi::free_text(text) }
}

/// Frees what `run` returned.
///
/// # Safety
/// `answer` is what `run` returned, once.
#[unsafe(export_name = "cabi_post_run")]
unsafe extern "C" fn post_run(answer: *mut Answer) {
    // SAFETY: as the caller promises.
    unsafe { abi::free_answer(answer) }
}

/// Frees what `load` returned.
///
/// # Safety
/// `answer` is what `load` returned, once.
#[unsafe(export_name = "cabi_post_load")]
unsafe extern "C" fn post_load(answer: *mut Answer) {
    // SAFETY: as the caller promises.
    unsafe { abi::free_answer(answer) }
}
