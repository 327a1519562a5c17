//! The `autocode` binary: parse, build, run, exit code.

use std::process::ExitCode;

use autocode::tools::wasm::{COMPILE_COMMAND, compile_child_main};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == COMPILE_COMMAND) {
        return compile_child_main(arguments);
    }
    autocode::start::main().into()
}
