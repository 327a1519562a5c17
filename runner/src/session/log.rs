//! What happened in a session, in order: for a person who wants to know what was done, and who allowed it.
//!
//! Archived transcripts are read too, so that no summary hides anything.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::list::first_words;
use super::note::Note;
use super::record::{Meta, Record};
use super::{SessionError, archived, file_of, load};
use crate::model::message::{Assistant, Message, ToolCall, Usage};
use crate::project::Project;

/// A session as it went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// What it is resumed by.
    pub id: String,
    /// Its first words, on one line.
    pub title: String,
    /// What happened, oldest first.
    pub entries: Vec<Entry>,
    /// What could not be read, one sentence each.
    pub warnings: Vec<String>,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When, if that was written down.
    pub time: Option<Timestamp>,
    /// What.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// The person said something.
    User(String),
    /// autocode told the model something in the person's place.
    Own(String),
    /// The model replied.
    Step {
        /// Its number in the turn.
        step: Option<u32>,
        /// Its words.
        text: Option<String>,
        /// What it cost.
        usage: Option<Usage>,
    },
    /// A call of a tool, told when it ended.
    Call(Call),
    /// Something beside the conversation: an edit of the agent's own files, an approval.
    Note(Note),
}

/// A call and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON text.
    pub arguments: String,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub elapsed_ms: Option<u64>,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Well.
    Well,
    /// Otherwise, in the transcript's words: `exit 1`, `timed out`.
    Badly(String),
    /// It has no result: a crash, or a session that is still at it.
    Open,
}

impl Log {
    /// Reads the session `id` of `project`.
    ///
    /// # Errors
    /// When there is none, or its file cannot be read.
    pub fn read(project: &Project, id: &str) -> Result<Self, SessionError> {
        let path = file_of(project, id)?;
        let mut log = Self { id: id.to_owned(), ..Self::default() };
        let mut reading = Reading::default();
        let mut old = archived(project, id);
        old.push(path.clone());
        for (at, file) in old.iter().enumerate() {
            let records = match load::read(file) {
                Ok(records) => records,
                Err(cause) if *file == path => {
                    return Err(SessionError::Read { path: path.display().to_string(), cause });
                }
                Err(source) => {
                    log.warnings.push(format!("{} cannot be read: {source}", project.short(file)));
                    continue;
                }
            };
            log.warnings.extend(records.warnings());
            reading.continues = at > 0;
            records.records.into_iter().for_each(|record| reading.take(record));
        }
        reading.settle();
        log.title = reading.title.unwrap_or_default();
        log.entries = reading.entries;
        Ok(log)
    }
}

/// Entries under way.
#[derive(Default)]
struct Reading {
    entries: Vec<Entry>,
    title: Option<String>,
    /// Calls without a result yet, oldest first, with their reply's time.
    open: VecDeque<(ToolCall, Option<Timestamp>)>,
    /// Whether an older transcript was read before this one.
    continues: bool,
}

impl Reading {
    fn take(&mut self, record: Record) {
        match record {
            // The older transcript has them as they were.
            Record::Message(_, Meta { kept: true, .. }) if self.continues => {}
            Record::Message(message, meta) => self.message(message, meta),
            Record::Note(note) => self.add(note.time, What::Note(note)),
            Record::Title(title) => _ = self.title.get_or_insert(title),
            Record::State { .. } => {}
        }
    }

    fn message(&mut self, message: Message, meta: Meta) {
        match message {
            Message::User { content } if meta.own => self.add(meta.time, What::Own(content)),
            Message::User { content } => {
                self.title.get_or_insert_with(|| first_words(&content));
                self.add(meta.time, What::User(content));
            }
            Message::Assistant(reply) => self.reply(reply, &meta),
            Message::Tool { tool_call_id, .. } => self.result(&tool_call_id, meta),
        }
    }

    fn reply(&mut self, reply: Assistant, meta: &Meta) {
        self.settle();
        let step = What::Step { step: meta.step, text: reply.content, usage: meta.usage };
        self.add(meta.time, step);
        self.open.extend(reply.tool_calls.into_iter().map(|call| (call, meta.time)));
    }

    /// A result; one whose call is not known says nothing worth telling.
    fn result(&mut self, id: &str, meta: Meta) {
        let Some(at) = self.open.iter().position(|(call, _)| call.id == id) else { return };
        let Some((call, _)) = self.open.remove(at) else { return };
        let end = meta.status.map_or(End::Well, End::Badly);
        self.call(call, meta.time, end, meta.elapsed_ms);
    }

    /// What is still open stays so.
    fn settle(&mut self) {
        while let Some((call, time)) = self.open.pop_front() {
            self.call(call, time, End::Open, None);
        }
    }

    fn call(&mut self, call: ToolCall, time: Option<Timestamp>, end: End, elapsed_ms: Option<u64>) {
        let ToolCall { id, function, .. } = call;
        let (name, arguments) = (function.name, function.arguments);
        self.add(time, What::Call(Call { id, name, arguments, end, elapsed_ms }));
    }

    fn add(&mut self, time: Option<Timestamp>, what: What) {
        self.entries.push(Entry { time, what });
    }
}
