//! LaTeX mathematics as Unicode text: in one line, or laid out in two dimensions.
//!
//! `rewrite` bounds the source and makes it digestible, KaTeX's parser (`katex-rs`) reads it,
//! `lower` resolves its tree, `inline` and `display` lay that out. Whatever goes wrong on the way,
//! the source is shown as it was written. Never panics, never prints, never puts a control
//! character into its output; a formula costs time in proportion to its length.

mod accents;
mod alphabets;
mod block;
mod delims;
mod display;
mod inline;
mod lower;
mod negation;
mod rewrite;
mod scripts;
mod source;
mod spacing;
mod symbols;
#[cfg(test)]
mod tests;
mod tree;

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::LazyLock;

use katex::{KatexContext, Settings};

use alphabets::Font;
use lower::Lowering;
use tree::Node;

/// One line of Unicode for inline maths. Unknown commands and broken input stay as written.
pub fn inline(tex: &str) -> String {
    match readable(tex) {
        Some(nodes) => one_line(&nodes),
        None => as_written(tex),
    }
}

/// Rows of display maths, two-dimensional, each at most `width` cells where possible; where the
/// layout does not fit, every equation in one line, for the caller to wrap.
pub fn display(tex: &str, width: usize) -> Vec<String> {
    let Some(nodes) = readable(tex) else {
        let lines = tex.lines().map(str::trim_end).filter(|line| !line.trim().is_empty());
        return lines.map(as_written).collect();
    };
    match display::lines(&nodes, width) {
        Ok(rows) => rows,
        Err(display::TooWide) => equations(&nodes),
    }
}

/// The formula, unless it holds what no formula does: what a control character does to the parser is nobody's wish.
///
/// Those read last are remembered: the open end of a text is laid out again with each picture.
fn readable(tex: &str) -> Option<Rc<[Node]>> {
    // `\\ ` is a space.
    let tex = Some(tex.trim()).filter(|tex| !tex.ends_with('\\')).unwrap_or(tex);
    type Known = VecDeque<(String, Option<Rc<[Node]>>)>;
    const MAX_KNOWN: usize = 32;
    const MAX_LENGTH: usize = 2000;
    thread_local! {
        static KNOWN: RefCell<Known> = RefCell::default();
    }
    let known = KNOWN.with_borrow(|known| {
        known.iter().find(|(known, _)| known == tex).map(|(_, nodes)| nodes.clone())
    });
    if let Some(nodes) = known {
        return nodes;
    }
    let is_stray = |c: char| c.is_control() && !c.is_whitespace();
    let nodes: Option<Rc<[Node]>> =
        if tex.chars().any(is_stray) { None } else { parse(tex).map(Rc::from) };
    if tex.len() <= MAX_LENGTH {
        KNOWN.with_borrow_mut(|known| {
            known.truncate(MAX_KNOWN - 1);
            known.push_front((tex.to_owned(), nodes.clone()));
        });
    }
    nodes
}

/// The lines of a formula that does not fit, each in one row.
fn equations(nodes: &[Node]) -> Vec<String> {
    let mut rows = Vec::new();
    for line in nodes.split(|node| matches!(node, Node::Newline)) {
        match line {
            [Node::Table(table)] => {
                rows.extend(table.rows.iter().map(|row| inline::table_row(table, row, false)));
            }
            _ => rows.push(one_line(line)),
        }
    }
    rows.retain(|row| !row.is_empty());
    rows
}

fn one_line(nodes: &[Node]) -> String {
    inline::row(nodes, false).text.trim().to_owned()
}

/// The parser's tables, built when the first formula comes.
static KATEX: LazyLock<KatexContext> = LazyLock::new(KatexContext::default);

fn parse(tex: &str) -> Option<Vec<Node>> {
    let source = rewrite::rewrite(tex, &KATEX).ok()?;
    let settings =
        Settings::builder().display_mode(true).throw_on_error(false).max_expand(100_000).build();
    // The last resort against a bug in the parser; those known are kept away from it.
    let parsed =
        catch_unwind(AssertUnwindSafe(|| katex::parse(&KATEX, &source.tex, &settings))).ok()?;
    let lowering =
        Lowering { symbols: &KATEX.symbols, verbatim: &source.verbatim, fences: Cell::new(0) };
    Some(lowering.list(&parsed.ok()?, Font::default()))
}

/// The source on one line, fit to print.
fn as_written(tex: &str) -> String {
    printable(tex.trim()).into_owned()
}

/// Whether a character can be printed without doing anything else: no controls, no characters
/// that reorder or hide text.
fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}')
}

fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let one_row = text.replace(['\n', '\t', '\r'], " ");
    Cow::Owned(super::sanitize::single_row(&one_row).into_owned())
}
