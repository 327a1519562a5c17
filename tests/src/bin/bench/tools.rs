//! What tools cost: a start with many of them, and a new one until its first result.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use autocode_tests::wat::{Behaviour, tool};
use autocode_tests::{Reply, Server, TestEnv};
use serde_json::json;

use crate::Effort;
use crate::rounds::{Contestant, in_turns};
use crate::start::{answering, seconds_to_request};
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

/// Tools in a well-stocked project.
const MANY: usize = 200;

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    many_tools(subjects, effort, table)?;
    new_tool(subjects, effort, table)
}

fn many_tools(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let server = answering();
    let (stocked, empty) = (subjects.place(&server), subjects.place(&server));
    let start = |env: &TestEnv| {
        let mut command = env.program(&subjects.autocode);
        command.args(["--trust", "-p", "hi"]);
        seconds_to_request(&server, &mut command)
    };
    start(&stocked)?;
    for n in 0..MANY {
        let module = tool(&format!("Gives the number {n}."), Behaviour::Returns(&n.to_string()));
        stocked.write(&format!(".autocode/tools/tool{n:03}.wasm"), module);
    }
    start(&stocked).context("the start that compiles")?;
    let offered = server.requests().last().map_or(0, |request| request.tool_names().len());
    ensure!(offered == MANY + 1, "{offered} tools were offered instead of {}", MANY + 1);

    let samples = in_turns(
        effort.rounds,
        vec![
            Contestant::new("autocode", || start(&stocked)),
            Contestant::new("with none", || start(&empty)),
        ],
    )?;
    let what = format!("start to first request with {MANY} cached tools");
    table.row(&what, Unit::Seconds, &samples, &[Goal::Ratio("with none", 1.3)]);
    Ok(())
}

/// From the request that brings a new module to the request with its first result, two bash-less steps later: seen,
/// compiled by a child, loaded, called.
fn new_tool(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let sample = |fresh: bool| {
        let server = Server::start();
        server.reply(Reply::bash("cp one.wasm .autocode/tools/one.wasm"));
        server.reply(Reply::call("one", json!({})));
        server.reply(Reply::call("one", json!({})));
        server.reply(Reply::text("done"));
        let env = subjects.place(&server);
        env.write("one.wasm", tool("Gives a text.", Behaviour::Returns("ok")));
        let mut command = env.program(&subjects.autocode);
        command.args(["-p", "go"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        ensure!(command.status()?.success(), "the run failed");
        let requests = server.requests();
        ensure!(requests.len() == 4 && requests[2].tool_result() == "ok", "the tool did not run");
        let (from, to) = if fresh { (0, 2) } else { (2, 3) };
        Ok((requests[to].at - requests[from].at).as_secs_f64())
    };
    let samples = in_turns(
        effort.rounds.div_ceil(2),
        vec![
            Contestant::new("autocode", || sample(true)),
            Contestant::new("a later call", || sample(false)),
        ],
    )?;
    table.row("a new small module: copied, compiled, called", Unit::Seconds, &samples, &[]);
    Ok(())
}
