//! Splits `<think>…</think>` off the beginning of an answer, whatever the cuts between the pieces.
//!
//! Invariant: only a tag that opens the reply counts; the same letters later are the model's words.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Where in the reply we are.
#[derive(Default)]
pub(crate) struct Splitter {
    state: State,
    /// Text that may turn out to be a tag.
    held: String,
}

#[derive(Default, PartialEq)]
enum State {
    /// Nothing but white space and the beginning of a tag so far.
    #[default]
    Before,
    /// Behind the opening tag: the blank lines that follow it are dropped.
    Opened,
    Thinking,
    /// Behind the closing tag: the blank lines that follow it are dropped.
    Gap,
    Answer,
}

/// A piece of the reply that is settled.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece<'a> {
    Thought(&'a str),
    Word(&'a str),
}

impl Splitter {
    /// Takes more of the content and gives what of it is settled.
    pub fn push(&mut self, text: &str, mut give: impl FnMut(Piece<'_>)) {
        if self.state == State::Answer {
            return give(Piece::Word(text));
        }
        let mut held = std::mem::take(&mut self.held);
        held.push_str(text);
        let mut rest = held.as_str();
        loop {
            match self.state {
                State::Before => {
                    let word = rest.trim_start();
                    if let Some(thought) = word.strip_prefix(OPEN) {
                        self.state = State::Opened;
                        rest = thought;
                    } else if OPEN.starts_with(word) {
                        break;
                    } else {
                        self.state = State::Answer;
                    }
                }
                State::Opened => {
                    rest = rest.trim_start();
                    if rest.is_empty() {
                        break;
                    }
                    self.state = State::Thinking;
                }
                State::Thinking => {
                    if let Some((thought, answer)) = rest.split_once(CLOSE) {
                        give_thought(thought, &mut give);
                        self.state = State::Gap;
                        rest = answer;
                    } else {
                        let settled = rest.len() - possible_tag(rest);
                        give_thought(&rest[..settled], &mut give);
                        rest = &rest[settled..];
                        break;
                    }
                }
                State::Gap => {
                    rest = rest.trim_start();
                    if rest.is_empty() {
                        break;
                    }
                    self.state = State::Answer;
                }
                State::Answer => {
                    give(Piece::Word(rest));
                    rest = "";
                    break;
                }
            }
        }
        self.held = rest.to_owned();
    }

    /// The reply is over: what was held back is no tag.
    pub fn finish(&mut self, mut give: impl FnMut(Piece<'_>)) {
        let held = std::mem::take(&mut self.held);
        match self.state {
            State::Thinking => give_thought(&held, &mut give),
            _ if held.is_empty() => {}
            _ => give(Piece::Word(&held)),
        }
    }
}

fn give_thought(thought: &str, give: &mut impl FnMut(Piece<'_>)) {
    if !thought.is_empty() {
        give(Piece::Thought(thought));
    }
}

/// Length of the end of `text` that could be the beginning of the closing tag.
fn possible_tag(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|n| text.ends_with(&CLOSE[..*n])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thinking and words of `text` in pieces of `size` bytes (at character boundaries).
    fn split(text: &str, size: usize) -> (String, String) {
        let (mut thoughts, mut words) = (String::new(), String::new());
        let mut give = |piece: Piece<'_>| match piece {
            Piece::Thought(t) => thoughts.push_str(t),
            Piece::Word(w) => words.push_str(w),
        };
        let mut splitter = Splitter::default();
        let mut from = 0;
        for to in (1..=text.len()).filter(|i| text.is_char_boundary(*i)) {
            if to - from >= size || to == text.len() {
                splitter.push(&text[from..to], &mut give);
                from = to;
            }
        }
        splitter.finish(&mut give);
        (thoughts, words)
    }

    #[test]
    fn tags_at_the_beginning_are_thinking_at_every_cut() {
        let cases = [
            ("<think>\na < b</think>\n\nHi", "a < b", "Hi"),
            ("\n <think>żó</thin</think>x</think>", "żó</thin", "x</think>"),
            ("<think>\n\n</think>\n\nHi", "", "Hi"),
            ("<think>cut", "cut", ""),
            ("<think>cut</thi", "cut</thi", ""),
            ("Use <think>a</think>", "", "Use <think>a</think>"),
            ("<thin air", "", "<thin air"),
            ("<thi", "", "<thi"),
            ("\n indented", "", "\n indented"),
            ("", "", ""),
        ];
        for (text, thoughts, words) in cases {
            for size in 1..=text.len().max(1) {
                let expected = (thoughts.to_owned(), words.to_owned());
                assert_eq!(split(text, size), expected, "{text:?} by {size}");
            }
        }
    }
}
