//! A running command: wait for its end, or end it.
//!
//! Invariant: the process is reaped by this type alone, so its id names it for as long as the [`Child`] has no
//! status. Where the system has no process descriptors, a thread watches without reaping.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, waitid, waitpid};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::sync::oneshot;

use super::signal_family;

/// A process that was started by this one and leads a session.
pub(crate) struct Child {
    pid: Pid,
    end: Option<End>,
    status: Option<ExitStatus>,
}

/// Where the news of the end comes from.
enum End {
    #[cfg(target_os = "linux")]
    Descriptor(AsyncFd<OwnedFd>),
    Thread(oneshot::Receiver<()>),
}

impl Child {
    pub(super) fn new(pid: Pid) -> Self {
        Self { pid, end: None, status: None }
    }

    /// The process, also the name of its session and of its first process group.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits for the end. Nothing is lost if the future is dropped and asked again.
    ///
    /// # Errors
    /// When the runtime cannot watch the process.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.status {
                return Ok(status);
            }
            let end = match &mut self.end {
                Some(end) => end,
                none => none.insert(watch(self.pid)?),
            };
            match end {
                #[cfg(target_os = "linux")]
                End::Descriptor(descriptor) => {
                    let mut ready = descriptor.readable().await?;
                    ready.clear_ready();
                }
                End::Thread(news) => {
                    // A closed channel is news too: the thread is gone, so the process can be asked directly.
                    let _ = news.await;
                    self.end = None;
                }
            }
            self.try_wait();
        }
    }

    /// The status, if it has ended.
    pub(crate) fn try_wait(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = match waitpid(Some(self.pid), WaitOptions::NOHANG) {
                Ok(found) => found.map(|(_, status)| ExitStatus::from_raw(status.as_raw())),
                Err(Errno::INTR) => None,
                // Somebody else reaped it: how it ended is not known, that it ended is.
                Err(_) => Some(ExitStatus::from_raw(0)),
            };
        }
        self.status
    }

    /// Lets it live on, unwatched.
    pub(crate) fn leave(mut self) {
        self.try_wait();
        self.status.get_or_insert(ExitStatus::from_raw(0));
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.try_wait().is_some() {
            return;
        }
        signal_family(self.pid, Signal::KILL);
        let pid = self.pid;
        // It dies at once unless it hangs in the kernel; nobody should wait for that.
        let reaper = thread::Builder::new().name("reaper".to_owned());
        let _ = reaper.spawn(move || waitpid(Some(pid), WaitOptions::empty()));
    }
}

fn watch(pid: Pid) -> io::Result<End> {
    #[cfg(target_os = "linux")]
    if let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) {
        // SAFETY: an `OwnedFd` stays the same open descriptor until the `AsyncFd` has let go of it.
        let descriptor = unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) };
        if let Ok(descriptor) = descriptor {
            return Ok(End::Descriptor(descriptor));
        }
    }
    watch_by_thread(pid)
}

fn watch_by_thread(pid: Pid) -> io::Result<End> {
    let (news, end) = oneshot::channel();
    thread::Builder::new().name("waiter".to_owned()).stack_size(64 << 10).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(WaitId::Pid(pid), options), Err(Errno::INTR)) {}
        let _ = news.send(());
    })?;
    Ok(End::Thread(end))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::ffi::CStr;

    use super::super::{Output, Spawn, is_empty};
    use super::*;

    fn start(script: &CStr) -> Child {
        Spawn {
            program: c"/bin/sh",
            arguments: &[c"sh", c"-c", script],
            environment: &[c"PATH=/usr/local/bin:/usr/bin:/bin"],
            directory: Some(c"/"),
            stdin: None,
            output: Output::Discard,
        }
        .start()
        .unwrap()
    }

    #[tokio::test]
    async fn the_exit_status_comes_back() {
        assert_eq!(start(c"exit 7").wait().await.unwrap().code(), Some(7));
        assert_eq!(start(c"kill -SEGV $$").wait().await.unwrap().signal(), Some(libc::SIGSEGV));
    }

    #[tokio::test]
    async fn a_thread_can_watch_where_there_are_no_descriptors() {
        let mut child = start(c"exit 9");
        child.end = Some(watch_by_thread(child.pid).unwrap());
        assert_eq!(child.wait().await.unwrap().code(), Some(9));
    }

    #[tokio::test]
    async fn waiting_can_be_given_up_and_taken_up_again() {
        let mut child = start(c"read x; exit 4");
        drop(child.wait());
        assert_eq!(child.wait().await.unwrap().code(), Some(4));
    }

    #[tokio::test]
    async fn a_dropped_child_takes_its_family_along() {
        let child = start(c"sleep 1000 & sleep 1000");
        let pid = child.pid();
        drop(child);
        while !is_empty(pid) {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn a_program_that_does_not_exist_is_an_error() {
        let spawn = Spawn {
            program: c"/nonexistent/bash",
            arguments: &[c"bash"],
            environment: &[],
            directory: None,
            stdin: None,
            output: Output::Discard,
        };
        assert_eq!(spawn.start().err().map(|e| e.kind()), Some(io::ErrorKind::NotFound));
    }
}
