//! The transcript on disk: one JSON object a line, appended as soon as it is whole.
//!
//! A line is a message in OpenAI's shape with a `_meta` beside it, or something that is no message and says so by its
//! one key: `_state` (a value that a tool keeps), `_note` (something worth knowing later), `_title`. Invariants: what
//! was appended is never changed, only archived whole when a compacted conversation takes its place; what cannot be
//! written is kept in memory and written later; what cannot be read costs that line and no other.

mod archive;
mod id;
mod list;
mod load;
mod lock;
mod log;
mod note;
mod record;
mod repair;
mod sync;
mod transcript;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;

use crate::model::message::Message;
use crate::project::Project;

use self::lock::{Lock, Refused};
use self::record::Line;
use self::transcript::Transcript;

pub use self::archive::archived;
pub use self::list::{Summary, latest, recent};
pub use self::load::{Records, read as read_records};
pub use self::log::{Call, End, Entry, Log, What};
pub use self::note::{Approval, Note};
pub use self::record::{Meta, Record};

/// A session that is being written.
///
/// Its file is made by the first line that is appended, so that a session without words leaves none.
pub struct Session {
    id: String,
    dir: PathBuf,
    path: PathBuf,
    title: Option<String>,
    state: BTreeMap<String, String>,
    transcript: Transcript,
    /// Held as long as the session lives; `None` where locks cannot be made.
    _lock: Option<Lock>,
}

/// What a session file held, made fit to go on with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The conversation: every tool call has one result, ids are unique, arguments are JSON objects.
    pub messages: Vec<Message>,
    /// What is known about each of them, in the same order.
    pub meta: Vec<Meta>,
    /// What was damaged, and what became of it; one sentence each.
    pub warnings: Vec<String>,
}

/// Why a session cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is none with this id.
    #[error("there is no session {id} in {dir}; `autocode -r` lists the recent ones")]
    NotFound {
        /// The id asked for.
        id: String,
        /// Where it was looked for.
        dir: String,
    },
    /// Another process writes it.
    #[error("session {id} is in use by another autocode{}; end that one, or start a new session", by(*pid))]
    InUse {
        /// The session.
        id: String,
        /// The process, if it left its number.
        pid: Option<u32>,
    },
    /// It is there but cannot be read.
    #[error("{path} cannot be read: {cause}")]
    Read {
        /// The file.
        path: String,
        /// Why not; a part of the message, so not told once more as its source.
        cause: io::Error,
    },
    /// It cannot be written now. Told once; the lines are kept and written as soon as that is possible.
    #[error(
        "{path} cannot be written: {cause}; the conversation goes on in memory, and is written when that is possible"
    )]
    Write {
        /// The file.
        path: String,
        /// Why not; a part of the message, so not told once more as its source.
        cause: io::Error,
    },
}

