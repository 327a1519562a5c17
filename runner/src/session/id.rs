//! Names of sessions: the local time they began, with a number where that is not enough.

use std::path::Path;

use jiff::civil::DateTime;

use super::lock::{Lock, Refused};

/// A free id for a session that begins `now`, and the lock that keeps it ours.
pub(super) fn reserve(dir: &Path, now: DateTime) -> (String, Option<Lock>) {
    let second = now.strftime("%Y%m%d-%H%M%S").to_string();
    for number in 1u32.. {
        let id = if number == 1 { second.clone() } else { format!("{second}-{number}") };
        let is_free = || !dir.join(format!("{id}.jsonl")).exists();
        if !is_free() {
            continue;
        }
        match Lock::acquire(dir, &id) {
            // Whoever had the lock before may have begun to write.
            Ok(lock) if is_free() => return (id, Some(lock)),
            Ok(_) | Err(Refused::Held(_)) => {}
            Err(Refused::Impossible) => return (id, None),
        }
    }
    (second, None)
}

/// Whether `id` can name a session: nothing that leads out of the directory.
pub(super) fn is_valid(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}
