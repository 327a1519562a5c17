//! A child's own figures, as the kernel has them: peak memory, processor time.
//!
//! Peak memory is inherited at `exec`: a child is charged with the peak of the process that started it. So the
//! program runs under a small helper (this binary again, which has done nothing else), whose own peak is printed too.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Command, ExitCode, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context, Result, ensure};

/// The hidden first argument that makes this binary the helper.
pub(crate) const SUBCOMMAND: &str = "--measure-child";

/// The hidden second argument that gives the child a terminal to draw on.
const ON_TERMINAL: &str = "--on-terminal";

/// What a program used, its waited-for children included in the peak.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// The largest process, in MiB.
    pub peak_mib: f64,
    /// User and system time of all, in seconds.
    pub cpu_s: f64,
    /// Bytes it wrote to the terminal, if it had one.
    pub written: f64,
}

/// What is piped in, in pieces of so many bytes.
pub(crate) struct Input<'a> {
    pub bytes: &'a [u8],
    pub piece: usize,
}

/// Runs a command under the helper, with the variables that were set for it and no others. Its output is thrown away.
pub(crate) fn usage_of(command: &Command, input: Option<Input>) -> Result<Usage> {
    usage(command, input, &[])
}

/// The same of a command whose output is a terminal of 24 rows and 80 columns.
pub(crate) fn usage_on_terminal(command: &Command, input: Input) -> Result<Usage> {
    usage(command, Some(input), &[ON_TERMINAL])
}

fn usage(command: &Command, input: Option<Input>, flags: &[&str]) -> Result<Usage> {
    let mut helper = Command::new(std::env::current_exe()?);
    helper
        .arg(SUBCOMMAND)
        .args(flags)
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear();
    helper.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(dir) = command.get_current_dir() {
        helper.current_dir(dir);
    }
    helper.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = helper.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    if let (Some(input), Some(mut pipe)) = (input, child.stdin.take()) {
        for piece in input.bytes.chunks(input.piece) {
            pipe.write_all(piece)?;
        }
    }
    let mut figures = String::new();
    child.stdout.take().context("the helper's output")?.read_to_string(&mut figures)?;
    ensure!(child.wait()?.success(), "{} failed", command.get_program().display());
    let mut words = figures.split_whitespace().map(str::parse::<f64>);
    let mut next = || words.next().context("the helper's figures")?.context("a figure");
    Ok(Usage { peak_mib: next()?, cpu_s: next()?, written: next()? })
}

/// The helper: runs the command, waits for it, prints its figures.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.peekable();
    let on_terminal = arguments.next_if(|argument| argument == ON_TERMINAL).is_some();
    let Some(program) = arguments.next() else { return ExitCode::from(2) };
    let (out, reader) = match on_terminal.then(terminal) {
        Some(Some((out, reader))) => (out, Some(reader)),
        Some(None) => return ExitCode::from(2),
        None => (Stdio::null(), None),
    };
    // The command goes at once, and with it this side's hold on the terminal.
    let spawned = Command::new(program).args(arguments).stdout(out).spawn();
    let Ok(child) = spawned else { return ExitCode::from(2) };
    match wait(child.id().cast_signed()) {
        Some((0, usage)) => {
            let written = reader.and_then(|reader| reader.join().ok()).unwrap_or(0);
            println!("{} {} {written}", usage.peak_mib, usage.cpu_s);
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

/// A terminal, and a thread that reads what is written to it and tells how much that was.
fn terminal() -> Option<(Stdio, JoinHandle<usize>)> {
    let (mut reader, mut writer) = (-1, -1);
    let size = libc::winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
    let (no_name, no_modes) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: two descriptors are filled in, and the size is only read.
    let opened = unsafe {
        libc::openpty(
            &raw mut reader,
            &raw mut writer,
            no_name,
            no_modes,
            (&raw const size).cast_mut(),
        )
    };
    if opened != 0 {
        return None;
    }
    // SAFETY: the call made both, for us alone.
    let (reader, writer) = unsafe { (OwnedFd::from_raw_fd(reader), OwnedFd::from_raw_fd(writer)) };
    let mut reader = File::from(reader);
    let read = move || {
        let mut buffer = vec![0; 1 << 16];
        let mut written = 0;
        // It ends with an error when nobody has the terminal any more.
        while let Ok(got @ 1..) = reader.read(&mut buffer) {
            written += got;
        }
        written
    };
    Some((Stdio::from(writer), std::thread::spawn(read)))
}

/// Waits for a child; its raw status and what it used.
fn wait(pid: i32) -> Option<(i32, Usage)> {
    let mut status = 0;
    // SAFETY: both pointers are to live values of the types that wait4 fills; zero is a valid `rusage`.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid, &raw mut status, 0, &raw mut usage), usage)
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // Linux counts in KiB, macOS in bytes.
    let unit = if cfg!(target_os = "macos") { 1024.0 * 1024.0 } else { 1024.0 };
    let peak_mib = usage.ru_maxrss as f64 / unit;
    let cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    (reaped == pid).then_some((status, Usage { peak_mib, cpu_s, written: 0.0 }))
}

/// The peak memory so far of a running process itself, its children left out; Linux alone tells.
pub(crate) fn peak_of(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? / 1024.0)
}

/// The processor time so far of a running process, in seconds; Linux alone tells to the nanosecond.
pub(crate) fn cpu_of(pid: u32) -> Option<f64> {
    let mut nanoseconds = 0.0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let figures = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += figures.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(nanoseconds / 1e9)
}
