//! Text of strangers (files of a clone, names that a server tells), made harmless for lists and questions on a terminal.

/// `text` with control, direction and zero-width characters written out as `\u{…}`, so that a terminal acts on none of
/// it and nothing in it is out of sight. Line feeds and tabs stay.
pub fn visible(text: &str) -> String {
    if !text.contains(acts) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if acts(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

fn acts(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_on_a_terminal_or_hides() {
        assert_eq!(
            visible("a\u{1b}]52;c;x\u{7}\u{9b}\u{202e}\tä\n"),
            "a\\u{1b}]52;c;x\\u{7}\\u{9b}\\u{202e}\tä\n"
        );
        assert_eq!(visible("r\u{200b}m\r"), "r\\u{200b}m\\u{d}");
        assert_eq!(visible("plain 漢字 🙂"), "plain 漢字 🙂");
    }
}
