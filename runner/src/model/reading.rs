//! Reads an answer: a stream, a plain reply, an error, or something that is none of them.
//!
//! Invariants: any byte counts as life and `timeout` of silence as death; once a reply is whole, nothing that happens to
//! the connection can spoil it.

use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt;
use reqwest::Response;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use super::assemble::{Assembler, Broken};
use super::fault::{self, Endpoint, Fault};
use super::server_error::{ServerError, page_title};
use super::sse::Decoder;
use super::{Completion, ModelEvent};

/// Time for figures and `[DONE]` after the model gave its reason to stop. The reply is whole by then.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// Longest silence that can be asked for; more is for ever.
const LONGEST: Duration = Duration::from_secs(365 * 86_400);
/// Most bytes of an error's body that are read.
const MAX_ERROR: usize = 64 << 10;
/// Most bytes of a plain reply.
const MAX_PLAIN: usize = 64 << 20;

/// An answer that is being read.
pub(crate) struct Reading<'a, 'b> {
    pub at: &'a Endpoint<'a>,
    pub watch: &'a mut Watch<'b>,
    pub response: Response,
}

/// Why an answer with a good status gave no reply.
pub(crate) enum Unread {
    Fault(Fault),
    Refusal(Box<ServerError>),
}

impl From<Fault> for Unread {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Reading<'_, '_> {
    /// Reads a reply, by what it begins with: servers label plain JSON as a stream, and the other way round.
    pub async fn reply(
        mut self,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, Unread> {
        let mut start = Vec::new();
        while start.iter().all(u8::is_ascii_whitespace) {
            match self.next(self.at.settings.timeout).await? {
                Some(bytes) => start.extend_from_slice(&bytes),
                None => return Err(fault::of_reply(&Broken::Cut, self.at).into()),
            }
        }
        match start.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(b'{' | b'[') => self.plain(start, on_event).await,
            Some(b'<') => {
                let page = self.rest(start, MAX_ERROR).await?;
                Err(fault::of_page(&page_title(&String::from_utf8_lossy(&page)), self.at).into())
            }
            _ => self.stream(&start, on_event).await,
        }
    }

    async fn stream(
        mut self,
        start: &[u8],
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, Unread> {
        let (at, timeout) = (self.at, self.at.settings.timeout);
        let mut assembler = Assembler::default();
        let mut decoder = Decoder::default();
        let mut result = decoder.feed(start, &mut |event| assembler.push(&event, on_event));
        while result.is_ok() && !assembler.is_done() {
            let finished = assembler.is_finished();
            let limit = if finished { timeout.min(AFTERWARDS) } else { timeout };
            match self.next(limit).await {
                Ok(Some(bytes)) => {
                    result = decoder.feed(&bytes, &mut |event| assembler.push(&event, on_event));
                }
                Ok(None) => {
                    let last = decoder.finish(&mut |event| assembler.push(&event, on_event));
                    // Half a line is no JSON because it is half.
                    result = match last {
                        Err(Broken::Malformed(_)) => Ok(()),
                        last => last,
                    };
                    break;
                }
                // The reply is whole: whatever keeps the rest away does no harm.
                Err(Fault::Again { .. }) if finished => break,
                Err(fault) => return Err(fault.into()),
            }
        }
        let untouched = assembler.is_empty();
        match result.and_then(|()| assembler.finish(on_event)) {
            Ok(completion) => {
                self.drain();
                Ok(completion)
            }
            Err(Broken::Error(error)) if untouched => Err(Unread::Refusal(error)),
            Err(broken) => Err(fault::of_reply(&broken, at).into()),
        }
    }

    async fn plain(
        mut self,
        start: Vec<u8>,
        on_event: &mut dyn FnMut(ModelEvent),
    ) -> Result<Completion, Unread> {
        let bytes = self.rest(start, MAX_PLAIN).await?;
        let mut assembler = Assembler::default();
        let pushed = assembler.push_plain(&String::from_utf8_lossy(&bytes), on_event);
        match pushed.and_then(|()| assembler.finish(on_event)) {
            Ok(completion) => Ok(completion),
            Err(Broken::Error(error)) => Err(Unread::Refusal(error)),
            Err(broken) => Err(fault::of_reply(&broken, self.at).into()),
        }
    }

    /// The body of an answer with an error status. Whatever cuts it short, what came of it is told.
    pub async fn error_body(mut self) -> Result<Vec<u8>, Fault> {
        let mut body = Vec::new();
        while body.len() < MAX_ERROR {
            match self.next(self.at.settings.timeout.min(AFTERWARDS)).await {
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Err(Fault::Cancelled) => return Err(Fault::Cancelled),
                Ok(None) | Err(_) => break,
            }
        }
        body.truncate(MAX_ERROR);
        Ok(body)
    }

    /// The whole body, whatever it is.
    pub async fn all(mut self) -> Result<Vec<u8>, Fault> {
        self.rest(Vec::new(), MAX_PLAIN).await
    }

    async fn rest(&mut self, mut start: Vec<u8>, max: usize) -> Result<Vec<u8>, Fault> {
        while start.len() < max {
            match self.next(self.at.settings.timeout).await? {
                Some(bytes) => start.extend_from_slice(&bytes),
                None => break,
            }
        }
        Ok(start)
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self, limit: Duration) -> Result<Option<bytes::Bytes>, Fault> {
        let chunk = self.watch.wait(limit, self.response.chunk()).await;
        let chunk = chunk.map_err(|end| end.fault(limit, self.at))?;
        chunk.map_err(|error| fault::of_transport(&error, self.at))
    }

    /// Reads the end of the body aside, so that the connection can be used again.
    fn drain(mut self) {
        if !matches!(self.response.chunk().now_or_never(), Some(Ok(None) | Err(_))) {
            let mut response = self.response;
            tokio::spawn(tokio::time::timeout(AFTERWARDS, async move {
                while let Ok(Some(_)) = response.chunk().await {}
            }));
        }
    }
}

/// Waits for something, but not for ever, and not when the person interrupts.
pub(crate) struct Watch<'a> {
    cancelled: Pin<Box<WaitForCancellationFuture<'a>>>,
    silence: Pin<Box<Sleep>>,
}

/// What came in place of what was waited for.
pub(crate) enum End {
    Cancelled,
    Silence,
}

impl End {
    pub fn fault(self, limit: Duration, at: &Endpoint<'_>) -> Fault {
        match self {
            Self::Cancelled => Fault::Cancelled,
            Self::Silence => fault::of_silence(limit, at),
        }
    }
}

impl<'a> Watch<'a> {
    pub fn new(cancel: &'a CancellationToken, limit: Duration) -> Self {
        Self {
            cancelled: Box::pin(cancel.cancelled()),
            silence: Box::pin(tokio::time::sleep(limit.min(LONGEST))),
        }
    }

    pub async fn wait<T>(
        &mut self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Result<T, End> {
        self.silence.as_mut().reset(Instant::now() + limit.min(LONGEST));
        tokio::select! {
            biased;
            () = &mut self.cancelled => Err(End::Cancelled),
            result = future => Ok(result),
            () = &mut self.silence => Err(End::Silence),
        }
    }
}
