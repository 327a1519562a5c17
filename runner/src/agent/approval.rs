//! Before a command or tool runs: may it, must the person be asked, and what did they say?
//!
//! Invariant: what the policy does not let pass runs only after a yes to exactly this call. Nobody there to ask is a
//! no.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::channel::{Events, Inputs};
use super::event::Event;
use crate::approve::{Answer, Offer, Rule, Rules, Verdict, judge_command, judge_tool};
use crate::config::Approve;
use crate::env::Env;
use crate::session::{Approval, Note};
use crate::tools::bash::Command;
use crate::tools::{ToolResult, ToolStatus};

/// What the model hears of a call that was not allowed.
const REFUSED: &str = "The person did not allow this call, so it did not run.";

/// Lets calls pass or asks.
pub(super) struct Gate {
    env: Env,
    root: PathBuf,
    /// Read when the first call is judged under a policy that asks.
    rules: OnceCell<RefCell<Rules>>,
    /// Where answers come from.
    inputs: RefCell<Inputs>,
}

/// A call as the person is asked about it.
pub(super) struct Asked<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    pub(super) cwd: &'a Path,
}

/// What an approval takes beside the call.
#[derive(Clone, Copy)]
pub(super) struct Desk<'a> {
    pub(super) events: &'a Events,
    pub(super) cancel: &'a CancellationToken,
    /// Writes the answer down.
    pub(super) note: &'a dyn Fn(&Note),
}

impl Gate {
    pub(super) fn new(env: &Env, root: &Path, inputs: Inputs) -> Self {
        let (env, root) = (env.clone(), root.to_owned());
        Self { env, root, rules: OnceCell::new(), inputs: RefCell::new(inputs) }
    }

    /// What the person sends otherwise.
    pub(super) fn inputs(&mut self) -> &mut Inputs {
        self.inputs.get_mut()
    }

    /// Whether the call may run; else the result that stands for it.
    pub(super) async fn pass(
        &self,
        call: Asked<'_>,
        policy: Approve,
        desk: Desk<'_>,
    ) -> Result<(), ToolResult> {
        if policy == Approve::Never {
            return Ok(());
        }
        let rules = self.rules.get_or_init(|| RefCell::new(Rules::load(&self.env, &self.root)));
        let verdict = self.judge(&call, policy, &rules.borrow());
        let Verdict::Ask(offer) = verdict else { return Ok(()) };
        let Desk { events, cancel, note } = desk;
        let why = offer.why.clone();
        let answer = self.ask(&call, offer, events, cancel).await;
        note(&noted(&call, why, &answer));
        match answer {
            Answer::Yes => Ok(()),
            Answer::Session(more) => {
                rules.borrow_mut().allow(more);
                Ok(())
            }
            Answer::Project(more) => {
                if let Err(error) = rules.borrow_mut().keep(more, &self.env, &self.root) {
                    events.warn(format!("the rule holds for this session only: {error}"));
                }
                Ok(())
            }
            Answer::No(words) => Err(refused(words, cancel)),
        }
    }

    /// The same for a question that is not about a call.
    pub(super) fn inputs_cell(&self) -> &RefCell<Inputs> {
        &self.inputs
    }

    fn judge(&self, call: &Asked<'_>, policy: Approve, rules: &Rules) -> Verdict {
        if call.name != "bash" {
            return judge_tool(call.name, policy, rules);
        }
        match Command::parse(call.arguments) {
            Ok(command) => judge_command(&command.text, policy, rules, &self.root, call.cwd),
            // It is no command, so nothing will run; the tool says what is wrong.
            Err(_) => Verdict::Run,
        }
    }

    async fn ask(
        &self,
        call: &Asked<'_>,
        offer: Offer,
        events: &Events,
        cancel: &CancellationToken,
    ) -> Answer {
        events.send(Event::Approval {
            id: call.id.to_owned(),
            name: call.name.to_owned(),
            arguments: call.arguments.to_owned(),
            cwd: call.cwd.to_owned(),
            offer,
        });
        let answer = Inputs::answer(&self.inputs, call.id);
        cancel.run_until_cancelled(answer).await.flatten().unwrap_or(Answer::No(None))
    }
}

