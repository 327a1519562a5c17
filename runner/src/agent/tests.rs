//! The agent between its inputs and its events, with a model that answers from a list.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use serde_json::Value;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::event::{Event, Level, TurnEnd};
use super::*;
use crate::config::Overrides;
use crate::model::message::{Assistant, Reasoning, ToolCall, Usage};
use crate::model::{Completion, Finish, ModelError, ModelEvent, Request};

type Outcome = Result<Completion, ModelError>;

/// What was asked, and what is answered.
#[derive(Default)]
struct Script {
    replies: RefCell<VecDeque<Outcome>>,
    asked: RefCell<Vec<(Bytes, bool)>>,
}

impl Model for Script {
    fn complete<'a>(
        &'a self,
        request: Request<'a>,
        _: &'a CancellationToken,
        _: &'a mut dyn FnMut(ModelEvent),
    ) -> LocalBoxFuture<'a, Outcome> {
        self.asked.borrow_mut().push((request.messages, request.forbid_tools));
        let over = || Err(ModelError::Rejected("the script is over".to_owned()));
        let reply = self.replies.borrow_mut().pop_front().unwrap_or_else(over);
        Box::pin(async { reply })
    }
}

impl Script {
    /// The messages of request `n`.
    fn messages(&self, n: usize) -> Vec<Value> {
        let asked = self.asked.borrow();
        serde_json::from_str(&format!("[{}]", std::str::from_utf8(&asked[n].0).unwrap())).unwrap()
    }
}

/// What is left of an agent that has served its inputs.
struct Served {
    model: Rc<Script>,
    events: Vec<Event>,
    project: Project,
    _dir: tempfile::TempDir,
}

/// What an agent with these replies is put together from, and who gives them.
fn parts(
    project: &Project,
    settings: &[(&str, Value)],
    replies: Vec<Outcome>,
) -> (Parts, Rc<Script>) {
    let env = Env::at(project.root());
    let mut overrides = Overrides::default();
    overrides.set("model", "m".into()).unwrap();
    for (key, value) in settings {
        overrides.set(key, value.clone()).unwrap();
    }
    let (live, _) = Live::start(project.clone(), env.clone(), overrides, true).unwrap();
    let model = Rc::new(Script { replies: RefCell::new(replies.into()), ..Script::default() });
    let parts = Parts {
        session: Session::create(project, env.local_time()),
        project: project.clone(),
        env,
        live,
        model: Rc::clone(&model) as Rc<dyn Model>,
        loaded: Loaded::default(),
        max_steps: None,
    };
    (parts, model)
}

