//! Brings a file to the disk in the background.

use std::fs::File;
use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// A thread that syncs one file when asked; it ends when this is dropped. Nobody waits for it: what was written is in
/// the system's hands already and survives everything but the system's own end.
pub(super) struct Syncer {
    requests: SyncSender<()>,
}

impl Syncer {
    pub(super) fn start(file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        // Room for one request: what is asked while one waits is covered by that.
        let (requests, asked) = sync_channel(1);
        let thread = thread::Builder::new().name("sync".to_owned()).stack_size(64 << 10);
        thread.spawn(move || {
            while asked.recv().is_ok() {
                let _ = file.sync_data();
            }
        })?;
        Ok(Self { requests })
    }

    pub(super) fn request(&self) {
        let _ = self.requests.try_send(());
    }
}
