//! The terminal's modes: raw, bracketed paste; and back again on every way out.
//!
//! Invariant: while a [`RawMode`] lives the terminal is ours; when it is dropped, when the process panics in any thread
//! and while it is suspended, the terminal is as it was found.

use std::io::{self, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

const ENTER: &[u8] = b"\x1b[?2004h";
/// Bracketed paste off, a synchronised update ended, lines wrapped, the cursor shown.
const LEAVE: &[u8] = b"\x1b[?2004l\x1b[?2026l\x1b[?7h\x1b[?25h";

static RAW: AtomicBool = AtomicBool::new(false);

/// The terminal in raw mode, for as long as this lives.
#[derive(Debug)]
pub(super) struct RawMode;

impl RawMode {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it is none.
    pub(super) fn enter() -> io::Result<Self> {
        restore_on_panic();
        take()?;
        Ok(Self)
    }

    /// Gives the terminal to the shell until the person comes back to us (`fg`).
    #[cfg(unix)]
    pub(super) fn suspend(&self) -> io::Result<()> {
        give_back();
        // The whole group, as the terminal itself would do it.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        take()
    }

    #[cfg(not(unix))]
    pub(super) fn suspend(&self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        give_back();
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    RAW.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    out.write_all(ENTER)?;
    out.flush()
}

fn give_back() {
    if RAW.swap(false, Ordering::SeqCst) {
        let mut out = io::stdout();
        let _ = out.write_all(LEAVE).and_then(|()| out.flush());
        let _ = disable_raw_mode();
    }
}

/// A panic's message is to be readable, and the shell after it usable.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            hook(info);
        }));
    });
}