/// Lets an agent serve `inputs` one after the other, with these replies.
fn serve(settings: &[(&str, Value)], replies: Vec<Outcome>, inputs: Vec<Input>) -> Served {
    let dir = tempfile::tempdir().unwrap();
    let project = Project::at(dir.path());
    let (sender, receiver) = unbounded_channel();
    let (events, mut seen) = unbounded_channel();
    let (parts, model) = parts(&project, settings, replies);
    let agent = Agent::new(parts, receiver, Events::new(events), Interrupt::default());
    let front = async move {
        let mut told = Vec::new();
        for input in inputs {
            let mut runs = matches!(input, Input::Message(_));
            sender.send(input).unwrap();
            // What is said while a turn runs would be part of it.
            while runs {
                told.push(seen.recv().await.unwrap());
                runs = !matches!(told.last(), Some(Event::TurnFinished(_)));
            }
            told.extend(std::iter::from_fn(|| seen.try_recv().ok()));
        }
        drop(sender);
        while let Some(event) = seen.recv().await {
            told.push(event);
        }
        told
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ((), events) = runtime.block_on(async { tokio::join!(agent.serve(), front) });
    Served { model, events, project, _dir: dir }
}

impl Served {
    /// How the turns ended.
    fn ends(&self) -> Vec<TurnEnd> {
        let ends = self.events.iter().filter_map(|event| match event {
            Event::TurnFinished(end) => Some(end.clone()),
            _ => None,
        });
        ends.collect()
    }
}

fn say(words: &str) -> Outcome {
    reply(Assistant { content: Some(words.to_owned()), ..Assistant::default() })
}

fn call(arguments: &str) -> Outcome {
    let tool_calls = vec![ToolCall::new("call_0", "bash", arguments)];
    reply(Assistant { tool_calls, ..Assistant::default() })
}

fn reply(message: Assistant) -> Outcome {
    let usage = Usage { prompt: 100, completion: 10, ..Usage::default() };
    Ok(Completion { message, usage: Some(usage), finish: Finish::Stop })
}

fn prompt(words: &str) -> Input {
    Input::Message(words.to_owned())
}

fn answered(words: &str) -> TurnEnd {
    TurnEnd::Answered(words.to_owned())
}

#[test]
fn a_summary_at_the_persons_word_heeds_what_the_person_adds() {
    let inputs = vec![
        prompt("build it"),
        Input::Compact("keep the port number".to_owned()),
        prompt("go on"),
    ];
    let served = serve(&[], vec![say("built"), say("SUMMARY"), say("more")], inputs);
    assert_eq!(served.ends(), [answered("built"), answered("more")]);
    let (asking, forbids) = served.model.asked.borrow()[1].clone();
    assert!(forbids && asking.starts_with(&served.model.asked.borrow()[0].0));
    let ask = served.model.messages(1).pop().unwrap();
    assert!(ask["content"].as_str().unwrap().ends_with("The person adds: keep the port number"));
    let after = served.model.messages(2);
    let texts: Vec<&str> = after.iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert!(texts[0].contains("SUMMARY") && texts[0].ends_with("build it"), "{texts:?}");
    assert_eq!(texts[1..], ["built", "go on"]);
    let id = served.project.sessions();
    assert_eq!(std::fs::read_dir(id.join("old")).unwrap().count(), 1);
}

#[test]
fn there_is_nothing_to_summarise_before_the_first_answer() {
    let served = serve(&[], vec![], vec![Input::Compact(String::new())]);
    let is_told = |event: &Event| matches!(event, Event::Note { level: Level::Info, text } if text.contains("nothing"));
    assert!(served.events.iter().any(is_told));
    assert!(served.model.asked.borrow().is_empty());
}

#[test]
fn a_summary_that_fails_at_the_persons_word_changes_nothing() {
    let failing = || Err(ModelError::Rejected("no".to_owned()));
    let inputs = vec![prompt("a"), Input::Compact(String::new()), prompt("b")];
    let served = serve(&[], vec![say("x"), failing(), failing(), say("y")], inputs);
    let events = &served.events;
    let told = |event: &Event| matches!(event, Event::Note { level: Level::Error, text } if text.contains("not summarised"));
    assert!(events.iter().any(told), "{events:#?}");
    assert_eq!(served.model.messages(3).len(), 3);
}

#[test]
fn one_empty_reply_is_asked_for_again_and_two_end_the_turn() {
    let served = serve(&[], vec![say(" "), say("here")], vec![prompt("a")]);
    assert_eq!(served.ends(), [answered("here")]);
    let asked = served.model.asked.borrow();
    assert_eq!(asked[0].0, asked[1].0, "the same request again");

    let served = serve(&[], vec![call("{}"), say(""), say(""), say("late")], vec![prompt("a")]);
    assert!(
        matches!(&served.ends()[..], [TurnEnd::Failed(why)] if why.contains("2 empty replies"))
    );
    let last = served.model.messages(2).pop().unwrap();
    assert!(last["content"].as_str().unwrap().contains("was empty"), "{last}");
}

#[test]
fn three_replies_that_cannot_be_used_end_the_turn_with_a_valid_history() {
    let broken = || call("{\"command\": \"ls");
    let served = serve(
        &[],
        vec![broken(), broken(), broken(), say("late"), say("next")],
        vec![prompt("a"), prompt("b")],
    );
    let ends = served.ends();
    assert!(
        matches!(&ends[0], TurnEnd::Failed(why) if why.contains("malformed arguments")),
        "{ends:?}"
    );
    let next = served.model.messages(3);
    let roles: Vec<&str> = next.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["user", "assistant", "tool", "assistant", "tool", "assistant", "tool", "user"]
    );
    let result = next[6]["content"].as_str().unwrap();
    assert!(result.contains("not valid JSON"), "it was no interruption: {result}");
}

