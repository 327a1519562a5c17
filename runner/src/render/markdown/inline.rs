//! The text of a paragraph, heading or cell: emphasis, code, links, formulas.
//!
//! pulldown-cmark parses one such text at a time; its events become calls on a [`Flow`].

use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag, TagEnd};

use super::super::sanitize;
use super::super::style::{Ink, Link, Style};
use super::super::{math, width};
use super::flow::Flow;
use super::html::{self, Element, Marks};
use super::mask::{self, Kind, Masked, PLACEHOLDER, Slot};
use super::refs::Refs;

/// What the text of a document is read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub refs: &'a Refs,
    /// Whether a link's address is hidden behind its text.
    pub hyperlinks: bool,
    /// Whether code is told from text by its colour.
    pub colored: bool,
    /// Whether the terminal has nothing but ASCII: formulas then stay as they were written.
    pub ascii: bool,
}

/// Target of references to footnotes; no address can begin like this.
const FOOTNOTE: &str = "\u{10ffff}footnote:";

/// Sends a text into a flow.
pub(crate) fn render(text: &str, context: Context<'_>, style: Style, flow: &mut impl Flow) {
    if is_plain(text) {
        let mut lines = text.split('\n');
        flow.text(lines.next().unwrap_or_default(), style, None);
        for line in lines {
            flow.text(" ", style, None);
            flow.text(line, style, None);
        }
        return;
    }
    let text = without_placeholders(text);
    let masked = Masked::new(&text);
    let mut painter = Painter {
        masked: &masked,
        hyperlinks: context.hyperlinks,
        colored: context.colored,
        ascii: context.ascii,
        flow,
        marks: Marks::new(style),
        links: Vec::new(),
        muted: 0,
        images: 0,
        last: '\0',
        soft_break: false,
    };
    for (event, range) in parse(&masked, context.refs) {
        painter.event(event, range);
    }
}

/// The events of a masked text, without those of its prefix.
pub(super) fn parse<'a>(
    masked: &'a Masked<'_>,
    refs: &'a Refs,
) -> impl Iterator<Item = (Event<'a>, Range<usize>)> {
    let resolve = |link: BrokenLink<'a>| -> Option<(CowStr<'a>, CowStr<'a>)> {
        if let Some(label) = link.reference.strip_prefix('^') {
            return Some((format!("{FOOTNOTE}{label}").into(), "".into()));
        }
        Some((refs.find(&link.reference)?.to_owned().into(), "".into()))
    };
    Parser::new_with_broken_link_callback(
        &masked.text,
        Options::ENABLE_STRIKETHROUGH,
        Some(resolve),
    )
    .into_offset_iter()
    .filter(|(_, range)| range.start >= mask::PREFIX.len())
}

/// Whether nothing in a text can be markup.
pub(super) fn is_plain(text: &str) -> bool {
    let marked = |b: u8| b"\\`*_~[<&$@\n".contains(&b);
    !text.bytes().any(marked)
        && !text.contains("://")
        && !text.contains("www.")
        && !text.contains("WWW.")
}

pub(super) fn without_placeholders(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(PLACEHOLDER) {
        text.replace(PLACEHOLDER, "\u{10ffff}").into()
    } else {
        text.into()
    }
}

struct Painter<'a, F> {
    masked: &'a Masked<'a>,
    hyperlinks: bool,
    colored: bool,
    ascii: bool,
    flow: &'a mut F,
    marks: Marks,
    /// Address and text of the links that are open.
    links: Vec<(String, String)>,
    /// How many open links replace their text.
    muted: usize,
    /// How many images are open.
    images: usize,
    /// The last character, NUL before the first.
    last: char,
    soft_break: bool,
}

