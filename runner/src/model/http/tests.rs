#![allow(clippy::unwrap_used)]

mod faults;
mod server;

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};

use self::server::{Server, Step, answer, chunked, header, stream_head};
use super::*;
use crate::model::message::{Assistant, ToolCall};
use crate::model::{Finish, ModelInfo};

const HI: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const STOP: &str =
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, test)
}

fn model() -> HttpModel {
    let policy = RetryPolicy { base: Duration::from_micros(100), ..RetryPolicy::default() };
    HttpModel::new(&Env::at("/")).with_policy(policy)
}

fn settings(base_url: String) -> Settings {
    Settings { base_url, model: "m".to_owned(), ..Settings::default() }
}

fn request(settings: &Settings) -> Request<'_> {
    Request {
        settings,
        system: "be brief",
        messages: Bytes::from_static(br#"{"role":"user","content":"hi"}"#),
        tools: Bytes::from_static(b"[]"),
        forbid_tools: false,
    }
}

type Outcome = (Vec<ModelEvent>, Result<Completion, ModelError>);

async fn ask_with(model: &HttpModel, settings: &Settings) -> Outcome {
    let mut events = Vec::new();
    let cancel = CancellationToken::new();
    let result = model.complete(request(settings), &cancel, &mut |event| events.push(event)).await;
    (events, result)
}

/// What a new model makes of these answers, and what it asked for.
async fn ask(answers: Vec<Vec<Step>>) -> (Vec<ModelEvent>, Result<Completion, ModelError>, Server) {
    let server = Server::start(answers).await;
    let (events, result) = ask_with(&model(), &settings(server.url())).await;
    (events, result, server)
}

fn hi() -> Assistant {
    Assistant { content: Some("Hi".to_owned()), ..Assistant::default() }
}

fn retries(events: &[ModelEvent]) -> Vec<(&str, u32)> {
    let retries = events.iter().filter_map(|event| match event {
        ModelEvent::Retry { reason, attempt, .. } => Some((reason.as_str(), *attempt)),
        _ => None,
    });
    retries.collect()
}

#[test]
fn a_request_has_a_length_and_nothing_that_was_not_asked_for() {
    run(async {
        let (events, result, server) = ask(vec![chunked(&[HI, STOP])]).await;
        assert_eq!(result.unwrap().message, hi());
        assert_eq!(events, [ModelEvent::Text("Hi".to_owned())]);
        let asked = &server.asked()[0];
        assert!(asked.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", asked.head);
        let value = |name| header(&asked.head, name);
        assert_eq!(value("content-length").unwrap(), asked.body.len().to_string());
        assert_eq!(value("content-type"), Some("application/json"));
        for absent in ["transfer-encoding", "authorization", "accept-encoding", "expect"] {
            assert_eq!(value(absent), None);
        }
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let fields: Vec<_> = body.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["model", "stream", "stream_options", "tools", "messages"]);
    });
}

#[test]
fn the_key_is_sent_and_the_persons_headers_win() {
    run(async {
        let server = Server::start(vec![chunked(&[HI, STOP])]).await;
        let model = model();
        let plain = Settings { api_key: " k \n".to_owned(), ..settings(server.url()) };
        ask_with(&model, &plain).await.1.unwrap();
        let headers = BTreeMap::from([
            ("Authorization".to_owned(), "Basic x".to_owned()),
            ("api-key".to_owned(), "y".to_owned()),
        ]);
        ask_with(&model, &Settings { headers, ..plain.clone() }).await.1.unwrap();
        let asked = server.asked();
        assert_eq!(header(&asked[0].head, "authorization"), Some("Bearer k"));
        assert_eq!(header(&asked[1].head, "authorization"), Some("Basic x"));
        assert_eq!(header(&asked[1].head, "api-key"), Some("y"));
        let bad = Settings { api_key: "a\nb".to_owned(), ..plain };
        let error = ask_with(&model, &bad).await.1.unwrap_err().to_string();
        assert_eq!(error, "`api_key` has a character that cannot be sent");
    });
}

