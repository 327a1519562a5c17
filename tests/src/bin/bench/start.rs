//! From starting the process to its first request at the server.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use autocode_tests::{Reply, Server};

use crate::Effort;
use crate::rounds::{Contestant, in_turns};
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let server = answering();
    let env = subjects.place(&server);
    let ours = || {
        let mut command = env.program(&subjects.autocode);
        seconds_to_request(&server, command.args(["-p", "hi"]))
    };
    ours()?;
    let body = env.write("body.json", &server.requests()[0].raw);
    let (url, data) =
        (format!("{}/chat/completions", server.url()), format!("@{}", body.display()));
    let json = "Content-Type: application/json";

    let curl = subjects.curl.as_deref().map(|curl| {
        let (env, server, data, url) = (&env, &server, &data, &url);
        let theirs = move || {
            let mut command = env.program(curl);
            command.args(["-sSN", "-H", json, "--data-binary", data, url]);
            seconds_to_request(server, &mut command)
        };
        Contestant::new("curl", theirs)
    });
    let python = subjects.python.as_deref().map(|python| {
        let (env, server) = (&env, &server);
        let theirs = move || seconds_to_request(server, &mut python_command(env, python));
        Contestant::new("Python autocode", theirs)
    });
    let contestants = [Some(Contestant::new("autocode", ours)), curl, python];
    let samples = in_turns(effort.rounds, contestants.into_iter().flatten().collect())?;
    let goals = [Goal::Ratio("curl", 0.5), Goal::Ratio("Python autocode", 0.05)];
    table.row("start to first request", Unit::Seconds, &samples, &goals);
    Ok(())
}

/// A server that says one word to everyone.
pub(crate) fn answering() -> Server {
    let server = Server::start();
    let reply = Reply::text("ok").ready();
    server.respond(move |_| reply.clone());
    server
}

/// Runs the command to its end; how long its first request took to come.
pub(crate) fn seconds_to_request(server: &Server, command: &mut Command) -> Result<f64> {
    let before = server.requests().len();
    let begun = Instant::now();
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?.wait()?;
    ensure!(status.success(), "{} ended with {status}", command.get_program().display());
    let requests = server.requests();
    let request = requests.get(before).context("it asked nothing")?;
    Ok((request.at - begun).as_secs_f64())
}

/// The Python autocode on the same task, in a directory of its own.
pub(crate) fn python_command(env: &autocode_tests::TestEnv, python: &Path) -> Command {
    let dir = env.project().join("python");
    let _ = std::fs::create_dir_all(&dir); // a failure shows when the command starts there
    let mut command = env.program(python);
    command.args(["-p", "hi"]).current_dir(dir);
    command
}
