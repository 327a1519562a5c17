//! HTML to text: enough to read a page by, no parser of the whole language.

/// Elements whose content nobody reads.
const SILENT: [&str; 5] = ["script", "style", "head", "svg", "noscript"];

/// Elements that begin a new line.
const BLOCKS: [&str; 28] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "tr",
    "ul",
];

/// The text of a page, its lines in order, without markup.
pub(crate) fn text(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        push(&mut out, &rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        // A `<` that begins no tag is text.
        if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!') {
            push(&mut out, "<");
            rest = &rest[1..];
            continue;
        }
        let end = rest.find('>').unwrap_or(rest.len() - 1);
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        let name = name(tag);
        if SILENT.contains(&name.as_str()) && !tag.starts_with('/') && !tag.ends_with('/') {
            rest = after_end(rest, &name);
        } else if name == "td" || name == "th" {
            push(&mut out, " ");
        } else if BLOCKS.contains(&name.as_str()) {
            let kept = out.trim_end_matches([' ', '\t']).len();
            out.truncate(kept);
            out.push('\n');
            if name == "li" && !tag.starts_with('/') {
                out.push_str("- ");
            }
        }
    }
    push(&mut out, rest);
    tidy(&out)
}

fn name(tag: &str) -> String {
    let name = tag.trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    name[..end].to_ascii_lowercase()
}

/// What follows the element that was just opened.
fn after_end<'a>(rest: &'a str, name: &str) -> &'a str {
    let end = format!("</{name}");
    let lower = rest.to_ascii_lowercase();
    match lower.find(&end) {
        Some(at) => rest[at..].find('>').map_or("", |close| &rest[at + close + 1..]),
        None => "",
    }
}

/// Text with its entities resolved and each run of white space as one space.
fn push(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '&'
            && let Some((character, len)) = entity(rest)
        {
            out.push(character);
            rest = &rest[len..];
            continue;
        }
        if !c.is_ascii_whitespace() {
            out.push(c);
        } else if !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
        rest = &rest[c.len_utf8()..];
    }
}

/// The character that `&…;` at the start stands for, and its length.
fn entity(text: &str) -> Option<(char, usize)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let character = match &text[1..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "copy" => '©',
        number => {
            let number = number.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)?
        }
    };
    Some((character, end + 1))
}

/// At most one blank line in a row, none at the ends.
fn tidy(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for line in text.lines().map(str::trim) {
        blank = if line.is_empty() { blank + 1 } else { 0 };
        if blank < 2 && line != "-" {
            out.push_str(line);
            out.push('\n');
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn markup_goes_and_lines_stay() {
        let page = "<!DOCTYPE html><html><head><title>x</title></head><body><h1>A  title</h1>\n<p>One <b>bold</b>\nword.</p>\
                    <ul><li>first</li><li>second</li></ul><table><tr><td>1</td><td>2</td></tr></table></body></html>";
        assert_eq!(text(page), "A title\n\nOne bold word.\n\n- first\n\n- second\n\n1 2");
    }

    #[test]
    fn scripts_styles_and_comments_are_silent() {
        assert_eq!(
            text("a<script>if (1 < 2) x('</p>')</script>b<style>p{}</style><!-- <p> -->c"),
            "abc"
        );
        assert_eq!(text("a<script>never ends"), "a");
    }

    #[test]
    fn entities_are_resolved_and_other_ampersands_stay() {
        assert_eq!(text("a &amp; b &lt;c&gt; &#228;&#xE4; &nope; &"), "a & b <c> ää &nope; &");
    }

    #[test]
    fn broken_markup_is_no_crash() {
        for page in ["<", "<a", "</", "<!--", "a < b", "&#xFFFFFFFF;", "&#;", "ä<ö>ü", "<ä>", "&ä;"]
        {
            let _ = text(page);
        }
        assert_eq!(text("a < b"), "a < b");
    }
}
