//! How much of the window may be used, by what.

use crate::config::Settings;

/// Bytes of text that a token stands for where nobody has counted.
pub(super) const BYTES_PER_TOKEN: u64 = 4;

/// Tokens above which to compact: `compact_at` of the window, less where a `max_tokens` reply needs the room, though
/// such a reply never takes more than half the window.
pub(super) fn limit(settings: &Settings) -> u64 {
    let share = (settings.compact_at * settings.context_window as f64) as u64;
    share.min(room(settings))
}

/// Whether `tokens` fill the window, as far as such figures can tell.
pub(super) fn is_full(settings: &Settings, tokens: u64) -> bool {
    tokens.saturating_mul(20) >= settings.context_window.saturating_mul(19)
}

/// Bytes that stay word for word when all else is summarised: a quarter of the window.
pub(super) fn kept(window: u64) -> usize {
    bytes(window / 4)
}

/// Bytes of a conversation that is sent as plain text, and leaves more room than it needs for the answer.
pub(super) fn plain(window: u64) -> usize {
    bytes(window / 8 * 5)
}

/// Tokens of a request that leave room for the reply.
fn room(settings: &Settings) -> u64 {
    let window = settings.context_window;
    window.saturating_sub(settings.max_tokens.unwrap_or(0)).max(window / 2)
}

fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(window: u64, compact_at: f64, max_tokens: Option<u64>) -> Settings {
        Settings { context_window: window, compact_at, max_tokens, ..Settings::default() }
    }

    #[test]
    fn the_limit_leaves_room_for_the_reply_but_never_more_than_half_the_window() {
        assert_eq!(limit(&settings(1000, 0.8, None)), 800);
        assert_eq!(limit(&settings(1000, 0.8, Some(300))), 700);
        assert_eq!(limit(&settings(1000, 0.8, Some(900))), 500);
        assert_eq!(limit(&settings(1000, 0.1, None)), 100);
    }

    #[test]
    fn a_window_is_full_a_little_before_its_end() {
        let settings = settings(1000, 0.8, None);
        assert!(is_full(&settings, 950) && is_full(&settings, 2000) && !is_full(&settings, 949));
    }

    #[test]
    fn no_figure_is_too_large() {
        let settings = settings(u64::MAX, 1.0, Some(u64::MAX));
        assert_eq!(limit(&settings), u64::MAX / 2);
        assert!(kept(u64::MAX) > usize::MAX / 2 && plain(u64::MAX) > usize::MAX / 2);
        assert!(!is_full(&settings, 1));
    }
}
