//! Bare addresses in running text, as GitHub links them.

use std::ops::Range;

/// Longer addresses are cut: no browser takes them.
const MAX_ADDRESS: usize = 4096;

/// The length of the web address at the beginning of `text`, without trailing punctuation.
pub(crate) fn web(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let scheme = ["https://", "http://", "ftp://", "www."]
        .into_iter()
        .find(|s| bytes.get(..s.len()).is_some_and(|b| b.eq_ignore_ascii_case(s.as_bytes())))?;
    let host = &text[scheme.len()..];
    let first = host.chars().next()?;
    if !first.is_alphanumeric() && first.is_ascii() && first != '[' {
        return None;
    }
    let window = &text[..text.floor_char_boundary(MAX_ADDRESS)];
    let mut brackets = 0;
    // A bracket that was not opened in the address closes a link's text around it.
    let stops = |c: char| {
        brackets += i32::from(c == '[') - i32::from(c == ']');
        brackets < 0
            || c.is_whitespace()
            || matches!(c, '<' | '>' | '"' | '`' | '|')
            || is_closing_wide(c)
    };
    let end = window.find(stops).unwrap_or(window.len());
    let kept = without_punctuation(&window[..end]);
    let dotted = scheme != "www." || kept[scheme.len()..].contains('.');
    (kept.len() > scheme.len() && dotted).then_some(kept.len())
}

/// The mail address around the `@` at `at`.
pub(crate) fn mail(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_local = |b: &u8| b.is_ascii_alphanumeric() || b".-_+".contains(b);
    // Longer ones do not exist; the bound keeps a text of nothing but `@` linear.
    let reach = 64;
    let local =
        bytes[at.saturating_sub(reach)..at].iter().rev().take_while(|b| is_local(b)).count();
    let is_domain = |b: &&u8| b.is_ascii_alphanumeric() || b".-_".contains(b);
    let domain = bytes[at + 1..].iter().take(4 * reach).take_while(is_domain).count();
    let domain = text[at + 1..at + 1 + domain].trim_end_matches('.');
    let last = domain.rsplit('.').next().unwrap_or_default();
    let whole = local > 0
        && domain.contains('.')
        && last.len() > 1
        && last.bytes().all(|b| b.is_ascii_alphanumeric());
    whole.then(|| at - local..at + 1 + domain.len())
}

/// Leaves off what belongs to the sentence rather than to the address.
fn without_punctuation(url: &str) -> &str {
    let count = |c: char| url.chars().filter(|&x| x == c).count();
    let mut round = count(')').saturating_sub(count('('));
    url.trim_end_matches(|c: char| match c {
        '?' | '!' | '.' | ',' | ':' | '*' | '_' | '~' | '\'' | ';' => true,
        ')' if round > 0 => {
            round -= 1;
            true
        }
        _ => false,
    })
}

fn is_closing_wide(c: char) -> bool {
    "（）「」『』【】《》、。，；：！？\u{10fffe}".contains(c)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_before_the_sentence_goes_on() {
        for (text, found) in [
            ("https://a.org/x, and", Some("https://a.org/x")),
            ("http://a.org/(b))", Some("http://a.org/(b)")),
            ("www.commonmark.org/a.b.", Some("www.commonmark.org/a.b")),
            ("https://a.org**", Some("https://a.org")),
            ("https://例え.jp/パス。次", Some("https://例え.jp/パス")),
            ("http://[::1]:80/", Some("http://[::1]:80/")),
            ("https://x/a](https://y)", Some("https://x/a")),
            ("https://", None),
            ("www.", None),
            ("wwwx", None),
        ] {
            assert_eq!(web(text).map(|n| &text[..n]), found, "{text}");
        }
    }

    #[test]
    fn mail_addresses_have_a_domain() {
        let find = |text: &str| mail(text, text.find('@').unwrap()).map(|r| text[r].to_owned());
        assert_eq!(find("to foo@bar.baz."), Some("foo@bar.baz".into()));
        assert_eq!(find("user@localhost"), None);
        assert_eq!(find("@handle.x"), None);
    }
}
