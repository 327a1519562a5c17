//! The parts of a line, and how tightly a list of them holds together.

use super::super::tree::Class;
use super::Piece;

/// How a piece of a line can be combined with what stands next to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Bound {
    /// One thing: a symbol, a number, a call, anything in brackets.
    Whole,
    /// One thing with an exponent.
    Raised,
    /// Factors side by side.
    Product,
    /// A sign before factors.
    Signed,
    /// A fraction written with a slash.
    Slash,
    /// Operators, relations or spaces at the top.
    Loose,
}

pub(super) struct Item {
    pub text: String,
    pub bound: Bound,
    pub left: Class,
    pub right: Class,
    /// Explicit space before it.
    pub em: f32,
    /// A fraction whose text depends on its neighbours.
    pub slash: Option<(Piece, Piece)>,
    /// A function name, which takes what follows as its argument.
    pub function: bool,
    /// Ends in a script that is not marked off.
    pub bare: bool,
    pub bracketed: bool,
    /// Keeps a space before a bracket.
    pub spreads: bool,
}

impl Item {
    pub(super) fn new(text: impl Into<String>, bound: Bound, class: Class) -> Self {
        Self {
            text: text.into(),
            bound,
            left: class,
            right: class,
            em: 0.0,
            slash: None,
            function: false,
            bare: false,
            bracketed: false,
            spreads: false,
        }
    }
}

pub(super) fn is_sign(text: &str) -> bool {
    matches!(text, "−" | "-" | "+" | "±" | "∓")
}

/// How tightly `items` hold together, and whether they stand in parentheses.
pub(super) fn bound(items: &[Item]) -> (Bound, bool) {
    match items {
        [] => return (Bound::Whole, false),
        [only] => return (only.bound, only.bracketed),
        _ => {}
    }
    if encloses(items) {
        return (Bound::Whole, items[0].text == "(");
    }
    if let [head @ .., last] = items
        && last.text == "!"
        && (encloses(head) || matches!(head, [only] if only.bound == Bound::Whole))
    {
        return (Bound::Whole, false);
    }
    let wide = items[1..].iter().any(|item| item.em >= 0.9);
    let loose = items.iter().any(|item| {
        matches!(item.left, Class::Bin | Class::Rel | Class::Punct | Class::Op)
            || item.bound == Bound::Loose
    });
    if is_call(items) {
        return (Bound::Whole, false);
    }
    // Operators inside brackets do not matter.
    let loose = loose && !loose_only_in_brackets(items);
    let bound = match () {
        () if wide || loose => Bound::Loose,
        () if is_sign(&items[0].text) => Bound::Signed,
        () if is_differential(items) => Bound::Whole,
        () => Bound::Product,
    };
    (bound, false)
}

/// Brackets around everything.
fn encloses(items: &[Item]) -> bool {
    items.len() >= 2
        && items[0].left == Class::Open
        && items[0].right == Class::Open
        && partner(items, 0) == Some(items.len() - 1)
}

/// The closing bracket of the opening one at `from`.
fn partner(items: &[Item], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, item) in items.iter().enumerate().skip(from) {
        if item.left == Class::Open && item.right == Class::Open {
            depth += 1;
        } else if item.left == Class::Close && item.right == Class::Close && item.text != "!" {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// `f(x)`, `P(A|B)`: a letter and an argument without operators. `a(b + c)` is a product.
fn is_call(items: &[Item]) -> bool {
    let [name, rest @ ..] = items else { return false };
    let argument = match rest {
        [fence] => fence.bracketed && !fence.text.contains(['+', '−']),
        _ => {
            encloses(rest)
                && rest[0].text == "("
                && !rest.iter().any(|item| item.left == Class::Bin || item.left == Class::Rel)
        }
    };
    argument
        && name.left == Class::Ord
        && matches!(name.bound, Bound::Whole | Bound::Raised)
        && name.text.starts_with(char::is_alphabetic)
}

fn loose_only_in_brackets(items: &[Item]) -> bool {
    let mut at = 0;
    while at < items.len() {
        let item = &items[at];
        if item.left == Class::Open && item.right == Class::Open {
            let Some(close) = partner(items, at) else { return false };
            at = close + 1;
            continue;
        }
        if matches!(item.left, Class::Bin | Class::Rel | Class::Punct | Class::Op)
            || item.bound == Bound::Loose
        {
            return false;
        }
        at += 1;
    }
    true
}

/// `dx`, `∂x²`: read as one whatever stands before it.
fn is_differential(items: &[Item]) -> bool {
    matches!(items, [d, variable]
        if matches!(d.text.as_str(), "d" | "∂" | "Δ" | "δ" | "D")
            && matches!(variable.bound, Bound::Whole | Bound::Raised)
            && variable.left == Class::Ord)
}
