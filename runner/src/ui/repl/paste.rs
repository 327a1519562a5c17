//! Long pastes, folded: a short stand-in is edited in their place, and the whole text is sent.
//!
//! Invariant: a paste is kept as long as the REPL runs, so that a stand-in from the history or from a message that was
//! taken back still means its text.

use std::borrow::Cow;

/// A paste up to so many lines and bytes is put into the line as it is.
const LINES: usize = 8;
const BYTES: usize = 1000;

/// The pastes so far.
#[derive(Debug, Default)]
pub(super) struct Pastes(Vec<(String, String)>);

impl Pastes {
    /// What to put into the line for this text.
    pub(super) fn fold(&mut self, text: String) -> String {
        let text = cleaned(&text);
        let lines = text.lines().count();
        if lines <= LINES && text.len() <= BYTES {
            return text;
        }
        let what =
            if lines > 1 { format!("{lines} lines") } else { format!("{} bytes", text.len()) };
        let stand_in = format!("[paste {}: {what}]", self.0.len() + 1);
        self.0.push((stand_in.clone(), text));
        stand_in
    }

    /// The line with every stand-in replaced by its text.
    pub(super) fn unfold<'a>(&self, line: &'a str) -> Cow<'a, str> {
        let mut line = Cow::Borrowed(line);
        for (stand_in, text) in &self.0 {
            if line.contains(stand_in) {
                line = Cow::Owned(line.replace(stand_in, text));
            }
        }
        line
    }

    /// The length of the stand-in that `before` ends with.
    pub(super) fn ends(&self, before: &str) -> Option<usize> {
        self.0.iter().map(|(stand_in, _)| stand_in).find(|s| before.ends_with(*s)).map(String::len)
    }
}

/// Line ends as newlines, and no control character but tab among the rest.
fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_paste_is_text_and_a_long_one_folded() {
        let mut pastes = Pastes::default();
        assert_eq!(pastes.fold("a\r\nb\x1b[31m\tc".into()), "a\nb[31m\tc");
        let long = "line\n".repeat(500);
        let stand_in = pastes.fold(long.clone());
        assert_eq!(stand_in, "[paste 1: 500 lines]");
        assert_eq!(pastes.unfold(&format!("see {stand_in}!")), format!("see {long}!"));
        assert_eq!(pastes.ends(&format!("see {stand_in}")), Some(stand_in.len()));
        assert_eq!(pastes.fold("x".repeat(5000)), "[paste 2: 5000 bytes]");
    }
}
