//! What goes wrong, and what a person gets to read.

use std::io::Write;

use super::*;
use crate::model::reading::Watch;

/// Short only where silence is what the test is about: a busy machine is silent at times too.
fn timeout(end: &Step) -> Duration {
    match end {
        Step::Stall => Duration::from_millis(50),
        _ => Settings::default().timeout,
    }
}

#[test]
fn failures_that_can_pass_are_tried_again_and_bounded() {
    for status in ["408 x", "409 x", "429 x", "500 x", "502 x", "503 x", "529 x"] {
        run(async {
            let (events, result, server) = ask(vec![
                answer(status, "", "{\"error\":{\"message\":\"busy\"}}"),
                chunked(&[HI, STOP]),
            ])
            .await;
            assert_eq!(result.unwrap().message, hi(), "{status}");
            assert_eq!(retries(&events).len(), 1);
            assert_eq!(server.asked()[0].body, server.asked()[1].body);

            let (events, result, server) = ask(vec![answer(status, "", "busy")]).await;
            let code = &status[..3];
            let expected = format!(
                "HTTP {code} from http://127.0.0.1:{}: busy; gave up after 6 attempts",
                server.port
            );
            assert_eq!(result.unwrap_err().to_string(), expected);
            assert_eq!(server.asked().len(), 6);
            // Nothing is waited for after the last attempt.
            assert_eq!(retries(&events).len(), 5);
        });
    }
}

#[test]
fn other_refusals_get_exactly_one_attempt() {
    for (status, body) in [
        ("400 x", "bad"),
        ("401 x", "Incorrect API key provided"),
        ("402 x", "Insufficient Balance"),
        ("403 x", "no"),
        ("404 x", "model not found"),
        ("405 x", "no"),
        ("422 x", "no"),
        ("429 x", "{\"error\":{\"code\":\"insufficient_quota\"}}"),
    ] {
        run(async {
            let (events, result, server) = ask(vec![answer(status, "", body)]).await;
            let refused =
                matches!(result, Err(ModelError::Rejected(_) | ModelError::Unauthorized(_)));
            assert!(refused, "{status}: {result:?}");
            assert_eq!((server.asked().len(), events.len()), (1, 0), "{status}");
        });
    }
}

#[test]
fn the_wait_that_a_server_asks_for_is_shown_and_an_absurd_one_is_an_error() {
    run(async {
        let answers = vec![answer("429 x", "retry-after-ms: 2\r\n", ""), chunked(&[HI, STOP])];
        let (events, result, _) = ask(answers).await;
        result.unwrap();
        let ModelEvent::Retry { wait, .. } = &events[0] else { panic!("{events:?}") };
        assert_eq!(*wait, Duration::from_millis(2));

        let (_, result, server) = ask(vec![answer("503 x", "Retry-After: 86400\r\n", "")]).await;
        let error = result.unwrap_err().to_string();
        assert!(error.ends_with("the server asks to wait 24 hours, which is too long"), "{error}");
        assert_eq!(server.asked().len(), 1);
    });
}

#[test]
fn a_reply_that_breaks_anywhere_is_asked_for_again() {
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"bash\",\"arguments\":\"{\\\"command\\\":\"}}]}}]}\n\n";
    let thought = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    for end in [Step::Close, Step::Reset, Step::Stall] {
        for begun in ["", ": ping\n\n", &HI[..9], HI, call, thought] {
            run(async {
                let broken = vec![stream_head(), Step::Bytes(begun.into()), end.clone()];
                let server = Server::start(vec![broken, chunked(&[HI, STOP])]).await;
                let settings = Settings { timeout: timeout(&end), ..settings(server.url()) };
                let (events, result) = ask_with(&model(), &settings).await;
                assert_eq!(result.unwrap().message, hi());
                let retry = |event: &ModelEvent| matches!(event, ModelEvent::Retry { .. });
                let at = events.iter().rposition(retry).unwrap();
                assert_eq!(events[at + 1..], [ModelEvent::Text("Hi".to_owned())]);
            });
        }
    }
}

#[test]
fn a_connection_that_breaks_before_an_answer_is_tried_again() {
    for broken in [
        vec![Step::Close],
        vec![Step::Reset],
        vec![Step::Bytes(b"HTTP/1.1 20".to_vec()), Step::Close],
    ] {
        run(async {
            let (events, result, server) = ask(vec![broken, chunked(&[HI, STOP])]).await;
            assert_eq!(result.unwrap().message, hi());
            let cut = format!("the connection to http://127.0.0.1:{} was cut", server.port);
            assert_eq!(retries(&events), [(cut.as_str(), 1)]);
        });
    }
}

