//! What the beginning of a line opens: the block starts of CommonMark and GitHub's extensions.

/// A fence of a code block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fence {
    pub mark: u8,
    pub len: usize,
    /// Columns to take off its lines.
    pub indent: usize,
}

/// The bullet or number in front of a list item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Marker {
    /// `-`, `+`, `*`, or the sign after a number.
    pub sign: u8,
    pub number: Option<u64>,
    /// Bytes it takes.
    pub len: usize,
}

/// How the text of a table's column is set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Align {
    #[default]
    Left,
    Center,
    Right,
}

/// What a quote that begins with `[!…]` is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alert {
    Note,
    Tip,
    Important,
    Warning,
    Caution,
}

/// What ends an HTML block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum HtmlEnd {
    Blank,
    Contains(&'static str),
    /// The closing tag of an element with source or preformatted text.
    Verbatim,
}

/// `---`, `* * *`, `___`.
pub(crate) fn is_rule(text: &str) -> bool {
    let Some(&mark) = text.as_bytes().first().filter(|b| b"-_*".contains(b)) else { return false };
    let mut count = 0;
    text.bytes().all(|b| {
        count += usize::from(b == mark);
        b == mark || b == b' ' || b == b'\t'
    }) && count >= 3
}

/// Level and text of `## heading ##`.
pub(crate) fn heading(text: &str) -> Option<(u8, &str)> {
    let level = text.bytes().take_while(|&b| b == b'#').count();
    let rest = &text[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim_matches([' ', '\t']);
    let bare = rest.trim_end_matches('#');
    let closed = bare.len() < rest.len() && (bare.is_empty() || bare.ends_with([' ', '\t']));
    let level = u8::try_from(level).unwrap_or(6);
    Some((level, if closed { bare.trim_end_matches([' ', '\t']) } else { rest }))
}

/// The level of the heading that this line makes of the paragraph above.
pub(crate) fn underline(text: &str) -> Option<u8> {
    let text = text.trim_end_matches([' ', '\t']);
    match text.as_bytes().first() {
        Some(b'=') if text.bytes().all(|b| b == b'=') => Some(1),
        Some(b'-') if text.bytes().all(|b| b == b'-') => Some(2),
        _ => None,
    }
}

/// An opening fence and its info string.
pub(crate) fn fence(text: &str, indent: usize) -> Option<(Fence, &str)> {
    let mark = *text.as_bytes().first().filter(|b| b"`~".contains(b))?;
    let len = text.bytes().take_while(|&b| b == mark).count();
    let info = text[len..].trim_matches([' ', '\t']);
    if len < 3 || (mark == b'`' && info.contains('`')) {
        return None;
    }
    Some((Fence { mark, len, indent }, info))
}

impl Fence {
    /// Whether this line, its indent taken off, closes the block.
    pub(crate) fn is_closed_by(self, text: &str) -> bool {
        let len = text.bytes().take_while(|&b| b == self.mark).count();
        len >= self.len && text[len..].trim_matches([' ', '\t']).is_empty()
    }
}

/// A list marker, followed by white space or the line's end.
pub(crate) fn marker(text: &str) -> Option<Marker> {
    let bytes = text.as_bytes();
    let (sign, number, len) = match bytes.first()? {
        b @ (b'-' | b'+' | b'*') => (*b, None, 1),
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let sign = *bytes.get(digits).filter(|b| b".)".contains(b))?;
            (digits < 10).then_some(())?;
            (sign, Some(text[..digits].parse().ok()?), digits + 1)
        }
        _ => return None,
    };
    let spaced = bytes.get(len).is_none_or(|b| b" \t".contains(b));
    spaced.then_some(Marker { sign, number, len })
}

/// The state of a task, and what follows it.
pub(crate) fn task(text: &str) -> Option<(bool, usize)> {
    let done = match text.as_bytes().get(..4)? {
        [b'[', b' ', b']', b' ' | b'\t'] => false,
        [b'[', b'x' | b'X', b']', b' ' | b'\t'] => true,
        _ => return None,
    };
    (!text[4..].trim().is_empty()).then_some((done, 3))
}

/// `[!NOTE]` and its kin, alone on their line.
pub(crate) fn alert(text: &str) -> Option<Alert> {
    let name = text.trim().strip_prefix("[!")?.strip_suffix(']')?;
    Some(match name.to_ascii_lowercase().as_str() {
        "note" => Alert::Note,
        "tip" => Alert::Tip,
        "important" => Alert::Important,
        "warning" => Alert::Warning,
        "caution" => Alert::Caution,
        _ => return None,
    })
}

/// The label of `[^label]: `, and the bytes of it all.
pub(crate) fn footnote(text: &str) -> Option<(&str, usize)> {
    const MAX_LABEL: usize = 100;
    let rest = text.strip_prefix("[^")?;
    let end = rest.bytes().take(MAX_LABEL).position(|b| b == b']')?;
    let label = &rest[..end];
    let ok = !label.is_empty() && !label.contains([' ', '\t', '[', '^']);
    (ok && rest[end..].starts_with("]:")).then_some((label, end + 4))
}

/// The columns of a table's delimiter row.
pub(crate) fn delimiters(text: &str) -> Option<Vec<Align>> {
    if !text.contains('-') || !text.bytes().all(|b| b"|:- \t".contains(&b)) {
        return None;
    }
    let inner = text.trim();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    inner
        .split('|')
        .map(|cell| {
            let cell = cell.trim();
            let dashes = cell.strip_prefix(':').unwrap_or(cell);
            let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
            let ok = !dashes.is_empty() && dashes.bytes().all(|b| b == b'-');
            ok.then(|| match (cell.starts_with(':'), cell.ends_with(':')) {
                (true, true) => Align::Center,
                (false, true) => Align::Right,
                _ => Align::Left,
            })
        })
        .collect()
}

