//! The server, spoken to over a bare socket.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::*;

/// A client that knows only what it needs: one request, what came back, split as the server framed it.
struct Client(TcpStream);

#[derive(Debug, Default)]
struct Answer {
    status: u16,
    head: String,
    /// One entry a chunk of the transfer coding, or the whole body.
    pieces: Vec<Vec<u8>>,
    /// The end of the body was told.
    whole: bool,
}

impl Answer {
    fn body(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body()).unwrap()
    }

    /// The JSON of each event but the last.
    fn chunks(&self) -> Vec<Value> {
        self.text()
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .filter(|data| *data != "[DONE]")
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    fn said(&self) -> String {
        let chunks = self.chunks();
        chunks.iter().filter_map(|c| c["choices"][0]["delta"]["content"].as_str()).collect()
    }
}

impl Client {
    fn of(server: &Server) -> Self {
        Self(TcpStream::connect(server.address()).unwrap())
    }

    fn post(&mut self, body: &str) -> Answer {
        let length = body.len();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
        );
        self.0.write_all(format!("{head}{body}").as_bytes()).unwrap();
        self.read()
    }

    fn read(&mut self) -> Answer {
        let mut answer = Answer::default();
        while !answer.head.ends_with("\r\n\r\n") {
            let Some(byte) = self.byte() else {
                return answer;
            };
            answer.head.push(char::from(byte));
        }
        answer.status = answer.head[9..12].parse().unwrap();
        if answer.head.contains("chunked") {
            self.read_chunks(&mut answer);
        } else if let Some((_, rest)) = answer.head.split_once("Content-Length: ") {
            let length: usize = rest.split_once("\r\n").unwrap().0.parse().unwrap();
            let body: Vec<u8> = std::iter::from_fn(|| self.byte()).take(length).collect();
            answer.whole = body.len() == length;
            answer.pieces = vec![body];
        } else {
            answer.pieces = vec![std::iter::from_fn(|| self.byte()).collect()];
        }
        answer
    }

    fn read_chunks(&mut self, answer: &mut Answer) {
        loop {
            let mut line = String::new();
            while !line.ends_with("\r\n") {
                let Some(byte) = self.byte() else { return };
                line.push(char::from(byte));
            }
            let size = usize::from_str_radix(line.trim(), 16).unwrap();
            let mut chunk: Vec<u8> = std::iter::from_fn(|| self.byte()).take(size + 2).collect();
            chunk.truncate(size);
            if size == 0 {
                answer.whole = true;
                return;
            }
            answer.pieces.push(chunk);
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        matches!(self.0.read(&mut byte), Ok(1)).then_some(byte[0])
    }
}

