//! A server on loopback that answers each request with the next answer of a list, and keeps what it was asked.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

/// A step of an answer.
#[derive(Clone)]
pub enum Step {
    /// These bytes, at once.
    Bytes(Vec<u8>),
    /// Someone interrupts.
    Cancel(CancellationToken),
    /// A wait until the client has come this far.
    Await(CancellationToken),
    /// Nothing any more, with the connection open.
    Stall,
    /// The connection ends.
    Close,
    /// The connection breaks.
    Reset,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Number of the connection, from 0.
    pub connection: usize,
    /// Request line and headers, as sent.
    pub head: String,
    pub body: String,
}

#[derive(Clone)]
pub struct Server {
    pub port: u16,
    asked: Rc<RefCell<Vec<Asked>>>,
    answers: Rc<RefCell<VecDeque<Vec<Step>>>>,
}

impl Server {
    /// Begins to serve; the last answer is given again and again. Must be called inside a `LocalSet`.
    pub async fn start(answers: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            port: listener.local_addr().unwrap().port(),
            asked: Rc::default(),
            answers: Rc::new(RefCell::new(answers.into())),
        };
        let serving = server.clone();
        tokio::task::spawn_local(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::task::spawn_local(serving.clone().serve(stream, connection));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.borrow().clone()
    }

    async fn serve(self, mut stream: TcpStream, connection: usize) {
        let mut bytes = Vec::new();
        while let Some(asked) = read_request(&mut stream, &mut bytes, connection).await {
            self.asked.borrow_mut().push(asked);
            let answer = {
                let mut answers = self.answers.borrow_mut();
                let next =
                    if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                next.unwrap_or_default()
            };
            for step in answer {
                match step {
                    Step::Bytes(bytes) => {
                        if stream.write_all(&bytes).await.is_err() {
                            return;
                        }
                    }
                    Step::Cancel(token) => token.cancel(),
                    Step::Await(token) => token.cancelled().await,
                    Step::Stall => std::future::pending().await,
                    Step::Close => return,
                    Step::Reset => return stream.set_zero_linger().unwrap(),
                }
            }
        }
    }
}

async fn read_request(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    connection: usize,
) -> Option<Asked> {
    loop {
        if let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let length = header(&head, "content-length").map_or(0, |v| v.parse().unwrap());
            if bytes.len() >= end + 4 + length {
                let body = String::from_utf8(bytes[end + 4..end + 4 + length].to_vec()).unwrap();
                bytes.drain(..end + 4 + length);
                return Some(Asked { connection, head, body });
            }
        }
        if stream.read_buf(bytes).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

/// The value of a header.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// An answer with a length.
pub fn answer(status: &str, headers: &str, body: &str) -> Vec<Step> {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n{body}");
    vec![Step::Bytes(text.into_bytes())]
}

/// The head of a stream that ends with the connection.
pub fn stream_head() -> Step {
    Step::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec())
}

/// A whole chunked stream, one chunk a piece.
pub fn chunked(pieces: &[&str]) -> Vec<Step> {
    let mut text =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_owned();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        text.push_str(&format!("{:x}\r\n{piece}\r\n", piece.len()));
    }
    text.push_str("0\r\n\r\n");
    vec![Step::Bytes(text.into_bytes())]
}
