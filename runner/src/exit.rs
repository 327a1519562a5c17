//! What the process's exit code says.

/// Exit codes of every front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The turn was answered, the command did its work.
    Done = 0,
    /// The turn failed: endpoint, limits, context. For `--diff`: there is drift.
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// Ended by Ctrl-C.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
