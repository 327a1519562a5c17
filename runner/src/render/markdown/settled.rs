//! The beginning of a growing paragraph that no later text can change.

use std::ops::Range;

use pulldown_cmark::Event;

use super::inline::{is_plain, parse, without_placeholders};
use super::mask::Masked;
use super::refs::Refs;

/// Where a long text may be cut so that no later text changes what stands before.
pub(crate) fn cut(text: &str, refs: &Refs) -> Option<usize> {
    if is_plain(text) {
        return text.rfind(' ');
    }
    let text = without_placeholders(text);
    let masked = Masked::new(&text);
    let mut settled = Settled::default();
    let mut depth = 0usize;
    for (event, range) in parse(&masked, refs) {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            // Only the paragraph itself is open.
            Event::Text(_) if depth == 0 => settled.text(&masked.text, range),
            _ => {}
        }
    }
    settled.cut(&masked.text).map(|at| masked.source_offset(at)).filter(|&at| at > 0)
}

/// The parts of a text that later text cannot change.
#[derive(Default)]
struct Settled {
    texts: Vec<Range<usize>>,
    brackets: Vec<usize>,
    open: Option<usize>,
}

impl Settled {
    fn text(&mut self, source: &str, range: Range<usize>) {
        for (n, b) in source[range.clone()].bytes().enumerate() {
            if !b"([]*~_`$\\<".contains(&b) {
                continue;
            }
            let at = range.start + n;
            let next = source.as_bytes().get(at + 1).copied();
            let before = source[..at].chars().next_back();
            let escaped = before == Some('\\') && n == 0;
            let opens = match b {
                b'(' | b'[' if escaped => true,
                _ if escaped => false,
                b'*' | b'~' => next.is_none_or(|b| !b.is_ascii_whitespace()),
                b'_' => !before.is_some_and(char::is_alphanumeric),
                b'`' | b'$' | b'\\' => true,
                b'<' => next.is_none_or(|b| b.is_ascii_alphabetic() || b"/!?".contains(&b)),
                b'[' => {
                    self.brackets.push(at);
                    false
                }
                b']' => {
                    let start = self.brackets.pop();
                    if next.is_none_or(|b| b == b'(' || b == b'[') {
                        self.open = self.open.into_iter().chain(start).min();
                    }
                    false
                }
                _ => false,
            };
            if opens && self.open.is_none() {
                self.open = Some(at);
            }
        }
        self.texts.push(range);
    }

    fn cut(self, source: &str) -> Option<usize> {
        let open = self.open.into_iter().chain(self.brackets.first().copied()).min();
        self.texts.iter().rev().find_map(|range| {
            let end = open.map_or(range.end, |open| open.min(range.end));
            let text = source.get(range.start..end)?;
            Some(range.start + text.rfind(' ')?)
        })
    }
}
