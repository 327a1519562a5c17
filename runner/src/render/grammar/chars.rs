//! Sets of characters, as classes of expressions name them.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use regex_syntax::hir::{Class, HirKind};

/// A set of characters.
#[derive(Clone, Debug)]
pub(super) struct Chars {
    /// One bit for each of ASCII.
    pub(super) ascii: u128,
    others: Others,
}

#[derive(Clone, Debug)]
enum Others {
    None,
    All,
    /// First and last of each range, in order.
    Ranges(Box<[(char, char)]>),
}

impl Chars {
    pub(super) const ALL: Self = Self { ascii: !0, others: Others::All };

    /// Of a class (`[a-z]`, `\w`, one character) in Oniguruma's syntax; `None` if it is none. Each is read once, for
    /// that takes long.
    pub(super) fn of_class(class: &str, ignores_case: bool) -> Option<&'static Self> {
        type Known = HashMap<String, Option<&'static Chars>>;
        static KNOWN: [OnceLock<Mutex<Known>>; 2] = [OnceLock::new(), OnceLock::new()];
        let known = KNOWN[usize::from(ignores_case)].get_or_init(Mutex::default);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&chars) = known.get(class) {
            return chars;
        }
        let chars = read(class, ignores_case).map(|chars| &*Box::leak(Box::new(chars)));
        known.insert(class.to_owned(), chars);
        chars
    }

    pub(super) fn has_ascii(&self, byte: u8) -> bool {
        self.ascii >> byte & 1 != 0
    }

    /// Whether some beyond ASCII are in it.
    pub(super) fn has_others(&self) -> bool {
        !matches!(self.others, Others::None)
    }

    /// The length of the character at a place of a text, in bytes, if it is in the set.
    pub(super) fn length_at(&self, text: &str, at: usize) -> Option<usize> {
        let &byte = text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return self.has_ascii(byte).then_some(1);
        }
        let c = text.get(at..)?.chars().next()?;
        let is_in = match &self.others {
            Others::None => false,
            Others::All => true,
            Others::Ranges(ranges) => {
                let n = ranges.partition_point(|&(_, last)| last < c);
                ranges.get(n).is_some_and(|&(first, _)| first <= c)
            }
        };
        is_in.then_some(c.len_utf8())
    }
}

fn read(class: &str, ignores_case: bool) -> Option<Chars> {
    let class = with_unicode(class);
    let mut parser = regex_syntax::ParserBuilder::new().case_insensitive(ignores_case).build();
    let hir = parser.parse(&class).ok()?;
    let mut chars = Chars { ascii: 0, others: Others::None };
    let ranges: Vec<(char, char)> = match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        HirKind::Literal(literal) => {
            let mut text = std::str::from_utf8(&literal.0).ok()?.chars();
            let c = text.next().filter(|_| text.next().is_none())?;
            vec![(c, c)]
        }
        _ => return None,
    };
    for &(first, last) in &ranges {
        for c in first..=last.min('\x7f') {
            chars.ascii |= 1 << u32::from(c);
        }
    }
    let beyond = |&(first, last): &(char, char)| (!last.is_ascii()).then_some((first, last));
    let others: Vec<_> = ranges.iter().filter_map(beyond).collect();
    chars.others = match others.as_slice() {
        [] => Others::None,
        &[(first, char::MAX)] if first <= '\u{80}' => Others::All,
        _ => Others::Ranges(others.into()),
    };
    Some(chars)
}

/// Names of classes that are ASCII in one library and all of Unicode in the other.
const POSIX: [(&str, &str, &str); 8] = [
    ("alpha", r"\p{Alphabetic}", r"\P{Alphabetic}"),
    ("alnum", r"\p{Alphabetic}\p{Nd}", r"[^\p{Alphabetic}\p{Nd}]"),
    ("upper", r"\p{Uppercase}", r"\P{Uppercase}"),
    ("lower", r"\p{Lowercase}", r"\P{Lowercase}"),
    ("digit", r"\p{Nd}", r"\P{Nd}"),
    ("space", r"\s", r"\S"),
    ("word", r"\w", r"\W"),
    ("punct", r"\p{P}$+<=>^`|~", r"[^\p{P}$+<=>^`|~]"),
];

fn with_unicode(class: &str) -> String {
    let mut class = class.to_owned();
    if class.contains("[:") {
        for (name, is, is_not) in POSIX {
            class = class.replace(&format!("[:{name}:]"), is);
            class = class.replace(&format!("[:^{name}:]"), is_not);
        }
    }
    class
}
