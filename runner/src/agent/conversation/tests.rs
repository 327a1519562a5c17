#![allow(clippy::unwrap_used)]
use super::*;
use crate::model::message::Reasoning;

fn calls(ids: &[&str]) -> Message {
    let tool_calls = ids.iter().map(|id| ToolCall::new(*id, "bash", "{}")).collect();
    Message::Assistant(Assistant { tool_calls, ..Default::default() })
}

fn said(words: &str) -> Message {
    Message::Assistant(Assistant { content: Some(words.to_owned()), ..Default::default() })
}

fn of(messages: Vec<Message>) -> Conversation {
    Conversation::resumed(messages, &[], false)
}

fn parsed(wire: &Bytes) -> Vec<Value> {
    serde_json::from_str(&format!("[{}]", std::str::from_utf8(wire).unwrap())).unwrap()
}

fn usage(prompt: u64, completion: u64, reasoning: u64) -> Usage {
    Usage { prompt, completion, reasoning, ..Usage::default() }
}

#[test]
fn the_wire_grows_at_its_end_only_and_in_place() {
    let mut c = Conversation::default();
    c.push(Message::user("x".repeat(10_000)));
    c.push(said("y"));
    let (before, place) = (c.wire().to_vec(), c.wire().as_ptr());
    c.push(Message::user("z"));
    assert!(c.wire().starts_with(&before));
    assert_eq!(parsed(&c.wire()).len(), 3);
    assert_eq!(c.wire().as_ptr(), place, "what nobody else holds is not copied");
}

#[test]
fn words_of_the_person_in_a_row_are_one_message_on_the_wire() {
    let mut c = of(vec![said("before")]);
    for words in ["a", "b", "c"] {
        c.push(Message::user(words));
    }
    let last = parsed(&c.wire()).pop().unwrap();
    assert_eq!(last, serde_json::json!({"role": "user", "content": "a\n\nb\n\nc"}));
}

#[test]
fn replies_that_lost_what_they_answered_still_alternate_with_it() {
    let c = of(vec![said("a"), said("b")]);
    let roles: Vec<String> =
        parsed(&c.wire()).iter().map(|m| m["role"].as_str().unwrap().to_owned()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

#[test]
fn thinking_stays_home_unless_kept() {
    let thinking = |details| Reasoning {
        reasoning_content: Some("hm".into()),
        reasoning_details: details,
        ..Default::default()
    };
    let reply = |details| {
        let reasoning = thinking(details);
        Message::Assistant(Assistant { content: Some("x".into()), reasoning, ..Default::default() })
    };
    let mut c = of(vec![Message::user("a"), reply(vec![serde_json::json!({"signature": "s"})])]);
    let bare = parsed(&c.wire());
    assert!(bare[1].get("reasoning_content").is_none());
    assert_eq!(bare[1]["reasoning_details"][0]["signature"], "s");
    c.keep_reasoning(true);
    assert_eq!(parsed(&c.wire())[1]["reasoning_content"], "hm");
    c.keep_reasoning(false);
    assert_eq!(parsed(&c.wire()), bare);
}

#[test]
fn a_reply_goes_out_in_the_same_form_with_and_without_thinking_to_send() {
    let reply = vec![Message::user("a"), calls(&["1"]), Message::tool("1", "x"), said("b")];
    let kept = Conversation::resumed(reply.clone(), &[], true);
    assert_eq!(of(reply).wire(), kept.wire());
}

#[test]
fn calls_without_result_are_found() {
    let mut c = of(vec![Message::user("go"), calls(&["a", "b"])]);
    c.push(Message::tool("a", "done"));
    assert_eq!(c.unanswered(), [("b".to_owned(), "bash".to_owned())]);
    assert!(c.has_call("b"));
}

#[test]
fn tokens_are_the_count_plus_an_estimate_of_what_is_newer() {
    let mut c = of(vec![Message::user("x".repeat(400)), said("y")]);
    assert!(c.tokens(400) > 200);
    c.measured(&usage(0, 10, 0));
    assert!(c.tokens(400) > 200, "a count of the reply alone tells nothing");
    c.measured(&usage(900, 100, 0));
    assert_eq!(c.tokens(400), 1000);
    c.push(Message::user("y".repeat(400)));
    assert!((1100..1120).contains(&c.tokens(400)));
}

#[test]
fn thinking_that_does_not_go_back_takes_no_room() {
    let reasoning = Reasoning { reasoning: Some("t".repeat(200)), ..Default::default() };
    let reply = Assistant { content: Some("x".into()), reasoning, ..Default::default() };
    let messages = vec![Message::user("a"), Message::Assistant(reply)];
    let mut c = of(messages.clone());
    c.measured(&usage(900, 100, 80));
    assert_eq!(c.tokens(0), 920);
    c.measured(&usage(900, 100, 0));
    assert_eq!(c.tokens(0), 950, "where the server does not count it, its length does");
    let mut kept = Conversation::resumed(messages, &[], true);
    kept.measured(&usage(900, 100, 80));
    assert_eq!(kept.tokens(0), 1000);
}

#[test]
fn a_resumed_conversation_knows_what_was_counted_and_whose_words_are_whose() {
    let messages = vec![
        Message::user("summary"),
        Message::user("do it"),
        calls(&["1"]),
        Message::tool("1", "ok"),
        Message::user("notice"),
    ];
    let own = Meta { own: true, usage: Some(usage(7777, 1, 0)), ..Meta::default() };
    let counted = Meta { usage: Some(usage(100, 10, 0)), ..Meta::default() };
    let meta = [own.clone(), Meta::default(), counted, Meta::default(), own];
    let c = Conversation::resumed(messages, &meta, false);
    assert!((110..150).contains(&c.tokens(0)), "{}", c.tokens(0));
    let cut = c.cut();
    assert_eq!(cut.request, Some(&Message::user("do it")));
    assert_eq!((cut.told.len(), cut.past.len(), cut.step.len()), (4, 2, 2));
    assert_eq!(cut.waiting, [(&Message::user("notice"), true)]);
}

#[test]
fn a_request_that_waits_is_not_among_what_is_past() {
    let c = of(vec![Message::user("a"), said("b"), Message::user("c")]);
    let cut = c.cut();
    assert_eq!((cut.past, cut.step), (&[Message::user("a")][..], &[said("b")][..]));
    assert_eq!((cut.waiting, cut.request), (vec![(&Message::user("c"), false)], None));
    let c = of(vec![Message::user("a")]);
    assert!(c.cut().past.is_empty() && c.cut().step.is_empty());
}

#[test]
fn a_question_about_the_past_begins_as_the_conversation_does() {
    let mut c = of(vec![Message::user("a"), said("b")]);
    let past = c.wire().to_vec();
    let asking = c.wire_asking("sum up");
    assert!(asking.starts_with(&past) && asking[past.len()..].starts_with(b",{"));
    c.push(Message::user("c"));
    assert_eq!(c.wire_asking("sum up"), asking);
    assert_eq!(parsed(&of(vec![]).wire_asking("x")).len(), 1);
}
