//! One client connection: requests in, replies out, one after the other, kept alive between them.
//!
//! HTTP/1.1 as far as clients of a model server use it: `Content-Length` and chunked bodies, `Expect: 100-continue`.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::delivery::Step;
use super::{Request, Shared};

/// Answers requests until the client leaves or a reply ends the connection.
pub(super) fn serve(stream: Arc<TcpStream>, shared: &Shared) {
    let mut connection = Connection { stream, buffer: Vec::with_capacity(2 * BLOCK), read: 0 };
    while let Ok(Some(request)) = connection.read_request() {
        let last =
            request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let reply = shared.answer(request);
        match connection.play(&reply.steps()) {
            Ok(true) if !last => {}
            _ => break,
        }
    }
}

/// Bytes asked of the socket at once.
const BLOCK: usize = 64 * 1024;

/// The first byte of a client that takes this for a TLS server (RFC 8446, 5.1).
const TLS_HANDSHAKE: u8 = 0x16;

struct Connection {
    /// The only strong reference there is while a reply is sent, so that leaving closes the socket.
    stream: Arc<TcpStream>,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that are used up.
    read: usize,
}

impl Connection {
    /// The next request; `None` when the client has closed the connection between two.
    fn read_request(&mut self) -> io::Result<Option<Request>> {
        self.buffer.drain(..self.read);
        self.read = 0;
        if self.buffer.is_empty() && self.fill()? > 0 && self.buffer[0] == TLS_HANDSHAKE {
            (&*self.stream).write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")?;
            return Ok(None);
        }
        let Some(end) = self.read_head()? else {
            return Ok(None);
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
        self.read = end + 4;
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or("").split(' ').map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut request = Request {
            number: 0,
            method,
            path,
            headers,
            raw: Vec::new(),
            length: 0,
            at: Instant::now(),
        };
        request.raw = self.read_body(&request)?;
        request.length = request.raw.len();
        request.at = Instant::now();
        Ok(Some(request))
    }

    /// Reads until the empty line; where the head ends.
    fn read_head(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let from = self.read + searched;
            if let Some(at) = find(&self.buffer[from..], b"\r\n\r\n") {
                return Ok(Some(from + at));
            }
            searched = (self.buffer.len() - self.read).saturating_sub(3);
            if self.fill()? == 0 {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }

    fn read_body(&mut self, request: &Request) -> io::Result<Vec<u8>> {
        if request.header("expect").is_some() {
            (&*self.stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        if request.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            return self.read_chunked();
        }
        let length =
            request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        self.take(length)
    }

    fn read_chunked(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.take_line()?;
            let size = line.split(';').next().unwrap_or("").trim();
            let size = usize::from_str_radix(size, 16)
                .map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
            if size == 0 {
                while !self.take_line()?.is_empty() {}
                return Ok(body);
            }
            body.append(&mut self.take(size)?);
            self.take_line()?;
        }
    }

    fn take_line(&mut self) -> io::Result<String> {
        loop {
            if let Some(at) = find(&self.buffer[self.read..], b"\r\n") {
                let line =
                    String::from_utf8_lossy(&self.buffer[self.read..self.read + at]).into_owned();
                self.read += at + 2;
                return Ok(line);
            }
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() - self.read < length {
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let taken = self.buffer[self.read..self.read + length].to_vec();
        self.read += length;
        Ok(taken)
    }

    fn fill(&mut self) -> io::Result<usize> {
        let end = self.buffer.len();
        self.buffer.resize(end + BLOCK, 0);
        let got = (&*self.stream).read(&mut self.buffer[end..]);
        self.buffer.truncate(end + *got.as_ref().unwrap_or(&0));
        got
    }

    /// Sends a reply; whether the connection may be used again.
    fn play(&mut self, steps: &[Step]) -> io::Result<bool> {
        for step in steps {
            match step {
                Step::Send(bytes) => (&*self.stream).write_all(bytes)?,
                Step::Pause(time) => std::thread::sleep(*time),
                Step::Hold(gate) => {
                    if !gate.pass() {
                        return Ok(false);
                    }
                }
                Step::Stall => {
                    while (&*self.stream).read(&mut [0; 1024])? > 0 {}
                    return Ok(false);
                }
                Step::Reset => {
                    // Closing with a linger time of zero sends RST instead of FIN.
                    rustix::net::sockopt::set_socket_linger(&*self.stream, Some(Duration::ZERO))?;
                    return Ok(false);
                }
                Step::Close => return Ok(false),
            }
        }
        Ok(true)
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}
