//! The `autocode` binary: parse, build, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    autocode::start::main().into()
}
