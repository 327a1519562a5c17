//! How much of the window may be used before the conversation is summarised.

use crate::config::Settings;

/// Tokens above which to compact: `compact_at` of the window, less where a `max_tokens` reply needs the room, though
/// such a reply never takes more than half the window.
pub(super) fn limit(settings: &Settings) -> u64 {
    let window = settings.context_window;
    let share = (settings.compact_at * window as f64) as u64;
    let room = window.saturating_sub(settings.max_tokens.unwrap_or(0));
    share.min(room.max(window / 2))
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
}
