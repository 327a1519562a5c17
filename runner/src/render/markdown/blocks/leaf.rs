//! The blocks that hold text: how each begins, goes on and ends.

use super::super::cursor::Cursor;
use super::super::refs::End;
use super::super::settled;
use super::super::starts::{self, Align, HtmlEnd};
use super::{Block, Blocks, LONG_PARAGRAPH, Leaf, Paragraph, Sink};

/// A formula longer than this is none.
const MAX_FORMULA: usize = 1 << 14;

impl Blocks {
    /// Whether the open leaf takes the line, whatever it looks like.
    pub(super) fn continue_leaf(&mut self, cursor: &mut Cursor<'_>, sink: &mut impl Sink) -> bool {
        let refs = &self.refs;
        match &mut self.leaf {
            Leaf::None | Leaf::Paragraph(_) | Leaf::Table => return false,
            Leaf::Fence(fence) => {
                let indent = cursor.indent();
                if indent < 4 && fence.is_closed_by(cursor.text()) {
                    self.close_leaf(sink);
                } else {
                    cursor.skip_columns(indent.min(fence.indent));
                    sink.block(Block::CodeLine(&cursor.code()), false, refs);
                }
            }
            Leaf::Indented(empty) if cursor.is_blank() => {
                cursor.skip_columns(4);
                empty.push(cursor.code().into_owned());
            }
            Leaf::Indented(empty) if cursor.indent() >= 4 => {
                for line in empty.drain(..) {
                    sink.block(Block::CodeLine(&line), false, refs);
                }
                cursor.skip_columns(4);
                sink.block(Block::CodeLine(&cursor.code()), false, refs);
            }
            Leaf::Html(HtmlEnd::Blank) if cursor.is_blank() => {
                self.close_leaf(sink);
                return false;
            }
            Leaf::Html(end) => {
                let done = end.is_met_by(cursor.rest());
                sink.block(Block::HtmlLine(&cursor.code()), false, refs);
                if done {
                    self.close_leaf(sink);
                }
            }
            Leaf::Formula { .. } if !cursor.is_blank() => {
                self.continue_formula(cursor.text(), sink)
            }
            Leaf::Indented(_) | Leaf::Formula { .. } => {
                self.close_leaf(sink);
                return false;
            }
        }
        true
    }

    pub(super) fn continue_formula(&mut self, line: &str, sink: &mut impl Sink) {
        let Leaf::Formula { text, close, gap } = &mut self.leaf else { return };
        text.push('\n');
        let Some(at) = line.find(*close) else {
            text.push_str(line);
            if text.len() > MAX_FORMULA {
                let (text, gap) = (std::mem::take(text), *gap);
                self.leaf =
                    Leaf::Paragraph(Paragraph { text, gap, begun: false, limit: LONG_PARAGRAPH });
                self.relieve(sink);
            }
            return;
        };
        text.push_str(&line[..at]);
        let after = line[at + close.len()..].trim();
        let sentence = after.chars().any(char::is_alphanumeric);
        if !sentence {
            text.push_str(after);
        }
        sink.block(Block::Formula(tex(text, close)), *gap, &self.refs);
        self.leaf = Leaf::None;
        if sentence {
            self.text(after, sink);
        }
    }

    pub(super) fn text(&mut self, text: &str, sink: &mut impl Sink) {
        match &mut self.leaf {
            Leaf::Table => sink.block(Block::TableRow(text), false, &self.refs),
            Leaf::Paragraph(paragraph) => {
                paragraph.text.push('\n');
                paragraph.text.push_str(text);
                self.relieve(sink);
            }
            _ => {
                let gap = self.begin();
                self.leaf = Leaf::Paragraph(Paragraph {
                    text: text.to_owned(),
                    gap,
                    begun: false,
                    limit: LONG_PARAGRAPH,
                });
                self.relieve(sink);
            }
        }
    }