impl<F: Flow> Painter<'_, F> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Text(text) => self.text(&text, range),
            Event::Code(code) => {
                let code = self.masked.restore(&code, range);
                self.before_text(code.chars().next());
                self.note_link_text(&code);
                let style = self.marks.style.ink(Ink::Code);
                let shown = if self.colored { code.as_str() } else { &format!("`{code}`") };
                self.flow.verbatim(shown, style, self.marks.link.as_ref());
                self.last = code.chars().next_back().unwrap_or(self.last);
            }
            Event::InlineHtml(tag) | Event::Html(tag) => {
                let edge = self.last == '\0' || self.masked.text[range.end..].trim().is_empty();
                let tag = self.masked.restore(&tag, range);
                self.tag(&tag, edge);
            }
            Event::SoftBreak => self.soft_break = true,
            Event::HardBreak => {
                self.flow.line_break();
                self.last = ' ';
            }
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        let style = self.marks.style;
        match tag {
            Tag::Emphasis => self.marks.open("*", style.italic()),
            Tag::Strong => self.marks.open("**", style.bold()),
            Tag::Strikethrough => self.marks.open("~~", style.strike()),
            Tag::Link { dest_url, .. } => {
                if let Some(label) = dest_url.strip_prefix(FOOTNOTE) {
                    self.before_text(Some('['));
                    self.put(&format!("[{label}]"), Style::of(Ink::Accent));
                    self.muted += 1;
                }
                self.open_link(&dest_url, range);
            }
            Tag::Image { dest_url, .. } => {
                if let Some(label) = dest_url.strip_prefix(FOOTNOTE) {
                    self.words("!");
                    self.put(&format!("[{label}]"), Style::of(Ink::Accent));
                    self.muted += 1;
                } else {
                    self.images += 1;
                }
                self.open_link(&dest_url, range);
                self.marks.style = self.marks.style.italic();
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis => self.marks.close("*"),
            TagEnd::Strong => self.marks.close("**"),
            TagEnd::Strikethrough => self.marks.close("~~"),
            TagEnd::Link => self.close_link(false),
            TagEnd::Image => self.close_link(true),
            _ => {}
        }
    }

    fn open_link(&mut self, url: &str, range: Range<usize>) {
        let url = self.masked.restore(url, range);
        let target = sanitize::link_target(&url);
        self.marks.open("[", self.marks.style.ink(Ink::Link).underline());
        if self.hyperlinks {
            self.marks.link = target.map(Link::from);
        }
        self.links.push((url, String::new()));
    }

    fn close_link(&mut self, image: bool) {
        let Some((url, text)) = self.links.pop() else { return };
        if image && !url.starts_with(FOOTNOTE) {
            self.images = self.images.saturating_sub(1);
        }
        if url.starts_with(FOOTNOTE) {
            self.muted = self.muted.saturating_sub(1);
            self.marks.close("[");
            return;
        }
        if text.is_empty() && (image || !url.is_empty()) {
            let name = url.rsplit('/').find(|part| !part.is_empty()).unwrap_or("image");
            self.before_text(name.chars().next());
            self.put(name, self.marks.style);
        }
        let hidden = self.marks.link.is_some() && !pretends(&text, &url);
        self.marks.close("[");
        // A place in a page leads nowhere from here.
        let inside = self.muted > 0 || self.images > 0 || url.starts_with('#');
        if !inside && !image && !hidden && !url.is_empty() && !same_address(&text, &url) {
            self.put(&format!(" ({url})"), Style::MUTED);
        }
    }

    fn text(&mut self, text: &str, range: Range<usize>) {
        if self.muted > 0 {
            return;
        }
        let slots = self.masked.slots_in(range);
        if slots.is_empty() {
            self.words(text);
            return;
        }
        let mut parts = text.split(PLACEHOLDER);
        self.words(parts.next().unwrap_or_default());
        for (slot, part) in slots.iter().zip(parts) {
            self.slot(slot);
            self.words(part);
        }
    }

    fn words(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.before_text(text.chars().next());
        self.put(text, self.marks.style);
    }

    fn put(&mut self, text: &str, style: Style) {
        self.note_link_text(text);
        self.flow.text(text, style, self.marks.link.as_ref());
        self.last = text.chars().next_back().unwrap_or(self.last);
    }

    fn note_link_text(&mut self, text: &str) {
        for (_, shown) in &mut self.links {
            shown.push_str(text);
        }
    }

    /// A line end in the source is a space, except between ideographs.
    fn before_text(&mut self, next: Option<char>) {
        if std::mem::take(&mut self.soft_break) {
            let joined =
                width::is_ideographic(self.last) && next.is_some_and(width::is_ideographic);
            if !joined {
                self.flow.text(" ", self.marks.style, self.marks.link.as_ref());
            }
        }
    }

    fn slot(&mut self, slot: &Slot) {
        let source = &self.masked.source[slot.source.clone()];
        match &slot.kind {
            Kind::Math { .. } if self.ascii => {
                self.before_text(source.chars().next());
                self.put(&source.replace('\n', " "), self.marks.style.ink(Ink::Math));
            }
            Kind::Math { tex, display: true } => {
                self.soft_break = false;
                self.flow.formula(&self.masked.source[tex.clone()]);
                self.last = ' ';
            }
            Kind::Math { tex, display: false } => {
                let shown = math::inline(&self.masked.source[tex.clone()]);
                self.before_text(shown.chars().next());
                self.put(&shown, self.marks.style.ink(Ink::Math));
            }
            Kind::Address { mail } => {
                self.before_text(source.chars().next());
                self.address(source, *mail);
            }
        }
    }

    fn address(&mut self, text: &str, mail: bool) {
        if !self.links.is_empty() {
            self.put(text, self.marks.style);
            return;
        }
        let prefix = match text.get(..4) {
            _ if mail => "mailto:",
            Some(www) if www.eq_ignore_ascii_case("www.") => "http://",
            _ => "",
        };
        let style = self.marks.style.ink(Ink::Link).underline();
        let target = sanitize::link_target(&format!("{prefix}{text}"));
        let link = target.filter(|_| self.hyperlinks).map(Link::from);
        self.flow.text(text, style, link.as_ref());
        self.last = text.chars().next_back().unwrap_or(self.last);
    }

    /// `edge`: no text stands on one side of the tag.
    fn tag(&mut self, text: &str, edge: bool) {
        use Element::{Block, Break, Cell, Heading, Image, Item, Page, Preformatted, Raw, Rule};
        let Some(tag) = html::Tag::read(text) else { return self.words(text) };
        match tag {
            html::Tag::Hidden => {}
            html::Tag::Open { element: Break | Rule, .. } => self.flow.line_break(),
            html::Tag::Open { element: Image, attributes, .. } => {
                if let Some(alt) = html::attribute(attributes, "alt") {
                    self.words(&alt);
                }
            }
            html::Tag::Open { element: Page | Raw | Preformatted, .. }
            | html::Tag::Close { element: Page | Raw | Preformatted, .. } => self.words(text),
            html::Tag::Open { element: Block | Item | Cell | Heading, .. }
            | html::Tag::Close { element: Block | Item | Cell | Heading, .. } => {
                if !edge {
                    self.words(text);
                }
            }
            html::Tag::Open { element, name, attributes } => {
                self.marks.open_element(element, name, attributes);
            }
            html::Tag::Close { name, .. } => self.marks.close(&name),
        }
    }
}

