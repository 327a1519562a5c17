//! KaTeX's parse tree → our own: symbols become characters, fonts are applied, `\not` meets what
//! it negates, `\big` delimiters meet their partners. What only matters to a typesetter (colours,
//! sizes, kerns inside glyphs, HTML) is dropped here and nowhere else.

mod enclosure;
mod numbers;
mod operator;
mod table;

use std::cell::Cell;

use katex::build_html::DomType;
use katex::parser::parse_node::{AnyParseNode, ParseNodeGenfrac, ParseNodeKern, ParseNodeSupSub};
use katex::symbols::{Atom, Mode, Symbols};

use super::accents;
use super::alphabets::{Font, styled};
use super::negation;
use super::tree::{Class, Node, Style};

/// What the translation needs beside the tree.
pub(super) struct Lowering<'a> {
    pub symbols: &'a Symbols,
    /// Texts that stand behind the placeholders of `rewrite`, first placeholder first.
    pub verbatim: &'a [String],
    /// How many sized fences are open; the parser's tree is flat there, so its depth is no bound.
    pub fences: Cell<usize>,
}

/// Placeholders are characters from here on, in a private plane.
pub(super) const PLACEHOLDER: u32 = 0xF_0000;
/// Begins a group that is the number of its equation. The parser's own way with numbers takes
/// one in a formula only, and never ends when an equation stands in the number.
pub(super) const TAG: char = '\u{F_FFFD}';