fn by(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

impl Session {
    /// A new session, named after `now`, the local time.
    pub fn create(project: &Project, now: DateTime) -> Self {
        let dir = project.sessions();
        let (id, lock) = id::reserve(&dir, now);
        Self::at(dir, id, lock)
    }

    /// Opens the session `id` to go on with it.
    ///
    /// # Errors
    /// When there is none, when another process writes it, when it cannot be read.
    pub fn open(project: &Project, id: &str) -> Result<(Self, Loaded), SessionError> {
        let dir = project.sessions();
        let path = file_of(project, id)?;
        let lock = match Lock::acquire(&dir, id) {
            Ok(lock) => Some(lock),
            Err(Refused::Held(pid)) => {
                return Err(SessionError::InUse { id: id.to_owned(), pid });
            }
            Err(Refused::Impossible) => None,
        };
        let records = load::read(&path)
            .map_err(|cause| SessionError::Read { path: path.display().to_string(), cause })?;
        let mut session = Self::at(dir, id.to_owned(), lock);
        session.transcript.exists(records.ends_within_a_line);
        let loaded = session.take_in(records);
        Ok((session, loaded))
    }

    fn at(dir: PathBuf, id: String, lock: Option<Lock>) -> Self {
        let path = dir.join(format!("{id}.jsonl"));
        Self {
            transcript: Transcript::new(path.clone()),
            id,
            dir,
            path,
            title: None,
            state: BTreeMap::new(),
            _lock: lock,
        }
    }

    /// Keeps what is ours of what was read, and returns the conversation.
    fn take_in(&mut self, read: Records) -> Loaded {
        let mut warnings = read.warnings();
        let mut conversation = Vec::new();
        for record in read.records {
            match record {
                Record::Message(message, meta) => conversation.push((message, meta)),
                Record::State { key, value: Some(value) } => drop(self.state.insert(key, value)),
                Record::State { key, value: None } => drop(self.state.remove(&key)),
                Record::Title(title) => self.title = Some(title),
                Record::Note(_) => {}
            }
        }
        let repaired = repair::repair(conversation);
        warnings.extend(repaired.warnings());
        if self.title.is_none() {
            self.title = repaired.messages.iter().find_map(title_of);
        }
        Loaded { messages: repaired.messages, meta: repaired.meta, warnings }
    }

    /// What it is resumed by.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its file, which need not exist yet.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a message that is whole.
    ///
    /// # Errors
    /// [`SessionError::Write`], once until it can be written again; nothing is lost meanwhile.
    pub fn append(&mut self, message: &Message, meta: &Meta) -> Result<(), SessionError> {
        if self.title.is_none() {
            self.title = title_of(message);
        }
        self.write(&Line::message(message, meta))
    }

    /// Appends something worth knowing when the session is read again; no part of the conversation.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn note(&mut self, note: &Note) -> Result<(), SessionError> {
        self.write(&Line::note(note))
    }

    /// A value that a tool keeps with the session.
    pub fn state(&self, key: &str) -> Option<&str> {
        self.state.get(key).map(String::as_str)
    }

    /// Keeps a value with the session; an unchanged one costs nothing.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub fn set_state(&mut self, key: &str, value: &str) -> Result<(), SessionError> {
        if self.state(key) == Some(value) {
            return Ok(());
        }
        self.state.insert(key.to_owned(), value.to_owned());
        self.write(&Line::state(key, value))
    }

    /// Has what was appended brought to the disk, without waiting for it.
    pub fn sync(&mut self) {
        self.transcript.sync();
    }

    /// Puts `messages` in the place of the conversation; the transcript so far goes whole to `sessions/old/`.
    ///
    /// # Errors
    /// When that cannot be done; the file is then as it was.
    pub fn replace(&mut self, messages: &[(Message, Meta)]) -> Result<(), SessionError> {
        let mut lines: Vec<Line> = self.title.iter().map(|title| Line::title(title)).collect();
        lines.extend(self.state.iter().map(|(key, value)| Line::state(key, value)));
        lines.extend(messages.iter().map(|(message, meta)| Line::message(message, meta)));
        let replaced = self.transcript.flush().and_then(|()| {
            archive::replace(&self.dir, &self.id, &lines).map(|()| self.transcript.replaced())
        });
        replaced.map_err(|cause| self.not_written(cause))
    }

    fn write(&mut self, line: &Line) -> Result<(), SessionError> {
        self.transcript.append(line).map_err(|cause| self.not_written(cause))
    }

    fn not_written(&self, cause: io::Error) -> SessionError {
        SessionError::Write { path: self.path.display().to_string(), cause }
    }
}

/// The transcript of the session `id`, if there is one.
fn file_of(project: &Project, id: &str) -> Result<PathBuf, SessionError> {
    let dir = project.sessions();
    let path = dir.join(format!("{id}.jsonl"));
    if id::is_valid(id) && path.exists() {
        return Ok(path);
    }
    Err(SessionError::NotFound { id: id.to_owned(), dir: project.short(&dir).to_string() })
}

/// The first words of a person, which a session is known by in lists.
fn title_of(message: &Message) -> Option<String> {
    match message {
        Message::User { content } => Some(list::first_words(content)),
        Message::Assistant(_) | Message::Tool { .. } => None,
    }
}

/// Makes the directory that `path` is to be in, if `result` failed for the want of it, and tries again.
fn with_directory<T>(dir: &Path, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match attempt() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(dir)?;
            attempt()
        }
        result => result,
    }
}

#[cfg(test)]
mod tests;
