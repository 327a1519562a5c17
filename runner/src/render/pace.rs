//! How often pictures of a growing text are drawn: as often as an eye tells them apart, less often where they are dear.

use std::time::{Duration, Instant};

/// The shortest pause between two pictures.
const SHORTEST: Duration = Duration::from_millis(16);

/// The longest: beyond it text comes in jerks.
const LONGEST: Duration = Duration::from_millis(50);

/// Drawing takes one part in so many of the time, between these two.
const PARTS: u32 = 20;

/// When the next picture is due.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace(Option<Instant>);

impl Pace {
    /// A picture that was begun then is on the screen now.
    pub fn drew(&mut self, begun: Instant) {
        let now = Instant::now();
        self.0 = Some(now + pause(now - begun));
    }

    /// When to draw again; `None` before the first picture, which need not wait.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.0
    }

    /// How long to wait before the next picture; `None` if it may be drawn now.
    #[must_use]
    pub fn rest(&self) -> Option<Duration> {
        self.0?.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())
    }
}

fn pause(took: Duration) -> Duration {
    (took * (PARTS - 1)).clamp(SHORTEST, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_picture_is_drawn_less_often() {
        assert_eq!(pause(Duration::from_micros(10)), SHORTEST);
        assert_eq!(pause(Duration::from_millis(2)), Duration::from_millis(38));
        assert_eq!(pause(Duration::from_secs(1)), LONGEST);
    }

    #[test]
    fn the_first_picture_does_not_wait() {
        let mut pace = Pace::default();
        assert!(pace.rest().is_none() && pace.due().is_none());
        pace.drew(Instant::now());
        assert!(pace.due() > Some(Instant::now() - SHORTEST));
    }
}
