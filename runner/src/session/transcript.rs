//! Appending: one write of a whole line.
//!
//! Invariant: no line is lost and none is torn. Lines that cannot be written wait in memory, in order, and go first
//! when writing works again; what was written of a line that did not fit is taken back.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::record::Line;
use super::sync::Syncer;
use super::with_directory;

/// The file of a session.
pub(super) struct Transcript {
    path: PathBuf,
    file: Option<File>,
    syncer: Option<Syncer>,
    /// What could not be written yet.
    waiting: Vec<u8>,
    /// The file ends in the middle of a line.
    torn: bool,
}

impl Transcript {
    /// The file at `path`, made when something is written.
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, file: None, syncer: None, waiting: Vec::new(), torn: false }
    }

    /// The file was read; `torn` when its last line has no end.
    pub(super) fn exists(&mut self, torn: bool) {
        self.torn = torn;
    }

    /// Another file has taken this one's place.
    pub(super) fn replaced(&mut self) {
        *self = Self::new(std::mem::take(&mut self.path));
    }

    /// Appends `line`.
    ///
    /// # Errors
    /// When it could not be written, and all before it could. It is kept, as are the next ones.
    pub(super) fn append(&mut self, line: &Line) -> io::Result<()> {
        if self.waiting.is_empty() {
            let written = self.write(line.as_bytes());
            if written.is_err() {
                self.waiting.extend_from_slice(line.as_bytes());
            }
            return written;
        }
        self.waiting.extend_from_slice(line.as_bytes());
        let _ = self.flush();
        Ok(())
    }

    /// Writes what is waiting.
    ///
    /// # Errors
    /// When it still cannot be written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let written = if waiting.is_empty() { Ok(()) } else { self.write(&waiting) };
        if written.is_err() {
            self.waiting = waiting;
        }
        written
    }

    /// Has the file synced, without waiting for it.
    pub(super) fn sync(&mut self) {
        let Some(file) = &self.file else { return };
        if self.syncer.is_none() {
            self.syncer = Syncer::start(file).ok();
        }
        if let Some(syncer) = &self.syncer {
            syncer.request();
        }
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(open(&self.path)?),
        };
        if self.torn {
            write_whole(file, &[b"\n", lines].concat())?;
            self.torn = false;
            return Ok(());
        }
        write_whole(file, lines)
    }
}

fn open(path: &std::path::Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Neither through a link that someone put there nor into a FIFO.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    options.append(true).create(true).mode(0o600).custom_flags(flags);
    let dir = path.parent().unwrap_or(path);
    with_directory(dir, || options.open(path))
}

/// Writes all of `bytes`, or nothing.
fn write_whole(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    while written < bytes.len() {
        match file.write(&bytes[written..]) {
            Ok(0) => return Err(take_back(file, written, io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(take_back(file, written, error)),
        }
    }
    Ok(())
}

fn take_back(file: &File, written: usize, error: io::Error) -> io::Error {
    if written > 0
        && let Ok(meta) = file.metadata()
    {
        let _ = file.set_len(meta.len().saturating_sub(written as u64));
    }
    error
}