impl Lowering<'_> {
    pub(super) fn list(&self, nodes: &[AnyParseNode], font: Font) -> Vec<Node> {
        let mut out = Vec::with_capacity(nodes.len());
        self.extend(nodes, font, &mut out);
        numbers::join(&mut out);
        enclosure::pair_bars(&mut out);
        out
    }

    fn extend(&self, nodes: &[AnyParseNode], font: Font, out: &mut Vec<Node>) {
        let mut negate = false;
        let partners = self.sized_pairs(nodes);
        let mut at = 0;
        while at < nodes.len() {
            if is_not(&nodes[at]) {
                negate = true;
                at += 1;
                continue;
            }
            let from = out.len();
            if let Some(&Some(partner)) = partners.get(at) {
                self.sized_fence(&nodes[at..=partner], font, out);
                at = partner;
            } else {
                self.node(&nodes[at], font, out);
            }
            at += 1;
            if negate && out.len() > from && !matches!(out[from], Node::Space(_)) {
                negation::negate(&mut out[from]);
                negate = false;
            }
        }
        if negate {
            out.push(Node::atom("\u{338}", Class::Rel));
        }
    }

    /// An argument: a group loses its braces.
    fn arg(&self, node: &AnyParseNode, font: Font) -> Vec<Node> {
        match node {
            AnyParseNode::OrdGroup(group) => self.list(&group.body, font),
            _ => self.list(std::slice::from_ref(node), font),
        }
    }

    /// One node for one node, as the base of scripts needs it.
    fn single(&self, node: &AnyParseNode, font: Font) -> Node {
        let mut nodes = self.list(std::slice::from_ref(node), font);
        match nodes.pop() {
            Some(only) if nodes.is_empty() => only,
            Some(last) => {
                nodes.push(last);
                Node::Group { body: nodes, class: Class::Ord }
            }
            None => Node::Group { body: nodes, class: Class::Ord },
        }
    }

    fn node(&self, node: &AnyParseNode, font: Font, out: &mut Vec<Node>) {
        use AnyParseNode as P;
        match node {
            P::MathOrd(n) => self.symbol(&n.text, n.mode, Class::Ord, font, out),
            P::TextOrd(n) => self.symbol(&n.text, n.mode, Class::Ord, font, out),
            P::AccentToken(n) => self.symbol(&n.text, n.mode, Class::Ord, font, out),
            P::OpToken(n) => self.symbol(&n.text, n.mode, Class::Op, font, out),
            P::Atom(n) => self.symbol(&n.text, n.mode, atom_class(n.family), font, out),
            P::Spacing(n) => match (n.text.as_str(), n.mode) {
                (r"\nobreak" | r"\allowbreak", _) => {}
                (_, Mode::Text) => word(" ", out),
                (_, Mode::Math) => out.push(Node::Space(0.25)),
            },
            P::Kern(n) => out.push(Node::Space(em(n))),
            P::OrdGroup(n) if is_tag(&n.body) => out.push(Node::Tag(self.list(&n.body[1..], font))),
            P::OrdGroup(n) if n.semisimple == Some(true) => self.extend(&n.body, font, out),
            P::OrdGroup(n) if n.mode == Mode::Text => self.extend(&n.body, font, out),
            P::OrdGroup(n) => {
                let mut body = self.list(&n.body, font);
                // Braces around one thing only take its class away.
                match (body.len(), body.pop()) {
                    (1, Some(Node::Atom { text, .. })) => out.push(Node::atom(text, Class::Ord)),
                    (1, Some(only)) if only.class() == Class::Ord => out.push(only),
                    (_, last) => {
                        body.extend(last);
                        out.push(Node::Group { body, class: Class::Ord });
                    }
                }
            }
            P::SupSub(n) => self.scripts(n, font, out),
            P::Genfrac(n) => out.push(self.fraction(n, font)),
            P::Sqrt(n) => out.push(Node::Root {
                index: n.index.as_ref().map(|index| self.arg(index, font)),
                body: self.arg(&n.body, font),
            }),
            P::Op(n) => out.push(self.operator(n, font)),
            P::OperatorName(n) if n.body.is_empty() => {}
            P::OperatorName(n) => out.push(self.operator_name(n)),
            P::Text(n) => self.words(&n.body, out),
            P::Hbox(n) => self.words(&n.body, out),
            P::Verb(n) => word(&n.body, out),
            P::Styling(n) => self.styling(n.style.id, &n.body, font, out),
            P::Sizing(n) => self.extend(&n.body, font, out),
            P::Color(n) => self.extend(&n.body, font, out),
            P::Href(n) => self.extend(&n.body, font, out),
            P::Html(n) => self.extend(&n.body, font, out),
            P::Font(n) => {
                let from = out.len();
                self.node(&n.body, font.with(&n.font), out);
                if matches!(n.font.as_str(), "mathrm" | "mathsf" | "mathtt" | "mathit") {
                    operator::name_from_letters(&mut out[from..]);
                }
            }
            P::Pmb(n) => self.extend(&n.body, font.with("boldsymbol"), out),
            P::HtmlMathMl(n) => self.twofold(&n.html, &n.mathml, font, out),
            P::MathChoice(n) => self.extend(&n.text, font, out),
            P::Mclass(n) => self.classed(&n.mclass, &n.body, font, out),
            P::Accent(n) => out.push(self.accent(&n.label, &n.base, font)),
            P::AccentUnder(n) => out.push(self.accent(&n.label, &n.base, font)),
            P::Overline(n) => out.push(Node::Line { over: true, body: self.arg(&n.body, font) }),
            P::Underline(n) => out.push(Node::Line { over: false, body: self.arg(&n.body, font) }),
            P::HorizBrace(n) => out.push(Node::Brace {
                over: n.is_over,
                square: n.label.ends_with("bracket"),
                body: self.arg(&n.base, font),
            }),
            P::XArrow(n) => out.push(Node::Arrow {
                glyph: enclosure::arrow(&n.label).to_owned(),
                above: n.body.as_ref().map_or_else(Vec::new, |body| self.arg(body, font)),
                below: n.below.as_ref().map_or_else(Vec::new, |below| self.arg(below, font)),
            }),
            P::LeftRight(n) => out.push(Node::Fence {
                left: self.delimiter(&n.left),
                right: self.delimiter(&n.right),
                body: self.list(&n.body, font),
            }),
            P::Middle(n) => out.push(Node::Middle(self.delimiter(&n.delim))),
            P::Delimsizing(n) => {
                out.push(Node::atom(self.delimiter(&n.delim), dom_class(&n.mclass)));
            }
            P::Enclose(n) => self.enclose(&n.label, &n.body, font, out),
            P::Phantom(n) => out.push(Node::Phantom(self.list(&n.body, font))),
            P::Hphantom(n) => out.push(Node::Phantom(self.arg(&n.body, font))),
            P::Smash(n) => self.node(&n.body, font, out),
            P::Lap(n) => self.node(&n.body, font, out),
            P::Raisebox(n) => self.node(&n.body, font, out),
            P::Vcenter(n) => self.node(&n.body, font, out),
            P::Rule(n) if n.width.number > 0.0 && n.height.number > 0.0 => {
                word(&"_".repeat(super::spacing::cells(n.width.number as f32)), out);
            }
            P::Cr(_) => out.push(Node::Newline),
            P::Includegraphics(n) => word(&n.alt, out),
            P::Array(n) => out.push(Node::Table(self.table(n, font))),
            P::CdLabel(n) => out.extend(self.arg(&n.label, font)),
            P::CdLabelParent(n) => out.push(self.upright_arrow(&n.fragment, font)),
            P::Url(_)
            | P::Tag(_)
            | P::Vphantom(_)
            | P::Rule(_)
            | P::LeftRightRight(_)
            | P::ColorToken(_)
            | P::Raw(_)
            | P::Size(_)
            | P::Environment(_)
            | P::Infix(_)
            | P::Internal(_) => {}
        }
    }

    /// Text; mathematics in it stands apart from the words as far as spacing goes.
    fn words(&self, nodes: &[AnyParseNode], out: &mut Vec<Node>) {
        for node in nodes {
            match node {
                AnyParseNode::Styling(math) => out.push(Node::Group {
                    body: self.list(&math.body, Font::default()),
                    class: Class::Ord,
                }),
                AnyParseNode::OrdGroup(group) if !is_tag(&group.body) => {
                    self.words(&group.body, out);
                }
                _ => self.node(node, Font::default(), out),
            }
        }
    }

    fn symbol(&self, text: &str, mode: Mode, class: Class, font: Font, out: &mut Vec<Node>) {
        if let Some(text) = self.placeholder(text) {
            return word(text, out);
        }
        match mode {
            Mode::Text => match self.symbols.get_text(text).and_then(|info| info.replace) {
                Some(c) => word(c.encode_utf8(&mut [0; 4]), out),
                None => word(text, out),
            },
            // A bar typed as itself stays itself: every font has it.
            Mode::Math if text == "|" => out.push(Node::atom("|", class)),
            Mode::Math => {
                let c = self.symbols.get_math(text).and_then(|info| info.replace);
                let text = match c {
                    Some(c) => styled(c, font).to_string(),
                    None => text.chars().map(|c| styled(c, font)).collect(),
                };
                out.push(Node::atom(text, class));
            }
        }
    }

    fn placeholder(&self, text: &str) -> Option<&str> {
        let c = text.chars().next()?;
        let index = u32::from(c).checked_sub(PLACEHOLDER)?;
        self.verbatim.get(index as usize).map(String::as_str)
    }

    fn styling(&self, id: usize, body: &[AnyParseNode], font: Font, out: &mut Vec<Node>) {
        out.push(Node::Style(style(id)));
        self.extend(body, font, out);
    }

    /// KaTeX draws some signs from pieces and names them in MathML: the name is the character,
    /// the pieces have the class.
    fn twofold(
        &self,
        html: &[AnyParseNode],
        mathml: &[AnyParseNode],
        font: Font,
        out: &mut Vec<Node>,
    ) {
        let body = self.list(mathml, font);
        match html {
            [AnyParseNode::Mclass(drawn)] => push_classed(dom_class(&drawn.mclass), body, out),
            [AnyParseNode::Atom(drawn)] => push_classed(atom_class(drawn.family), body, out),
            _ => out.extend(body),
        }
    }

    fn classed(&self, class: &DomType, body: &[AnyParseNode], font: Font, out: &mut Vec<Node>) {
        push_classed(dom_class(class), self.list(body, font), out);
    }

    fn scripts(&self, node: &ParseNodeSupSub, font: Font, out: &mut Vec<Node>) {
        let script = |part: &Option<Box<AnyParseNode>>| part.as_ref().map(|n| self.arg(n, font));
        out.push(Node::Scripts {
            base: node.base.as_ref().map(|base| Box::new(self.single(base, font))),
            sub: script(&node.sub),
            sup: script(&node.sup),
        });
    }

    fn fraction(&self, node: &ParseNodeGenfrac, font: Font) -> Node {
        let delimiter =
            |d: &Option<String>| d.as_ref().map_or(String::new(), |d| self.delimiter(d));
        Node::Frac {
            num: self.arg(&node.numer, font),
            den: self.arg(&node.denom, font),
            bar: node.has_bar_line,
            left: delimiter(&node.left_delim),
            right: delimiter(&node.right_delim),
            compact: node.size.is_some_and(|style| style.id > 1),
        }
    }

    fn accent(&self, label: &str, base: &AnyParseNode, font: Font) -> Node {
        let body = self.arg(base, font);
        match label {
            r"\overlinesegment" => Node::Line { over: true, body },
            r"\underlinesegment" => Node::Line { over: false, body },
            _ => match accents::accent(label) {
                Some(accent) => Node::Accent { accent, body },
                None => Node::Group { body, class: Class::Ord },
            },
        }
    }
}