#[test]
fn requests_share_one_connection() {
    run(async {
        let server = Server::start(vec![chunked(&[HI, STOP])]).await;
        let (model, settings) = (model(), settings(server.url()));
        for _ in 0..5 {
            ask_with(&model, &settings).await.1.unwrap();
            // What reads the end of the body aside gets its turn, as it does while a tool runs.
            tokio::task::yield_now().await;
        }
        assert!(server.asked().iter().all(|asked| asked.connection == 0), "{:?}", server.asked());
    });
}

#[test]
fn nothing_holds_the_conversation_once_the_reply_is_there() {
    run(async {
        let server = Server::start(vec![chunked(&[HI, STOP])]).await;
        let (model, settings) = (model(), settings(server.url()));
        let mut messages =
            Bytes::from(format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(500_000)));
        for _ in 0..3 {
            let asking = Request { messages: messages.clone(), ..request(&settings) };
            let cancel = CancellationToken::new();
            model.complete(asking, &cancel, &mut |_| {}).await.unwrap();
            // So it can grow in place: a step costs its own messages, not those of all before it.
            messages = messages.try_into_mut().unwrap().freeze();
        }
    });
}

#[test]
fn localhost_is_found_without_asking_anyone() {
    run(async {
        let server = Server::start(vec![chunked(&[HI, STOP])]).await;
        let settings = settings(format!("http://localhost:{}/v1", server.port));
        assert_eq!(ask_with(&model(), &settings).await.1.unwrap().message, hi());
    });
}

#[test]
fn a_proxy_is_used_but_not_for_loopback() {
    run(async {
        let proxy = Server::start(vec![chunked(&[HI, STOP])]).await;
        let server = Server::start(vec![chunked(&[HI, STOP])]).await;
        let env = Env::at("/").with("HTTP_PROXY", &format!("http://127.0.0.1:{}", proxy.port));
        let model = HttpModel::new(&env);
        ask_with(&model, &settings("http://model.invalid/v1".to_owned())).await.1.unwrap();
        let head = &proxy.asked()[0].head;
        assert!(head.starts_with("POST http://model.invalid/v1/chat/completions "), "{head}");
        ask_with(&model, &settings(server.url())).await.1.unwrap();
        assert_eq!((proxy.asked().len(), server.asked().len()), (1, 1));
    });
}

