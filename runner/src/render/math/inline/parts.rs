//! Node by node: the text of each construct in one line.

use unicode_segmentation::UnicodeSegmentation;

use super::super::tree::{Accent, Class, Limits, Node, OpKind, Row, Table, TableKind};
use super::super::{accents, scripts, spacing};
use super::item::{Bound, Item};
use super::{Piece, row};

/// The parts of a line, explicit spaces folded into the part that follows.
pub(super) fn items(nodes: &[Node], script: bool) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::with_capacity(nodes.len());
    let mut em = 0.0;
    let last = nodes.iter().rposition(|node| !matches!(node, Node::Newline | Node::Style(_)));
    for (at, node) in nodes.iter().enumerate() {
        let mut item = match node {
            Node::Space(more) => {
                em += more;
                continue;
            }
            Node::Style(_) => continue,
            Node::Phantom(body) => {
                em += 0.5 * super::super::block::width(&row(body, script).text) as f32;
                continue;
            }
            Node::Newline if last.is_none_or(|last| at > last) || items.is_empty() => continue,
            Node::Newline => Item::new(";", Bound::Loose, Class::Punct),
            Node::Table(table) if nodes.len() > 1 && table.rows.len() > 1 && !script => {
                let text = format!("[{}]", table_line(table, script));
                Item::new(text, Bound::Whole, Class::Ord)
            }
            _ => item(node, script),
        };
        item.em += em;
        item.spreads = spacing::spreads(node);
        em = 0.0;
        items.push(item);
    }
    items
}

fn item(node: &Node, script: bool) -> Item {
    match node {
        Node::Atom { text, class } => Item::new(text, Bound::Whole, *class),
        Node::Word(text) => {
            let bound = if text.trim().contains(' ') { Bound::Loose } else { Bound::Whole };
            Item::new(text, bound, Class::Ord)
        }
        Node::Group { body, class } => group(body, *class, script),
        Node::Op { body, limits, kind } => {
            let piece = row(body, script);
            let class = if *kind == OpKind::Stack { Class::Ord } else { Class::Op };
            let mut item = Item::new(piece.text, Bound::Whole, class);
            item.function = *kind == OpKind::Name && *limits == Limits::Beside;
            item
        }
        Node::Scripts { base, sub, sup } => {
            scripted(base.as_deref(), sub.as_deref(), sup.as_deref(), script)
        }
        Node::Frac { num, den, bar: true, left, right, .. }
            if left.is_empty() && right.is_empty() =>
        {
            fraction(num, den, script)
        }
        Node::Frac { num, den, bar, left, right, .. } => {
            let between = match (bar, left.as_str()) {
                (true, _) => "/",
                (false, "(") => " choose ",
                (false, _) => "; ",
            };
            let (num, den) = (row(num, script).text, row(den, script).text);
            let text = format!("{left}{num}{between}{den}{right}");
            let bound = if left.is_empty() { Bound::Loose } else { Bound::Whole };
            Item { bracketed: left == "(", ..Item::new(text, bound, Class::Ord) }
        }
        Node::Root { index, body } => root(index.as_deref(), body, script),
        Node::Fence { left, right, body } => fence(left, right, body, script),
        Node::Middle(delim) if delim == "|" || delim == "‖" => {
            Item::new(delim, Bound::Whole, Class::Rel)
        }
        Node::Middle(delim) => Item::new(delim, Bound::Whole, Class::Ord),
        Node::Accent { accent, body } => Item::new(
            accented(*accent, &row(body, script)),
            Bound::Whole,
            only(body).map_or(Class::Ord, Node::class),
        ),
        Node::Line { over, body } => {
            let mark = if *over { '\u{305}' } else { '\u{332}' };
            Item::new(marked(&row(body, script).text, mark), Bound::Whole, Class::Ord)
        }
        Node::Strike(body) => {
            let text = row(body, script).text;
            let mark = if text.graphemes(true).count() == 1 { '\u{338}' } else { '\u{336}' };
            Item::new(marked(&text, mark), Bound::Whole, Class::Ord)
        }
        Node::Brace { over, square, body } => {
            let mark = match (over, square) {
                (true, false) => '⏞',
                (false, false) => '⏟',
                (true, true) => '⎴',
                (false, true) => '⎵',
            };
            let text = format!("{}{mark}", row(body, script).as_base());
            Item::new(text, Bound::Whole, Class::Ord)
        }
        Node::Arrow { glyph, above, below } => {
            Item::new(arrow(glyph, above, below), Bound::Loose, Class::Rel)
        }
        Node::Table(table) => Item::new(table_line(table, script), Bound::Loose, Class::Ord),
        Node::Boxed(body) => {
            Item::new(format!("[{}]", row(body, script).text), Bound::Whole, Class::Ord)
        }
        Node::Tag(tag) => {
            Item { em: 1.0, ..Item::new(row(tag, false).text, Bound::Whole, Class::Ord) }
        }
        Node::Space(_) | Node::Style(_) | Node::Phantom(_) | Node::Newline => {
            Item::new("", Bound::Whole, Class::Ord)
        }
    }
}

