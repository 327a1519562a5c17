//! Peak memory of the largest process: a short session, and one that compiles, loads and calls a tool.

use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use autocode_tests::wat::tool_of_size;
use autocode_tests::{Reply, Server};
use serde_json::json;

use crate::Effort;
use crate::child::{peak_of, usage_of};
use crate::rounds::{Contestant, in_turns};
use crate::start::python_command;
use crate::steps::{STEPS, working};
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

/// Size of the tool: what a small one in Rust has.
const TOOL_KB: usize = 100;
const RESULT: &str = "the tool ran";

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let rounds = effort.rounds.div_ceil(7);
    let mut contestants = vec![
        Contestant::new("autocode", || {
            let server = working(STEPS);
            let env = subjects.place(&server);
            Ok(usage_of(env.program(&subjects.autocode).args(["-p", "go"]), None)?.peak_mib)
        }),
        Contestant::new("`true`", || Ok(usage_of(&Command::new("true"), None)?.peak_mib)),
    ];
    if let Some(python) = &subjects.python {
        contestants.push(Contestant::new("Python autocode", || {
            let server = working(STEPS);
            let env = subjects.place(&server);
            Ok(usage_of(&python_command(&env, python), None)?.peak_mib)
        }));
    }
    let samples = in_turns(rounds, contestants)?;
    table.row(&format!("peak memory, {STEPS} steps"), Unit::MiB, &samples, &[Goal::AtMost(16.0)]);

    let what = "peak memory, a tool compiled, loaded and called";
    if peak_of(std::process::id()).is_none() {
        table.left_out(what, "only Linux tells the peak of a running process");
        return Ok(());
    }
    let module = tool_of_size("Gives a text.", RESULT, TOOL_KB * 1024);
    let samples =
        in_turns(rounds, vec![Contestant::new("autocode", || peak_with_tool(subjects, &module))])?;
    table.row(&format!("{what} ({TOOL_KB} KB)"), Unit::MiB, &samples, &[Goal::AtMost(24.0)]);
    Ok(())
}

/// The agent's own peak when it asks for the third time, its tool compiled and called, nothing cached before.
fn peak_with_tool(subjects: &Subjects, module: &[u8]) -> Result<f64> {
    let server = Server::start();
    let (pid, peak) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(None)));
    let (asked, seen) = (Arc::clone(&pid), Arc::clone(&peak));
    server.respond(move |request| match request.number {
        1 => Reply::bash("cp module.wasm .autocode/tools/measured.wasm"),
        2 => Reply::call("measured", json!({})),
        _ => {
            if let (Ok(pid), Ok(mut seen)) = (asked.lock(), seen.lock()) {
                *seen = pid.and_then(peak_of);
            }
            Reply::text("done")
        }
    });
    let env = subjects.place(&server);
    env.write("module.wasm", module);
    let mut command = env.program(&subjects.autocode);
    command.args(["-p", "go"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    *pid.lock().map_err(|_| anyhow::anyhow!("a poisoned lock"))? = Some(child.id());
    ensure!(child.wait()?.success(), "the run failed");
    let result = server.requests().get(2).context("the tool was not called")?.tool_result();
    ensure!(result == RESULT, "the tool gave {result:?}");
    peak.lock().ok().and_then(|peak| *peak).context("no peak was seen")
}
