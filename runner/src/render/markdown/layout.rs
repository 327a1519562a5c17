//! Blocks into lines: spacing, markers and indents, and the leaves' own layouts.
//!
//! Invariant: lines leave in order and are final. Nothing here looks ahead, so spacing follows
//! what the source says before a block, never what comes after it.

use std::borrow::Cow;

use super::super::code::Code;
use super::super::style::{Ink, Line, Link, Style};
use super::super::table::{Cell, Table};
use super::super::theme::{self, Glyphs};
use super::super::wrap::Wrapper;
use super::super::{ColorDepth, Options, sanitize};
use super::blocks::{Block, LONG_PARAGRAPH, Sink};
use super::flow::{formula_rows, source_rows};
use super::heal::heal;
use super::html_block::HtmlBlock;
use super::inline::{self, Context};
use super::refs::{Late, Refs};
use super::starts;

mod containers;

/// What stood before decides whether an empty row follows.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Nothing,
    Paragraph,
    Item,
    Note,
    Other,
}

/// The look of one open container.
#[derive(Clone, Debug)]
struct Frame {
    /// In front of the first row, until that is drawn.
    first: Option<Line>,
    /// In front of the other rows.
    rest: Line,
    last: Kind,
    /// Whether rows stand apart only where the source says so.
    compact: bool,
    /// Whether every row needs the prefix, code too.
    barred: bool,
}

/// An HTML block; one of nothing but comments takes no room.
#[derive(Clone, Debug)]
struct OpenHtml {
    block: HtmlBlock,
    gap: bool,
    begun: bool,
}

/// The page being written.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    options: Options,
    /// The style of text that nothing else styles.
    base: Style,
    frames: Vec<Frame>,
    lines: Vec<Line>,
    paragraph: Option<Wrapper>,
    code: Option<Code>,
    html: Option<OpenHtml>,
    table: Option<Table>,
    /// How many rows are wanted at most, counted from the end.
    wanted: Option<usize>,
}

impl Layout {
    pub(crate) fn new(options: Options, base: Style) -> Self {
        let root = Frame {
            first: None,
            rest: Line::new(),
            last: Kind::Nothing,
            compact: false,
            barred: false,
        };
        Self {
            options,
            base,
            frames: vec![root],
            lines: Vec::new(),
            paragraph: None,
            code: None,
            html: None,
            table: None,
            wanted: None,
        }
    }

    /// A copy that writes what would come next, of which only the last rows are wanted.
    pub(crate) fn ahead(&self, wanted: usize) -> Self {
        Self { wanted: Some(wanted), ..self.clone() }
    }

    pub(crate) fn set_width(&mut self, width: u16) {
        self.options.width = width;
        let avail = self.avail();
        if let Some(paragraph) = &mut self.paragraph {
            paragraph.set_avail(avail);
        }
        if let Some(html) = &mut self.html {
            html.block.set_avail(avail);
        }
    }

