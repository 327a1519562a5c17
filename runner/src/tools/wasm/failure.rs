//! What ended a guest other than its answer, in words that the model can act on: the cause, the last lines of stderr,
//! and where in the module it was.

use std::fmt::Write;

use wasmtime::{Trap, WasmBacktrace};

use super::broken::{clip, one_line};
use super::call::{MAX_TRANSFER, grant_file};
use super::engine::MAX_STACK;
use super::host::Permits;
use super::output::Sink;

/// Lines of stderr and frames of the backtrace in a trap's report.
const STDERR_LINES: usize = 12;
const FRAMES: usize = 16;
/// Longest report of a failure, in bytes.
const MAX_FAILURE: usize = 6 << 10;

/// A trap or a broken contract, with what the guest last said and where it was.
pub(crate) fn failure(
    error: &wasmtime::Error,
    memory_hit: bool,
    permits: &Permits,
    stderr: &Sink,
) -> String {
    let mut text = match (
        memory_hit,
        error.downcast_ref::<Trap>(),
        error.downcast_ref::<wasmtime_wasi::I32Exit>(),
    ) {
        (true, ..) => format!(
            "the tool ran into its memory limit of {} MiB; {} raises it",
            permits.grants.memory_mb(),
            grant_file("memory_mb", &permits.stem)
        ),
        (_, Some(Trap::StackOverflow), _) => {
            format!(
                "the tool trapped: its calls are nested too deeply (its stack has {} MiB)",
                MAX_STACK >> 20
            )
        }
        (_, Some(trap), _) => {
            let words = trap.to_string();
            let words = words.strip_prefix("wasm trap: ").unwrap_or(&words);
            // Languages keep a stack of their own in memory, below which there is nothing.
            let deep = *trap == Trap::MemoryOutOfBounds && repeats(error);
            let guess = if deep { "; its calls seem to be nested too deeply" } else { "" };
            format!("the tool trapped: {words}{guess}")
        }
        (.., Some(exit)) => {
            let how = if exit.0 == 0 { "" } else { " with a failure" };
            format!("the tool exited{how} instead of returning")
        }
        _ => explain(&format!("{:#}", error.root_cause())),
    };
    let lines = stderr.last_lines(STDERR_LINES);
    if !lines.is_empty() {
        _ = write!(text, "\nlast lines of stderr:\n{lines}");
    }
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        _ = write!(text, "{}", frames(backtrace));
    }
    clip(&text, MAX_FAILURE).to_owned()
}

/// Whether one function is most of the backtrace.
fn repeats(error: &wasmtime::Error) -> bool {
    let frames = error.downcast_ref::<WasmBacktrace>().map_or(&[][..], WasmBacktrace::frames);
    let most = |frame: &wasmtime::FrameInfo| {
        frames.iter().filter(|other| other.func_index() == frame.func_index()).count() * 2
            > frames.len()
    };
    frames.len() > FRAMES / 2 && frames.iter().any(most)
}

/// What breaks the contract without a trap.
fn explain(cause: &str) -> String {
    if cause.contains("fuel") {
        return format!("the tool handed over more than {} MiB at once", MAX_TRANSFER >> 20);
    }
    if cause.contains("utf-8") {
        return format!("the tool returned text that is not UTF-8 ({cause})");
    }
    format!("the tool broke the contract: {}", one_line(cause, 500))
}

/// The functions a trap came through, the panic's own machinery left out and repetitions counted.
fn frames(backtrace: &WasmBacktrace) -> String {
    let frames = backtrace.frames();
    let to_blame =
        frames.iter().position(|frame| frame.func_name().is_some_and(|name| !is_machinery(name)));
    let mut calls: Vec<(String, usize)> = Vec::new();
    for frame in &frames[to_blame.unwrap_or(0)..] {
        let name = match frame.func_name() {
            Some(name) => format!("{:#}", rustc_demangle::demangle(name)),
            None => format!("function {}", frame.func_index()),
        };
        match calls.last_mut() {
            Some((last, count)) if *last == name => *count += 1,
            _ => calls.push((name, 1)),
        }
    }
    let mut text = String::new();
    for (name, count) in calls.iter().take(FRAMES) {
        let name = clip(name, 160);
        _ = match count {
            1 => write!(text, "\n  at {name}"),
            _ => write!(text, "\n  at {name} ({count} times or more)"),
        };
    }
    if text.is_empty() { text } else { format!("\nwasm backtrace:{text}") }
}

/// What lies between a panic or an exit and the code that is to blame.
fn is_machinery(name: &str) -> bool {
    let name = format!("{:#}", rustc_demangle::demangle(name));
    const BEGINNINGS: [&str; 10] = [
        "std::",
        "core::",
        "alloc::",
        "<std::",
        "<core::",
        "__rust",
        "__wasi",
        "wasi_snapshot_preview1::",
        "abort",
        "exit",
    ];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || name == "_Exit"
        || name == "proc_exit"
}
