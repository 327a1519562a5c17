//! Which bytes an expression can begin with: enough to leave most of them untried.
//!
//! What is said here is always too wide, never too narrow. What is not understood may begin with anything.

use fancy_regex::{Assertion, Expr, LookAround};

use super::chars::Chars;

/// How many bytes are looked at.
const DEPTH: usize = 2;

/// Every byte beyond ASCII, as a member of a set.
const BEYOND_ASCII: usize = 128;

/// The place behind the last byte, as a member of a set.
const END: usize = 129;

/// How many members a set can have.
pub(super) const MEMBERS: usize = 130;

/// Nested repetitions multiply the work; no expression in use comes near this.
const MAX_STEPS: usize = 20_000;

/// What stands at a place of a text, as a member of a set.
pub(super) fn member(text: &[u8], at: usize) -> usize {
    match text.get(at) {
        Some(&byte) if byte.is_ascii() => byte.into(),
        Some(_) => BEYOND_ASCII,
        None => END,
    }
}

/// A set of bytes, and of the end of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bytes {
    ascii: u128,
    beyond: bool,
    end: bool,
}

impl Bytes {
    const ALL: Self = Self { ascii: !0, beyond: true, end: true };
    const BEYOND: Self = Self { ascii: 0, beyond: true, end: false };

    fn ascii(ascii: u128) -> Self {
        Self { ascii, beyond: false, end: false }
    }

    fn has(&self, member: usize) -> bool {
        match member {
            BEYOND_ASCII => self.beyond,
            END => self.end,
            byte => self.ascii >> byte & 1 != 0,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            beyond: self.beyond || other.beyond,
            end: self.end || other.end,
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            ascii: self.ascii & other.ascii,
            beyond: self.beyond && other.beyond,
            end: self.end && other.end,
        }
    }
}

/// What the text at a place has to look like for an expression to match there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The bytes that may follow, one set for each.
    next: [Bytes; DEPTH],
    /// Whether it matches at the beginning of a line only.
    at_start: bool,
}

impl Prefix {
    pub(super) const ANY: Self = Self { next: [Bytes::ALL; DEPTH], at_start: false };

    pub(super) fn of(expr: &Expr) -> Self {
        Steps(0).before(expr, &Self::ANY)
    }

    /// What may come first.
    pub(super) fn firsts(&self) -> impl Iterator<Item = usize> {
        let Bytes { ascii, beyond, end } = self.next[0];
        let mut rest = ascii;
        let bytes = std::iter::from_fn(move || {
            let lowest = rest.trailing_zeros() as usize;
            // Without the lowest one.
            rest &= rest.checked_sub(1)?;
            Some(lowest)
        });
        bytes.chain(beyond.then_some(BEYOND_ASCII)).chain(end.then_some(END))
    }

    /// Whether the expression may match there; the first byte is not looked at again.
    pub(super) fn allows(&self, text: &[u8], at: usize) -> bool {
        if self.at_start && at > 0 {
            return false;
        }
        (1..DEPTH).all(|n| self.next[n].has(member(text, at + n)))
    }

    fn or(mut self, other: &Self) -> Self {
        for (own, other) in self.next.iter_mut().zip(other.next) {
            *own = own.or(other);
        }
        self.at_start &= other.at_start;
        self
    }

    fn and(mut self, other: &Self) -> Self {
        for (own, other) in self.next.iter_mut().zip(other.next) {
            *own = own.and(other);
        }
        self.at_start |= other.at_start;
        self
    }

    /// With one of these bytes before it.
    fn after(&self, bytes: Bytes) -> Self {
        let mut next = [bytes; DEPTH];
        next[1..].copy_from_slice(&self.next[..DEPTH - 1]);
        Self { next, at_start: false }
    }

    fn after_chars(&self, ascii: u128, others: bool) -> Self {
        let mut all = self.after(Bytes::ascii(ascii));
        if others {
            let mut long = *self;
            for _ in 0..DEPTH {
                long = long.after(Bytes::BEYOND);
                all = all.or(&long);
            }
        }
        all
    }

    fn first_of(mut self, bytes: Bytes) -> Self {
        self.next[0] = self.next[0].and(bytes);
        self
    }
}

/// ASCII characters that are in every match, or in what it looks ahead at.
pub(super) fn needs(expr: &Expr) -> u128 {
    match expr {
        Expr::Literal { val, casei: false } => {
            val.bytes().filter(u8::is_ascii).fold(0, |set, byte| set | 1 << byte)
        }
        Expr::Concat(parts) => parts.iter().map(needs).fold(0, |a, b| a | b),
        Expr::Alt(parts) => parts.iter().map(needs).fold(!0, |a, b| a & b),
        Expr::Group(inner) => needs(inner),
        Expr::AtomicGroup(inner) | Expr::LookAround(inner, LookAround::LookAhead) => needs(inner),
        Expr::Repeat { child, lo: 1.., .. } => needs(child),
        _ => 0,
    }
}

