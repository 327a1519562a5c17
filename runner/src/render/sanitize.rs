//! Text from models, tools and files, made harmless before it is styled.
//!
//! Invariant: what leaves [`sanitize`] holds no control character but tab and newline, no
//! bidirectional control, and no invisible character outside the scripts and emoji that need it.
//! It runs last, after entities were decoded, so nothing can be smuggled in behind it.

use std::borrow::Cow;

use unicode_width::UnicodeWidthChar;

/// More marks than any script stacks on one letter; the rest would bleed over neighbouring rows.
const MAX_MARKS: usize = 12;

/// The text with everything removed or made visible that acts on a terminal or hides itself.
///
/// C0 controls and DEL become control pictures (`␛`), C1 controls and bidirectional overrides
/// become `�`, zero-width characters disappear where they are not part of a cluster.
/// Tabs and newlines stay.
pub fn sanitize(text: &str) -> Cow<'_, str> {
    clean(text, Layout::Kept)
}

/// As [`sanitize`], with tabs and line separators turned into spaces: text of a single row.
pub(crate) fn single_row(text: &str) -> Cow<'_, str> {
    clean(text, Layout::Flattened)
}

/// A link target that cannot end the escape sequence it is put into: printable ASCII, the rest
/// percent-encoded; `None` unless it is an absolute address of a kind that is safe to open.
pub(crate) fn link_target(url: &str) -> Option<String> {
    const SCHEMES: [&str; 5] = ["http://", "https://", "mailto:", "ftp://", "file://"];
    const MAX_LEN: usize = 2083;
    if !SCHEMES.iter().any(|s| url.get(..s.len()).is_some_and(|u| u.eq_ignore_ascii_case(s))) {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        if c.is_ascii_graphic() && !matches!(c, '"' | '<' | '>' | '\\' | '^' | '`') {
            out.push(c);
        } else if is_suspect(c) {
            out.push_str("%EF%BF%BD");
        } else {
            for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                out.push('%');
                out.push(char::from(b"0123456789ABCDEF"[usize::from(byte >> 4)]));
                out.push(char::from(b"0123456789ABCDEF"[usize::from(byte & 15)]));
            }
        }
    }
    (out.len() <= MAX_LEN).then_some(out)
}

#[derive(Clone, Copy, PartialEq)]
enum Layout {
    Kept,
    Flattened,
}

fn clean(text: &str, layout: Layout) -> Cow<'_, str> {
    if text.bytes().all(|b| matches!(b, 0x20..=0x7e) || (layout == Layout::Kept && b == b'\n')) {
        return Cow::Borrowed(text);
    }
    let flat = layout == Layout::Flattened;
    let harmless = |c: char| {
        !is_suspect(c) && !is_mark(c) || (!flat && matches!(c, '\t' | '\n')) || c == '\u{fe0f}'
    };
    if text.chars().all(harmless) && !text.contains('\u{fe0f}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        if is_mark(c) && !is_suspect(c) {
            marks += 1;
            if marks <= MAX_MARKS {
                out.push(c);
            }
        } else if c == '\u{1f3f4}' {
            let tags = subdivision_tags(after);
            out.push_str(&rest[..c.len_utf8() + tags]);
            rest = &after[tags..];
            marks = 0;
            continue;
        } else if is_suspect(c) {
            push_suspect(&mut out, c, after.chars().next(), layout);
        } else {
            marks = 0;
            out.push(c);
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// Characters that need a second look. Everything else is printed as it is.
fn is_suspect(c: char) -> bool {
    match c as u32 {
        0x20..=0x7e => false,
        0..=0x1f | 0x7f..=0x9f | 0xad => true,
        0xa0..=0x034e => false,
        0x034f | 0x061c | 0x115f | 0x1160 | 0x17b4 | 0x17b5 | 0x180b..=0x180f => true,
        0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xffa0 => true,
        0xfe00..=0xfe0f | 0xfeff | 0xfff0..=0xfffb => true,
        0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff => true,
        c => c & 0xfffe == 0xfffe,
    }
}

fn push_suspect(out: &mut String, c: char, next: Option<char>, layout: Layout) {
    let before = out.chars().next_back();
    match c {
        '\t' | '\n' if layout == Layout::Kept => out.push(c),
        '\u{2028}' | '\u{2029}' if layout == Layout::Kept => out.push('\n'),
        '\t' | '\n' | '\u{2028}' | '\u{2029}' => out.push(' '),
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + c as u32)),
        '\u{7f}' => out.push('␡'),
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('�'),
        // Emoji presentation: after a character that has one.
        '\u{fe0e}' | '\u{fe0f}' if before.is_some_and(takes_presentation) => out.push(c),
        // Joiners: between emoji, and inside the scripts whose spelling uses them.
        '\u{200d}'
            if before.is_some_and(is_emoji_part) && next.is_some_and(takes_presentation)
                || before.is_some_and(is_joining) && next.is_some_and(is_joining) =>
        {
            out.push(c);
        }
        '\u{200c}' if before.is_some_and(is_joining) && next.is_some_and(is_joining) => out.push(c),
        _ => {}
    }
}

