//! A long session resumed: from the start of the process to its first request, everything in it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use autocode_tests::{Server, TestEnv};
use serde_json::json;

use crate::Effort;
use crate::child::usage_of;
use crate::rounds::{Contestant, in_turns};
use crate::start::{answering, seconds_to_request};
use crate::subjects::Subjects;
use crate::table::{Goal, Table, Unit};

const ID: &str = "20200101-000000-long";

pub(crate) fn measure(subjects: &Subjects, effort: Effort, table: &mut Table) -> Result<()> {
    let server = answering();
    server.forget_bodies();
    let env = subjects.place(&server);
    let size = effort.transcript_mb * 1_000_000;
    let path = env.session_path(ID);
    let written = write_transcript(&env, &path, size);
    let resume = || {
        // What the last run appended goes away, so that every round reads the same.
        std::fs::OpenOptions::new()
            .write(true)
            .open(env.project().join(&path))?
            .set_len(written)?;
        let mut command = env.program(&subjects.autocode);
        command.args(["-r", ID, "-p", "hi"]);
        anyhow::Ok(command)
    };
    let samples = in_turns(
        effort.rounds.div_ceil(5),
        vec![
            Contestant::new("autocode", || seconds_to_request(&server, &mut resume()?)),
            Contestant::new("read and send", || read_and_send(&server, &env, &path)),
        ],
    )?;
    let sent = server.requests()[0].length as f64 / size as f64;
    ensure!(sent > 0.5, "only {:.0} % of the transcript was sent", sent * 100.0);
    let mb = effort.transcript_mb;
    let goal = mb as f64 / 100.0;
    table.row(
        &format!("resume of {mb} MB to first request"),
        Unit::Seconds,
        &samples,
        &[Goal::AtMost(goal)],
    );

    let peak = usage_of(&resume()?, None)?.peak_mib * 1.048_576 / mb as f64;
    table.single(
        &format!("resume of {mb} MB: peak memory to its size"),
        Unit::Times,
        peak,
        &[Goal::AtMost(3.0)],
    );
    Ok(())
}

/// Steps of some kilobytes each; the file's length.
fn write_transcript(env: &TestEnv, path: &str, size: usize) -> u64 {
    let output = "    let answer = compute(&input)?; // \"quoted\" and ünïcödé\n".repeat(100);
    let mut text = json!({ "role": "user", "content": "go" }).to_string() + "\n";
    let mut step = 0;
    while text.len() < size {
        let id = format!("call_{step}");
        let function = json!({ "name": "bash", "arguments": "{\"command\":\"cat main.rs\"}" });
        let call = json!({ "id": id, "type": "function", "function": function });
        text += &json!({ "role": "assistant", "content": null, "tool_calls": [call] }).to_string();
        text.push('\n');
        text += &json!({ "role": "tool", "tool_call_id": id, "content": output }).to_string();
        text.push('\n');
        step += 1;
    }
    text += &json!({ "role": "assistant", "content": "done" }).to_string();
    text.push('\n');
    env.write(path, &text);
    text.len() as u64
}

/// The least it can cost: the file into memory and as it is to the server.
fn read_and_send(server: &Server, env: &TestEnv, path: &str) -> Result<f64> {
    let before = server.requests().len();
    let begun = Instant::now();
    let bytes = std::fs::read(env.project().join(path))?;
    let mut stream = TcpStream::connect(server.address())?;
    let length = bytes.len();
    write!(stream, "POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {length}\r\n\r\n")?;
    stream.write_all(&bytes)?;
    ensure!(stream.read(&mut [0; 64])? > 0, "no reply");
    let requests = server.requests();
    Ok((requests.get(before).context("no request")?.at - begun).as_secs_f64())
}