/// The cells of a table's row, trimmed; `\|` is left as it is.
pub(crate) fn cells(row: &str) -> Vec<&str> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut cells = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, b) in row.bytes().enumerate() {
        if b == b'|' && !escaped {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
        escaped = b == b'\\' && !escaped;
    }
    if start < row.len() || cells.is_empty() {
        cells.push(row[start..].trim());
    }
    cells
}

/// The end of the HTML block that begins here. `interrupts`: a paragraph is open.
pub(crate) fn html(text: &str, interrupts: bool) -> Option<HtmlEnd> {
    let rest = text.strip_prefix('<')?;
    for (start, end) in [("!--", "-->"), ("?", "?>"), ("![CDATA[", "]]>")] {
        if rest.starts_with(start) {
            return Some(HtmlEnd::Contains(end));
        }
    }
    if let Some(declaration) = rest.strip_prefix('!') {
        let letter = declaration.starts_with(|c: char| c.is_ascii_alphabetic());
        return letter.then_some(HtmlEnd::Contains(">"));
    }
    let (closing, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let name = name.to_ascii_lowercase();
    let ends = after.is_empty() || after.starts_with([' ', '\t', '>']);
    if !closing && ends && ["script", "pre", "style", "textarea"].contains(&name.as_str()) {
        return Some(HtmlEnd::Verbatim);
    }
    if BLOCKS.contains(&name.as_str()) && (ends || after.starts_with("/>")) {
        return Some(HtmlEnd::Blank);
    }
    (!interrupts && is_lone_tag(text)).then_some(HtmlEnd::Blank)
}

impl HtmlEnd {
    /// Whether the block ends with this line.
    pub(crate) fn is_met_by(self, line: &str) -> bool {
        match self {
            Self::Blank => false,
            Self::Contains(end) => line.contains(end),
            Self::Verbatim => {
                let line = line.to_ascii_lowercase();
                ["</script>", "</pre>", "</style>", "</textarea>"].iter().any(|t| line.contains(t))
            }
        }
    }
}

const BLOCKS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

/// Whether a line is one whole tag and nothing else.
fn is_lone_tag(text: &str) -> bool {
    use pulldown_cmark::{Event, Parser};
    let text = text.trim_end();
    let plausible = text.ends_with('>')
        && text[1..].starts_with(|c: char| c == '/' || c.is_ascii_alphabetic())
        && text.len() < 4096;
    // Behind a word nothing but an inline tag can come.
    plausible && {
        let line = format!("x {text}");
        let mut events = Parser::new(&line).skip(2);
        matches!(events.next(), Some(Event::InlineHtml(tag)) if tag.len() == text.len())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn headings_lose_their_marks() {
        assert_eq!(heading("## a ##"), Some((2, "a")));
        assert_eq!(heading("# a#"), Some((1, "a#")));
        assert_eq!(heading("#"), Some((1, "")));
        assert_eq!(heading("### ###"), Some((3, "")));
        assert_eq!(heading("#a"), None);
        assert_eq!(heading("####### a"), None);
    }

    #[test]
    fn rules_and_underlines_are_told_apart() {
        assert!(is_rule("* * *") && is_rule("---") && !is_rule("--") && !is_rule("--*"));
        assert_eq!(underline("---  "), Some(2));
        assert_eq!(underline("= ="), None);
    }

    #[test]
    fn fences_close_with_at_least_their_own_length() {
        let (fence, info) = fence("```` rust x", 0).unwrap();
        assert_eq!(info, "rust x");
        assert!(
            fence.is_closed_by("`````  ")
                && !fence.is_closed_by("```")
                && !fence.is_closed_by("````x")
        );
        assert_eq!(super::fence("``` a`b", 0), None);
    }

    #[test]
    fn markers_need_space() {
        assert_eq!(marker("12) x").map(|m| (m.number, m.len)), Some((Some(12), 3)));
        assert_eq!(marker("-").map(|m| m.sign), Some(b'-'));
        assert!(
            marker("-x").is_none() && marker("1.5").is_none() && marker("1234567890. x").is_none()
        );
    }

    #[test]
    fn table_rows_split_at_bare_pipes() {
        assert_eq!(cells("| a | b \\| c |"), ["a", "b \\| c"]);
        assert_eq!(cells("a|b"), ["a", "b"]);
        assert_eq!(cells("||"), [""]);
        assert_eq!(delimiters("|:-:|--:|-|"), Some(vec![Align::Center, Align::Right, Align::Left]));
        assert_eq!(delimiters("| - | x |"), None);
        assert_eq!(delimiters("||"), None);
    }

    #[test]
    fn html_blocks_end_as_their_kind_does() {
        assert_eq!(html("<div class", false), Some(HtmlEnd::Blank));
        assert_eq!(html("<!-- x", true), Some(HtmlEnd::Contains("-->")));
        assert_eq!(html("<pre>", true), Some(HtmlEnd::Verbatim));
        assert_eq!(html("<custom-tag a=\"b\">", false), Some(HtmlEnd::Blank));
        assert_eq!(html("<custom-tag>", true), None);
        assert_eq!(html("<b> text", false), None);
        assert_eq!(html("<http://x>", false), None);
    }
}