#[test]
fn a_whole_reply_survives_whatever_comes_after_it() {
    let finish = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    for end in [Step::Close, Step::Reset, Step::Stall] {
        run(async {
            let seen = CancellationToken::new();
            let whole = Step::Bytes([HI, finish].concat().into());
            let steps = vec![stream_head(), whole, Step::Await(seen.clone()), end.clone()];
            let server = Server::start(vec![steps]).await;
            let settings = Settings { timeout: timeout(&end), ..settings(server.url()) };
            let cancel = CancellationToken::new();
            let mut on_event = |_| seen.cancel();
            let result = model().complete(request(&settings), &cancel, &mut on_event).await;
            assert_eq!(result.unwrap().message, hi());
            if !matches!(end, Step::Stall) {
                assert_eq!(server.asked().len(), 1);
            }
        });
    }
}

#[test]
fn an_error_inside_the_stream_has_its_class() {
    let error = |json: Value| format!("data: {}\n\n", json!({"error": json}));
    run(async {
        let busy = error(json!({"code": 503, "message": "overloaded"}));
        let (events, result, _) = ask(vec![chunked(&[HI, &busy]), chunked(&[HI, STOP])]).await;
        result.unwrap();
        assert!(retries(&events)[0].0.ends_with(": overloaded"), "{events:?}");

        let full = "event: error\ndata: {\"error\":{\"message\":\"Input does not fit in context length. It has 31430 tokens\"}}\n\n";
        let (_, result, server) = ask(vec![chunked(&[full])]).await;
        assert!(matches!(result, Err(ModelError::ContextFull(_))), "{result:?}");
        assert_eq!(server.asked().len(), 1);
    });
}

#[test]
fn errors_that_the_agent_acts_on_are_told_apart() {
    run(async {
        let full = "{\"error\":{\"message\":\"the request exceeds the available context size\",\"type\":\"exceed_context_size_error\"}}";
        for answers in
            [answer("400 x", "", full), answer("413 x", "", ""), answer("200 OK", "", full)]
        {
            let (_, result, server) = ask(vec![answers]).await;
            assert!(matches!(result, Err(ModelError::ContextFull(_))), "{result:?}");
            assert_eq!(server.asked().len(), 1);
        }
        let (_, result, _) = ask(vec![answer(
            "400 x",
            "",
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
        )])
        .await;
        assert!(matches!(result, Err(ModelError::NeedsReasoning(_))), "{result:?}");
    });
}

#[test]
fn cancelling_ends_every_wait_at_once() {
    let token = CancellationToken::new;
    let interrupted = |steps: fn(CancellationToken) -> Vec<Step>| {
        run(async {
            let cancel = token();
            let server = Server::start(vec![steps(cancel.clone())]).await;
            let settings = settings(server.url());
            let model = HttpModel::new(&Env::at("/"));
            let ended = model.complete(request(&settings), &cancel, &mut |_| ()).await;
            assert!(matches!(ended, Err(ModelError::Cancelled)), "{ended:?}");
        });
    };
    // Before the headers, in the body, in the body of an error.
    interrupted(|cancel| vec![Step::Cancel(cancel), Step::Stall]);
    interrupted(|cancel| {
        vec![stream_head(), Step::Bytes(HI.into()), Step::Cancel(cancel), Step::Stall]
    });
    interrupted(|cancel| {
        vec![Step::Bytes(b"HTTP/1.1 500 x\r\n\r\nx".to_vec()), Step::Cancel(cancel), Step::Stall]
    });
    // While the next attempt is waited for.
    run(async {
        let server = Server::start(vec![answer("503 x", "retry-after: 200\r\n", "")]).await;
        let (cancel, settings) = (token(), settings(server.url()));
        let mut on_event = |_| cancel.cancel();
        let ended = model().complete(request(&settings), &cancel, &mut on_event).await;
        assert!(matches!(ended, Err(ModelError::Cancelled)), "{ended:?}");
    });
    // Before anything.
    run(async {
        let cancel = token();
        cancel.cancel();
        let settings = settings("http://127.0.0.1:1".to_owned());
        let ended = model().complete(request(&settings), &cancel, &mut |_| ()).await;
        assert!(matches!(ended, Err(ModelError::Cancelled)), "{ended:?}");
    });
}

