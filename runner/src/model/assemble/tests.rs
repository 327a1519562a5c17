#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::model::message::ToolCall;
use crate::model::sse::Decoder;

/// What came of a reply: the events (text joined), and the completion.
type Outcome = (String, String, Result<Completion, Broken>);

/// Runs the body of a streamed reply in pieces of `size` bytes.
fn stream(body: &[u8], size: usize) -> Outcome {
    let (mut words, mut thoughts) = (String::new(), String::new());
    let mut on_event = |event| match event {
        ModelEvent::Text(text) => words.push_str(&text),
        ModelEvent::Reasoning(text) => thoughts.push_str(&text),
        _ => {}
    };
    let mut assembler = Assembler::default();
    let mut decoder = Decoder::default();
    let mut run = || {
        for piece in body.chunks(size) {
            decoder.feed(piece, &mut |event| assembler.push(&event, &mut on_event))?;
        }
        decoder.finish(&mut |event| assembler.push(&event, &mut on_event))
    };
    let result = run();
    let result = result.and_then(|()| assembler.finish(&mut on_event));
    (words, thoughts, result)
}

/// The stream of `chunks`, closed by `[DONE]`.
fn body(chunks: &[Value]) -> String {
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn end(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn complete(chunks: &[Value]) -> Completion {
    stream(body(chunks).as_bytes(), usize::MAX).2.unwrap()
}

fn said(content: &str) -> Assistant {
    Assistant { content: Some(content.to_owned()), ..Assistant::default() }
}

#[test]
fn text_and_thinking_are_given_as_they_come_and_kept_in_their_field() {
    for field in ["reasoning_content", "reasoning", "reasoning_text"] {
        let chunks = [
            delta(json!({field: "a"})),
            delta(json!({field: "b"})),
            delta(json!({"content": "c"})),
            end("stop"),
        ];
        let (words, thoughts, result) = stream(body(&chunks).as_bytes(), 5);
        assert_eq!((words.as_str(), thoughts.as_str()), ("c", "ab"));
        let sent = serde_json::to_value(result.unwrap().message).unwrap();
        assert_eq!(sent, json!({"content": "c", field: "ab"}));
    }
}

#[test]
fn the_same_thought_in_two_fields_counts_once() {
    let reply =
        complete(&[delta(json!({"reasoning": "a", "reasoning_content": "a"})), end("stop")]);
    let expected = Reasoning { reasoning_content: Some("a".to_owned()), ..Reasoning::default() };
    assert_eq!(reply.message.reasoning, expected);
}

#[test]
fn think_tags_at_the_beginning_become_thinking() {
    let (words, thoughts, result) = stream(
        body(&[
            delta(json!({"content": "<thi"})),
            delta(json!({"content": "nk>\nhm</"})),
            delta(json!({"content": "think>\n\nHi <think>"})),
            end("stop"),
        ])
        .as_bytes(),
        3,
    );
    assert_eq!((words.as_str(), thoughts.as_str()), ("Hi <think>", "hm"));
    let message = result.unwrap().message;
    assert_eq!(message.content.as_deref(), Some("Hi <think>"));
    assert_eq!(message.reasoning.reasoning_content.as_deref(), Some("hm"));
}

#[test]
fn reasoning_details_are_merged_by_index_and_kept() {
    let detail = |json: Value| delta(json!({"reasoning_details": [json]}));
    let (_, thoughts, result) = stream(
        body(&[
            detail(json!({"type": "reasoning.text", "text": "a", "index": 0})),
            detail(json!({"type": "reasoning.text", "text": "b", "index": 0, "id": null})),
            detail(json!({"type": "reasoning.text", "signature": "s", "index": 0})),
            detail(json!({"type": "reasoning.encrypted", "data": "x", "index": 4_000_000_000_u64})),
            end("stop"),
        ])
        .as_bytes(),
        9,
    );
    assert_eq!(thoughts, "ab");
    let reasoning = result.unwrap().message.reasoning;
    assert_eq!(reasoning.reasoning.as_deref(), Some("ab"));
    assert_eq!(
        Value::Array(reasoning.reasoning_details),
        json!([
            {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
            {"type": "reasoning.encrypted", "data": "x", "index": 4_000_000_000_u64},
        ])
    );
}

#[test]
fn content_in_parts_is_read() {
    let parts = json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "Hi"}]);
    let reply = complete(&[delta(json!({"content": parts})), end("stop")]);
    assert_eq!(reply.message.content.as_deref(), Some("Hi"));
    assert_eq!(reply.message.reasoning.text(), Some("hm"));
}