    /// The lines that are finished.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    fn glyphs(&self) -> &'static Glyphs {
        theme::glyphs(self.options.ascii)
    }

    fn context<'a>(&self, refs: &'a Refs) -> Context<'a> {
        Context {
            refs,
            hyperlinks: self.options.hyperlinks,
            colored: self.options.color != ColorDepth::None,
            ascii: self.options.ascii,
        }
    }

    /// Cells between the prefix and the right edge.
    fn avail(&self) -> usize {
        let width = usize::from(self.options.width).max(1);
        let prefix: usize = self.frames.iter().map(|f| f.rest.width()).sum();
        width.saturating_sub(prefix).max(1)
    }

    fn frame(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            *self = Self::new(self.options, self.base);
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Sets a block apart from the one before it.
    fn begin(&mut self, kind: Kind, gap: bool) {
        let frame = self.frame();
        let before = std::mem::replace(&mut frame.last, kind);
        let apart = match (before, kind) {
            (Kind::Nothing, _) => false,
            _ if frame.compact => gap,
            (Kind::Item, Kind::Item) | (Kind::Paragraph, Kind::Item) | (Kind::Note, Kind::Note) => {
                gap
            }
            _ => true,
        };
        if apart {
            let mut line = Line::new();
            let barred = self.frames.iter().rposition(|f| f.barred).map_or(0, |n| n + 1);
            for frame in &self.frames[..barred] {
                line.extend(&frame.rest);
            }
            line.trim_end();
            self.lines.push(line);
        }
    }

    fn row(&mut self, row: Line) {
        if self.frames.len() == 1 {
            self.lines.push(row);
            return;
        }
        let mut line = Line::new();
        for frame in &mut self.frames {
            match frame.first.take() {
                Some(first) => line.extend(&first),
                None => line.extend(&frame.rest),
            }
        }
        if row.is_empty() {
            line.trim_end();
        }
        line.extend(&row);
        self.lines.push(line);
    }

    fn rows(&mut self, rows: impl IntoIterator<Item = Line>) {
        for row in rows {
            self.row(row);
        }
    }

    /// A row of code: at the left edge, so that it can be copied as it is, unless a bar is due.
    fn code_rows(&mut self, rows: impl IntoIterator<Item = Line>) {
        if self.frames.iter().any(|f| f.barred) {
            self.rows(rows);
        } else {
            self.flush_markers();
            self.lines.extend(rows);
        }
    }

    fn code_avail(&self) -> usize {
        if self.frames.iter().any(|f| f.barred) {
            self.avail()
        } else {
            usize::from(self.options.width).max(1)
        }
    }

    fn heading(&mut self, level: u8, text: &str, gap: bool, refs: &Refs) {
        self.begin(Kind::Other, gap);
        let style = match level {
            1 => Style::of(Ink::Heading).bold().underline(),
            2 => Style::of(Ink::Heading).bold(),
            3 => Style::PLAIN.bold(),
            _ => Style::PLAIN.bold().italic(),
        };
        let mut wrapper = Wrapper::new(self.avail());
        inline::render(text, self.context(refs), style, &mut wrapper);
        self.rows(wrapper.finish());
    }

    fn paragraph(&mut self, text: &str, ends: bool, gap: bool, refs: &Refs) {
        let mut wrapper = match self.paragraph.take() {
            Some(wrapper) => wrapper,
            None => {
                self.begin(Kind::Paragraph, gap);
                Wrapper::new(self.avail())
            }
        };
        let text = self.shown(text, refs);
        inline::render(&text, self.context(refs), self.base, &mut wrapper);
        if ends {
            self.rows(wrapper.finish());
        } else {
            let rows = wrapper.take_rows();
            self.rows(rows);
            self.paragraph = Some(wrapper);
        }
    }

    /// What is drawn of a paragraph's text: all of it, or when looking ahead, its end.
    fn shown<'a>(&self, text: &'a str, refs: &Refs) -> Cow<'a, str> {
        let Some(rows) = self.wanted else { return Cow::Borrowed(text) };
        // Four bytes a cell, and markup that is not shown.
        let enough = (rows * usize::from(self.options.width) * 4).max(LONG_PARAGRAPH);
        let mut end = text;
        if text.len() > 2 * enough {
            end = &text[text.ceil_char_boundary(text.len() - enough)..];
            end = end.split_once(' ').map_or(end, |(_, rest)| rest);
        }
        Cow::Owned(heal(end, refs))
    }

    fn formula(&mut self, tex: &str, gap: bool) {
        self.begin(Kind::Other, gap);
        let avail = self.avail();
        let rows =
            if self.options.ascii { source_rows(tex, avail) } else { formula_rows(tex, avail) };
        self.rows(rows);
    }

    fn open_code(&mut self, info: &str, gap: bool) {
        self.begin(Kind::Other, gap);
        let code = Code::open(info, &self.options);
        let rule = code.header(self.code_avail());
        self.code = Some(code);
        self.code_rows(rule);
    }

    fn code_line(&mut self, text: &str) {
        let avail = self.code_avail();
        let barred = self.frames.iter().any(|f| f.barred);
        let Some(code) = &mut self.code else { return };
        let mut rows = code.line(text, avail);
        if barred {
            rows.iter_mut().for_each(|row| row.soft = false);
        }
        self.code_rows(rows);
    }

    fn close_code(&mut self) {
        // What goes on has no end to be marked.
        if let Some(code) = self.code.take().filter(|_| self.wanted.is_none()) {
            let rule = code.footer(self.code_avail());
            self.code_rows(rule);
        }
    }

    fn table_row(&mut self, text: &str, refs: &Refs) {
        let context = self.context(refs);
        if let Some(table) = &mut self.table {
            table.push(cells(text, context, self.base));
        }
    }

    fn close_table(&mut self) {
        if let Some(table) = self.table.take() {
            let rows = table.rows(self.avail(), self.glyphs(), self.wanted);
            self.rows(rows);
        }
    }

    fn html(&mut self, line: Option<&str>) {
        let Some(mut html) = self.html.take() else { return };
        let rows = match line {
            Some(line) => html.block.line(line),
            None => html.block.finish(),
        };
        if !rows.is_empty() && !html.begun {
            html.begun = true;
            self.begin(Kind::Other, html.gap);
        }
        self.rows(rows);
        self.html = line.map(|_| html);
    }

    fn definition(&mut self, late: &Late, gap: bool) {
        self.begin(Kind::Note, gap);
        let mut wrapper = Wrapper::new(self.avail());
        wrapper.push(&format!("[{}]: ", late.label), Style::MUTED, None);
        let link = sanitize::link_target(&late.target).filter(|_| self.options.hyperlinks);
        let style = Style::of(Ink::Link).underline();
        wrapper.push(&late.target, style, link.map(Link::from).as_ref());
        self.rows(wrapper.finish());
    }
}

impl Sink for Layout {
    fn block(&mut self, block: Block<'_>, gap: bool, refs: &Refs) {
        match block {
            Block::Enter(container) => self.enter(container, gap),
            Block::Leave => self.leave(),
            Block::Heading { level, text } => self.heading(level, text, gap, refs),
            Block::Paragraph { text, ends } => self.paragraph(text, ends, gap, refs),
            Block::Rule => {
                self.begin(Kind::Other, gap);
                let rule = self.glyphs().rule.repeat(self.avail());
                self.row(Line::of(&rule, Style::MUTED));
            }
            Block::Code { info } => self.open_code(info, gap),
            Block::CodeLine(text) => self.code_line(text),
            Block::CodeEnd => self.close_code(),
            Block::Html => {
                let block = HtmlBlock::new(self.avail(), self.options);
                self.html = Some(OpenHtml { block, gap, begun: false });
            }
            Block::HtmlLine(text) => self.html(Some(text)),
            Block::HtmlEnd => self.html(None),
            Block::Table { head, aligns } => {
                self.begin(Kind::Other, gap);
                let head = cells(head, self.context(refs), self.base.bold());
                self.table = Some(Table::new(head, aligns));
            }
            Block::TableRow(text) => self.table_row(text, refs),
            Block::TableEnd => self.close_table(),
            Block::Formula(tex) => self.formula(tex, gap),
            Block::Definition(late) => self.definition(&late, gap),
        }
    }
}

fn cells(row: &str, context: Context<'_>, style: Style) -> Vec<Cell> {
    starts::cells(row)
        .into_iter()
        .map(|text| {
            let mut cell = Cell::default();
            inline::render(&text.replace("\\|", "|"), context, style, &mut cell);
            cell
        })
        .collect()
}
