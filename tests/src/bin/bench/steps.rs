//! What a step costs beside the model: a reply that calls `true` comes in, the command runs, the next request is out.

use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Result, ensure};
use autocode_tests::wat::{Behaviour, tool};
use autocode_tests::{Reply, Request, Server, TestEnv};

use crate::rounds::{Contestant, in_turns, median};
use crate::start::python_command;
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};
use crate::{Effort, floor};

/// Steps of a short session.
pub(crate) const STEPS: usize = 50;

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let recorded = run(subjects, STEPS)?;
    let mut contestants = vec![
        Contestant::new("autocode", || Ok(per_step(&run(subjects, STEPS)?))),
        Contestant::new("floor", || floor::seconds_per_step(&working(STEPS), &recorded)),
    ];
    if let Some(python) = &subjects.python {
        contestants.push(Contestant::new("Python autocode", || {
            let server = working(STEPS);
            let env = subjects.place(&server);
            let status = python_command(&env, python)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            ensure!(status.success(), "ended with {status}");
            Ok(per_step(&server.requests()))
        }));
    }
    let samples = in_turns(effort.rounds.div_ceil(2), contestants)?;
    let what = format!("own time a step, {STEPS} steps of `true`");
    table.row(&what, Unit::Seconds, &samples, &[Goal::Ratio("floor", 1.25)]);
    unchanged_files(subjects, effort, table)?;
    long_session(subjects, effort, table)
}

/// What looking at the agent's own files costs before each model call: a project with settings, prompts, a repository
/// and tools, none of which changes, beside a project without any of them. Neither sends its tools, so that both send
/// the same bytes.
fn unchanged_files(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    const TOOLS: usize = 20;
    /// The difference is some tens of microseconds, so a median of many steps is taken.
    const WATCHED: usize = 4 * STEPS;
    let server = working(0);
    let (mut stocked, mut bare) = (subjects.place(&server), subjects.place(&server));
    stocked.write(".git/refs/heads/main", "");
    let commit =
        format!("{} {} t <t> 0 +0000\tcommit (initial): x\n", "0".repeat(40), "1".repeat(40));
    stocked.write(".git/logs/HEAD", commit);
    session(subjects, &stocked, &server, 0)?;
    for n in 0..TOOLS {
        let module = tool(&format!("Gives the number {n}."), Behaviour::Returns(&n.to_string()));
        stocked.write(&format!(".autocode/tools/tool{n:02}.wasm"), module);
        stocked.write(&format!(".autocode/tools/tool{n:02}.grants.json"), r#"{"timeout_s": 60}"#);
    }
    let again = working(0);
    stocked.use_url(&again.url());
    let offered = session(subjects, &stocked, &again, 0)?[0].tool_names().len();
    ensure!(offered == TOOLS + 1, "{offered} tools were offered instead of {}", TOOLS + 1);
    let again = working(0);
    bare.use_url(&again.url());
    session(subjects, &bare, &again, 0)?;
    for name in ["config.json", "prompt.md", "compact.md"] {
        std::fs::remove_file(bare.project().join(".autocode").join(name))?;
    }
    std::fs::remove_dir(bare.project().join(".autocode/tools"))?;

    let sample = |env: &mut TestEnv| {
        let server = working(WATCHED);
        env.use_url(&server.url()).set("AUTOCODE_EXTRA_BODY", r#"{"tools": null}"#);
        Ok(median(&step_times(&session(subjects, env, &server, WATCHED)?)))
    };
    let contestants = vec![
        Contestant::new("autocode", || sample(&mut stocked)),
        Contestant::new("without them", || sample(&mut bare)),
    ];
    let samples = in_turns(effort.rounds, contestants)?;
    let what = format!("own time a step, unchanged files and {TOOLS} tools");
    table.row(&what, Unit::Seconds, &samples, &[Goal::Ratio("without them", 1.05)]);
    Ok(())
}

/// Does a step late in a long session cost what an early one does?
fn long_session(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let steps = effort.long_session;
    let requests = run(subjects, steps)?;
    let times = step_times(&requests);
    let growth: Vec<f64> =
        requests.windows(2).map(|pair| (pair[1].length - pair[0].length) as f64).collect();
    let ends = |values: &[f64]| (median(&values[..100]), median(&values[values.len() - 100..]));
    let ((early, late), (early_bytes, late_bytes)) = (ends(&times), ends(&growth));
    let what = format!("{steps} steps: time of the last 100 to the first 100");
    table.single(&what, Unit::Times, late / early, &[Goal::AtMost(1.2)]);
    let what = format!("{steps} steps: bytes a step adds, last 100 to first 100");
    table.single(&what, Unit::Times, late_bytes / early_bytes, &[Goal::AtMost(1.2)]);
    Ok(())
}

/// A server that asks for `true` so many times, each reply serialised beforehand.
pub(crate) fn working(steps: usize) -> Server {
    let server = Server::start();
    for _ in 0..steps {
        server.reply(Reply::bash("true").ready());
    }
    server.reply(Reply::text("done").ready());
    server
}

fn run(subjects: &Subjects, steps: usize) -> Result<Vec<Arc<Request>>> {
    let server = working(steps);
    if steps > STEPS {
        server.forget_bodies();
    }
    session(subjects, &subjects.place(&server), &server, steps)
}

/// One run in this project; the requests it made.
fn session(
    subjects: &Subjects,
    env: &TestEnv,
    server: &Server,
    steps: usize,
) -> Result<Vec<Arc<Request>>> {
    let mut command = env.program(&subjects.autocode);
    command.args(["-p", "go"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status()?;
    let requests = server.requests();
    ensure!(
        status.success() && requests.len() == steps + 1,
        "{status} after {} requests",
        requests.len()
    );
    Ok(requests)
}

/// The steps' times, by the server's clock.
fn step_times(requests: &[Arc<Request>]) -> Vec<f64> {
    requests.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect()
}

/// From the first request to the last, by the server's clock.
fn per_step(requests: &[Arc<Request>]) -> f64 {
    match requests {
        [first, .., last] => (last.at - first.at).as_secs_f64() / (requests.len() - 1) as f64,
        _ => f64::NAN,
    }
}
