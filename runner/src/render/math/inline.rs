//! A formula in one line of text.
//!
//! What two dimensions show by position is shown by signs here, with parentheses only where the
//! line would otherwise read differently: `(a + b)/c`, `x^(2π)`, `√(x + 1)`. The invariant is
//! that no character of the formula is lost.

mod item;
mod parts;

use super::spacing;
use super::tree::{Class, Node};
use item::{Bound, Item};
pub(super) use parts::{root_sign, table_row};

/// A laid-out list and what has to be known to embed it.
pub(super) struct Piece {
    pub text: String,
    bound: Bound,
    /// Stands in parentheses of its own.
    bracketed: bool,
}

/// `nodes` in one line. In `script`, atoms stand close.
pub(super) fn row(nodes: &[Node], script: bool) -> Piece {
    let mut items = parts::items(nodes, script);
    spacing::settle(&mut items, |item| (&mut item.left, &mut item.right));
    let (bound, bracketed) = item::bound(&items);
    Piece { text: join(items, script), bound, bracketed }
}

/// Whether a root over `nodes` has to bracket them.
pub(super) fn needs_brackets(nodes: &[Node]) -> bool {
    row(nodes, false).bound != Bound::Whole
}

fn join(mut items: Vec<Item>, script: bool) -> String {
    for at in 0..items.len() {
        if items[at].slash.is_some() {
            finish_fraction(&mut items, at);
        }
    }
    let mut out = String::new();
    let mut before: Option<&Item> = None;
    for item in &items {
        if let Some(before) = before {
            let mut gap = spacing::between(before.right, item.left, item.em, script);
            if before.spreads && item.left == Class::Open && !script {
                gap = gap.max(1);
            }
            if gap <= 1 && (out.ends_with(' ') || item.text.starts_with(' ')) {
                gap = 0;
            }
            // `x_b` before a letter needs a space to end the index.
            if gap == 0 && before.bare && item.text.starts_with(char::is_alphanumeric) {
                gap = 1;
            }
            out.extend(std::iter::repeat_n(' ', gap));
        } else {
            let lead = spacing::cells(item.em);
            out.extend(std::iter::repeat_n(' ', if script { 0 } else { lead }));
        }
        out.push_str(&item.text);
        before = Some(item);
    }
    out
}

/// A fraction that stands beside a factor gets parentheses, since a slash binds only what it
/// touches.
fn finish_fraction(items: &mut [Item], at: usize) {
    const WIDE: f32 = 0.9;
    let previous = at.checked_sub(1).map(|i| &items[i]);
    let factor_before = items[at].em < WIDE
        && previous.is_some_and(|p| {
            p.function
                || matches!(p.right, Class::Ord | Class::Close | Class::Inner)
                    && !item::is_sign(&p.text)
                    && p.text != "|"
                    && !p.text.ends_with(' ')
        });
    let factor_after = items.get(at + 1).is_some_and(|next| {
        next.em < WIDE
            && matches!(next.left, Class::Ord | Class::Open | Class::Op | Class::Inner)
            && next.text != "|"
            && !next.text.starts_with(' ')
    });
    let after_operator = previous.is_some_and(|p| p.right == Class::Bin);
    let item = &mut items[at];
    let Some((num, den)) = item.slash.take() else { return };
    let signed = num.bound == Bound::Signed && after_operator;
    item.text = format!("{}/{}", num.as_numerator(signed), den.as_denominator());
    if factor_before || factor_after {
        item.text = format!("({})", item.text);
        (item.left, item.right) = (Class::Open, Class::Close);
    }
}

impl Piece {
    fn empty() -> Self {
        Self { text: String::new(), bound: Bound::Whole, bracketed: false }
    }

    fn in_parentheses(&self) -> String {
        format!("({})", self.text.trim())
    }

    fn as_numerator(&self, signed_is_loose: bool) -> String {
        match self.bound {
            Bound::Slash | Bound::Loose => self.in_parentheses(),
            Bound::Signed if signed_is_loose => self.in_parentheses(),
            _ => self.text.trim().to_owned(),
        }
    }

    fn as_denominator(&self) -> String {
        match self.bound {
            Bound::Whole | Bound::Raised => self.text.trim().to_owned(),
            _ => self.in_parentheses(),
        }
    }

    /// As something that may stand beside other factors.
    fn as_factor(&self) -> String {
        match self.bound {
            Bound::Whole | Bound::Raised | Bound::Product => self.text.clone(),
            _ => self.in_parentheses(),
        }
    }

    /// As something a root, a brace or a script is put on.
    fn as_base(&self) -> String {
        match self.bound {
            Bound::Whole => self.text.clone(),
            _ => self.in_parentheses(),
        }
    }
}