fn ask(server: &Server) -> Answer {
    Client::of(server).post(r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#)
}

#[test]
fn replies_come_in_order_over_one_connection_and_requests_are_kept() {
    let server = Server::start();
    server.reply(Reply::text("Hello there")).reply(Reply::bash("ls"));
    let mut client = Client::of(&server);

    let first = client.post(r#"{"model":"a"}"#);
    let second = client.post(r#"{"model":"b"}"#);

    assert_eq!((first.status, first.said().as_str(), first.whole), (200, "Hello there", true));
    assert!(first.text().ends_with("data: [DONE]\n\n"));
    assert!(second.text().contains(r#""name":"bash""#));
    assert_eq!(server.connections(), 1);
    let bodies: Vec<Value> = server.requests().iter().map(|r| r.body()).collect();
    assert_eq!(bodies, [json!({ "model": "a" }), json!({ "model": "b" })]);
}

#[test]
fn a_request_beyond_the_script_is_told_so_and_not_kept_waiting() {
    let server = Server::start();
    let answer = ask(&server);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("the script has no reply for request 1"));
}

#[test]
fn a_responder_answers_from_what_it_was_asked() {
    let server = Server::start();
    server
        .respond(|request| Reply::text(request.body()["messages"][0]["content"].as_str().unwrap()));
    assert_eq!(ask(&server).said(), "hi");
}

#[test]
fn a_reply_can_be_split_at_every_byte() {
    let server = Server::start();
    server.reply(Reply::text("né 漢").chunked(1));
    let answer = ask(&server);
    assert!(answer.pieces.iter().all(|piece| piece.len() == 1));
    assert_eq!(answer.said(), "né 漢");
}

#[test]
fn every_call_shape_spells_the_same_arguments() {
    use CallShape::*;
    for shape in
        [Indexed, Whole, IdOnly, FirstIdOnly, NoId, EmptyLater, Repeated, Bytewise, Interleaved]
    {
        let server = Server::start();
        let reply = Reply::call("bash", json!({ "command": "echo 'ü'" }));
        server.reply(reply.and_call("add", json!({ "a": 1 })).shape(shape));
        let chunks = ask(&server).chunks();
        let entries: Vec<&Value> = chunks
            .iter()
            .filter_map(|chunk| {
                chunk["choices"][0]["delta"]["tool_calls"][0].as_object().map(|_| chunk)
            })
            .map(|chunk| &chunk["choices"][0]["delta"]["tool_calls"][0])
            .collect();
        let spelled: String =
            entries.iter().filter_map(|entry| entry["function"]["arguments"].as_str()).collect();
        let mut letters: Vec<char> = spelled.chars().collect();
        let mut expected: Vec<char> = r#"{"command":"echo 'ü'"}{"a":1}"#.chars().collect();
        if shape == Interleaved {
            letters.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(letters, expected, "{shape:?}");
        let ids =
            entries.iter().filter(|e| e["id"].as_str().is_some_and(|id| !id.is_empty())).count();
        let indexes = entries.iter().filter(|e| e["index"].is_u64()).count();
        match shape {
            NoId => assert_eq!((ids, indexes), (0, entries.len())),
            IdOnly => assert_eq!((ids, indexes), (entries.len(), 0)),
            FirstIdOnly => assert_eq!((ids, indexes), (2, 0)),
            Repeated => assert_eq!((ids, indexes), (entries.len(), entries.len())),
            _ => assert_eq!((ids, indexes), (2, entries.len()), "{shape:?}"),
        }
    }
}

#[test]
fn a_plain_reply_holds_what_the_stream_would() {
    let server = Server::start();
    let reply = Reply::bash("ls").saying("Looking.").thinking(ReasoningField::Content, "hm");
    server.reply(reply.plain().usage(7, 3));
    let body: Value = serde_json::from_str(&ask(&server).text()).unwrap();
    let message = &body["choices"][0]["message"];
    assert_eq!(message["content"], "Looking.");
    assert_eq!(message["reasoning_content"], "hm");
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"command":"ls"}"#);
    assert_eq!(body["usage"]["total_tokens"], 10);
}

#[test]
fn faults_strike_in_the_part_they_are_said_to() {
    let reply =
        || Reply::bash("ls -l").saying("One two three").thinking(ReasoningField::Plain, "hm so");
    let at = |spot| {
        let server = Server::start();
        server.reply(reply().fault(spot, Fault::Cut));
        let answer = ask(&server);
        assert!(!answer.whole);
        answer
    };
    assert_eq!(at(Spot::BeforeHeaders).head, "");
    assert_eq!((at(Spot::BeforeBody).status, at(Spot::BeforeBody).body()), (200, Vec::new()));
    let thinking = at(Spot::InReasoning).text();
    assert!(thinking.contains("\"reasoning\":\"hm \"") && !thinking.contains("content\":\"One"));
    let text = at(Spot::InText).text();
    assert!(text.contains("One ") && !text.contains("three"));
    let arguments = at(Spot::InArguments).text();
    assert!(
        arguments.contains("tool_calls") && !arguments.contains("finish_reason\":\"tool_calls")
    );
    let done = at(Spot::BeforeDone).text();
    assert!(done.contains("finish_reason\":\"tool_calls") && !done.contains("[DONE]"));
}

#[test]
fn an_end_is_clean_and_an_insert_goes_on() {
    let server = Server::start();
    server.reply(Reply::text("One two").fault(Spot::InText, Fault::End));
    server.reply(Reply::text("One two").fault(Spot::BeforeDone, Fault::Insert(b"<html>".to_vec())));
    let ended = ask(&server);
    assert!(ended.whole && !ended.text().contains("[DONE]"));
    let inserted = ask(&server);
    assert!(inserted.whole && inserted.text().ends_with("<html>data: [DONE]\n\n"));
}

#[test]
fn a_reset_is_an_error_to_the_reader() {
    let server = Server::start();
    server.reply(Reply::reset());
    let mut client = Client::of(&server);
    client.0.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n").unwrap();
    let error = client.0.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn a_held_reply_goes_on_when_its_gate_opens() {
    let server = Server::start();
    let gate = Gate::new();
    server.reply(Reply::text("One two").hold(Spot::InText, &gate));
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&server));
        gate.wait_until_reached();
        assert!(!asked.is_finished());
        gate.open();
        assert_eq!(asked.join().unwrap().said(), "One two");
    });
}

#[test]
fn a_stalled_reply_ends_when_the_client_leaves_or_the_server_stops() {
    let server = Server::start();
    server.reply(Reply::stall()).reply(Reply::text("next"));
    let mut client = Client::of(&server);
    client.0.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n\r\n").unwrap();
    server.wait_for_requests(1);
    assert_eq!(ask(&server).said(), "next");
    drop(server);
    assert_eq!(client.read().head, "");
}

#[test]
fn a_drip_loses_nothing() {
    let server = Server::start();
    server.reply(Reply::text("Hello").slow_drip(Duration::from_micros(10)));
    let answer = ask(&server);
    assert!(answer.whole && answer.pieces.iter().all(|piece| piece.len() == 1));
    assert_eq!(answer.said(), "Hello");
}

#[test]
fn status_headers_and_other_paths() {
    let server = Server::start();
    server.reply(Reply::error(429, "slow down").header("Retry-After", "1"));
    let answer = ask(&server);
    assert_eq!(answer.status, 429);
    assert!(answer.head.contains("Retry-After: 1\r\n"));

    let mut client = Client::of(&server);
    client.0.write_all(b"GET /v1/models HTTP/1.1\r\n\r\n").unwrap();
    assert!(client.read().text().contains("scripted"));
    assert_eq!((server.requests().len(), server.other_requests().len()), (1, 1));
}

#[test]
fn chunked_request_bodies_are_read() {
    let server = Server::start();
    server.reply(Reply::text("ok"));
    let mut client = Client::of(&server);
    let head = b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.0.write_all(head).unwrap();
    client.0.write_all(b"4\r\n{\"a\"\r\n3\r\n:1}\r\n0\r\n\r\n").unwrap();
    assert_eq!(client.read().said(), "ok");
    assert_eq!(server.single_request().body(), json!({ "a": 1 }));
}

#[test]
fn a_refusing_port_refuses_until_it_is_opened() {
    let refusing = Refusing::port();
    let address = refusing.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let error = TcpStream::connect(&address).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    let server = refusing.open();
    server.reply(Reply::text("here"));
    assert_eq!(ask(&server).said(), "here");
}