#[test]
fn a_call_without_words_has_null_content_and_an_empty_reply_has_empty_content() {
    let call = delta(
        json!({"content": null, "tool_calls": [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": {"command": "ls"}}}]}),
    );
    let reply = complete(&[call, end("stop")]);
    let tool_calls = vec![ToolCall::new("a", "bash", r#"{"command":"ls"}"#)];
    assert_eq!(reply.message, Assistant { content: None, tool_calls, ..Assistant::default() });
    assert_eq!(reply.finish, Finish::ToolCalls);
    assert_eq!(complete(&[end("stop")]).message, said(""));
}

#[test]
fn the_call_of_the_time_before_tool_calls_is_read() {
    let reply = complete(&[
        delta(json!({"function_call": {"name": "bash", "arguments": ""}})),
        delta(json!({"function_call": {"arguments": "{\"command\":"}})),
        delta(json!({"function_call": {"arguments": "\"ls\"}"}})),
        end("function_call"),
    ]);
    assert_eq!(reply.message.tool_calls[0].function.arguments, r#"{"command":"ls"}"#);
    assert_eq!(reply.message.tool_calls[0].function.name, "bash");
}

#[test]
fn usage_is_found_wherever_it_is() {
    let counts = json!({"prompt_tokens": 9, "completion_tokens": 3});
    let expected = Some(Usage { prompt: 9, completion: 3, ..Usage::default() });
    let text = delta(json!({"content": "a"}));
    let cumulative =
        |n: u64| json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": n}});
    for chunks in [
        vec![text.clone(), end("stop"), json!({"choices": [], "usage": counts})],
        vec![
            text.clone(),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop", "usage": counts}]}),
        ],
        vec![
            cumulative(1),
            text.clone(),
            cumulative(2),
            end("stop"),
            cumulative(3),
            json!({"choices": [], "usage": null}),
        ],
        vec![
            text.clone(),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}], "x_groq": {"usage": counts}}),
        ],
        vec![
            json!({"usage": {"prompt_tokens": 9}}),
            text.clone(),
            end("stop"),
            json!({"usage": {"completion_tokens": 3}}),
        ],
    ] {
        assert_eq!(complete(&chunks).usage, expected, "{chunks:?}");
    }
    assert_eq!(complete(&[text, end("stop")]).usage, None);
}

#[test]
fn a_stream_that_ends_in_the_middle_is_no_reply() {
    let call = delta(
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": "{\"command\": \"rm -rf /tmp/x"}}]}),
    );
    for chunks in [vec![], vec![delta(json!({"content": "Half a"}))], vec![call]] {
        let text = body(&chunks);
        let cut = text.strip_suffix("data: [DONE]\n\n").unwrap();
        assert_eq!(stream(cut.as_bytes(), 7).2, Err(Broken::Cut));
    }
}

#[test]
fn every_cut_before_the_finish_reason_is_noticed() {
    let text = body(&[
        delta(json!({"content": "Hello"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "b", "arguments": "{}"}}]}),
        ),
        end("tool_calls"),
    ]);
    let whole = stream(text.as_bytes(), usize::MAX).2.unwrap();
    let finish_line = text.rfind("data: {").unwrap();
    let finished = finish_line + text[finish_line..].find('\n').unwrap();
    for at in 0..text.len() {
        match stream(&text.as_bytes()[..at], usize::MAX).2 {
            Ok(reply) => assert!(at >= finished && reply == whole, "cut at {at}"),
            // A line cut in half is no JSON; the caller knows that the stream ended there.
            Err(Broken::Cut | Broken::Malformed(_)) => assert!(at < text.len() - 2, "cut at {at}"),
            Err(other) => panic!("cut at {at}: {other:?}"),
        }
    }
}

