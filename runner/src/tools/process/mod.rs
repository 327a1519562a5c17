//! Processes of the commands the agent runs: starting one, waiting for it, ending everything it started.
//!
//! Each command leads a session of its own, so that it has no terminal to ask and everything it started can be found
//! again, also what made itself a process group (`timeout`, `set -m`). Only `setsid` leaves that family, on purpose.
//! Invariant: a [`Child`] that is dropped while it runs takes its family along. Starting never forks this process:
//! a fork copies page tables, `posix_spawn` does not.

mod child;
mod family;
mod signal;
mod spawn;

pub(crate) use child::Child;
pub(crate) use family::{GRACE, TICK, group_is_empty, is_empty, kill_all, signal_family};
pub(crate) use rustix::process::{Pid, Signal};
pub(crate) use signal::signal_name;
pub(crate) use spawn::{Output, Spawn};
