//! How long anything may be waited for before a test fails.
//!
//! Generous: it is met only by something that hangs, so a busy machine never turns a right answer into a failure.

use std::sync::{Condvar, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

/// How long a program has to end when it was told to.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// The limit of every wait; `AUTOCODE_TEST_DEADLINE` overrides it, in seconds.
pub(crate) fn limit() -> Duration {
    static LIMIT: OnceLock<Duration> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let seconds = std::env::var("AUTOCODE_TEST_DEADLINE").ok().and_then(|s| s.parse().ok());
        Duration::from_secs(seconds.unwrap_or(60))
    })
}

/// Waits until `find` gives something; `None` when the deadline passes first.
pub(crate) fn wait<'a, T, R>(
    condvar: &Condvar,
    mut guard: MutexGuard<'a, T>,
    mut find: impl FnMut(&mut T) -> Option<R>,
) -> (MutexGuard<'a, T>, Option<R>) {
    let end = Instant::now() + limit();
    loop {
        if let Some(found) = find(&mut guard) {
            return (guard, Some(found));
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return (guard, None);
        }
        guard = condvar.wait_timeout(guard, left).unwrap().0;
    }
}
