//! The REPL for terminals that only write: one line in, lines out, no control codes but colours that were asked for.

use std::io::{self, BufRead, Write};

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::act::Then;
use super::approval::Question;
use super::commands::{self, Place};
use super::desk::{Choice, Desk};
use crate::agent::event::{BROUGHT, Event, Input, Level};
use crate::config::Scope;
use crate::exit::Exit;
use crate::render::{Encoder, Options};
use crate::ui::signals::Signals;

/// Serves the person until they leave.
///
/// # Errors
/// When standard output is gone.
pub(super) async fn run(mut desk: Desk, mut events: UnboundedReceiver<Event>) -> io::Result<Exit> {
    let options = desk.transcript.options();
    let encoder = Encoder::of(&Options { hyperlinks: false, ..options });
    let mut lines = lines();
    let mut signals = Signals::listen();
    let mut unfinished = String::new();
    let mut prompted = false;
    loop {
        let idle = !desk.is_working() && !desk.session.is_empty();
        write(&mut desk, &encoder, (idle && !prompted, &unfinished))?;
        prompted |= idle;
        tokio::select! {
            biased;
            event = events.recv() => {
                let Some(event) = event else {
                    desk.transcript.note(Level::Error, "the agent has stopped");
                    write(&mut desk, &encoder, (false, ""))?;
                    return Ok(Exit::Failed);
                };
                if let Some(choice) = desk.hear(event).choice {
                    settle(&mut desk, choice);
                }
            }
            () = signals.next() => {
                if !desk.is_working() {
                    return goodbye(desk, &encoder);
                }
                desk.interrupt();
            }
            line = lines.recv() => {
                let Some(line) = line else { return goodbye(desk, &encoder) };
                prompted = false;
                desk.echoed = true;
                unfinished.push_str(&line);
                if unfinished.ends_with('\\') {
                    unfinished.pop();
                    unfinished.push('\n');
                    continue;
                }
                if take(&mut desk, &std::mem::take(&mut unfinished)) {
                    return goodbye(desk, &encoder);
                }
            }
        }
    }
}

/// What is finished, and a prompt if it is due.
fn write(desk: &mut Desk, encoder: &Encoder, (prompt, unfinished): (bool, &str)) -> io::Result<()> {
    let mut text = String::new();
    for line in desk.transcript.take() {
        encoder.line(&line, &mut text);
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    if prompt && unfinished.is_empty() {
        text.push_str(&format!("\n{} > ", desk.meter()));
    } else if prompt {
        text.push_str("... ");
    }
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Does what a line asks for; whether that was to leave.
fn take(desk: &mut Desk, text: &str) -> bool {
    let line = text.trim();
    if let Some(id) = desk.asked.take() {
        desk.answer(id, Question::typed(line));
        return false;
    }
    if line.is_empty() {
        return false;
    }
    if let Some(command) = line.strip_prefix('!') {
        desk.send(Input::Shell(command.trim().to_owned()), "running your command");
        return false;
    }
    match commands::parse(line) {
        None => desk.say(line.to_owned()),
        Some(Err(why)) => desk.transcript.note(Level::Error, &why),
        Some(Ok(command)) => match desk.command(command) {
            Then::Nothing => {}
            Then::Choose(choice) => settle(desk, choice),
            Then::Leave(_) => return true,
        },
    }
    false
}

/// Without keys to choose by, the choice is listed, or the likeliest one is made.
fn settle(desk: &mut Desk, choice: Choice) {
    match choice {
        Choice::Model(models) => {
            let names: Vec<String> = models.into_iter().map(|model| model.id).collect();
            let text = format!("{}\n/model NAME sets one", names.join("\n"));
            desk.transcript.note(Level::Info, &text);
        }
        Choice::Session => {
            desk.command(commands::Command::Sessions);
            desk.transcript.note(Level::Info, "/resume ID goes on with one");
        }
        Choice::Place(settings) => {
            let model = settings.iter().any(|(key, _)| key == "model");
            let place = if model { Place::Session } else { Place::File(Scope::Project) };
            desk.keep(settings, place);
        }
        Choice::Approval(question) => {
            let text = format!("{}: y, n, or what to do instead", question.title());
            desk.transcript.note(Level::Warning, &text);
            desk.asked = Some(question.id);
        }
        Choice::Brought => {
            desk.transcript.note(Level::Warning, "Obey these from now on? y or n");
            desk.asked = Some(BROUGHT.to_owned());
        }
        Choice::Reset(part) => desk.reset(part),
    }
}

fn goodbye(mut desk: Desk, encoder: &Encoder) -> io::Result<Exit> {
    desk.worker.interrupt.now();
    if desk.spoken {
        let text = format!("resume with: autocode -r {}", desk.session);
        desk.transcript.note(Level::Info, &text);
    }
    write(&mut desk, encoder, (false, ""))?;
    desk.worker.join();
    Ok(Exit::Done)
}

/// The lines of standard input, read where nothing waits for them.
fn lines() -> UnboundedReceiver<String> {
    let (sender, receiver) = unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
