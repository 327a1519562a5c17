//! When a failed attempt is repeated, and after how long.
//!
//! Invariants: the number of attempts and the time waited are bounded; nothing is waited for after the last attempt.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::env::Env;

/// How often and how long to try.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryPolicy {
    /// Wait after the first failure; each one after that is three times as long.
    pub base: Duration,
    /// Attempts in all.
    pub attempts: u32,
    /// Longest wait that a server may ask for.
    pub longest: Duration,
    /// Longest time waited in all.
    pub total: Duration,
}

/// How likely another attempt is to help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As the policy says.
    Full,
    /// Half the attempts: it looks like a lasting fault.
    Little,
}

/// Why there is no other attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GiveUp {
    /// All attempts are used up.
    Attempts,
    /// The server asks for a wait that nobody sits through.
    AskedTooMuch(Duration),
    /// Everything was waited for that may be.
    Waited,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            base: Duration::from_millis(300),
            attempts: 6,
            longest: Duration::from_secs(300),
            total: Duration::from_secs(600),
        }
    }
}

impl RetryPolicy {
    /// The default, with `base` from `AUTOCODE_RETRY_BASE_MS` if that is set (tests of the whole program shorten it).
    pub fn from_env(env: &Env) -> Self {
        let base = env.get("AUTOCODE_RETRY_BASE_MS").and_then(|ms| ms.parse().ok());
        let default = Self::default();
        Self { base: base.map_or(default.base, Duration::from_millis), ..default }
    }

    /// The wait after the failed attempt number `attempt` (from 1).
    ///
    /// `asked` is what the server wants, `waited` the sum so far, `jitter` a number from 0 to 1 that keeps many clients
    /// from coming back at the same moment.
    pub(crate) fn wait(
        &self,
        attempt: u32,
        patience: Patience,
        asked: Option<Duration>,
        waited: Duration,
        jitter: f64,
    ) -> Result<Duration, GiveUp> {
        let attempts = match patience {
            Patience::Full => self.attempts,
            Patience::Little => self.attempts.div_ceil(2),
        };
        if attempt >= attempts {
            return Err(GiveUp::Attempts);
        }
        let own = self.base.saturating_mul(3_u32.saturating_pow(attempt - 1)).min(self.longest);
        let wait = match asked.filter(|asked| !asked.is_zero()) {
            Some(asked) if asked > self.longest => return Err(GiveUp::AskedTooMuch(asked)),
            Some(asked) => asked,
            None => own.mul_f64(0.75 + jitter / 2.0),
        };
        if waited + wait > self.total { Err(GiveUp::Waited) } else { Ok(wait) }
    }
}

/// What the headers ask for: `retry-after-ms`, or `Retry-After` in seconds or as a date.
pub(crate) fn asked_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let value = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = value("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok());
    if let Some(millis) = millis {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let text = value(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse::<f64>() {
        // A number too large to be a time is the longest one.
        return (seconds >= 0.0)
            .then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn waits(policy: &RetryPolicy, patience: Patience, asked: Option<Duration>) -> Vec<Duration> {
        let mut waited = Duration::ZERO;
        let mut waits = Vec::new();
        for attempt in 1.. {
            match policy.wait(attempt, patience, asked, waited, 0.5) {
                Ok(wait) => waits.push(wait),
                Err(_) => return waits,
            }
            waited += waits[waits.len() - 1];
        }
        waits
    }

    #[test]
    fn waits_grow_and_end() {
        let policy = RetryPolicy { base: S, ..RetryPolicy::default() };
        assert_eq!(waits(&policy, Patience::Full, None), [S, S * 3, S * 9, S * 27, S * 81]);
        assert_eq!(waits(&policy, Patience::Little, None), [S, S * 3]);
    }

    #[test]
    fn jitter_moves_a_wait_by_a_quarter_at_most() {
        let policy = RetryPolicy { base: S * 4, ..RetryPolicy::default() };
        let wait = |jitter| policy.wait(1, Patience::Full, None, Duration::ZERO, jitter);
        assert_eq!((wait(0.0), wait(1.0)), (Ok(S * 3), Ok(S * 5)));
    }

    #[test]
    fn what_the_server_asks_for_is_waited_within_bounds() {
        let policy = RetryPolicy { base: S, ..RetryPolicy::default() };
        let wait = |asked, waited| policy.wait(1, Patience::Full, Some(asked), waited, 0.5);
        assert_eq!(wait(S * 20, Duration::ZERO), Ok(S * 20));
        assert_eq!(wait(Duration::ZERO, Duration::ZERO), Ok(S));
        assert_eq!(wait(S * 86_400, Duration::ZERO), Err(GiveUp::AskedTooMuch(S * 86_400)));
        assert_eq!(wait(S * 200, S * 500), Err(GiveUp::Waited));
        assert_eq!(wait(Duration::MAX, Duration::ZERO), Err(GiveUp::AskedTooMuch(Duration::MAX)));
    }

    #[test]
    fn the_headers_are_read_in_every_form() {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let asked = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            asked_wait(&headers, now)
        };
        assert_eq!(asked(&[("retry-after", "2")]), Some(S * 2));
        assert_eq!(asked(&[("retry-after", "0.5")]), Some(S / 2));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT")]), Some(S * 3));
        assert_eq!(
            asked(&[("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")]),
            Some(Duration::ZERO)
        );
        assert_eq!(asked(&[("retry-after", "2"), ("retry-after-ms", "1500")]), Some(S * 3 / 2));
        assert_eq!(asked(&[("retry-after", "99999999999999999999999")]), Some(Duration::MAX));
        assert_eq!(asked(&[("retry-after", "soon")]), None);
        assert_eq!(asked(&[]), None);
    }

    #[test]
    fn the_environment_shortens_the_base() {
        let env = Env::at("/").with("AUTOCODE_RETRY_BASE_MS", "1");
        assert_eq!(RetryPolicy::from_env(&env).base, Duration::from_millis(1));
        assert_eq!(RetryPolicy::from_env(&Env::at("/")), RetryPolicy::default());
    }
}