#[test]
fn done_without_a_reason_and_a_reason_without_done_both_end_a_reply() {
    let reply = complete(&[delta(json!({"content": "Hi"}))]);
    assert_eq!((reply.message, reply.finish), (said("Hi"), Finish::Stop));
    let text = body(&[delta(json!({"content": "Hi"})), end("length")]);
    let cut = text.strip_suffix("data: [DONE]\n\n").unwrap();
    assert_eq!(stream(cut.as_bytes(), 9).2.unwrap().finish, Finish::Length);
}

#[test]
fn an_error_inside_the_stream_is_an_error() {
    for text in [
        "data: {\"error\":{\"message\":\"boom\",\"code\":502}}\n\n",
        "data: {\"id\":\"x\",\"error\":{\"message\":\"boom\",\"code\":\"502\"},\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\"}]}\n\n",
        "event: error\ndata: {\"message\":\"boom\",\"code\":502}\n\n",
        "error: {\"code\":502,\"message\":\"boom\",\"type\":\"server_error\"}\n\n",
        "data: {\"object\":\"error\",\"message\":\"boom\",\"code\":502}\n\n",
    ] {
        let Err(Broken::Error(error)) = stream(text.as_bytes(), 4).2 else { panic!("{text}") };
        assert_eq!((error.message.as_str(), error.status), ("boom", Some(502)), "{text}");
    }
    let Err(Broken::Error(error)) = stream(b"data: {\"error\":\"boom\"}\n\n", 4).2 else {
        panic!()
    };
    assert_eq!(error.message, "boom");
    let Err(Broken::Error(_)) = stream(body(&[end("error")]).as_bytes(), 4).2 else { panic!() };
}

#[test]
fn null_fields_and_strange_types_spoil_nothing() {
    let reply = complete(&[
        json!({"id": null, "choices": null, "usage": null, "error": null}),
        json!({"choices": [{"index": null, "delta": null, "finish_reason": ""}]}),
        json!({"choices": [{"delta": {"role": null, "content": null, "tool_calls": null, "reasoning": 7, "reasoning_details": {}, "function_call": null}}]}),
        json!({"choices": [{"delta": {"content": "Hi", "tool_calls": []}}], "usage": []}),
        json!({"choices": [{"index": 1, "delta": {"content": "another"}, "finish_reason": "stop"}]}),
        end("stop"),
    ]);
    assert_eq!(reply.message, said("Hi"));
}

#[test]
fn malformed_json_is_told() {
    let Err(Broken::Malformed(words)) = stream(b"data: {oops\n\ndata: [DONE]\n\n", 4).2 else {
        panic!()
    };
    assert_eq!(words, "{oops");
}

/// One capture: status, and the body without the transfer coding that the capture tool undid already.
fn capture(text: &[u8]) -> (u16, &[u8]) {
    let end = memchr::memmem::find(text, b"\r\n\r\n").unwrap();
    let status = std::str::from_utf8(&text[9..12]).unwrap().parse().unwrap();
    (status, &text[end + 4..])
}

fn captures() -> Option<PathBuf> {
    let Some(dir) = std::env::var_os("AUTOCODE_CORPUS") else {
        eprintln!("left out: AUTOCODE_CORPUS is unset, captures of real servers are not replayed");
        return None;
    };
    Some(PathBuf::from(dir).join("sse"))
}

