//! HTML tags in markdown: what each one does to the text around it.
//!
//! Only elements of HTML itself are tags to a reader; anything else in angle brackets
//! (`Vec<String>`, `<your name>`) is text and stays as it was written.

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser};

use super::super::sanitize;
use super::super::style::{Ink, Link, Style};

/// What an element does to text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Element {
    Bold,
    Italic,
    Underline,
    Strike,
    Code,
    Heading,
    Anchor,
    Image,
    Break,
    Rule,
    /// Starts and ends on a row of its own.
    Block,
    Item,
    Cell,
    /// Keeps its line ends and spaces.
    Preformatted,
    /// Source of another language.
    Raw,
    /// Formats text in ways a terminal does not have.
    Neutral,
    /// Of a page rather than of its text; in running prose it is what the prose is about.
    Page,
}

/// A tag, taken apart.
#[derive(Debug, PartialEq)]
pub(crate) enum Tag<'a> {
    Open {
        element: Element,
        name: String,
        attributes: &'a str,
    },
    Close {
        element: Element,
        name: String,
    },
    /// A comment, declaration or instruction: never shown.
    Hidden,
}

impl<'a> Tag<'a> {
    /// Reads a whole tag, `<` and `>` included; `None` if it is none of HTML.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let inner = text.strip_prefix('<')?.strip_suffix('>')?;
        if inner.starts_with(['!', '?']) {
            return Some(Self::Hidden);
        }
        let (closing, inner) = match inner.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, inner),
        };
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
        let (name, attributes) = inner.split_at(end);
        if !attributes.is_empty() && !attributes.starts_with([' ', '\t', '\n', '/']) {
            return None;
        }
        let name = name.to_ascii_lowercase();
        let element = element(&name)?;
        Some(if closing {
            Self::Close { element, name }
        } else {
            Self::Open { element, name, attributes }
        })
    }
}

fn element(name: &str) -> Option<Element> {
    Some(match name {
        "b" | "strong" | "th" | "summary" | "dt" | "caption" | "legend" => Element::Bold,
        "i" | "em" | "cite" | "dfn" | "var" => Element::Italic,
        "u" | "ins" => Element::Underline,
        "s" | "del" | "strike" => Element::Strike,
        "code" | "kbd" | "samp" | "tt" => Element::Code,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => Element::Heading,
        "a" => Element::Anchor,
        "img" => Element::Image,
        "br" => Element::Break,
        "hr" => Element::Rule,
        "p" | "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside"
        | "address" | "blockquote" | "center" | "details" | "dl" | "dd" | "fieldset"
        | "figcaption" | "figure" | "form" | "html" | "head" | "body" | "menu" | "ol" | "ul"
        | "table" | "thead" | "tbody" | "tfoot" | "tr" | "title" | "dialog" | "option"
        | "optgroup" | "search" | "noframes" | "frameset" | "dir" => Element::Block,
        "li" => Element::Item,
        "td" => Element::Cell,
        "pre" | "textarea" => Element::Preformatted,
        "script" | "style" => Element::Raw,
        "span" | "font" | "sub" | "sup" | "small" | "big" | "mark" | "abbr" | "acronym" | "q"
        | "time" | "wbr" | "bdi" | "bdo" | "ruby" | "rt" | "rp" | "data" | "picture" | "source" => {
            Element::Neutral
        }
        "label" | "button" | "input" | "select" | "video" | "audio" | "track" | "iframe"
        | "object" | "embed" | "param" | "canvas" | "svg" | "path" | "g" | "link" | "meta"
        | "base" | "col" | "colgroup" | "map" | "area" | "noscript" | "template" | "slot"
        | "output" | "progress" | "meter" | "datalist" | "frame" | "basefont" | "menuitem" => {
            Element::Page
        }
        _ => return None,
    })
}

/// The value of an attribute, entities decoded.
pub(crate) fn attribute(attributes: &str, name: &str) -> Option<String> {
    let mut rest = attributes;
    while let Some(eq) = rest.find('=') {
        let key = rest[..eq].trim_end();
        let key = key.rsplit(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
        let value = rest[eq + 1..].trim_start();
        let (value, after) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split_once(quote).unwrap_or((&value[1..], "")),
            _ => {
                let end = value.find(|c: char| c.is_whitespace()).unwrap_or(value.len());
                value.split_at(end)
            }
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(decode(value).into_owned());
        }
        rest = after;
    }
    None
}

