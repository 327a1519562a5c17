//! What tools cost: a start with many of them, and a new one until its first result.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use autocode_tests::wat::{Behaviour, tool, tool_of_size};
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
    new_tool(subjects, effort, table)?;
    large_tool(subjects, effort, table)?;
    for language in [JAVASCRIPT, RUST] {
        edited_tool(subjects, effort, table, &language)?;
    }
    Ok(())
}

fn many_tools(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let server = answering();
    let (stocked, empty) = (subjects.place(&server), subjects.place(&server));
    let start = |env: &TestEnv| {
        let mut command = env.program(&subjects.autocode);
        command.args(["-p", "hi"]);
        seconds_to_request(&server, &mut command)
    };
    // The first run of a project makes it a trusted one.
    start(&stocked)?;
    start(&empty)?;
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

/// A step that does not need a large new tool, against the same step without one: it is compiled meanwhile.
fn large_tool(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    const SIZE: usize = 2_000_000;
    let module = tool_of_size("Gives a text.", "ok", SIZE);
    let sample = |fresh: bool| {
        let server = Server::start();
        let copy = if fresh { "cp large.wasm .autocode/tools/" } else { "true" };
        server.reply(Reply::bash(copy));
        server.reply(Reply::bash("true"));
        server.reply(Reply::text("done"));
        let env = subjects.place(&server);
        env.write("large.wasm", &module);
        let mut command = env.program(&subjects.autocode);
        command.args(["-p", "go"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        ensure!(command.status()?.success(), "the run failed");
        let requests = server.requests();
        ensure!(requests.len() == 3, "{} requests came", requests.len());
        Ok((requests[2].at - requests[0].at).as_secs_f64())
    };
    let samples = in_turns(
        effort.rounds.div_ceil(2),
        vec![
            Contestant::new("autocode", || sample(true)),
            Contestant::new("without one", || sample(false)),
        ],
    )?;
    table.row("two steps while a new tool of 2 MB compiles", Unit::Seconds, &samples, &[]);
    Ok(())
}

/// How a tool in some language is written anew.
struct Language {
    name: &'static str,
    /// As `autocode tool new --lang` knows it.
    flag: &'static str,
    /// The file in the tool's directory.
    file: &'static str,
    /// The file's text, with `NUMBER` for what the tool gives back.
    source: &'static str,
    /// Seconds from the edit to the result.
    goal: f64,
}

const JAVASCRIPT: Language = Language {
    name: "JavaScript",
    flag: "js",
    file: "tool.js",
    source: r#"export const schema = {name: "edited", description: "Gives a number.", parameters: {type: "object"}};
export function run() { return "NUMBER"; }
"#,
    goal: 0.05,
};

const RUST: Language = Language {
    name: "Rust",
    flag: "rust",
    file: "src/lib.rs",
    source: r#"/// Give a number.
#[autocode_tool::tool(name = "edited")]
fn edited() -> &'static str {
    "NUMBER"
}
"#,
    goal: 4.0,
};

/// From the request that brings an edit to the request with the result of the tool built of it; everything that a
/// build reuses was built before.
fn edited_tool(
    subjects: &Subjects,
    effort: Effort,
    table: &mut Table,
    language: &Language,
) -> Result<()> {
    let what = format!("a tool in {}: edited, built, called", language.name);
    let server = Server::start();
    let mut env = subjects.place(&server);
    env.with_rust();
    if let Some(rustc) = std::env::var_os("AUTOCODE_WASM_RUSTC") {
        env.set("RUSTC", rustc);
    }
    let run = |arguments: &[&str]| env.program(&subjects.autocode).args(arguments).output();
    run(&["tool", "new", "edited", "--lang", language.flag])?;
    let built = run(&["tool", "build", "edited"])?;
    if !built.status.success() {
        let why = String::from_utf8_lossy(&built.stderr);
        table.left_out(&what, why.lines().next().unwrap_or("it does not build"));
        return Ok(());
    }
    let mut number = 0;
    let mut sample = || {
        number += 1;
        let (before, text) = (server.requests().len(), number.to_string());
        let source = language.source.replace("NUMBER", &text);
        let edit = format!(
            "cat > .autocode/src/edited/{} <<'END'\n{source}END\n'{}' tool build edited",
            language.file,
            subjects.autocode.display()
        );
        server.reply(Reply::bash(&edit));
        server.reply(Reply::call("edited", json!({})));
        server.reply(Reply::text("done"));
        ensure!(run(&["--trust", "-p", "go"])?.status.success(), "the run failed");
        let requests = server.requests();
        ensure!(
            requests.len() == before + 3 && requests[before + 2].tool_result() == text,
            "the edited tool did not run: {}",
            requests.last().map(|request| request.tool_result()).unwrap_or_default()
        );
        Ok((requests[before + 2].at - requests[before].at).as_secs_f64())
    };
    sample()?;
    let samples = in_turns(effort.rounds.div_ceil(3), vec![Contestant::new("autocode", sample)])?;
    table.row(&what, Unit::Seconds, &samples, &[Goal::AtMost(language.goal)]);
    Ok(())
}