/// Whether a link's text is its address.
fn same_address(text: &str, url: &str) -> bool {
    let bare = |s: &str| {
        let s = s.strip_prefix("mailto:").unwrap_or(s);
        s.trim_start_matches("http://")
            .trim_start_matches("https://")
            .trim_end_matches('/')
            .to_owned()
    };
    bare(text) == bare(url)
}

/// Whether a link's text looks like an address, but of another place than where it leads.
fn pretends(text: &str, url: &str) -> bool {
    let host = |s: &str| {
        let s = s.trim();
        let s = s.split_once("://").map_or(s, |(_, rest)| rest);
        s.split(['/', '?', '#']).next().unwrap_or_default().to_ascii_lowercase()
    };
    let shown = host(text);
    let looks =
        shown.contains('.') && !shown.contains(char::is_whitespace) && !shown.ends_with('.');
    looks
        && shown.trim_start_matches("www.") != host(url).trim_start_matches("www.")
        && text.trim().contains("://")
}

/// Text with its backslash escapes and entities resolved, as info strings have them.
pub(crate) fn unescape(text: &str) -> String {
    let text = html::decode(text);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let escapes = c == '\\' && chars.peek().is_some_and(char::is_ascii_punctuation);
        out.extend(if escapes { chars.next() } else { Some(c) });
    }
    out
}