#[test]
fn captures_of_real_servers_give_the_right_reply_at_every_chunk_size() {
    let Some(dir) = captures() else { return };
    let expected = [
        ("litellm-mock-nousage", "Hello **there**, this is a mock.", "", Finish::Stop, None),
        ("litellm-mock-usage", "Hello **there**, this is a mock.", "", Finish::Stop, Some((8, 9))),
        ("llamacpp-qwen-text", "Hello", "", Finish::Stop, Some((35, 2))),
        ("llamacpp-qwen-text-nousage", "Hello", "", Finish::Stop, None),
        ("llamacpp-qwenfence-tool-auto", "", "bash {\"command\": \"ls\"}", Finish::ToolCalls, None),
        (
            "llamacpp-qwenfence-tool-required",
            "",
            "bash {\"command\": \"ls\"}",
            Finish::ToolCalls,
            None,
        ),
    ];
    for (name, content, call, finish, usage) in expected {
        let bytes = std::fs::read(dir.join(format!("{name}.txt"))).unwrap();
        let (status, body) = capture(&bytes);
        assert_eq!(status, 200);
        for size in [1, 7, usize::MAX] {
            let (words, _, result) = stream(body, size);
            let reply = result.unwrap();
            assert_eq!(words, content, "{name}");
            assert_eq!(reply.message.content.unwrap_or_default(), content, "{name}");
            let calls = reply.message.tool_calls.iter();
            let calls: Vec<_> =
                calls.map(|c| format!("{} {}", c.function.name, c.function.arguments)).collect();
            assert_eq!(calls.join("\n"), call, "{name}");
            assert_eq!(reply.finish, finish, "{name}");
            if usage.is_some() || name.ends_with("nousage") {
                assert_eq!(reply.usage.map(|u| (u.prompt, u.completion)), usage, "{name}");
            }
        }
    }
}

#[test]
fn every_capture_of_a_stream_gives_the_same_reply_at_every_chunk_size() {
    let Some(dir) = captures() else { return };
    let mut streams = 0;
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        if !bytes.starts_with(b"HTTP/1.1 200") {
            continue;
        }
        let (_, body) = capture(&bytes);
        if !body.starts_with(b"data:") {
            continue;
        }
        streams += 1;
        let whole = stream(body, usize::MAX);
        assert!(whole.2.is_ok(), "{}", path.display());
        for size in [1, 7] {
            assert_eq!(stream(body, size), whole, "{} by {size}", path.display());
        }
    }
    assert!(streams > 10);
}

#[test]
fn captures_of_plain_replies_give_the_right_reply() {
    let Some(dir) = captures() else { return };
    for (name, content, tokens) in [
        ("litellm-mock-nostream", "Hello **there**, this is a mock.", (10, 20)),
        ("llamacpp-qwen-text-nostream", "Hello", (35, 2)),
    ] {
        let bytes = std::fs::read(dir.join(format!("{name}.txt"))).unwrap();
        let mut assembler = Assembler::default();
        let json = std::str::from_utf8(capture(&bytes).1).unwrap();
        assembler.push_plain(json, &mut |_| ()).unwrap();
        let reply = assembler.finish(&mut |_| ()).unwrap();
        assert_eq!(reply.message, said(content));
        assert_eq!(reply.usage.map(|u| (u.prompt, u.completion)), Some(tokens));
    }
}

proptest! {
    #[test]
    fn any_cutting_of_a_stream_gives_the_same_reply(
        cuts in prop::collection::vec(0_usize..2000, 0..40),
        crlf in any::<bool>(),
    ) {
        let text = body(&[
            delta(json!({"role": "assistant", "content": "<think>żółć"})),
            delta(json!({"content": " 🦀</think>\n\nAnswer ✓ "})),
            delta(json!({"reasoning_details": [{"index": 0, "text": "t"}]})),
            delta(json!({"tool_calls": [{"id": "a", "function": {"name": "bash", "arguments": "{\"x\":"}}]})),
            delta(json!({"tool_calls": [{"function": {"arguments": "\"ü\"}"}}]})),
            delta(json!({"tool_calls": [{"id": "b", "function": {"name": "bash", "arguments": "{}"}}]})),
            end("tool_calls"),
            json!({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}),
        ]).replace("\n\n", "\n: ping\n\n");
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        let whole = stream(text.as_bytes(), usize::MAX);
        prop_assert!(whole.2.is_ok());

        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut assembler = Assembler::default();
        let mut decoder = Decoder::default();
        for pair in cuts.windows(2) {
            let piece = &text.as_bytes()[pair[0]..pair[1]];
            decoder.feed(piece, &mut |event| assembler.push(&event, &mut |_| ())).unwrap();
        }
        prop_assert_eq!(assembler.finish(&mut |_| ()), whole.2);
    }
}
