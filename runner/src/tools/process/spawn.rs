//! `posix_spawn` with what a command needs: its own session, default signals, a directory, its standard streams.

use std::ffi::{CStr, c_char, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::Once;

use rustix::process::Pid;

use super::Child;

#[cfg(target_os = "macos")]
const SETSID: c_short = 0x0400; // <spawn.h>; absent from the libc crate
#[cfg(not(target_os = "macos"))]
const SETSID: c_short = libc::POSIX_SPAWN_SETSID as c_short;

/// What to start, and how.
pub(crate) struct Spawn<'a> {
    /// Path of the program.
    pub(crate) program: &'a CStr,
    /// Its arguments, its own name first.
    pub(crate) arguments: &'a [&'a CStr],
    /// Its whole environment, `NAME=value`.
    pub(crate) environment: &'a [&'a CStr],
    /// Where it starts; `None`: where this process is.
    pub(crate) directory: Option<&'a CStr>,
    /// What it reads; `None`: nothing.
    pub(crate) stdin: Option<BorrowedFd<'a>>,
    /// Where stdout and stderr go.
    pub(crate) output: Output<'a>,
}

/// Where a program's stdout and stderr go.
pub(crate) enum Output<'a> {
    /// Both into one file or pipe.
    To(BorrowedFd<'a>),
    /// Nowhere.
    Discard,
}

impl Spawn<'_> {
    /// Starts it as the leader of a new session.
    ///
    /// # Errors
    /// When the program or the directory does not exist, or the system has no room for it.
    pub(crate) fn start(&self) -> io::Result<Child> {
        accept_children();
        let mut actions = Actions::new()?;
        match self.stdin {
            Some(fd) => actions.duplicate(fd, libc::STDIN_FILENO)?,
            None => actions.open(libc::STDIN_FILENO, libc::O_RDONLY)?,
        }
        for stream in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            match self.output {
                Output::To(fd) => actions.duplicate(fd, stream)?,
                Output::Discard => actions.open(stream, libc::O_WRONLY)?,
            }
        }
        if let Some(directory) = self.directory {
            actions.change_directory(directory)?;
        }
        let attributes = Attributes::new()?;
        let arguments = pointers(self.arguments);
        let environment = pointers(self.environment);
        let mut pid = 0;
        // SAFETY: every pointer is to an initialised value that outlives the call; both arrays end with null.
        check(unsafe {
            libc::posix_spawn(
                &raw mut pid,
                self.program.as_ptr(),
                &raw const actions.0,
                &raw const attributes.0,
                arguments.as_ptr(),
                environment.as_ptr(),
            )
        })?;
        Pid::from_raw(pid).map(Child::new).ok_or_else(|| io::ErrorKind::Other.into())
    }
}

fn pointers(strings: &[&CStr]) -> Vec<*mut c_char> {
    strings.iter().map(|s| s.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// posix_spawn and its kin return the error instead of setting `errno`.
fn check(code: i32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// A parent that ignores SIGCHLD hands that on to us, and then the system throws our children's exit status away.
fn accept_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut now = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: reads the disposition into `now`, and sets a default one; no handler of ours is involved.
        unsafe {
            if libc::sigaction(libc::SIGCHLD, ptr::null(), now.as_mut_ptr()) == 0
                && now.assume_init().sa_sigaction == libc::SIG_IGN
            {
                libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            }
        }
    });
}

/// What the child does between its start and the program's.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: initialises `actions`, which is read only if that succeeded.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    fn duplicate(&mut self, from: BorrowedFd<'_>, to: i32) -> io::Result<()> {
        // SAFETY: `self.0` is initialised.
        check(unsafe {
            libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from.as_raw_fd(), to)
        })
    }

    /// Opens `/dev/null` as `to`.
    fn open(&mut self, to: i32, flags: i32) -> io::Result<()> {
        // SAFETY: `self.0` is initialised; the path is a constant.
        check(unsafe {
            libc::posix_spawn_file_actions_addopen(
                &raw mut self.0,
                to,
                c"/dev/null".as_ptr(),
                flags,
                0,
            )
        })
    }

    fn change_directory(&mut self, to: &CStr) -> io::Result<()> {
        // SAFETY: `self.0` is initialised; the path is copied by the call.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, to.as_ptr()) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// A new session; every signal handled as by default (this process ignores SIGPIPE) and none blocked.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        let mut signals = MaybeUninit::uninit();
        let flags =
            SETSID | (libc::POSIX_SPAWN_SETSIGDEF | libc::POSIX_SPAWN_SETSIGMASK) as c_short;
        // SAFETY: each value is initialised by the first call that names it, and read only after that.
        unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            let mut this = Self(attributes.assume_init());
            libc::sigemptyset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigmask(&raw mut this.0, signals.as_ptr()))?;
            libc::sigfillset(signals.as_mut_ptr());
            check(libc::posix_spawnattr_setsigdefault(&raw mut this.0, signals.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&raw mut this.0, flags))?;
            Ok(this)
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised by `new`, destroyed once.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}