/// A style by its number in KaTeX.
fn style(id: usize) -> Style {
    match id {
        0 | 1 => Style::Display,
        2 | 3 => Style::Text,
        _ => Style::Script,
    }
}

fn is_tag(group: &[AnyParseNode]) -> bool {
    matches!(group.first(), Some(AnyParseNode::TextOrd(mark)) if mark.text.starts_with(TAG))
}

fn is_not(node: &AnyParseNode) -> bool {
    matches!(node, AnyParseNode::HtmlMathMl(both)
        if matches!(both.mathml.as_slice(), [AnyParseNode::TextOrd(mark)] if mark.text == "\u{338}"))
}

/// Appends to the running word, or begins one.
fn word(text: &str, out: &mut Vec<Node>) {
    match out.last_mut() {
        Some(Node::Word(open)) => open.push_str(text),
        _ => out.push(Node::Word(text.to_owned())),
    }
}

fn push_classed(class: Class, mut body: Vec<Node>, out: &mut Vec<Node>) {
    match (body.len(), body.pop()) {
        (1, Some(Node::Atom { text, .. })) => out.push(Node::atom(text, class)),
        (1, Some(Node::Word(text))) => out.push(Node::atom(text, class)),
        (_, last) => {
            body.extend(last);
            out.push(Node::Group { body, class });
        }
    }
}

fn atom_class(family: Atom) -> Class {
    match family {
        Atom::Bin => Class::Bin,
        Atom::Close => Class::Close,
        Atom::Inner => Class::Inner,
        Atom::Open => Class::Open,
        Atom::Punct => Class::Punct,
        Atom::Rel => Class::Rel,
    }
}

fn dom_class(class: &DomType) -> Class {
    match class {
        DomType::Mord => Class::Ord,
        DomType::Mop => Class::Op,
        DomType::Mbin => Class::Bin,
        DomType::Mrel => Class::Rel,
        DomType::Mopen => Class::Open,
        DomType::Mclose => Class::Close,
        DomType::Mpunct => Class::Punct,
        DomType::Minner => Class::Inner,
    }
}

fn em(kern: &ParseNodeKern) -> f32 {
    let unit = match kern.dimension.unit.as_str() {
        "em" => 1.0,
        "mu" => 1.0 / 18.0,
        "ex" => 0.431,
        "pt" | "bp" | "px" => 0.1,
        "mm" => 0.285,
        "cm" => 2.845,
        "in" => 7.227,
        "pc" | "cc" => 1.2,
        "dd" | "nd" => 0.107,
        _ => 0.0,
    };
    (kern.dimension.number * unit) as f32
}
