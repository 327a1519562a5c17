//! Things that stand around other things: delimiters, bars, boxes, and the arrows with labels.

use katex::build_html::DomType;
use katex::parser::parse_node::{AnyParseNode, ParseNodeDelimsizing, ParseNodeSupSub};

use super::super::alphabets::Font;
use super::super::tree::{Class, Node};
use super::{Lowering, word};

/// Sized fences inside each other that are told from plain brackets.
const MAX_FENCES: usize = 8;

impl Lowering<'_> {
    /// The character of a delimiter; nothing for the empty one, `.`.
    pub(super) fn delimiter(&self, name: &str) -> String {
        match name {
            "." => return String::new(),
            "<" | r"\lt" => return "⟨".to_owned(),
            ">" | r"\gt" => return "⟩".to_owned(),
            "|" | r"\vert" | r"\lvert" | r"\rvert" => return "|".to_owned(),
            r"\|" | r"\Vert" | r"\lVert" | r"\rVert" => return "‖".to_owned(),
            _ => {}
        }
        match self.symbols.get_math(name).and_then(|info| info.replace) {
            Some(c) => c.to_string(),
            None => name.trim_start_matches('\\').to_owned(),
        }
    }

    pub(super) fn enclose(
        &self,
        label: &str,
        body: &AnyParseNode,
        font: Font,
        out: &mut Vec<Node>,
    ) {
        let body = self.arg(body, font);
        match label {
            r"\cancel" | r"\bcancel" | r"\xcancel" | r"\sout" => out.push(Node::Strike(body)),
            r"\fbox" | r"\boxed" | r"\fcolorbox" => out.push(Node::Boxed(body)),
            r"\phase" => {
                word("∠", out);
                out.push(Node::Group { body, class: Class::Ord });
            }
            r"\angl" => {
                out.push(Node::Fence { left: String::new(), right: "⌉".to_owned(), body });
            }
            _ => out.push(Node::Group { body, class: Class::Ord }),
        }
    }

    /// The upright arrow of a diagram with a label on either side.
    pub(super) fn upright_arrow(&self, fragment: &AnyParseNode, font: Font) -> Node {
        let mut arrow = (String::new(), Vec::new(), Vec::new());
        if let AnyParseNode::OrdGroup(group) = fragment {
            for node in &group.body {
                match node {
                    AnyParseNode::Delimsizing(shaft) => arrow.0 = self.delimiter(&shaft.delim),
                    AnyParseNode::CdLabel(n) if n.side == "left" => {
                        arrow.1 = self.arg(&n.label, font);
                    }
                    AnyParseNode::CdLabel(n) => arrow.2 = self.arg(&n.label, font),
                    _ => {}
                }
            }
        }
        Node::Arrow { glyph: arrow.0, above: arrow.1, below: arrow.2 }
    }

    /// For every opening sized delimiter that has a partner, where that is; empty if there are
    /// no such pairs.
    pub(super) fn sized_pairs(&self, nodes: &[AnyParseNode]) -> Vec<Option<usize>> {
        let any = nodes.iter().any(|node| matches!(node, AnyParseNode::Delimsizing(_)));
        if !any || self.fences.get() >= MAX_FENCES {
            return Vec::new();
        }
        let mut partners = vec![None; nodes.len()];
        let mut open = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            match sized(node) {
                Some((delim, None)) if opens(delim) => open.push(at),
                Some((delim, _)) if closes(delim) => {
                    if let Some(from) = open.pop() {
                        partners[from] = Some(at);
                    }
                }
                _ => {}
            }
        }
        partners
    }

    /// `\big( … \big)`, with scripts on the closing one: a fence that grows with its content.
    /// `nodes` begins with the opening delimiter and ends with the closing one.
    pub(super) fn sized_fence(&self, nodes: &[AnyParseNode], font: Font, out: &mut Vec<Node>) {
        let [AnyParseNode::Delimsizing(open), body @ .., last] = nodes else { return };
        let Some((close, scripts)) = sized(last) else { return };
        self.fences.set(self.fences.get() + 1);
        let fence = Node::Fence {
            left: self.delimiter(&open.delim),
            right: self.delimiter(&close.delim),
            body: self.list(body, font),
        };
        self.fences.set(self.fences.get() - 1);
        out.push(match scripts {
            None => fence,
            Some(node) => Node::Scripts {
                base: Some(Box::new(fence)),
                sub: node.sub.as_ref().map(|sub| self.arg(sub, font)),
                sup: node.sup.as_ref().map(|sup| self.arg(sup, font)),
            },
        });
    }
}

