//! The space between neighbouring atoms, after TeX's table, in whole cells: what TeX sets as a
//! medium or thick space is one cell, and in scripts only the space around a function name stays.

use super::tree::{Class, Limits, Node, OpKind};

/// Turns every binary operator that has nothing to operate on into an ordinary symbol. One that
/// stands before its operand, as the minus of `-x`, clings to it like an opening bracket.
/// `edges` gives the classes an item shows to its left and right.
pub(super) fn settle<T>(
    items: &mut [T],
    edges: impl for<'a> Fn(&'a mut T) -> (&'a mut Class, &'a mut Class),
) {
    let set = |item: &mut T, to| {
        let (left, right) = edges(item);
        (*left, *right) = (Class::Ord, to);
    };
    for at in 0..items.len() {
        let here = *edges(&mut items[at]).0;
        let before = at.checked_sub(1).map(|i| *edges(&mut items[i]).1);
        if here == Class::Bin
            && matches!(
                before,
                None | Some(Class::Bin | Class::Op | Class::Rel | Class::Open | Class::Punct)
            )
        {
            set(&mut items[at], Class::Open);
        }
        if before == Some(Class::Bin) && matches!(here, Class::Rel | Class::Close | Class::Punct) {
            set(&mut items[at - 1], Class::Ord);
        }
    }
    if let Some(last) = items.last_mut()
        && *edges(last).0 == Class::Bin
    {
        set(last, Class::Ord);
    }
}

/// Whether a space stands between two atoms that touch.
pub(super) fn gap(left: Class, right: Class, script: bool) -> bool {
    use Class::{Bin, Close, Inner, Op, Open, Ord, Punct, Rel};
    match (left, right) {
        (Ord | Close | Inner, Op) | (Op, Ord | Op) => true,
        _ if script => false,
        (Op, Rel | Inner) => true,
        (Bin, Ord | Op | Open | Inner) | (Ord | Close | Inner, Bin) => true,
        (Rel, Ord | Op | Open | Inner) | (Ord | Close | Inner, Rel) => true,
        (Punct, _) => true,
        (Ord | Close, Inner) | (Inner, Ord | Open | Inner) => true,
        _ => false,
    }
}

/// Cells for an explicit space of so many em: a thin space shows as one cell, a quad as two.
pub(super) fn cells(em: f32) -> usize {
    if em < 0.1 {
        return 0;
    }
    ((em * 2.0).round() as usize).clamp(1, 8)
}

/// A large operator or one with limits keeps its distance from a bracket, which a function does
/// not: `∑ (a + b)`, but `sin(x)`.
pub(super) fn spreads(node: &Node) -> bool {
    match node {
        Node::Op { kind: OpKind::Sign, .. } => true,
        Node::Scripts { base: Some(base), .. } => match base.as_ref() {
            Node::Op { limits, kind, .. } => {
                *kind == OpKind::Sign || (*kind == OpKind::Name && *limits != Limits::Beside)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Cells between two items: what their classes ask for, or the explicit space if that is wider.
/// A negative space takes the automatic one away.
pub(super) fn between(left: Class, right: Class, em: f32, script: bool) -> usize {
    if em < -0.05 {
        return 0;
    }
    cells(em).max(usize::from(gap(left, right, script)))
}