fn is_mark(c: char) -> bool {
    (c as u32) >= 0x300 && c.width() == Some(0)
}

fn takes_presentation(c: char) -> bool {
    matches!(c, '#' | '*' | '0'..='9' | '©' | '®' | '\u{203c}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

fn is_emoji_part(c: char) -> bool {
    c == '\u{fe0f}' || (c >= '\u{203c}' && takes_presentation(c))
}

/// Letters and marks of Arabic, Syriac, the Indic scripts, Khmer and Mongolian.
fn is_joining(c: char) -> bool {
    matches!(c as u32, 0x0600..=0x0dff | 0x1000..=0x109f | 0x1780..=0x18af | 0xa800..=0xabff)
        && c != '\u{061c}'
}

/// Bytes of the tag sequence that makes a black flag that of a country's part.
fn subdivision_tags(after: &str) -> usize {
    let mut bytes = 0;
    for (n, c) in after.chars().enumerate() {
        match c {
            '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}' if n < 7 => bytes += c.len_utf8(),
            '\u{e007f}' if n > 2 => return bytes + c.len_utf8(),
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_visible_and_layout_stays() {
        assert_eq!(sanitize("a\x1b[2J\x07\tb\nc\u{9b}1m\x7f"), "a␛[2J␇\tb\nc�1m␡");
        assert_eq!(single_row("a\tb\nc\u{2028}d\r"), "a b c d␍");
    }

    #[test]
    fn invisible_and_bidirectional_characters_cannot_disguise_text() {
        assert_eq!(sanitize("pay\u{200b}pal\u{ad}\u{2060}\u{feff}"), "paypal");
        assert_eq!(sanitize("\u{202e}exe.txt\u{2066}x\u{200f}"), "�exe.txt�x");
        assert_eq!(sanitize("a\u{e0041}\u{e0042}b\u{e0101}"), "ab");
        assert_eq!(sanitize("a\u{200d}b\u{fe0f}"), "ab");
    }

    #[test]
    fn clusters_that_need_invisible_characters_keep_them() {
        for text in [
            "👨‍👩‍👧‍👦",
            "❤️ ⚠️",
            "👩🏾‍💻",
            "1️⃣",
            "e\u{301}",
            "می‌خواهم",
            "क्‍ष",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "🇩🇪",
        ] {
            assert_eq!(sanitize(text), text);
        }
    }

    #[test]
    fn stacked_marks_are_bounded() {
        let zalgo = format!("a{}b", "\u{301}".repeat(500));
        assert_eq!(sanitize(&zalgo), format!("a{}b", "\u{301}".repeat(MAX_MARKS)));
    }

    #[test]
    fn link_targets_are_printable_ascii_of_known_kinds() {
        assert_eq!(
            link_target("https://例え.jp/a b\x1b\\"),
            Some("https://%E4%BE%8B%E3%81%88.jp/a%20b%EF%BF%BD%5C".into())
        );
        assert_eq!(link_target("javascript:alert(1)"), None);
        assert_eq!(link_target("src/main.rs"), None);
        assert_eq!(link_target(&format!("http://{}", "a".repeat(5000))), None);
    }
}
