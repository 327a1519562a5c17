//! Lines into blocks, one line at a time: the block structure of CommonMark and GitHub.
//!
//! Invariant: a block is handed on as soon as it ends and is then forgotten, however deep it
//! stands in lists and quotes; only the open leaf's text is kept. Long paragraphs are handed on
//! in parts. What is handed on depends on the lines alone, never on when they came.

use super::cursor::Cursor;
use super::refs::{Late, Refs};
use super::starts::{self, Alert, Align, Fence, HtmlEnd, Marker};

/// Deeper containers are text: nobody can see the difference, and every line walks them all.
const MAX_DEPTH: usize = 64;

/// A paragraph this long is handed on as far as it cannot change any more.
pub(crate) const LONG_PARAGRAPH: usize = 2048;

mod leaf;

/// What the document consists of, in the order of its text.
#[derive(Debug, PartialEq)]
pub(crate) enum Block<'a> {
    Enter(Container<'a>),
    Leave,
    Heading {
        level: u8,
        text: &'a str,
    },
    /// A paragraph, or a part of one; `ends` with its last part.
    Paragraph {
        text: &'a str,
        ends: bool,
    },
    Rule,
    Code {
        info: &'a str,
    },
    CodeLine(&'a str),
    CodeEnd,
    Html,
    HtmlLine(&'a str),
    HtmlEnd,
    Table {
        head: &'a str,
        aligns: Vec<Align>,
    },
    TableRow(&'a str),
    TableEnd,
    Formula(&'a str),
    Definition(Late),
}

/// What other blocks stand in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Container<'a> {
    Quote(Option<Alert>),
    Item { marker: Marker, task: Option<bool> },
    Footnote(&'a str),
}

/// Takes the blocks. `gap`: an empty line stood before this one.
pub(crate) trait Sink {
    fn block(&mut self, block: Block<'_>, gap: bool, refs: &Refs);
}

#[derive(Clone, Debug)]
enum Open {
    Quote,
    Item { marker: Marker, offset: usize, empty: bool },
    Footnote,
}

#[derive(Clone, Debug)]
enum Leaf {
    None,
    Paragraph(Paragraph),
    Fence(Fence),
    /// Indented code, with the empty lines that belong to it if more code follows.
    Indented(Vec<String>),
    Html(HtmlEnd),
    Table,
    Formula {
        text: String,
        close: &'static str,
        gap: bool,
    },
}

#[derive(Clone, Debug)]
struct Paragraph {
    text: String,
    gap: bool,
    /// Whether parts of it were handed on.
    begun: bool,
    limit: usize,
}

/// The open blocks.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    open: Vec<Open>,
    leaf: Leaf,
    gap: bool,
    refs: Refs,
}

impl Blocks {
    pub(crate) fn new() -> Self {
        Self { open: Vec::new(), leaf: Leaf::None, gap: false, refs: Refs::default() }
    }

    /// Takes a line without its end.
    pub(crate) fn line(&mut self, line: &str, sink: &mut impl Sink) {
        let mut cursor = Cursor::new(line);
        let depth = self.matching(&mut cursor);
        if depth < self.open.len() || !self.continue_leaf(&mut cursor, sink) {
            self.start(cursor, depth, sink);
        }
    }

    /// Takes more of a line that [`Self::takes_text`].
    pub(crate) fn more(&mut self, text: &str, sink: &mut impl Sink) {
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.text.push_str(text);
            self.relieve(sink);
        }
    }

    /// Whether the line that begins like this is text of a paragraph, so that it may be taken in
    /// pieces.
    pub(crate) fn takes_text(&self, head: &str) -> bool {
        struct Nowhere;
        impl Sink for Nowhere {
            fn block(&mut self, _: Block<'_>, _: bool, _: &Refs) {}
        }
        let mut ahead = self.clone();
        ahead.line(head, &mut Nowhere);
        matches!(ahead.leaf, Leaf::Paragraph(_))
    }

    /// Ends the document.
    pub(crate) fn finish(&mut self, sink: &mut impl Sink) {
        self.close_to(0, sink);
    }

    /// As [`Self::finish`] for a document that goes on: an open formula is shown as one.
    pub(crate) fn finish_ahead(&mut self, sink: &mut impl Sink) {
        if let Leaf::Formula { text, close, gap } = &self.leaf {
            sink.block(Block::Formula(leaf::tex(text, close)), *gap, &self.refs);
            self.leaf = Leaf::None;
        }
        self.finish(sink);
    }

    /// How many open containers this line continues; their marks are skipped.
    fn matching(&self, cursor: &mut Cursor<'_>) -> usize {
        for (n, open) in self.open.iter().enumerate() {
            let indent = cursor.indent();
            let continues = match *open {
                Open::Quote => skip_quote_mark(cursor),
                Open::Item { empty, .. } if cursor.is_blank() => !empty,
                Open::Item { offset, .. } if indent >= offset => {
                    cursor.skip_columns(offset);
                    true
                }
                Open::Footnote if cursor.is_blank() => true,
                Open::Footnote if indent >= 4 => {
                    cursor.skip_columns(4);
                    true
                }
                Open::Item { .. } | Open::Footnote => false,
            };
            if !continues {
                return n;
            }
        }
        self.open.len()
    }

    /// Opens what begins on this line below the first `depth` containers, and takes its text.
    fn start(&mut self, mut cursor: Cursor<'_>, depth: usize, sink: &mut impl Sink) {
        let mut depth = depth;
        let mut opened = false;
        while !cursor.is_blank() {
            let lazy = !opened && matches!(self.leaf, Leaf::Paragraph(_));
            let interrupts = lazy && depth == self.open.len();
            if cursor.indent() >= 4 {
                let in_table = matches!(self.leaf, Leaf::Table) && depth == self.open.len();
                if !lazy && !in_table {
                    return self.start_indented(cursor, depth, sink);
                }
                break;
            }
            if self.start_container(&mut cursor, depth, interrupts, sink) {
                depth += 1;
                opened = true;
            } else if self.start_leaf(&cursor, depth, interrupts, sink) {
                return;
            } else {
                break;
            }
        }
        let lazy = !opened && depth < self.open.len() && matches!(self.leaf, Leaf::Paragraph(_));
        if cursor.is_blank() {
            self.close_to(depth, sink);
            self.gap |= !opened;
            return;
        }
        if !lazy && depth < self.open.len() {
            self.close_to(depth, sink);
        }
        self.text(cursor.text(), sink);
    }

    /// Whether an empty line stood before the block that begins now.
    fn begin(&mut self) -> bool {
        if let Some(Open::Item { empty, .. }) = self.open.last_mut() {
            *empty = false;
        }
        std::mem::take(&mut self.gap)
    }

    fn start_container(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        interrupts: bool,
        sink: &mut impl Sink,
    ) -> bool {
        let text = cursor.text();
        if depth >= MAX_DEPTH {
            return false;
        }
        if text.starts_with('>') {
            self.close_to(depth, sink);
            skip_quote_mark(cursor);
            let alert = starts::alert(cursor.rest());
            if alert.is_some() {
                cursor.skip(cursor.rest().len());
            }
            self.enter(Open::Quote, Container::Quote(alert), sink);
            return true;
        }
        if let Some((label, len)) = starts::footnote(text) {
            self.close_to(depth, sink);
            cursor.skip_indent();
            cursor.skip(len);
            self.enter(Open::Footnote, Container::Footnote(label), sink);
            return true;
        }
        match starts::marker(text) {
            Some(marker) if !starts::is_rule(text) => {
                let empty = text[marker.len..].trim().is_empty();
                if interrupts && (empty || marker.number.is_some_and(|n| n != 1)) {
                    return false;
                }
                self.start_item(cursor, depth, marker, sink);
                true
            }
            _ => false,
        }
    }

    fn start_item(
        &mut self,
        cursor: &mut Cursor<'_>,
        depth: usize,
        marker: Marker,
        sink: &mut impl Sink,
    ) {
        let number = match self.open.get(depth) {
            Some(Open::Item { marker: before, .. }) if before.sign == marker.sign => {
                before.number.map(|n| n.saturating_add(1))
            }
            _ => marker.number,
        };
        self.close_to(depth, sink);
        let indent = cursor.indent();
        cursor.skip_indent();
        cursor.skip(marker.len);
        let spaces = cursor.indent();
        let padding = if cursor.is_blank() || spaces > 4 { 1 } else { spaces };
        cursor.skip_columns(padding);
        let offset = indent + marker.len + padding;
        let task = starts::task(cursor.rest());
        if let Some((_, len)) = task {
            cursor.skip(len);
            cursor.skip_columns(1);
        }
        let marker = Marker { number, ..marker };
        self.enter(
            Open::Item { marker, offset, empty: true },
            Container::Item { marker, task: task.map(|(done, _)| done) },
            sink,
        );
    }

    fn enter(&mut self, open: Open, container: Container<'_>, sink: &mut impl Sink) {
        let gap = self.begin();
        sink.block(Block::Enter(container), gap, &self.refs);
        self.open.push(open);
    }

    /// Closes the open leaf and the containers below the first `depth`.
    fn close_to(&mut self, depth: usize, sink: &mut impl Sink) {
        self.close_leaf(sink);
        while self.open.len() > depth {
            self.open.pop();
            sink.block(Block::Leave, false, &self.refs);
        }
    }
}

fn skip_quote_mark(cursor: &mut Cursor<'_>) -> bool {
    if cursor.indent() > 3 || !cursor.text().starts_with('>') {
        return false;
    }
    cursor.skip_indent();
    cursor.skip(1);
    cursor.skip_columns(1);
    true
}

#[cfg(test)]
mod tests;
