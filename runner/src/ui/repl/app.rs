//! The full REPL: one picture of everything, drawn when something has changed; keys, events and signals as they come.
//!
//! Nothing here waits for the agent: a key is in the picture at once. While nothing happens, nothing runs.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{Event as TerminalEvent, EventStream, KeyEvent};
use futures_util::StreamExt as _;
use tokio::sync::mpsc::UnboundedReceiver;

use super::act::Then;
use super::approval::Reply;
use super::commands::{self, Place};
use super::composer::Composer;
use super::desk::{Choice, Desk, use_model};
use super::editor::Asked;
use super::files::Found;
use super::listing;
use super::picker::{Item, Picked, Picker};
use super::screen::Screen;
use super::status::{FRAME, Status};
use super::terminal::RawMode;
use crate::agent::event::{Event, Input, Level};
use crate::approve::Answer;
use crate::config::{self, Scope};
use crate::exit::Exit;
use crate::render::{Line, Pace, Spot, Style};
use crate::ui::signals::Signals;

/// What an empty line says while a turn runs.
const STEER: &str = "type to steer: Enter queues it for the next step";

/// Two presses of Ctrl-C within this time leave.
const TWICE: Duration = Duration::from_secs(2);

/// Events that are taken in before the next picture, at most.
const AT_ONCE: usize = 512;

/// How long the agent has to put things in order when the person leaves.
const GOODBYE: Duration = Duration::from_secs(3);

/// The REPL's state.
pub(super) struct App {
    screen: Screen,
    raw: RawMode,
    desk: Desk,
    composer: Composer,
    /// A list that is open, and what it is for.
    picker: Option<(Picker, Choice)>,
    /// The call that the line being typed refuses.
    refusing: Option<String>,
    /// Something to know until the next key.
    hint: Option<String>,
    interrupted: Option<Instant>,
    leave: Option<Exit>,
}

impl App {
    pub(super) fn new(screen: Screen, raw: RawMode, desk: Desk, composer: Composer) -> Self {
        Self {
            screen,
            raw,
            desk,
            composer,
            picker: None,
            refusing: None,
            hint: None,
            interrupted: None,
            leave: None,
        }
    }

