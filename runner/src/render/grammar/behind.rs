//! What expressions match, seen from its end: for looking behind.

use fancy_regex::Expr;

use super::chars::Chars;

/// The fewest and the most characters that an expression matches; `None` if it is not known.
pub(super) fn length(expr: &Expr) -> Option<(usize, usize)> {
    match expr {
        Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => Some((0, 0)),
        Expr::Any { .. } | Expr::Delegate { .. } => Some((1, 1)),
        Expr::Literal { val, .. } => {
            let length = val.chars().count();
            Some((length, length))
        }
        Expr::Concat(parts) => parts.iter().try_fold((0_usize, 0_usize), |(min, max), part| {
            let (least, most) = length(part)?;
            Some((min.saturating_add(least), max.saturating_add(most)))
        }),
        Expr::Alt(parts) => {
            let lengths: Option<Vec<_>> = parts.iter().map(length).collect();
            let lengths = lengths?;
            let min = lengths.iter().map(|&(min, _)| min).min()?;
            Some((min, lengths.iter().map(|&(_, max)| max).max()?))
        }
        Expr::Group(inner) => length(inner),
        Expr::AtomicGroup(inner) => length(inner),
        Expr::Repeat { child, lo, hi, .. } => {
            let (min, max) = length(child)?;
            Some((min.saturating_mul(*lo), max.saturating_mul(*hi)))
        }
        _ => None,
    }
}

/// The characters that a match may end with: those of ASCII, and whether others may.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) ascii: u128,
    pub(super) others: bool,
    /// Whether it may match nothing, and so end anyhow.
    pub(super) empty: bool,
}

impl Last {
    const NOTHING: Self = Self { ascii: 0, others: false, empty: true };
    const ANY: Self = Self { ascii: !0, others: true, empty: true };

    pub(super) fn of(expr: &Expr) -> Self {
        match expr {
            Expr::Empty | Expr::Assertion(_) | Expr::LookAround(..) => Self::NOTHING,
            Expr::Literal { val, casei: false } => match val.chars().next_back() {
                Some(c) if c.is_ascii() => Self::char(1 << u32::from(c), false),
                Some(_) => Self::char(0, true),
                None => Self::NOTHING,
            },
            Expr::Delegate { inner, casei: false } => match Chars::of_class(inner, false) {
                Some(chars) => Self::char(chars.ascii, chars.has_others()),
                None => Self::ANY,
            },
            Expr::Concat(parts) => {
                let mut last = Self::NOTHING;
                for part in parts.iter().rev() {
                    last = Self { empty: false, ..last }.or(Self::of(part));
                    if !last.empty {
                        break;
                    }
                }
                last
            }
            Expr::Alt(parts) => {
                parts.iter().map(Self::of).reduce(Self::or).unwrap_or(Self::NOTHING)
            }
            Expr::Group(inner) => Self::of(inner),
            Expr::AtomicGroup(inner) => Self::of(inner),
            Expr::Repeat { child, lo, .. } => {
                let last = Self::of(child);
                Self { empty: last.empty || *lo == 0, ..last }
            }
            _ => Self::ANY,
        }
    }

    fn char(ascii: u128, others: bool) -> Self {
        Self { ascii, others, empty: false }
    }

    fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            others: self.others || other.others,
            empty: self.empty || other.empty,
        }
    }

    /// Whether a match may end where this byte is the last, or nothing is before.
    pub(super) fn allows(&self, before: Option<u8>) -> bool {
        self.empty
            || match before {
                Some(byte) if byte.is_ascii() => self.ascii >> byte & 1 != 0,
                Some(_) => self.others,
                None => false,
            }
    }
}
