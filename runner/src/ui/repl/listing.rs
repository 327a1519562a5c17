//! Sessions of a project as rows: age, first words, messages.

use std::time::{Duration, SystemTime};

use super::picker::Item;
use crate::project::Project;
use crate::session::{self, Summary};

/// Sessions that are listed.
const MOST: usize = 50;

/// The recent sessions, newest first: ids and rows.
pub(super) fn recent(project: &Project) -> Vec<(String, Item)> {
    let now = SystemTime::now();
    let row = |summary: Summary| {
        let label =
            if summary.title.is_empty() { "(no words yet)".to_owned() } else { summary.title };
        let age = age(now.duration_since(summary.modified).unwrap_or_default());
        let messages = summary.messages;
        let detail = format!("{age:>7}  {messages:>3} messages  {}", summary.id);
        (summary.id, Item { label: short(&label), detail })
    };
    session::recent(project, MOST).into_iter().map(row).collect()
}

fn short(text: &str) -> String {
    // With what follows it fits into 80 cells.
    const LONG: usize = 36;
    match text.char_indices().nth(LONG - 1) {
        Some((at, _)) if text.chars().count() > LONG => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

/// `now`, `5 min`, `3 h`, `12 days`.
fn age(time: Duration) -> String {
    match time.as_secs() {
        0..60 => "now".to_owned(),
        s @ 60..3_600 => format!("{} min", s / 60),
        s @ 3_600..86_400 => format!("{} h", s / 3_600),
        s @ 86_400..172_800 => format!("{} day", s / 86_400),
        s => format!("{} days", s / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let told = [0, 61, 7_200, 90_000, 1_000_000].map(|s| age(Duration::from_secs(s)));
        assert_eq!(told, ["now", "1 min", "2 h", "1 day", "11 days"]);
    }
}
