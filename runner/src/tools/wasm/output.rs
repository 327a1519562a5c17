//! What a guest writes to stdout and stderr: stdout goes out line by line as progress, the end of stderr is kept for a
//! trap's report. Both are bounded whatever the guest writes, and a guest never waits for a reader.

use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

use super::broken::clip;
use super::host::Ask;

/// What is kept of stderr, in bytes.
const KEPT: usize = 4096;
/// Longest line shown as progress, in bytes.
pub(crate) const MAX_LINE: usize = 1000;
/// What a stream may hand over in one write.
const PERMIT: usize = 64 << 10;

/// Where one of a guest's streams ends; clones share it.
#[derive(Clone)]
pub(crate) struct Sink(Arc<Mutex<Kept>>);

struct Kept {
    bytes: Vec<u8>,
    /// Whole lines go here; without it, the end is kept.
    lines: Option<mpsc::Sender<Ask>>,
}

impl Sink {
    /// Keeps the end.
    pub fn end() -> Self {
        Self(Arc::new(Mutex::new(Kept { bytes: Vec::new(), lines: None })))
    }

    /// Shows each line.
    pub fn lines(asks: mpsc::Sender<Ask>) -> Self {
        Self(Arc::new(Mutex::new(Kept { bytes: Vec::new(), lines: Some(asks) })))
    }

    /// The last `count` lines kept, as text.
    pub fn last_lines(&self, count: usize) -> String {
        let kept = self.lock();
        let text = String::from_utf8_lossy(&kept.bytes);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(count)..].join("\n")
    }

    /// Shows what is left of an unfinished line.
    pub fn flush(&self) {
        let mut kept = self.lock();
        let rest = mem::take(&mut kept.bytes);
        if kept.lines.is_some() && !rest.is_empty() {
            kept.show(&rest);
        } else {
            kept.bytes = rest;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        if kept.lines.is_none() {
            kept.keep_end(bytes);
        } else {
            kept.split(bytes);
        }
    }
}

impl Kept {
    fn keep_end(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let excess = self.bytes.len().saturating_sub(KEPT);
        self.bytes.drain(..excess);
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let mut line = mem::take(&mut self.bytes);
            line.extend_from_slice(&rest[..end.min(MAX_LINE)]);
            self.show(&line);
            rest = &rest[end + 1..];
        }
        let room = MAX_LINE.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&rest[..rest.len().min(room)]);
    }

    fn show(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if let Some(asks) = &self.lines {
            // A full queue means that nobody can follow anyway: the line is left out.
            _ = asks.try_send(Ask::Progress(clip(&line, MAX_LINE).to_owned()));
        }
    }
}

impl IsTerminal for Sink {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Sink {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}

impl OutputStream for Sink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.take(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Sink {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(asks: &mut mpsc::Receiver<Ask>) -> Vec<String> {
        std::iter::from_fn(|| asks.try_recv().ok())
            .filter_map(|ask| match ask {
                Ask::Progress(line) => Some(line),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn stdout_comes_out_in_lines_however_it_is_written() {
        let (asks, mut shown_lines) = mpsc::channel(16);
        let sink = Sink::lines(asks);
        for piece in ["on", "e\ntwo\nth", "ree"] {
            sink.take(piece.as_bytes());
        }
        assert_eq!(shown(&mut shown_lines), ["one", "two"]);
        sink.flush();
        assert_eq!(shown(&mut shown_lines), ["three"]);
    }

    #[test]
    fn the_end_of_stderr_is_kept_and_bounded() {
        let sink = Sink::end();
        for i in 0..10_000 {
            sink.take(format!("line {i}\n").as_bytes());
        }
        sink.take(&vec![b'x'; 3 * KEPT]);
        sink.take(b"\nlast but one\nlast \xff\n");
        assert_eq!(sink.last_lines(2), "last but one\nlast \u{fffd}");
        assert!(sink.lock().bytes.len() <= KEPT);
    }

    #[test]
    fn an_endless_line_and_a_full_queue_cost_nothing() {
        let (asks, mut shown_lines) = mpsc::channel(2);
        let sink = Sink::lines(asks);
        for _ in 0..1000 {
            sink.take(&vec![b'y'; 10_000]);
        }
        assert!(sink.lock().bytes.len() <= MAX_LINE);
        for _ in 0..1000 {
            sink.take(b"z\n");
        }
        assert_eq!(shown(&mut shown_lines).len(), 2);
    }
}
