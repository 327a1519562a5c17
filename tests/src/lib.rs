//! What autocode is tested and measured with: a scripted model server, a harness that runs the built binary in a
//! fresh project and home, and a terminal to type into.
//!
//! Nothing here depends on the runner, so that the runner's own tests can depend on this. Every wait is on a
//! condition and has a deadline; what does not come in time fails the test with what was seen until then.

// A harness fails the test that uses it by panicking; a `Result` would only be unwrapped one line later.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod deadline;
mod process;
mod project;
pub mod pty;
pub mod server;
mod transcript;
pub mod wat;

pub use process::{Command, Run, Running};
pub use project::{TestEnv, USER_CONFIG};
pub use server::{Gate, Reply, Request, Server};
pub use transcript::{Transcript, valid_history};