#[test]
fn a_good_reply_between_bad_ones_starts_the_count_anew() {
    let broken = || call("[");
    let good = || call(r#"{"command":"true"}"#);
    let replies = vec![broken(), broken(), good(), broken(), broken(), good(), say("done")];
    assert_eq!(serve(&[], replies, vec![prompt("a")]).ends(), [answered("done")]);
}

#[test]
fn thinking_that_a_server_wants_back_is_sent_from_then_on_also_after_a_summary() {
    let thinking = |id: &str| {
        let reasoning = Reasoning { reasoning: Some("hm".to_owned()), ..Reasoning::default() };
        let tool_calls = vec![ToolCall::new(id, "bash", r#"{"command":"true"}"#)];
        reply(Assistant { content: None, tool_calls, reasoning })
    };
    let wanted = Err(ModelError::NeedsReasoning("thinking is missing".to_owned()));
    let replies = vec![thinking("a"), wanted, say("x"), say("SUMMARY"), thinking("b"), say("y")];
    let inputs = vec![prompt("1"), Input::Compact(String::new()), prompt("2")];
    let served = serve(&[], replies, inputs);
    let sent = |n: usize| {
        let messages = served.model.messages(n);
        messages.iter().filter(|m| m["reasoning"] == "hm").count()
    };
    assert_eq!([sent(1), sent(2), sent(3), sent(5)], [0, 1, 1, 1]);
}

#[test]
fn the_setting_for_thinking_takes_effect_in_a_running_session() {
    let reasoning = Reasoning { reasoning: Some("hm".to_owned()), ..Reasoning::default() };
    let thought = Assistant { content: Some("x".to_owned()), reasoning, ..Assistant::default() };
    let keep = Input::Set("keep_reasoning".to_owned(), Some(true.into()));
    let inputs = vec![prompt("1"), keep, prompt("2")];
    let served = serve(&[], vec![reply(thought), say("y")], inputs);
    assert_eq!(served.model.messages(1)[1]["reasoning"], "hm");
}

#[test]
fn figures_of_steps_and_summaries_add_up_to_the_sessions() {
    let inputs = vec![prompt("a"), Input::Compact(String::new()), prompt("b")];
    let served = serve(&[], vec![say("x"), say("SUMMARY"), say("y")], inputs);
    let (mut sum, mut last) = (Usage::default(), Usage::default());
    for event in &served.events {
        if let Event::Usage { step, session, .. } = event {
            step.iter().for_each(|step| sum.add(step));
            last = *session;
        }
    }
    assert_eq!(sum, last);
    assert_eq!(sum.prompt, 300);
}

#[test]
fn an_id_that_comes_again_is_made_unique() {
    let good = || call(r#"{"command":"true"}"#);
    let served = serve(&[], vec![good(), good(), say("done")], vec![prompt("a")]);
    let messages = served.model.messages(2);
    let ids: Vec<&Value> = messages.iter().filter_map(|m| m.get("tool_call_id")).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(messages[3]["tool_calls"][0]["id"], *ids[1]);
}

/// What a sub-agent gives to the tool that asked for it.
fn delegate(
    settings: &[(&str, Value)],
    replies: Vec<Outcome>,
) -> (Result<String, String>, Rc<Script>) {
    let dir = tempfile::tempdir().unwrap();
    let (parts, model) = parts(&Project::at(dir.path()), settings, replies);
    let agent = Agent::new(
        parts,
        unbounded_channel().1,
        Events::new(unbounded_channel().0),
        Interrupt::default(),
    );
    let cancel = CancellationToken::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workshop = agent.workshop("call_0", &cancel);
    (runtime.block_on(crate::tools::Host::agent(&workshop, "count the files")), model)
}

/// A command with about this many bytes of output.
fn printing(bytes: usize) -> Outcome {
    let arguments = serde_json::json!({ "command": format!("yes 1234567 | head -c {bytes}") });
    let tool_calls = vec![ToolCall::new("call_0", "bash", arguments.to_string())];
    reply(Assistant { tool_calls, ..Assistant::default() })
}

#[test]
fn a_sub_agent_whose_window_is_full_goes_on_from_a_summary() {
    let replies = vec![printing(6000), say("SUMMARY"), say("there are 3")];
    let (answer, model) = delegate(&[("context_window", 2000.into())], replies);
    assert_eq!(answer, Ok("there are 3".to_owned()));
    assert!(model.asked.borrow()[1].1, "a summary is asked for without tools");
    let after = model.messages(2);
    let opening = after[0]["content"].as_str().unwrap();
    assert!(opening.contains("SUMMARY") && opening.ends_with("count the files"), "{opening}");
    let roles: Vec<&str> = after.iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    let result = after[2]["content"].as_str().unwrap();
    assert!(result.len() < 2500 && result.starts_with("1234567"), "{} bytes", result.len());
}

#[test]
fn a_sub_agent_that_the_server_has_no_room_for_says_so() {
    let full = || Err(ModelError::ContextFull("too many tokens".to_owned()));
    let (answer, _) = delegate(&[], vec![full()]);
    assert!(answer.is_err_and(|why| why.contains("smaller task")));

    let replies = vec![printing(6000), full(), say("SUMMARY"), say("there are 3")];
    assert_eq!(delegate(&[], replies).0, Ok("there are 3".to_owned()));

    let replies = vec![printing(6000), full(), say("SUMMARY"), full(), say("late")];
    let (answer, model) = delegate(&[], replies);
    assert!(answer.is_err_and(|why| why.contains("context is full (too many tokens)")));
    assert_eq!(model.asked.borrow().len(), 4);
}
