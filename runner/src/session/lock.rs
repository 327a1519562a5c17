//! One writer a session: an advisory lock on `ID.lock`, which holds the writer's process number.
//!
//! The lock is not on the transcript itself, since another file takes its place when the conversation is compacted.
//! A lock file left by a crash locks nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::with_directory;

/// Held until dropped.
pub(super) struct Lock {
    path: PathBuf,
    _file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum Refused {
    /// Another process has it: this one, if it says so.
    Held(Option<u32>),
    /// The directory cannot be written, or its file system has no locks. Writing will tell what is wrong.
    Impossible,
}

impl Lock {
    /// Locks the session `id`.
    pub(super) fn acquire(dir: &Path, id: &str) -> Result<Self, Refused> {
        let path = dir.join(format!("{id}.lock"));
        let mut patience = 100;
        loop {
            let mut file = with_directory(dir, || open(&path)).map_err(|_| Refused::Impossible)?;
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => {
                    let holder = holder(&mut file);
                    // A process that was killed while it started another lives on in it for a moment.
                    if patience == 0 || !holder.is_some_and(is_gone) {
                        return Err(Refused::Held(holder));
                    }
                    patience -= 1;
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(_) => return Err(Refused::Impossible),
            }
            // The holder before us may have removed the file between our opening and our locking it.
            if is_at(&file, &path) {
                let number = std::process::id().to_string();
                let _ = file.set_len(0).and_then(|()| file.write_all(number.as_bytes()));
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    // A link that someone put there would have its target emptied.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(flags).open(path)
}

fn holder(file: &mut File) -> Option<u32> {
    let mut number = String::new();
    file.read_to_string(&mut number).ok()?;
    number.trim().parse().ok()
}

fn is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}