#[test]
fn any_byte_is_life_and_silence_is_not() {
    run(async {
        let cancel = CancellationToken::new();
        let limit = Duration::from_millis(20);
        let mut watch = Watch::new(&cancel, limit);
        for _ in 0..3 {
            // Longer in all than the limit; one that is late together with the limit still counts.
            assert!(watch.wait(limit, tokio::time::sleep(limit * 3 / 4)).await.is_ok());
        }
        assert!(watch.wait(limit, std::future::pending::<()>()).await.is_err());

        let server = Server::start(vec![vec![Step::Stall]]).await;
        let settings = Settings { timeout: limit, ..settings(server.url()) };
        let error = ask_with(&model(), &settings).await.1.unwrap_err().to_string();
        let expected = format!(
            "http://127.0.0.1:{} sent nothing for 0.02 s (`timeout`); gave up after 6 attempts",
            server.port
        );
        assert_eq!(error, expected);
    });
}

#[test]
fn bad_answers_are_one_clear_line() {
    run(async {
        let said = |answers| async { ask(answers).await.1.unwrap_err().to_string() };
        let page = "<!DOCTYPE html>\n<html><head><title>Open\nWebUI</title></head>";
        let error = said(vec![answer("200 OK", "content-type: text/html\r\n", page)]).await;
        assert!(
            error.contains("answered with a web page, \"Open WebUI\", in place of JSON"),
            "{error}"
        );
        let error =
            said(vec![answer("200 OK", "content-type: application/json\r\n", "{\"choices\": [{")])
                .await;
        assert!(
            error.contains("sent something that is not JSON: {\"choices\": [{; gave up after 3"),
            "{error}"
        );
        let error = said(vec![answer("301 x", "location: https://h/v1\r\n", "")]).await;
        assert!(error.contains("redirects to https://h/v1 (set `base_url`"), "{error}");
        let error =
            said(vec![vec![Step::Bytes(b"\x15\x03\x01\x00\x02\x02\x16".to_vec()), Step::Close]])
                .await;
        assert!(error.contains("does not answer in HTTP"), "{error}");
    });
}

#[test]
fn a_server_that_is_not_there_is_named() {
    run(async {
        let port = Server::start(vec![]).await.port;
        // The port of a listener that is gone.
        let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = gone.local_addr().unwrap().port();
        drop(gone);
        assert_ne!(port, refused);
        let (events, result) =
            ask_with(&model(), &settings(format!("http://127.0.0.1:{refused}/v1"))).await;
        let reason = format!(
            "http://127.0.0.1:{refused} refuses the connection (is the server running, and `base_url` right?)"
        );
        let attempts: Vec<_> = (1..=5).map(|attempt| (reason.as_str(), attempt)).collect();
        assert_eq!(retries(&events), attempts);
        assert_eq!(result.unwrap_err().to_string(), format!("{reason}; gave up after 6 attempts"));
    });
}

#[test]
fn tls_to_a_server_without_it_is_said_at_once() {
    run(async {
        let server = Server::start(vec![answer("400 x", "", "")]).await;
        // A server that talks first, as one does that gets bytes it cannot read.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let talking = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        });
        let (events, result) =
            ask_with(&model(), &settings(format!("https://127.0.0.1:{port}/v1"))).await;
        talking.join().unwrap();
        let expected = "127.0.0.1 does not speak TLS (is `base_url` meant to begin with http://?)";
        assert_eq!(result.unwrap_err().to_string(), expected);
        assert_eq!((events.len(), server.asked().len()), (0, 0));
    });
}

#[test]
fn a_certificate_that_nobody_signed_is_refused_at_once() {
    // For localhost, signed by its own key; never trusted by anyone.
    let cert = include_bytes!("../self-signed.cert.der").to_vec();
    let key = include_bytes!("../self-signed.key.der").to_vec();
    let key = rustls::pki_types::PrivateKeyDer::try_from(key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.into()], key)
        .unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        while connection.is_handshaking() && connection.complete_io(&mut stream).is_ok() {}
    });
    let (events, result) =
        run(async { ask_with(&model(), &settings(format!("https://localhost:{port}/v1"))).await });
    serving.join().unwrap();
    assert_eq!(events, []);
    let error = result.unwrap_err().to_string();
    // Where a system has no root certificates at all, that is what is said.
    assert!(
        error.starts_with("the TLS certificate of localhost is not trusted: ")
            || error.starts_with("no root certificates on this system"),
        "{error}"
    );
}