    pub(super) fn start_indented(
        &mut self,
        mut cursor: Cursor<'_>,
        depth: usize,
        sink: &mut impl Sink,
    ) {
        self.close_to(depth, sink);
        cursor.skip_columns(4);
        let gap = self.begin();
        sink.block(Block::Code { info: "" }, gap, &self.refs);
        sink.block(Block::CodeLine(&cursor.code()), false, &self.refs);
        self.leaf = Leaf::Indented(Vec::new());
    }

    /// Whether a block without blocks in it begins here.
    pub(super) fn start_leaf(
        &mut self,
        cursor: &Cursor<'_>,
        depth: usize,
        interrupts: bool,
        sink: &mut impl Sink,
    ) -> bool {
        let text = cursor.text();
        if let Some((level, text)) = starts::heading(text) {
            let gap = self.replace(depth, Leaf::None, sink);
            sink.block(Block::Heading { level, text }, gap, &self.refs);
        } else if let Some((fence, info)) = starts::fence(text, cursor.indent()) {
            let gap = self.replace(depth, Leaf::Fence(fence), sink);
            sink.block(Block::Code { info }, gap, &self.refs);
        } else if let Some(end) = starts::html(text, interrupts) {
            let gap = self.replace(depth, Leaf::Html(end), sink);
            sink.block(Block::Html, gap, &self.refs);
            sink.block(Block::HtmlLine(&cursor.code()), false, &self.refs);
            if end.is_met_by(text) {
                self.close_leaf(sink);
            }
        } else if interrupts && self.is_continued_by(text, sink) {
        } else if starts::is_rule(text) {
            let gap = self.replace(depth, Leaf::None, sink);
            sink.block(Block::Rule, gap, &self.refs);
        } else {
            return self.start_formula(text, depth, sink);
        }
        true
    }

    /// Closes what is open below `depth` for a new leaf; whether an empty line stood before it.
    pub(super) fn replace(&mut self, depth: usize, leaf: Leaf, sink: &mut impl Sink) -> bool {
        self.close_to(depth, sink);
        self.leaf = leaf;
        self.begin()
    }

    /// Whether this line makes the open paragraph a heading, or its last line a table's head.
    pub(super) fn is_continued_by(&mut self, line: &str, sink: &mut impl Sink) -> bool {
        let Leaf::Paragraph(paragraph) = &self.leaf else { return false };
        if let Some(level) = starts::underline(line).filter(|_| !paragraph.begun) {
            return self.make_heading(level, sink);
        }
        let head = paragraph.text.rsplit('\n').next().unwrap_or_default();
        let Some(aligns) = starts::delimiters(line) else { return false };
        if aligns.len() != starts::cells(head).len() || !(head.contains('|') || line.contains('|'))
        {
            return false;
        }
        let head = head.to_owned();
        let start = paragraph.text.len() - head.len();
        self.make_table(start, &head, aligns, sink);
        true
    }

    pub(super) fn make_heading(&mut self, level: u8, sink: &mut impl Sink) -> bool {
        let Leaf::Paragraph(paragraph) = std::mem::replace(&mut self.leaf, Leaf::None) else {
            return false;
        };
        let start = self.define(&paragraph.text, End::Closed, sink);
        let text = paragraph.text[start..].trim();
        if !text.is_empty() {
            sink.block(Block::Heading { level, text }, paragraph.gap, &self.refs);
        }
        !text.is_empty()
    }

