//! The least a step can cost: the same bytes over a bare socket, and `bash -c true` by `posix_spawn`, its output into
//! a file that is read back. Nothing is parsed, kept or shown.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Result, ensure};
use autocode_tests::{Request, Server};

/// Plays the recorded requests against the server, a command after each but the last; seconds a step.
pub(crate) fn seconds_per_step(server: &Server, requests: &[Arc<Request>]) -> Result<f64> {
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_nodelay(true)?;
    let mut output = tempfile::tempfile()?;
    let mut buffer = vec![0; 64 * 1024];
    let bodies: Vec<Vec<u8>> = requests.iter().map(|request| wire(&request.raw)).collect();
    let (last, steps) = match bodies.split_last() {
        Some(parts) => parts,
        None => anyhow::bail!("no requests to play"),
    };
    let mut begun = None;
    for body in steps {
        exchange(&mut stream, body, &mut buffer)?;
        begun.get_or_insert_with(Instant::now);
        command(&mut output)?;
    }
    exchange(&mut stream, last, &mut buffer)?;
    let elapsed = begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
    Ok(elapsed / steps.len().max(1) as f64)
}

fn wire(body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Sends a request and reads the reply to the end of its chunked body.
fn exchange(stream: &mut TcpStream, request: &[u8], buffer: &mut [u8]) -> Result<()> {
    stream.write_all(request)?;
    let mut end = [0u8; 5];
    loop {
        let got = stream.read(buffer)?;
        ensure!(got > 0, "the server closed the connection");
        let kept = got.min(5);
        end.rotate_left(kept);
        end[5 - kept..].copy_from_slice(&buffer[got - kept..got]);
        if end == *b"0\r\n\r\n" {
            return Ok(());
        }
    }
}

/// Without a `pre_exec` hook the standard library spawns by `posix_spawn`.
fn command(output: &mut File) -> Result<()> {
    output.rewind()?;
    output.set_len(0)?;
    let status = Command::new("bash")
        .args(["-c", "true"])
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output.try_clone()?)
        .status()?;
    ensure!(status.success(), "bash failed");
    let mut text = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut text)?;
    Ok(())
}
