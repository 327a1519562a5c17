//! Conversations that outgrow the model's window: summarised in time, or when the server says so, whatever the server
//! makes of the request for a summary; and work goes on.

use std::sync::Arc;

use autocode_tests::server::{Gate, Spot};
use autocode_tests::{Reply, Request, Run, Server, TestEnv};
use serde_json::{Value, json};

use crate::{AUTOCODE, assert_valid, scripted};

/// How a request for a summary is told from a normal one.
fn asks_for_summary(request: &Request) -> bool {
    content(&request.last_message()).contains("your next message will replace this conversation")
}

/// A request with the conversation as plain text.
fn is_plain(request: &Request) -> bool {
    request.text().contains("<conversation>")
}

/// A server whose normal requests get `replies` in order, and whose summaries are made by `summarise`.
fn serve(
    replies: impl IntoIterator<Item = Reply>,
    mut summarise: impl FnMut(&Request) -> Reply + Send + 'static,
) -> Server {
    let server = Server::start();
    let mut replies = replies.into_iter().collect::<Vec<_>>().into_iter();
    server.respond(move |request| {
        if asks_for_summary(request) {
            summarise(request)
        } else {
            replies.next().unwrap_or_else(|| Reply::error(400, "the script is over"))
        }
    });
    server
}

/// A project with this window, in tokens.
fn place(server: &Server, window: u64) -> TestEnv {
    let mut env = TestEnv::with_server(AUTOCODE, server);
    env.set("AUTOCODE_CONTEXT_WINDOW", window.to_string());
    env
}

fn overflow() -> Reply {
    let message = "This model's maximum context length is 4000 tokens. However, your messages resulted in 4100 tokens.";
    Reply::json(400, &json!({ "error": { "message": message, "code": "context_length_exceeded" } }))
}

fn split(server: &Server) -> (Vec<Arc<Request>>, Vec<Arc<Request>>) {
    server.requests().into_iter().partition(|request| asks_for_summary(request))
}

fn content(message: &Value) -> &str {
    message["content"].as_str().unwrap_or_default()
}

/// The request's bytes up to the end of its messages, without the bracket that closes them.
fn up_to_messages_end(request: &Request) -> Vec<u8> {
    let messages = request.messages_bytes();
    let start = request.raw.windows(messages.len()).position(|w| w == messages).unwrap();
    request.raw[..start + messages.len() - 1].to_vec()
}