    pub(super) fn make_table(
        &mut self,
        start: usize,
        head: &str,
        aligns: Vec<Align>,
        sink: &mut impl Sink,
    ) {
        let mut gap = false;
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.text.truncate(start.saturating_sub(1));
            gap = paragraph.gap && start == 0;
            if start == 0 && !paragraph.begun {
                self.leaf = Leaf::None;
            }
        }
        self.close_leaf(sink);
        sink.block(Block::Table { head, aligns }, gap, &self.refs);
        self.leaf = Leaf::Table;
    }

    /// Whether the line opens a formula on rows of its own, or is one.
    pub(super) fn start_formula(&mut self, text: &str, depth: usize, sink: &mut impl Sink) -> bool {
        let close = match text.get(..2) {
            Some("$$") => "$$",
            Some(r"\[") => r"\]",
            _ => return false,
        };
        let inner = &text[2..];
        if let Some((tex, after)) = inner.split_once(close) {
            let alone = !after.contains(|c: char| c.is_alphanumeric() || c == '$' || c == '\\');
            let whole = alone && !tex.trim().is_empty();
            if whole {
                let gap = self.replace(depth, Leaf::None, sink);
                let tex = format!("{tex}{}", after.trim());
                sink.block(Block::Formula(&tex), gap, &self.refs);
            }
            return whole;
        }
        let plausible = inner.trim().is_empty() || inner.contains(['\\', '^', '_', '=', '{', '+']);
        let opens = plausible && !inner.starts_with('$');
        if opens {
            let gap = self.replace(depth, Leaf::None, sink);
            self.leaf = Leaf::Formula { text: text.to_owned(), close, gap };
        }
        opens
    }

    /// Hands on what is settled of a long paragraph.
    pub(super) fn relieve(&mut self, sink: &mut impl Sink) {
        let Leaf::Paragraph(paragraph) = &mut self.leaf else { return };
        if paragraph.text.len() < paragraph.limit {
            return;
        }
        let mut text = std::mem::take(&mut paragraph.text);
        let (begun, gap) = (paragraph.begun, paragraph.gap);
        if !begun {
            let start = self.define(&text, End::Open, sink);
            text.drain(..start);
        }
        let defines = !begun && text.starts_with('[') && text.len() < 2 * LONG_PARAGRAPH;
        let cut = if defines { None } else { settled::cut(&text, &self.refs) };
        if let Some(cut) = cut {
            sink.block(Block::Paragraph { text: &text[..cut], ends: false }, gap, &self.refs);
            text.drain(..cut);
        }
        if let Leaf::Paragraph(paragraph) = &mut self.leaf {
            paragraph.begun |= cut.is_some();
            paragraph.limit = LONG_PARAGRAPH.max(2 * text.len());
            paragraph.text = text;
        }
    }

    pub(super) fn define(&mut self, text: &str, end: End, sink: &mut impl Sink) -> usize {
        let (start, late) = self.refs.take(text, end);
        for definition in late {
            sink.block(Block::Definition(definition), true, &self.refs);
        }
        start
    }

    pub(super) fn close_leaf(&mut self, sink: &mut impl Sink) {
        match std::mem::replace(&mut self.leaf, Leaf::None) {
            Leaf::None => {}
            Leaf::Paragraph(paragraph) => self.close_paragraph(&paragraph, sink),
            Leaf::Fence(_) => sink.block(Block::CodeEnd, false, &self.refs),
            Leaf::Indented(empty) => {
                self.gap |= !empty.is_empty();
                sink.block(Block::CodeEnd, false, &self.refs);
            }
            Leaf::Html(_) => sink.block(Block::HtmlEnd, false, &self.refs),
            Leaf::Table => sink.block(Block::TableEnd, false, &self.refs),
            // Never closed, so it was none: it stays as it was written.
            Leaf::Formula { text, gap, .. } => {
                sink.block(Block::Paragraph { text: &text, ends: true }, gap, &self.refs);
            }
        }
    }

    pub(super) fn close_paragraph(&mut self, paragraph: &Paragraph, sink: &mut impl Sink) {
        let start = match paragraph.begun {
            true => 0,
            false => self.define(&paragraph.text, End::Closed, sink),
        };
        let text = paragraph.text[start..].trim_end();
        if paragraph.begun || !text.is_empty() {
            sink.block(Block::Paragraph { text, ends: true }, paragraph.gap, &self.refs);
        }
    }
}

/// The formula in the text of an open block, without its marks.
pub(super) fn tex<'a>(text: &'a str, close: &str) -> &'a str {
    let open = if close == "$$" { "$$" } else { r"\[" };
    text.strip_prefix(open).unwrap_or(text)
}
