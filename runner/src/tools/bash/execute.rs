//! One command from its start to its end: output read as it comes, time limit, interruption, what stays behind.
//!
//! Output comes through a pipe, not into a file: `>/dev/stderr` in a script would truncate a file and lose what was
//! printed before, a file has no bound, and a pipe makes a command wait that prints faster than we keep. The call ends
//! with the command, whoever else holds the pipe; that is told to the caller, who has somebody go on reading.

use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::super::process::{Child, GRACE, Signal, TICK, is_empty, signal_family};
use super::capture::{Capture, Live};

/// A command that ends before this is never shown live.
const FIRST_VIEW: Duration = Duration::from_millis(100);
/// Between two looks at a running command's output.
const NEXT_VIEW: Duration = Duration::from_millis(50);
/// How long the output of a command that has ended may still come, from processes that it did not wait for
/// (`>(process substitution)`).
const STRAGGLERS: Duration = Duration::from_millis(25);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// Killed after this time.
    TimedOut(Duration),
    /// Killed because the person interrupted.
    Cancelled,
}

impl End {
    fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Signal(signal),
            None => Self::Exit(status.code().unwrap_or_default()),
        }
    }
}

/// What a command runs under.
pub(super) struct Limits<'a> {
    pub(super) timeout: Duration,
    pub(super) cancel: &'a CancellationToken,
    pub(super) progress: &'a dyn Fn(&str),
}

/// What a command's output comes through.
pub(super) struct Pipe {
    reader: Receiver,
    /// Our own hold on the writing side while the command runs: without it the end of the output would wake us just
    /// before the end of the process does.
    writer: Option<PipeWriter>,
    buffer: Vec<u8>,
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let reader = Receiver::from_owned_fd(reader.into())?;
        Ok(Self { reader, writer: Some(writer), buffer: vec![0; 64 << 10] })
    }

    /// The side that the command writes into.
    pub(super) fn writer(&self) -> Option<&PipeWriter> {
        self.writer.as_ref()
    }

    /// The next piece of output; empty at its end.
    async fn read(&mut self) -> io::Result<&[u8]> {
        let length = self.reader.read(&mut self.buffer).await?;
        Ok(&self.buffer[..length])
    }

    /// A piece that is there already; `None` when there is none, empty at the end.
    fn read_now(&mut self) -> Option<&[u8]> {
        let read = || rustix::io::read(&self.reader, &mut self.buffer);
        let length = rustix::io::retry_on_intr(read).ok()?;
        Some(&self.buffer[..length])
    }

    /// Reads what is left when the command has ended, waiting for more until `until`. Returns the reading side if
    /// somebody still holds the other one.
    async fn drain(mut self, capture: &mut Capture<'_>, until: Instant) -> Option<OwnedFd> {
        self.writer = None;
        loop {
            match self.read_now() {
                Some([]) => return None,
                Some(piece) => capture.push(piece),
                None => match timeout_at(until, self.read()).await {
                    Ok(Ok([])) => return None,
                    Ok(Ok(piece)) => capture.push(piece),
                    Ok(Err(_)) | Err(_) => break,
                },
            }
            if Instant::now() > until {
                break;
            }
        }
        self.reader.into_blocking_fd().ok()
    }
}

/// Sees `child` to its end. The second value is the reading side of its output, if others still write to it.
pub(super) async fn execute(
    child: &mut Child,
    mut pipe: Pipe,
    capture: &mut Capture<'_>,
    limits: &Limits<'_>,
) -> io::Result<(End, Option<OwnedFd>)> {
    let end = attend(child, &mut pipe, capture, limits).await?;
    let patience = match end {
        End::Exit(_) | End::Signal(_) => STRAGGLERS,
        End::TimedOut(_) | End::Cancelled => Duration::ZERO,
    };
    let left = pipe.drain(capture, Instant::now() + patience).await;
    Ok((end, left))
}

async fn attend(
    child: &mut Child,
    pipe: &mut Pipe,
    capture: &mut Capture<'_>,
    limits: &Limits<'_>,
) -> io::Result<End> {
    let start = Instant::now();
    let deadline = start + limits.timeout;
    let mut live = Live::default();
    let mut view = pin!(sleep_until(deadline.min(start + FIRST_VIEW)));
    let mut cancelled = pin!(limits.cancel.cancelled());
    loop {
        tokio::select! {
            // In this order, so that a command which prints without end is still interrupted, and ends.
            biased;
            status = child.wait() => return Ok(End::of(status?)),
            () = &mut cancelled => {
                terminate(child).await;
                return Ok(End::Cancelled);
            }
            () = &mut view => {
                if Instant::now() >= deadline {
                    terminate(child).await;
                    return Ok(End::TimedOut(limits.timeout));
                }
                if let Some(piece) = live.take() {
                    (limits.progress)(&piece);
                }
                view.as_mut().reset(deadline.min(Instant::now() + NEXT_VIEW));
            }
            piece = pipe.read() => {
                let piece = piece?;
                live.push(piece);
                capture.push(piece);
            }
        }
    }
}

/// Ends the command and everything it started: asked first, made to after [`GRACE`].
async fn terminate(child: &mut Child) {
    for signal in [Signal::TERM, Signal::KILL] {
        // The child stays unreaped until all is over, so that its number stays its family's.
        signal_family(child.pid(), signal);
        let until = Instant::now() + GRACE;
        while !is_empty(child.pid()) && Instant::now() < until {
            sleep(TICK).await;
        }
    }
    let _ = timeout_at(Instant::now() + GRACE, child.wait()).await;
}