fn archived(env: &TestEnv) -> Vec<String> {
    let Ok(dir) = std::fs::read_dir(env.project().join(".autocode/sessions/old")) else {
        return Vec::new();
    };
    dir.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

fn events(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn over_the_threshold_a_summary_takes_the_place_of_the_conversation_and_the_turn_goes_on() {
    let server = serve(
        [
            Reply::bash("echo one > notes.txt").usage(1000, 20),
            Reply::bash("echo marker-two").usage(3300, 20),
            Reply::text("done").usage(500, 10),
        ],
        |_| Reply::text("SUMMARY OF IT").usage(3400, 30),
    );
    let env = place(&server, 4000);
    let run = env.cmd(["-p", "keep these very words"]).run();
    run.answered("done\n").stderr_has("summarised");

    let (summaries, normal) = split(&server);
    assert_eq!((summaries.len(), normal.len()), (1, 3));
    assert_eq!(summaries[0].body()["tool_choice"], "none");
    assert!(summaries[0].raw.starts_with(&up_to_messages_end(&normal[1])));
    assert_eq!(summaries[0].tools_bytes(), normal[1].tools_bytes());

    let last = &normal[2];
    assert_valid(last);
    let messages = last.messages();
    let roles: Vec<&str> = messages.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    let opening = content(&messages[1]);
    assert!(opening.contains("SUMMARY OF IT"), "{opening}");
    assert!(opening.contains("notes.txt"), "the files that came up: {opening}");
    assert!(opening.ends_with("keep these very words"), "{opening}");
    assert_eq!(content(&messages[3]).trim_end(), "marker-two");
}

#[test]
fn requests_between_compactions_share_every_byte_of_the_one_before() {
    let steps = 40;
    let replies = (0..steps).map(|n| {
        // The context grows by a tenth of the window a step.
        Reply::bash(&format!("echo step {n} ünïcödé")).usage(400 * (n % 9 + 1), 10)
    });
    let server =
        serve(replies.chain([Reply::text("done")]), |_| Reply::text("a summary").usage(100, 10));
    let env = place(&server, 4000);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let requests = server.requests();
    let mut compactions = 0;
    for pair in requests.windows(2) {
        if asks_for_summary(&pair[0]) {
            compactions += 1;
            continue;
        }
        let before = up_to_messages_end(&pair[0]);
        assert!(pair[1].raw.starts_with(&before), "request {} changed the prefix", pair[1].number);
        assert_valid(&pair[1]);
    }
    assert!(compactions >= 3, "{compactions}");
    assert_eq!(archived(&env).len(), compactions);
}

#[test]
fn the_old_transcript_is_archived_whole_and_the_session_goes_on_from_the_new_one() {
    let server = serve(
        [
            Reply::bash("echo marker-one").usage(3300, 20),
            Reply::text("first answer").usage(500, 10),
            Reply::text("second answer").usage(600, 10),
        ],
        |_| Reply::text("SUMMARY OF IT").usage(3400, 30),
    );
    let env = place(&server, 4000);
    env.cmd(["-p", "first"]).run().answered("first answer\n");
    let old = archived(&env);
    assert_eq!(old.len(), 1);
    let lines: Vec<Value> =
        old[0].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let roles: Vec<&str> = lines.iter().map(|line| line["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(content(&lines[2]).trim_end(), "marker-one");

    let run = env.cmd(["-c", "-p", "--json", "second"]).run();
    let request = server.requests().last().unwrap().clone();
    assert_valid(&request);
    let text = request.text();
    assert!(text.contains("SUMMARY OF IT") && text.contains("first answer"), "{text}");
    assert_eq!(text.matches("SUMMARY OF IT").count(), 1);

    // What was spent before the summary, on it, and since: all of it counts in the session, the rest in its turn.
    let events = events(&run);
    let usage = events.iter().rev().find(|event| event["type"] == "usage").unwrap();
    assert_eq!(usage["session"]["prompt"], 3300 + 3400 + 500 + 600, "{usage}");
    assert_eq!(events.last().unwrap()["usage"]["prompt"], 600);
}

#[test]
fn room_is_left_for_a_reply_of_max_tokens() {
    let server =
        serve([Reply::bash("true").usage(2600, 20), Reply::text("done").usage(500, 10)], |_| {
            Reply::text("a summary")
        });
    let mut env = place(&server, 4000);
    env.set("AUTOCODE_MAX_TOKENS", "1500");
    env.cmd(["-p", "go"]).run().answered("done\n");
    assert_eq!(split(&server).0.len(), 1);
}

#[test]
fn an_overflow_that_the_server_tells_compacts_and_asks_again() {
    let server = serve([Reply::bash("echo marker"), overflow(), Reply::text("done")], |_| {
        Reply::text("SUMMARY OF IT")
    });
    let env = place(&server, 128_000);
    let run = env.cmd(["-p", "these words"]).run();
    run.answered("done\n").stderr_has("maximum context length");
    let (summaries, normal) = split(&server);
    assert_eq!((summaries.len(), normal.len()), (1, 3));
    assert!(summaries[0].raw.starts_with(&up_to_messages_end(&normal[1])));
    assert_valid(&normal[2]);
    let text = normal[2].text();
    assert!(
        text.contains("SUMMARY OF IT") && text.contains("marker") && text.contains("these words")
    );
}

#[test]
fn an_overflow_in_the_middle_of_a_reply_voids_what_was_shown_of_it() {
    let error = json!({ "error": { "message": "Context size has been exceeded.", "code": 500 } });
    let half = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"half of\"}}}}]}}\n\ndata: {error}\n\n"
    );
    let server = serve([Reply::bash("true"), Reply::events(half), Reply::text("whole")], |_| {
        Reply::text("s")
    });
    let env = place(&server, 128_000);
    let run = env.cmd(["-p", "--json", "go"]).run();
    let events = events(&run);
    let at = |what: &dyn Fn(&Value) -> bool| events.iter().position(what).unwrap();
    let half = at(&|event| event["text"] == "half of");
    let void = at(&|event| event["type"] == "retry");
    let whole = at(&|event| event["text"] == "whole");
    assert!(half < void && void < whole, "{events:#?}");
    assert_eq!(events.last().unwrap()["answer"], "whole");
}

#[test]
fn a_server_that_answers_with_a_call_gets_plain_text_and_nothing_to_call() {
    let forms = [
        Reply::bash("rm -rf everything"),
        Reply::text(
            "<tool_call>\n{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n</tool_call>",
        ),
        Reply::text(""),
        Reply::error(400, "tool_choice 'none' is not possible here"),
        Reply::error(500, "template error").header("Retry-After", "0"),
    ];
    for (form, reply) in forms.into_iter().enumerate() {
        let server = serve(
            [Reply::bash("echo marker").usage(3300, 20), Reply::text("done").usage(500, 10)],
            move |request| {
                if is_plain(request) { Reply::text("SUMMARY OF IT") } else { reply.clone() }
            },
        );
        let env = place(&server, 4000);
        let run = env.cmd(["-p", "the person's words"]).run();
        run.answered("done\n");
        if form == 4 {
            // A server that is down is not asked in another way.
            run.stderr_has("no summary was made");
            continue;
        }
        let plain = server.requests().into_iter().rfind(|request| is_plain(request)).unwrap();
        assert!(plain.body().get("tools").is_none() && plain.body().get("tool_choice").is_none());
        let text = plain.text();
        assert!(text.contains("the person's words") && text.contains("echo marker"), "{text}");
        assert!(server.requests().last().unwrap().text().contains("SUMMARY OF IT"), "form {form}");
    }
}

#[test]
fn a_plain_text_is_made_shorter_until_it_fits() {
    let server = serve([Reply::bash("seq 1 8000"), overflow(), Reply::text("done")], |request| {
        if request.raw.len() > 6000 { overflow() } else { Reply::text("SUMMARY OF IT") }
    });
    let env = place(&server, 128_000);
    env.cmd(["-p", "the person's words"]).run().answered("done\n");
    let (summaries, normal) = split(&server);
    let lengths: Vec<usize> = summaries.iter().map(|request| request.raw.len()).collect();
    assert!(lengths.is_sorted_by(|a, b| a > b) && lengths.len() <= 7, "{lengths:?}");
    let last = summaries.last().unwrap().text();
    assert!(last.contains("the person's words") && last.contains("seq 1 8000"), "{last}");
    assert!(normal.last().unwrap().text().contains("SUMMARY OF IT"));
}

#[test]
fn a_summary_that_fails_is_told_and_work_goes_on_without_one() {
    let server = serve(
        [
            Reply::bash("echo marker").usage(3300, 20),
            Reply::bash("true").usage(3350, 20),
            Reply::text("done").usage(3400, 10),
        ],
        |_| Reply::error(400, "summaries are not for you"),
    );
    let env = place(&server, 4000);
    let run = env.cmd(["-p", "go"]).run();
    run.answered("done\n").stderr_has("summaries are not for you");
    let (summaries, normal) = split(&server);
    assert_eq!(normal.len(), 3);
    assert_eq!(summaries.len(), 2, "both forms once, and no more while the context hardly grows");
    assert!(normal[2].raw.starts_with(&up_to_messages_end(&normal[0])));
    assert_eq!(archived(&env).len(), 0);
}

#[test]
fn when_the_server_takes_no_more_and_no_summary_can_be_had_what_is_older_is_cut_short() {
    let server = serve(
        [Reply::bash("seq 1 5000"), Reply::bash("echo marker"), overflow(), Reply::text("done")],
        |_| Reply::bash("ls"),
    );
    let env = place(&server, 4000);
    let run = env.cmd(["-p", "the person's words"]).run();
    run.answered("done\n").stderr_has("no summary was made");
    let last = server.requests().last().unwrap().clone();
    assert_valid(&last);
    let text = last.text();
    assert!(
        text.contains("the person's words")
            && text.contains("marker")
            && text.contains("seq 1 5000")
    );
    assert!(last.raw.len() < 12_000, "{}", last.raw.len());
    assert_eq!(archived(&env).len(), 1);
}

#[test]
fn what_still_does_not_fit_after_a_summary_is_a_clear_error_and_no_loop() {
    let server = Server::start();
    server.respond(|request| match request.number {
        1 => Reply::bash("echo marker"),
        _ if asks_for_summary(request) => Reply::text("a summary"),
        _ => overflow(),
    });
    let env = place(&server, 128_000);
    env.cmd(["-p", "go"]).run().failed(1, &["context window", "maximum context length"]);
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn a_summary_that_shrinks_too_little_is_told_and_not_tried_again_at_once() {
    let steps = 12;
    let replies = (0..steps).map(|n| Reply::bash("true").usage(3300 + n, 5));
    let server = serve(replies.chain([Reply::text("done")]), |_| {
        Reply::text(&"a long summary ".repeat(1000)).usage(3400, 3000)
    });
    let env = place(&server, 4000);
    let run = env.cmd(["-p", "go"]).run();
    run.answered("done\n").stderr_has("must stay");
    assert_eq!(split(&server).0.len(), 1);
}

#[test]
fn a_message_that_alone_is_too_long_is_cut_and_kept_whole_in_a_file() {
    let words = format!("first words\n{}last words", "and so on\n".repeat(20_000));
    let server = Server::start();
    server.respond(
        |request| {
            if request.raw.len() > 16_000 { overflow() } else { Reply::text("read") }
        },
    );
    for window in [4000, 1_000_000] {
        let env = place(&server, window);
        let run = env.cmd(["-p"]).stdin(&words).run();
        if window == 1_000_000 {
            // The configured window says that there is room, so nothing may be taken away.
            run.failed(1, &["context window"]);
            continue;
        }
        run.answered("read\n");
        let sent = server.requests().last().unwrap().last_message();
        let sent = content(&sent);
        assert!(sent.starts_with("first words\n") && sent.ends_with("last words"), "{sent}");
        let path = sent.split_once("full output: ").unwrap().1.split_once(" ...]").unwrap().0;
        assert_eq!(std::fs::read_to_string(path).unwrap(), words);
    }
}

#[test]
fn a_latest_step_that_is_too_long_is_cut_to_its_ends() {
    let server = serve(
        [
            Reply::bash("echo early"),
            Reply::bash("echo begin; seq 1 4000; echo end").usage(3300, 20),
            Reply::text("done").usage(500, 10),
        ],
        |_| Reply::text("SUMMARY OF IT"),
    );
    let env = place(&server, 4000);
    env.cmd(["-p", "these words"]).run().answered("done\n");
    let last = server.requests().last().unwrap().clone();
    assert_valid(&last);
    let result = last.tool_result();
    assert!(result.starts_with("begin\n") && result.trim_end().ends_with("end"), "{result}");
    assert!(result.len() < 5000, "{}", result.len());
    assert!(last.text().contains("these words"));
}

#[test]
fn an_answer_cut_by_a_full_window_compacts_and_is_given_again() {
    let server = serve(
        [
            Reply::bash("true").usage(1000, 20),
            Reply::text("half an ans").finish("length").usage(3000, 950),
            Reply::text("the whole answer").usage(500, 10),
        ],
        |_| Reply::text("SUMMARY OF IT"),
    );
    let env = place(&server, 4000);
    let run = env.cmd(["-p", "go"]).run();
    run.answered("the whole answer\n").stderr_has("the context window is full");
    let (summaries, normal) = split(&server);
    assert_eq!((summaries.len(), normal.len()), (1, 3));
    assert_valid(&normal[2]);
}

#[test]
fn an_answer_cut_with_room_left_is_told_to_the_person() {
    let (server, mut env) = scripted([Reply::text("half an ans").finish("length").usage(100, 50)]);
    env.set("AUTOCODE_MAX_TOKENS", "50");
    let run = env.cmd(["-p", "go"]).run();
    run.answered("half an ans\n").stderr_has("max_tokens = 50");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_summary_cut_at_its_length_is_asked_for_in_a_shorter_request() {
    let server = serve(
        [Reply::bash("seq 1 2000").usage(3300, 20), Reply::text("done").usage(500, 10)],
        |request| {
            if is_plain(request) {
                Reply::text("THE WHOLE SUMMARY")
            } else {
                Reply::text("HALF A").finish("length")
            }
        },
    );
    let env = place(&server, 4000);
    env.cmd(["-p", "go"]).run().answered("done\n");
    let text = server.requests().last().unwrap().text();
    assert!(text.contains("THE WHOLE SUMMARY") && !text.contains("HALF A"), "{text}");
}

#[test]
fn an_interrupted_summary_leaves_the_conversation_as_it_was() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = serve(
        [Reply::bash("echo marker").usage(3300, 20), Reply::text("went on").usage(500, 10)],
        move |_| Reply::text("a summary").hold(Spot::InText, &held),
    );
    let env = place(&server, 4000);
    let running = env.cmd(["-p", "go"]).spawn();
    gate.wait_until_reached();
    running.interrupt();
    running.wait().failed(130, &[]);
    gate.open();
    assert_eq!(archived(&env).len(), 0);
    assert_eq!(env.transcript().roles(), ["user", "assistant", "tool"]);
    env.cmd(["-c", "-p", "go on"]).run().answered("went on\n");
    assert_valid(server.requests().last().unwrap());
}

#[test]
fn ids_and_values_of_tools_survive_a_summary() {
    let server = serve(
        [
            Reply::bash("true").ids(&["call_0"]).usage(3300, 20),
            Reply::bash("true").ids(&["call_0"]).usage(600, 20),
            Reply::text("done").usage(700, 10),
        ],
        |_| Reply::text("SUMMARY OF IT"),
    );
    let env = place(&server, 4000);
    let id = "20200101-000000";
    env.write(
        &env.session_path(id),
        "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}\n\
         {\"_state\":{\"key\":\"todo\",\"value\":\"[\\\"mend the roof\\\"]\"}}\n",
    );
    env.cmd(["-r", id, "-p", "go"]).run().answered("done\n");
    let last = server.requests().last().unwrap().clone();
    assert_valid(&last);
    assert!(content(&last.messages()[1]).contains("mend the roof"), "what is open is carried");
    let transcript = std::fs::read_to_string(env.project().join(env.session_path(id))).unwrap();
    assert!(transcript.contains("_state"), "{transcript}");
}