/// The answer for the transcript.
fn noted(call: &Asked<'_>, why: Vec<String>, answer: &Answer) -> Note {
    let (words, rules) = match answer {
        Answer::Yes => ("yes".to_owned(), &[][..]),
        Answer::No(None) => ("no".to_owned(), &[][..]),
        Answer::No(Some(words)) => (format!("no: {words}"), &[][..]),
        Answer::Session(rules) => ("yes, always in this session".to_owned(), &rules[..]),
        Answer::Project(rules) => ("yes, always in this project".to_owned(), &rules[..]),
    };
    let rules: Vec<String> = rules.iter().map(Rule::shown).collect();
    let words = if rules.is_empty() { words } else { format!("{words}: {}", rules.join(", ")) };
    let asked = match Command::parse(call.arguments) {
        Ok(command) if call.name == "bash" => command.text,
        _ => call.arguments.to_owned(),
    };
    let approval = Approval {
        call: call.id.to_owned(),
        name: call.name.to_owned(),
        asked,
        cwd: call.cwd.display().to_string(),
        why,
        allowed: !matches!(answer, Answer::No(_)),
        rules,
    };
    Note::approval(&words, approval)
}

fn refused(words: Option<String>, cancel: &CancellationToken) -> ToolResult {
    let content = match words {
        Some(words) => format!("{REFUSED} They say: {words}"),
        None => {
            format!("{REFUSED} Do not try to reach the same another way; ask, or go on without.")
        }
    };
    let status = if cancel.is_cancelled() { ToolStatus::Cancelled } else { ToolStatus::Failed };
    ToolResult { content, status, elapsed: Duration::ZERO }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::agent::event::Input;
    use tokio::sync::mpsc::unbounded_channel;

    /// What becomes of `rm x` when the person sends `inputs`, and what is written down.
    async fn outcome_and_notes(
        policy: Approve,
        inputs: Vec<Input>,
    ) -> (Result<(), ToolResult>, Vec<Note>) {
        let notes = RefCell::new(Vec::new());
        let dir = tempfile::tempdir().unwrap();
        let (sender, receiver) = unbounded_channel();
        inputs.into_iter().for_each(|input| sender.send(input).unwrap());
        drop(sender);
        let (events, _seen) = unbounded_channel();
        let gate = Gate::new(&Env::at(dir.path()), dir.path(), Inputs::new(receiver));
        let arguments = r#"{"command":"rm x"}"#;
        let call = Asked { id: "a", name: "bash", arguments, cwd: dir.path() };
        let (events, cancel) = (Events::new(events), CancellationToken::new());
        let desk = Desk {
            events: &events,
            cancel: &cancel,
            note: &|note| notes.borrow_mut().push(note.clone()),
        };
        let result = gate.pass(call, policy, desk).await;
        (result, notes.take())
    }

    async fn outcome(policy: Approve, inputs: Vec<Input>) -> Result<(), ToolResult> {
        outcome_and_notes(policy, inputs).await.0
    }

    fn answer(id: &str, answer: Answer) -> Input {
        Input::Approval { id: id.into(), answer }
    }

    #[tokio::test(flavor = "current_thread")]
    async fn nothing_is_asked_where_nothing_is_to_be() {
        assert!(outcome(Approve::Never, vec![]).await.is_ok());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_yes_to_this_call_lets_it_run_and_one_to_another_does_not() {
        assert!(outcome(Approve::Writes, vec![answer("a", Answer::Yes)]).await.is_ok());
        assert!(outcome(Approve::Writes, vec![answer("b", Answer::Yes)]).await.is_err());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn nobody_to_ask_is_a_no() {
        assert!(outcome(Approve::Writes, vec![]).await.is_err());
    }

    #[tokio::test(flavor = "current_thread")]
    async fn the_persons_words_go_to_the_model() {
        let no = Answer::No(Some("use git rm".into()));
        let result = outcome(Approve::Always, vec![answer("a", no)]).await.unwrap_err();
        assert!(result.content.ends_with("They say: use git rm"), "{}", result.content);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn what_was_asked_and_answered_is_written_down() {
        let rules = vec![Rule::Exactly(vec!["rm".into(), "x".into()])];
        let inputs = vec![answer("a", Answer::Session(rules))];
        let (_, notes) = outcome_and_notes(Approve::Writes, inputs).await;
        let approval = notes[0].approval.as_ref().unwrap();
        assert_eq!(notes[0].text, "yes, always in this session: rm x");
        assert_eq!((approval.asked.as_str(), approval.allowed), ("rm x", true));
        assert_eq!(
            (&approval.why[..], &approval.rules[..]),
            (&["runs rm".to_owned()][..], &["rm x".to_owned()][..])
        );
        let (_, notes) = outcome_and_notes(Approve::Writes, vec![]).await;
        assert!(!notes[0].approval.as_ref().unwrap().allowed);
        assert!(outcome_and_notes(Approve::Never, vec![]).await.1.is_empty());
    }
}