fn is_relation(cell: &[Node]) -> bool {
    only(cell).is_some_and(|node| node.class() == Class::Rel)
}

/// The one node of a list that holds nothing else.
fn only(nodes: &[Node]) -> Option<&Node> {
    let mut rest = nodes.iter().filter(|node| !matches!(node, Node::Style(_)));
    match (rest.next(), rest.next()) {
        (only, None) => only,
        _ => None,
    }
}

fn group(body: &[Node], class: Class, script: bool) -> Item {
    if class == Class::Ord
        && let Some(inner) = only(body)
        && !matches!(inner, Node::Space(_) | Node::Phantom(_))
    {
        let inner = item(inner, script);
        return Item { left: class, right: class, ..inner };
    }
    let piece = row(body, script);
    Item { bracketed: piece.bracketed, ..Item::new(piece.text, piece.bound, class) }
}

fn fraction(num: &[Node], den: &[Node], script: bool) -> Item {
    let (num, den) = (row(num, script), row(den, script));
    if let Some(c) = scripts::vulgar(&num.text, &den.text) {
        return Item::new(c, Bound::Whole, Class::Ord);
    }
    Item { slash: Some((num, den)), ..Item::new("", Bound::Slash, Class::Ord) }
}

fn root(index: Option<&[Node]>, body: &[Node], script: bool) -> Item {
    let body = row(body, script);
    Item::new(format!("{}{}", root_sign(index), body.as_base()), Bound::Whole, Class::Ord)
}

/// √ with its index.
pub(in super::super) fn root_sign(index: Option<&[Node]>) -> String {
    let index = index.map_or_else(Piece::empty, |index| row(index, true)).text;
    match index.as_str() {
        "" | "2" => "√".to_owned(),
        "3" => "∛".to_owned(),
        "4" => "∜".to_owned(),
        _ => match scripts::superscript(&index) {
            Some(raised) => format!("{raised}√"),
            None => format!("({index})√"),
        },
    }
}

fn fence(left: &str, right: &str, body: &[Node], script: bool) -> Item {
    let body = match only(body) {
        Some(Node::Table(table)) => table_line(table, script),
        _ => row(body, script).text,
    };
    let mut item = Item::new(format!("{left}{}{right}", body.trim()), Bound::Whole, Class::Ord);
    if !left.is_empty() {
        item.left = Class::Open;
    }
    if !right.is_empty() {
        item.right = Class::Close;
    }
    if right.is_empty() {
        item.bound = Bound::Loose;
    }
    item.bracketed = left == "(" && right == ")";
    item
}

fn accented(accent: Accent, body: &Piece) -> String {
    let text = body.text.as_str();
    if text.graphemes(true).count() <= 1 {
        return accents::compose(text, accent.mark);
    }
    if accent.stretchy {
        return format!("{}{}", body.as_factor(), accent.wide);
    }
    let marked = text.graphemes(true).map(|part| {
        if part.starts_with(char::is_alphanumeric) {
            accents::compose(part, accent.mark)
        } else {
            part.to_owned()
        }
    });
    marked.collect()
}

/// Every character of `text` with a combining mark, so that the marks join to a line.
fn marked(text: &str, mark: char) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for part in text.graphemes(true) {
        out.push_str(part);
        out.push(mark);
    }
    out
}