/// Text with its entities decoded.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    const LONGEST: usize = 33;
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST).position(|b| b == b';').map_or(1, |n| n + 1);
        let (entity, after) = rest.split_at(end);
        out.extend(Parser::new(entity).filter_map(|event| match event {
            Event::Text(text) => Some(text.into_string()),
            _ => None,
        }));
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The styles that open marks and tags have put on top of each other.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    open: Vec<(Cow<'static, str>, Style, Option<Link>)>,
    pub style: Style,
    pub link: Option<Link>,
}

impl Marks {
    /// More are counted, but not remembered.
    const MAX_OPEN: usize = 64;

    pub(crate) fn new(style: Style) -> Self {
        Self { open: Vec::new(), style, link: None }
    }

    /// Puts a style on top; [`Self::close`] with the same name takes it off.
    pub(crate) fn open(&mut self, name: impl Into<Cow<'static, str>>, style: Style) {
        if self.open.len() < Self::MAX_OPEN {
            self.open.push((name.into(), self.style, self.link.clone()));
            self.style = style;
        }
    }

    /// Takes off the innermost mark of that name and all that were opened inside.
    pub(crate) fn close(&mut self, name: &str) {
        if let Some(n) = self.open.iter().rposition(|(open, ..)| open == name) {
            let (_, style, link) = self.open.swap_remove(n);
            self.open.truncate(n);
            self.style = style;
            self.link = link;
        }
    }

    /// Opens an element that changes the style of text.
    pub(crate) fn open_element(&mut self, element: Element, name: String, attributes: &str) {
        let style = match element {
            Element::Bold => self.style.bold(),
            Element::Italic => self.style.italic(),
            Element::Underline => self.style.underline(),
            Element::Strike => self.style.strike(),
            Element::Code => self.style.ink(Ink::Code),
            Element::Heading => self.style.ink(Ink::Heading).bold(),
            Element::Raw => self.style.ink(Ink::Muted),
            Element::Anchor => {
                let target = attribute(attributes, "href").and_then(|u| sanitize::link_target(&u));
                let style = match target {
                    Some(_) => self.style.ink(Ink::Link).underline(),
                    None => self.style,
                };
                self.open(name, style);
                self.link = target.map(Link::from).or(self.link.take());
                return;
            }
            _ => return,
        };
        self.open(name, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_elements_of_html_are_tags() {
        assert!(Tag::read("<b>").is_some());
        assert!(Tag::read("</DIV >").is_some());
        assert!(Tag::read("<br/>").is_some());
        assert_eq!(Tag::read("<!-- x -->"), Some(Tag::Hidden));
        assert_eq!(Tag::read("<String>"), None);
        assert_eq!(Tag::read("<your name>"), None);
        assert_eq!(Tag::read("<a:b>"), None);
    }

    #[test]
    fn attributes_are_found_in_any_quotes() {
        let attributes = r#" class=x href='a?b=1&amp;c' ALT = "an image" data"#;
        assert_eq!(attribute(attributes, "href"), Some("a?b=1&c".into()));
        assert_eq!(attribute(attributes, "alt"), Some("an image".into()));
        assert_eq!(attribute(attributes, "class"), Some("x".into()));
        assert_eq!(attribute(attributes, "src"), None);
    }

    #[test]
    fn entities_are_decoded_and_the_rest_is_left() {
        assert_eq!(decode("a &amp; b &copy; &#x41; &nope; *x* & &"), "a & b © A &nope; *x* & &");
    }

    #[test]
    fn closing_a_mark_closes_what_was_opened_inside() {
        let mut marks = Marks::new(Style::PLAIN);
        marks.open("b", marks.style.bold());
        marks.open("i", marks.style.italic());
        marks.close("b");
        assert_eq!(marks.style, Style::PLAIN);
        marks.close("i");
        assert_eq!(marks.style, Style::PLAIN);
    }
}
