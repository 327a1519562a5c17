//! Everything a command started: the members of its session, in whatever process groups they are.

use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};

/// How long processes that are asked to end may take before they are made to.
pub(crate) const GRACE: Duration = Duration::from_millis(50);
/// How often to look whether they did.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Signals every member of the session that `leader` leads or led.
pub(crate) fn signal_family(leader: Pid, signal: Signal) {
    // The group in one call, so that no member can have a child in between; then those in groups of their own.
    let _ = kill_process_group(leader, signal);
    signal_each(&members(&[leader]), signal);
}

/// Whether the session has no living member.
pub(crate) fn is_empty(leader: Pid) -> bool {
    members(&[leader]).is_empty()
}

/// Whether nothing is left in the process group that `leader` led. Cheaper than [`is_empty`], and blind to members
/// of the session that made groups of their own.
pub(crate) fn group_is_empty(leader: Pid) -> bool {
    test_kill_process_group(leader).is_err()
}

/// Ends every member of the sessions whose leaders are dead, waiting for them a moment.
///
/// A leader's number that is in use again belongs to a stranger, since a number is not given away while a session
/// bears it: such sessions are left alone.
pub(crate) fn kill_all(leaders: &[Pid]) {
    let ours: Vec<Pid> = leaders.iter().copied().filter(|&pid| !exists(pid)).collect();
    for signal in [Signal::TERM, Signal::KILL] {
        let start = Instant::now();
        let left = members(&ours);
        signal_each(&left, signal);
        while !members(&ours).is_empty() && start.elapsed() < GRACE {
            thread::sleep(TICK);
        }
    }
}

fn exists(pid: Pid) -> bool {
    test_kill_process(pid) != Err(Errno::SRCH)
}

fn signal_each(pids: &[Pid], signal: Signal) {
    for &pid in pids {
        let _ = kill_process(pid, signal);
    }
}

/// The living processes of these sessions.
fn members(leaders: &[Pid]) -> Vec<Pid> {
    if leaders.is_empty() {
        return Vec::new();
    }
    let ours = |pid: &Pid| {
        // SAFETY: takes and returns numbers. (rustix has no room for the 0 that kernel threads give.)
        let session = unsafe { libc::getsid(pid.as_raw_pid()) };
        leaders.iter().any(|leader| leader.as_raw_pid() == session)
    };
    processes().filter(ours).filter(|&pid| is_alive(pid)).collect()
}

#[cfg(target_os = "linux")]
fn processes() -> impl Iterator<Item = Pid> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?))
}

/// Not a zombie: nothing ends a zombie but its parent.
#[cfg(target_os = "linux")]
fn is_alive(pid: Pid) -> bool {
    let stat = std::fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        // "PID (NAME) STATE …", and the name may hold anything.
        let state = stat.iter().rposition(|&b| b == b')').and_then(|end| stat.get(end + 2));
        state.is_some_and(|state| !b"ZX".contains(state))
    })
}

#[cfg(target_os = "macos")]
fn processes() -> impl Iterator<Item = Pid> {
    let mut pids = vec![0i32; 16 << 10];
    let size = i32::try_from(size_of_val(&pids[..])).unwrap_or(i32::MAX);
    // SAFETY: the buffer is as large as it is said to be.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids.into_iter().filter_map(Pid::from_raw)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn processes() -> impl Iterator<Item = Pid> {
    std::iter::empty()
}

#[cfg(not(target_os = "linux"))]
fn is_alive(_: Pid) -> bool {
    true
}
