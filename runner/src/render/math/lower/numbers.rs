//! Digits that follow each other are one number to both layouts: `3.14`, `1,000`.

use super::super::tree::{Class, Node};

/// Joins the digits of each number into one atom.
pub(super) fn join(nodes: &mut Vec<Node>) {
    if !nodes.iter().any(|node| digits(node).is_some()) {
        return;
    }
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    for node in nodes.drain(..) {
        match (out.last_mut(), digits(&node)) {
            (Some(Node::Atom { text, class: Class::Ord }), Some(more)) if is_number(text) => {
                text.push_str(more);
            }
            _ => out.push(node),
        }
    }
    *nodes = group_thousands(out);
}

fn digits(node: &Node) -> Option<&str> {
    match node {
        Node::Atom { text, class: Class::Ord } if is_number(text) || text == "." => Some(text),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

/// A comma before three digits groups a number; before anything else it separates.
fn group_thousands(nodes: Vec<Node>) -> Vec<Node> {
    let mut out: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut nodes = nodes.into_iter().peekable();
    while let Some(node) = nodes.next() {
        if let Node::Atom { text: comma, class: Class::Punct } = &node
            && comma == ","
            && let Some(Node::Atom { text: head, class: Class::Ord }) = out.last_mut()
            && is_group(head)
            && let Some(Node::Atom { text: tail, class: Class::Ord }) = nodes.peek()
            && is_thousands(tail)
        {
            head.push(',');
            head.push_str(tail);
            nodes.next();
        } else {
            out.push(node);
        }
    }
    out
}

fn is_group(text: &str) -> bool {
    let head = text.split(',').next().unwrap_or_default();
    (1..=3).contains(&head.len())
        && !head.starts_with('0')
        && text.bytes().all(|b| b.is_ascii_digit() || b == b',')
}

fn is_thousands(text: &str) -> bool {
    let whole = text.split('.').next().unwrap_or_default();
    whole.len() == 3 && whole.bytes().all(|b| b.is_ascii_digit())
}