    /// Serves the person until they leave.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(super) async fn run(
        mut self,
        mut events: UnboundedReceiver<Event>,
        mut files: UnboundedReceiver<Found>,
    ) -> io::Result<Exit> {
        // Before the first picture: whoever sees the prompt may send a signal.
        let mut signals = Signals::listen();
        self.draw()?;
        let mut keys = EventStream::new();
        let (mut drawn, mut pace) = (Instant::now(), Pace::default());
        let mut changed = false;
        let exit = loop {
            if let Some(exit) = self.leave {
                break exit;
            }
            let next = match (changed, self.desk.is_working()) {
                (true, _) => Some(pace.due().unwrap_or(drawn)),
                (false, true) => Some(drawn + FRAME),
                (false, false) => None,
            };
            tokio::select! {
                biased;
                key = keys.next() => {
                    match key {
                        Some(key) => self.terminal(key?),
                        None => break Exit::Interrupted,
                    }
                    drawn = Instant::now();
                    self.draw()?;
                    pace.drew(drawn);
                    changed = false;
                }
                () = signals.next() => break Exit::Interrupted,
                () = until(next) => {
                    drawn = Instant::now();
                    self.draw()?;
                    pace.drew(drawn);
                    changed = false;
                }
                Some(found) = files.recv() => {
                    self.composer.found(found);
                    changed = true;
                }
                event = events.recv() => {
                    let Some(event) = event else {
                        self.desk.transcript.note(Level::Error, "the agent has stopped");
                        break Exit::Failed;
                    };
                    self.hear(event);
                    for _ in 0..AT_ONCE {
                        let Ok(event) = events.try_recv() else { break };
                        self.hear(event);
                    }
                    changed = true;
                }
            }
        };
        drop(keys);
        self.goodbye(events, exit).await
    }

    /// Lets the agent put things in order, and leaves the terminal as a reader wants it.
    async fn goodbye(
        mut self,
        mut events: UnboundedReceiver<Event>,
        exit: Exit,
    ) -> io::Result<Exit> {
        let draft = self.composer.text();
        if self.desk.is_working()
            && let Some(back) = self.desk.interrupt()
        {
            self.composer.put_before(&back);
        }
        if !self.composer.is_empty() {
            self.composer.discard();
        }
        let Self { mut screen, raw, mut desk, .. } = self;
        desk.worker.interrupt.now();
        let end = tokio::time::Instant::now() + GOODBYE;
        let (inputs, _) = tokio::sync::mpsc::unbounded_channel();
        drop(std::mem::replace(&mut desk.worker.inputs, inputs));
        while let Ok(Some(event)) = tokio::time::timeout_at(end, events.recv()).await {
            if matches!(
                event,
                Event::TurnFinished(_) | Event::ToolFinished { .. } | Event::Reply(_)
            ) {
                desk.transcript.show(&event);
            }
        }
        if desk.spoken {
            let text = format!("resume with: autocode -r {}", desk.session);
            desk.transcript.note(Level::Info, &text);
        }
        if !draft.trim().is_empty() {
            desk.transcript.note(Level::Info, "what you were typing is in the history (Up)");
        }
        screen.finish(desk.transcript.take());
        let drawn = screen.draw(Vec::new(), None);
        drop(raw);
        drawn.map(|()| exit)
    }

    fn hear(&mut self, event: Event) {
        let heard = self.desk.hear(event);
        if heard.gone.is_some_and(|typed| typed == self.composer.text()) {
            self.composer.set("");
        }
        if let Some(choice) = heard.choice {
            self.choose(choice);
        }
    }

    fn terminal(&mut self, event: TerminalEvent) {
        match event {
            TerminalEvent::Key(key) if key.kind != crossterm::event::KeyEventKind::Release => {
                self.hint = None;
                if self.picker.is_some() { self.picker_key(key) } else { self.key(key) }
            }
            TerminalEvent::Paste(text) => match &mut self.picker {
                Some((picker, _)) => picker.paste(&text),
                None => self.composer.paste(text),
            },
            _ => {}
        }
    }

    fn key(&mut self, key: KeyEvent) {
        match self.composer.key(key) {
            Asked::Submit => self.submit(),
            Asked::Interrupt => self.interrupt(),
            Asked::Leave => self.leave = Some(Exit::Done),
            Asked::Escape => {
                if self.composer.is_empty()
                    && let Some(typed) = self.desk.take_back()
                {
                    self.composer.set(&typed);
                }
            }
            Asked::ClearScreen => _ = self.screen.clear(),
            Asked::Suspend => {
                // What the shell writes meanwhile goes where the live region was.
                let _ = self.screen.draw(Vec::new(), None);
                let _ = self.raw.suspend();
            }
            _ => {}
        }
    }

    fn submit(&mut self) {
        let text = self.composer.take();
        let line = text.trim();
        if let Some(id) = self.refusing.take() {
            let words = (!line.is_empty()).then(|| line.to_owned());
            self.desk.answer(id, Answer::No(words));
            return;
        }
        if line.is_empty() {
            return;
        }
        if let Some(command) = line.strip_prefix('!') {
            if !command.trim().is_empty() {
                self.desk.send(Input::Shell(command.trim().to_owned()), "running your command");
            }
            return;
        }
        match commands::parse(line) {
            None => self.desk.say(line.to_owned()),
            Some(Ok(command)) => {
                self.desk.transcript.command(line);
                match self.desk.command(command) {
                    Then::Nothing => {}
                    Then::Choose(choice) => self.choose(choice),
                    Then::Leave(exit) => self.leave = Some(exit),
                }
            }
            Some(Err(why)) => {
                self.hint = Some(why);
                self.composer.set(&text);
            }
        }
    }

    /// Once: ends what runs, or the line. Twice: leaves.
    fn interrupt(&mut self) {
        let again = self.interrupted.is_some_and(|at| at.elapsed() < TWICE);
        self.interrupted = Some(Instant::now());
        if again {
            self.leave = Some(if self.desk.is_working() { Exit::Interrupted } else { Exit::Done });
        } else if self.desk.is_working() {
            if let Some(back) = self.desk.interrupt() {
                self.composer.put_before(&back);
            }
        } else if self.composer.is_empty() {
            self.hint = Some("Ctrl-C again leaves".to_owned());
        } else {
            self.composer.discard();
        }
    }

    /// Opens the list for a choice.
    fn choose(&mut self, choice: Choice) {
        let item = |label: &str, detail: &str| Item { label: label.into(), detail: detail.into() };
        let picker = match &choice {
            Choice::Model(models) => {
                let at = models.iter().position(|model| model.id == self.desk.model);
                let row = |model: &crate::model::ModelInfo| {
                    let window = model.context_window.map(crate::ui::blocks::tokens);
                    item(&model.id, &window.unwrap_or_default())
                };
                Picker::new("Model", models.iter().map(row).collect()).at(at.unwrap_or(0))
            }
            Choice::Session => {
                let rows = listing::recent(&self.desk.project);
                if rows.is_empty() {
                    self.hint = Some("this project has no sessions yet".to_owned());
                    return;
                }
                let title =
                    format!("Sessions of {}", self.desk.env.short(self.desk.project.root()));
                Picker::new(title, rows.into_iter().map(|(_, item)| item).collect())
            }
            Choice::Place(settings) => {
                let names: Vec<&str> = settings.iter().map(|(key, _)| key.as_str()).collect();
                let place = |scope| config::file(&self.desk.project, &self.desk.env, scope).1;
                let items = vec![
                    item("this session", "until you leave"),
                    item("this project", &place(Scope::Project)),
                    item("all projects", &place(Scope::User)),
                ];
                Picker::new(format!("Keep {} for", names.join(" and ")), items)
            }
            Choice::Approval(question) => {
                let rows = question.rows().into_iter().map(|(item, _)| item).collect();
                // An Enter that was meant for the line says no.
                let first = usize::from(!self.composer.is_empty());
                Picker::new(question.title(), rows).at(first)
            }
            Choice::Brought => Picker::new(
                "Obey these from now on?",
                vec![
                    item("no", "go on with what was there before; /trust asks again"),
                    item("yes", ""),
                ],
            ),
            Choice::Reset(_) => Picker::new(
                "Put the agent's files back as they ship?",
                vec![item("no", ""), item("yes", "what is replaced is kept in .autocode/prev/")],
            ),
        };
        self.picker = Some((picker, choice));
    }

    fn picker_key(&mut self, key: KeyEvent) {
        let Some((picker, _)) = &mut self.picker else { return };
        let at = match picker.key(key) {
            Picked::Open => return,
            Picked::None => {
                match self.picker.take() {
                    Some((_, Choice::Approval(question))) => {
                        self.desk.answer(question.id, Answer::No(None));
                    }
                    Some((_, Choice::Brought)) => self.desk.obey(false),
                    _ => {}
                }
                return;
            }
            Picked::Item(at) => at,
        };
        let Some((_, choice)) = self.picker.take() else { return };
        match choice {
            Choice::Model(models) => {
                if let Some(model) = models.get(at) {
                    self.choose(use_model(model));
                }
            }
            Choice::Session => {
                if let Some((id, _)) = listing::recent(&self.desk.project).into_iter().nth(at) {
                    self.desk.send(Input::Resume(id), "reading the session");
                }
            }
            Choice::Place(settings) => {
                let place = match at {
                    0 => Place::Session,
                    1 => Place::File(Scope::Project),
                    _ => Place::File(Scope::User),
                };
                self.desk.keep(settings, place);
            }
            Choice::Approval(question) => match question.rows().into_iter().nth(at) {
                Some((_, Reply::Answer(answer))) => self.desk.answer(question.id, answer),
                _ => {
                    self.hint = Some("say what to do instead; Enter sends it".to_owned());
                    self.refusing = Some(question.id);
                }
            },
            Choice::Brought => self.desk.obey(at == 1),
            Choice::Reset(part) => {
                if at == 1 {
                    self.desk.reset(part);
                }
            }
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        if self.screen.resized() {
            self.desk.transcript.resize(self.screen.options());
        }
        let finished = self.desk.transcript.take();
        self.screen.finish(finished);
        let (rows, width) = (self.screen.rows(), self.screen.width());
        let blocks = self.desk.transcript.blocks();
        let meter = self.desk.meter();
        let (foot, spot) = match &self.picker {
            Some((picker, _)) => picker.draw(blocks, rows.min(14)),
            None => {
                let is_turn = self.desk.status.as_ref().is_some_and(Status::is_turn);
                self.composer.draw(&meter, blocks, (width, rows), is_turn.then_some(STEER))
            }
        };
        let mut above = Vec::new();
        if let Some(status) = &self.desk.status {
            above.push(status.line(&meter, blocks));
        }
        for queued in self.desk.waiting() {
            let text = queued.typed.replace('\n', " ");
            let line = format!("{} {text}", blocks.marks.queued);
            above.push(blocks.cut(Line::of(&line, Style::MUTED)));
        }
        if let Some(hint) = &self.hint {
            above.push(blocks.cut(Line::of(&blocks.marks.sentence(hint), Style::MUTED)));
        }
        // The line a person types on comes first, then what they wait for, then what is being written.
        let room = rows.saturating_sub(foot.len());
        above.drain(..above.len().saturating_sub(room));
        let room = room - above.len();
        let mut lines = self.desk.transcript.tail(room.saturating_sub(1));
        if room > 0 {
            lines.push(Line::new());
        }
        lines.extend(above);
        let spot = Spot { row: lines.len() + spot.row, cell: spot.cell };
        lines.extend(foot);
        self.screen.draw(lines, Some(spot))
    }
}

async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}
