//! Operators and names: what carries limits, and letters that are read as one word.

use katex::parser::parse_node::{ParseNodeOp, ParseNodeOperatorName};

use super::super::alphabets::{Font, styled};
use super::super::tree::{Class, Limits, Node, OpKind};
use super::Lowering;

impl Lowering<'_> {
    pub(super) fn operator(&self, op: &ParseNodeOp, font: Font) -> Node {
        let limits = match (op.limits(), op.always_handle_sup_sub()) {
            (true, true) => Limits::Always,
            (true, false) => Limits::InDisplay,
            (false, _) => Limits::Beside,
        };
        match op {
            ParseNodeOp::Symbol { name, symbol, .. } => {
                let c = self.symbols.get_math(name).and_then(|info| info.replace);
                let text = match c {
                    Some(c) => styled(c, font).to_string(),
                    None => name.trim_start_matches('\\').to_owned(),
                };
                let kind = if *symbol { OpKind::Sign } else { OpKind::Name };
                Node::Op { body: vec![Node::atom(text, Class::Op)], limits, kind }
            }
            ParseNodeOp::Body { body, suppress_base_shift, always_handle_sup_sub, .. } => {
                let (limits, kind) = match (suppress_base_shift, always_handle_sup_sub) {
                    (Some(_), _) => (limits, OpKind::Stack),
                    // KaTeX forgets that \mathop takes limits.
                    (None, None) => (Limits::InDisplay, OpKind::Name),
                    (None, Some(_)) => (limits, OpKind::Name),
                };
                Node::Op { body: self.list(body, font), limits, kind }
            }
        }
    }

    /// A name is set as a word: a hyphen is a hyphen and a thin space a space.
    pub(super) fn operator_name(&self, node: &ParseNodeOperatorName) -> Node {
        let body = self.list(&node.body, Font::default());
        let mut name = String::new();
        let simple = body.iter().all(|node| {
            match node {
                Node::Atom { text, .. } if text == "−" => name.push('-'),
                Node::Atom { text, .. } if text == "∗" => name.push('*'),
                Node::Atom { text, .. } | Node::Word(text) => name.push_str(text),
                // Not to be broken, and told from the space after the name.
                Node::Space(em) if *em > 0.0 => name.push('\u{A0}'),
                Node::Space(_) => {}
                _ => return false,
            }
            true
        });
        let limits = match (node.limits, node.always_handle_sup_sub) {
            (true, _) => Limits::Always,
            (false, true) => Limits::InDisplay,
            (false, false) => Limits::Beside,
        };
        let body = if simple { vec![Node::atom(name, Class::Op)] } else { body };
        Node::Op { body, limits, kind: OpKind::Name }
    }
}

/// Letters set upright together are one name: the script of `\mathrm{SO}_4` belongs to all of it.
pub(super) fn name_from_letters(nodes: &mut [Node]) {
    let [node @ Node::Group { .. }] = nodes else { return };
    let Node::Group { body, .. } = &*node else { return };
    let mut name = String::new();
    for part in body {
        match part {
            Node::Atom { text, class: Class::Ord } if text.chars().all(char::is_alphanumeric) => {
                name.push_str(text);
            }
            _ => return,
        }
    }
    *node = Node::atom(name, Class::Ord);
}