/// A sized delimiter, bare or under scripts.
fn sized(node: &AnyParseNode) -> Option<(&ParseNodeDelimsizing, Option<&ParseNodeSupSub>)> {
    match node {
        AnyParseNode::Delimsizing(delim) => Some((delim, None)),
        AnyParseNode::SupSub(scripts) => match scripts.base.as_deref()? {
            AnyParseNode::Delimsizing(delim) => Some((delim, Some(scripts))),
            _ => None,
        },
        _ => None,
    }
}

fn opens(delim: &ParseNodeDelimsizing) -> bool {
    match delim.mclass {
        DomType::Mopen => true,
        DomType::Mord => matches!(
            delim.delim.as_str(),
            "(" | "["
                | r"\{"
                | r"\lbrace"
                | r"\langle"
                | "⟨"
                | "<"
                | r"\lfloor"
                | r"\lceil"
                | r"\lvert"
                | r"\lVert"
                | r"\lbrack"
                | r"\lparen"
        ),
        _ => false,
    }
}

fn closes(delim: &ParseNodeDelimsizing) -> bool {
    match delim.mclass {
        DomType::Mclose => true,
        DomType::Mord => matches!(
            delim.delim.as_str(),
            ")" | "]"
                | r"\}"
                | r"\rbrace"
                | r"\rangle"
                | "⟩"
                | ">"
                | r"\rfloor"
                | r"\rceil"
                | r"\rvert"
                | r"\rVert"
                | r"\rbrack"
                | r"\rparen"
        ),
        _ => false,
    }
}

/// Gives bars that come in pairs the classes of brackets, so that `|-x|` has no space inside; a
/// lone bar in braces is the "such that" of a set.
pub(super) fn pair_bars(nodes: &mut [Node]) {
    // Bars belong together when they stand in the same brackets.
    let mut open: Vec<(bool, Vec<usize>)> = vec![(false, Vec::new())];
    let mut done = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        match class_and_text(node) {
            Some((_, "|" | "∥" | "∣")) if node.class() == Class::Ord => {
                if let Some((_, bars)) = open.last_mut() {
                    bars.push(at);
                }
            }
            Some((Class::Open, text)) => open.push((text == "{", Vec::new())),
            Some((Class::Close, ")" | "]" | "}" | "⟩" | "⌋" | "⌉")) if open.len() > 1 => {
                done.extend(open.pop());
            }
            _ => {}
        }
    }
    for (braces, bars) in done.into_iter().chain(open) {
        match bars.as_slice() {
            [] => {}
            [bar] if braces => set_class(&mut nodes[*bar], Class::Rel),
            _ if bars.len() % 2 == 0 => {
                for pair in bars.chunks(2) {
                    set_class(&mut nodes[pair[0]], Class::Open);
                    set_class(&mut nodes[pair[1]], Class::Close);
                }
            }
            _ => {}
        }
    }
}

fn class_and_text(node: &Node) -> Option<(Class, &str)> {
    match node {
        Node::Atom { text, class } => Some((*class, text)),
        Node::Scripts { base: Some(base), .. } => class_and_text(base),
        _ => None,
    }
}

fn set_class(node: &mut Node, to: Class) {
    match node {
        Node::Atom { class, .. } => *class = to,
        Node::Scripts { base: Some(base), .. } => set_class(base, to),
        _ => {}
    }
}

/// The arrow of an extensible arrow's command.
pub(super) fn arrow(label: &str) -> &'static str {
    match label.trim_start_matches('\\') {
        "xleftarrow" | "cdleftarrow" => "←",
        "xrightarrow" | "cdrightarrow" => "→",
        "xLeftarrow" => "⇐",
        "xRightarrow" => "⇒",
        "xleftrightarrow" => "↔",
        "xLeftrightarrow" => "⇔",
        "xhookleftarrow" => "↩",
        "xhookrightarrow" => "↪",
        "xmapsto" => "↦",
        "xrightharpoondown" => "⇁",
        "xrightharpoonup" => "⇀",
        "xleftharpoondown" => "↽",
        "xleftharpoonup" => "↼",
        "xrightleftharpoons" | "xrightequilibrium" => "⇌",
        "xleftrightharpoons" | "xleftequilibrium" => "⇋",
        "xlongequal" | "cdlongequal" => "=",
        "xtwoheadrightarrow" => "↠",
        "xtwoheadleftarrow" => "↞",
        "xtofrom" | "xrightleftarrows" => "⇄",
        _ => "→",
    }
}