/// Counts what has been done.
struct Steps(usize);

impl Steps {
    /// An expression and what follows it.
    fn before(&mut self, expr: &Expr, rest: &Prefix) -> Prefix {
        self.0 += 1;
        if self.0 > MAX_STEPS {
            return Prefix::ANY;
        }
        match expr {
            Expr::Empty => *rest,
            Expr::Any { .. } | Expr::GeneralNewline { .. } => rest.after_chars(!0, true),
            Expr::Literal { val, casei } => literal(val, *casei, rest),
            Expr::Delegate { inner, casei } => class(inner, *casei, rest),
            Expr::Concat(parts) => {
                parts.iter().rev().fold(*rest, |rest, part| self.before(part, &rest))
            }
            Expr::Alt(parts) => parts
                .iter()
                .map(|part| self.before(part, rest))
                .reduce(|a, b| a.or(&b))
                .unwrap_or(Prefix::ANY),
            Expr::Group(inner) => self.before(inner, rest),
            Expr::AtomicGroup(inner) => self.before(inner, rest),
            Expr::LookAround(inner, LookAround::LookAhead) => {
                self.before(inner, &Prefix::ANY).and(rest)
            }
            Expr::LookAround(inner, LookAround::LookAheadNeg) => {
                rest.first_of(Bytes { ascii: !surely(inner), ..Bytes::ALL })
            }
            Expr::LookAround(..) | Expr::KeepOut | Expr::ContinueFromPreviousMatchEnd => *rest,
            Expr::Repeat { child, lo, hi, .. } => self.repeated(child, *lo, *hi, rest),
            Expr::Assertion(assertion) => asserted(assertion, rest),
            _ => Prefix::ANY,
        }
    }

    fn repeated(&mut self, child: &Expr, lo: usize, hi: usize, rest: &Prefix) -> Prefix {
        let mut all = *rest;
        for _ in 0..(hi - lo.min(hi)).min(DEPTH) {
            let more = self.before(child, &all).or(rest);
            if more == all {
                break;
            }
            all = more;
        }
        for _ in 0..lo.min(DEPTH) {
            all = self.before(child, &all);
        }
        all
    }
}

fn class(class: &str, ignores_case: bool, rest: &Prefix) -> Prefix {
    match Chars::of_class(class, ignores_case) {
        // A letter may fold into several others.
        Some(chars) if !(ignores_case && chars.has_others()) => {
            rest.after_chars(chars.ascii, chars.has_others())
        }
        _ => rest.after_chars(!0, true),
    }
}

fn literal(text: &str, ignores_case: bool, rest: &Prefix) -> Prefix {
    text.chars().rev().fold(*rest, |rest, c| match c {
        _ if !c.is_ascii() && ignores_case => Prefix::ANY,
        _ if !c.is_ascii() => (0..c.len_utf8()).fold(rest, |rest, _| rest.after(Bytes::BEYOND)),
        _ if ignores_case && c.is_ascii_alphabetic() => {
            let cases = [c.to_ascii_lowercase(), c.to_ascii_uppercase()];
            // The Kelvin sign is a k, the long s an s, and there are ligatures.
            rest.after_chars(cases.iter().fold(0, |set, &c| set | 1 << u32::from(c)), true)
        }
        _ => rest.after(Bytes::ascii(1 << u32::from(c))),
    })
}

fn asserted(assertion: &Assertion, rest: &Prefix) -> Prefix {
    match assertion {
        Assertion::StartText
        | Assertion::StartLine { .. }
        | Assertion::StartLineOniguruma { .. } => Prefix { at_start: true, ..*rest },
        Assertion::EndText
        | Assertion::EndTextIgnoreTrailingNewlines { .. }
        | Assertion::EndLine { .. } => {
            rest.first_of(Bytes { ascii: 1 << b'\n', beyond: false, end: true })
        }
        _ => *rest,
    }
}

/// ASCII before which an expression surely matches.
fn surely(expr: &Expr) -> u128 {
    match expr {
        Expr::Literal { val, .. } if val.len() == 1 => 1 << val.as_bytes()[0],
        Expr::Delegate { inner, casei } => {
            Chars::of_class(inner, *casei).map_or(0, |chars| chars.ascii)
        }
        Expr::Alt(parts) => parts.iter().map(surely).fold(0, |a, b| a | b),
        Expr::Group(inner) => surely(inner),
        _ => 0,
    }
}