/// Scripts as raised and lowered characters, or marked with `^` and `_`.
fn scripted(base: Option<&Node>, sub: Option<&[Node]>, sup: Option<&[Node]>, script: bool) -> Item {
    let mut base = match base {
        Some(base) => item(base, script),
        None => Item::new("", Bound::Whole, Class::Ord),
    };
    if let Some((num, den)) = base.slash.take() {
        base.text = format!("{}/{}", num.as_numerator(false), den.as_denominator());
    }
    if base.bound != Bound::Whole {
        base.text = format!("({})", base.text);
        base.bound = Bound::Whole;
    }
    let sup = sup.map(|sup| script_text('^', sup, scripts::superscript));
    let sub = sub.map(|sub| script_text('_', sub, scripts::subscript));
    let ends_bare = |part: &Option<Script>| part.as_ref().is_some_and(|s| s.bare);
    // A script that has to be marked off comes last, where nothing can be taken for part of it.
    // Without a base they belong to what follows, an isotope, and are read from the top.
    let sub_last = sup.as_ref().is_some_and(|s| !s.marked)
        && (sub.as_ref().is_some_and(|s| s.marked) || base.text.is_empty());
    let raised = sup.as_ref().is_some_and(|s| !s.text.is_empty());
    base.bare = ends_bare(if sub_last || sup.is_none() { &sub } else { &sup });
    let (first, second) = if sub_last { (sup, sub) } else { (sub, sup) };
    for part in [first, second].into_iter().flatten() {
        base.text.push_str(&part.text);
    }
    if raised {
        base.bound = Bound::Raised;
    }
    base.bracketed = false;
    base
}

struct Script {
    text: String,
    /// Written with `^` or `_`.
    marked: bool,
    /// Marked, and without parentheses.
    bare: bool,
}

fn script_text(mark: char, nodes: &[Node], convert: fn(&str) -> Option<String>) -> Script {
    let piece = row(nodes, true);
    let text = piece.text.trim();
    if text.is_empty() {
        return Script { text: String::new(), marked: false, bare: false };
    }
    if let Some(text) = convert(text) {
        return Script { text, marked: false, bare: false };
    }
    let bare = text.graphemes(true).count() == 1;
    let text =
        if bare || piece.bracketed { format!("{mark}{text}") } else { format!("{mark}({text})") };
    Script { text, marked: true, bare }
}

/// `─f→`: the label written into the shaft where the arrow is a plain one.
fn arrow(glyph: &str, above: &[Node], below: &[Node]) -> String {
    let label = row(above, true).text;
    if matches!(glyph, "↑" | "↓") {
        return format!("{label}{glyph}{}", row(below, true).text);
    }
    let mut text = match (glyph, label.trim()) {
        (_, "") => glyph.to_owned(),
        ("→", label) => format!("─{label}→"),
        ("←", label) => format!("←{label}─"),
        ("⇒", label) => format!("═{label}⇒"),
        ("⇐", label) => format!("⇐{label}═"),
        _ => format!("{glyph}{}", script_text('^', above, scripts::superscript).text),
    };
    text.push_str(&script_text('_', below, scripts::subscript).text);
    text
}

/// Rows after each other: `a, b; c, d`.
fn table_line(table: &Table, script: bool) -> String {
    let rows = table.rows.iter().map(|row| table_row(table, row, script));
    let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
    rows.join(if script { ", " } else { "; " })
}

/// One row of a table in one line.
pub(in super::super) fn table_row(table: &Table, line: &Row, script: bool) -> String {
    let mut out = String::new();
    for (at, cell) in line.cells.iter().enumerate() {
        let cell = row(cell, script).text;
        let bar = table.columns.get(at).is_some_and(|column| !column.bars.is_empty());
        let separator = match table.kind {
            _ if at == 0 || cell.trim().is_empty() => "",
            TableKind::Aligned if at % 2 == 1 => "",
            TableKind::Diagram => " ",
            _ if bar => " | ",
            // Columns of an array around its relations.
            _ if line.cells[at - 1..=at].iter().any(|cell| is_relation(cell)) => " ",
            _ if out.trim_end().ends_with([',', ';', ':']) => " ",
            _ => ", ",
        };
        if separator.is_empty() {
            out.push_str(&cell);
        } else {
            out.truncate(out.trim_end().len());
            out.push_str(separator);
            out.push_str(cell.trim_start());
        }
    }
    if let Some(tag) = &line.tag {
        out.push_str("  ");
        out.push_str(&row(tag, false).text);
    }
    out.trim().to_owned()
}