#[test]
fn plain_json_in_place_of_a_stream_is_a_reply_under_every_label() {
    let body = json!({
        "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    });
    for label in ["application/json", "text/event-stream", "text/plain"] {
        run(async {
            let headers = format!("content-type: {label}\r\n");
            let (events, result, _) =
                ask(vec![answer("200 OK", &headers, &body.to_string())]).await;
            let reply = result.unwrap();
            assert_eq!((reply.message, reply.usage.unwrap().completion), (hi(), 2));
            assert_eq!(events, [ModelEvent::Text("Hi".to_owned())]);
        });
    }
}

#[test]
fn a_stream_is_a_stream_under_every_label() {
    run(async {
        let answers = vec![answer(
            "200 OK",
            "content-type: application/json\r\n",
            &format!(": ok\n\n{HI}{STOP}"),
        )];
        assert_eq!(ask(answers).await.1.unwrap().message, hi());
    });
}

#[test]
fn a_field_that_the_server_refuses_is_dropped_for_the_session() {
    run(async {
        let refused = answer(
            "400 x",
            "",
            "{\"error\":{\"message\":\"Unknown parameter: 'stream_options'\",\"param\":\"stream_options\"}}",
        );
        let server = Server::start(vec![refused, chunked(&[HI, STOP])]).await;
        let (model, settings) = (model(), settings(server.url()));
        let (events, result) = ask_with(&model, &settings).await;
        assert_eq!(result.unwrap().message, hi());
        let note = "the server does not take `stream_options`; it is left out for this session";
        assert_eq!(events, [ModelEvent::Note(note.to_owned()), ModelEvent::Text("Hi".to_owned())]);
        ask_with(&model, &settings).await.1.unwrap();
        ask_with(&model, &Settings { model: "n".to_owned(), ..settings }).await.1.unwrap();
        let sent: Vec<_> =
            server.asked().iter().map(|asked| asked.body.contains("stream_options")).collect();
        assert_eq!(sent, [true, false, false, true]);
    });
}

#[test]
fn the_list_of_models_is_read() {
    run(async {
        let body = "{\"data\":[{\"id\":\"a\",\"context_length\":8192}]}";
        let server =
            Server::start(vec![answer("200 OK", "", body), answer("404 x", "", "no")]).await;
        let (model, settings) = (model(), settings(server.url()));
        let cancel = CancellationToken::new();
        let models = model.list_models(&settings, &cancel).await.unwrap();
        assert_eq!(models, [ModelInfo { id: "a".to_owned(), context_window: Some(8192) }]);
        assert!(server.asked()[0].head.starts_with("GET /v1/models HTTP/1.1\r\n"));
        let error = model.list_models(&settings, &cancel).await.unwrap_err().to_string();
        assert!(error.starts_with("HTTP 404 from "), "{error}");
    });
}

#[test]
fn captures_of_real_servers_give_the_same_over_a_socket() {
    let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
        eprintln!("left out: AUTOCODE_CORPUS is unset, captures of real servers are not replayed");
        return;
    };
    // The captures hold decoded bodies: the coding and the length of the original are taken out.
    let replay = |name: &str| {
        let text =
            std::fs::read_to_string(std::path::Path::new(&dir).join(format!("sse/{name}.txt")))
                .unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let kept = head.lines().filter(|line| {
            let line = line.to_ascii_lowercase();
            !line.starts_with("transfer-encoding")
                && !line.starts_with("content-length")
                && !line.starts_with("connection")
        });
        let head: Vec<_> = kept.collect();
        vec![Step::Bytes(format!("{}\r\n\r\n{body}", head.join("\r\n")).into()), Step::Close]
    };
    run(async {
        for (name, content) in [
            ("llamacpp-qwen-text", "Hello"),
            ("llamacpp-qwen-text-nostream", "Hello"),
            ("litellm-mock-usage", "Hello **there**, this is a mock."),
            ("litellm-mock-nostream", "Hello **there**, this is a mock."),
        ] {
            let (_, result, _) = ask(vec![replay(name)]).await;
            assert_eq!(result.unwrap().message.content.as_deref(), Some(content), "{name}");
        }
        let (_, result, _) = ask(vec![replay("llamacpp-qwenfence-tool-auto")]).await;
        let reply = result.unwrap();
        let expected =
            ToolCall::new("RGubU6ARsY9n8yWDlTxRjHx3894lE7Lg", "bash", "{\"command\": \"ls\"}");
        assert_eq!((reply.message.tool_calls, reply.finish), (vec![expected], Finish::ToolCalls));
        for name in ["llamacpp-qwen-overflow", "litellm-err-ctx"] {
            let (_, result, server) = ask(vec![replay(name)]).await;
            assert!(matches!(result, Err(ModelError::ContextFull(_))), "{name}: {result:?}");
            assert_eq!(server.asked().len(), 1);
        }
        for name in ["llamacpp-qwen-badjson", "litellm-err-badjson", "litellm-err-nomodel"] {
            let (_, result, server) = ask(vec![replay(name)]).await;
            assert!(matches!(result, Err(ModelError::Rejected(_))), "{name}: {result:?}");
            assert_eq!(server.asked().len(), 1);
        }
        let (_, result, server) = ask(vec![replay("litellm-err-500")]).await;
        assert!(matches!(result, Err(ModelError::Unreachable(_))), "{result:?}");
        assert_eq!(server.asked().len(), 6);
    });
}
