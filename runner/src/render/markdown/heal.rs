//! The end of an unfinished paragraph: marks that are open are closed for the time being, so that
//! bold text is bold while it is being written, and no bare `**` flickers by.
//!
//! Only for what is shown and drawn again; what is final is never touched.

use pulldown_cmark::Event;

use super::inline::{is_plain, parse, without_placeholders};
use super::mask::Masked;
use super::refs::Refs;

/// The text with what it leaves open closed, or taken off if nothing follows it yet.
pub(crate) fn heal(text: &str, refs: &Refs) -> String {
    let mut text = text.trim_end().to_owned();
    for _ in 0..2 {
        let open = open_marks(&text, refs);
        let Some(last) = open.last() else { break };
        // A mark without text behind it says nothing yet.
        if text.ends_with(last.as_str()) {
            text.truncate(text.len() - last.len());
            text.truncate(text.trim_end().len());
            continue;
        }
        for mark in open.iter().rev() {
            text.push_str(mark);
        }
        break;
    }
    if let Some(at) = text.rfind("](")
        && !text[at..].contains(')')
        && !text[at..].contains('\n')
    {
        text.push(')');
    }
    text
}

/// The marks of emphasis and code that a text opens and does not close, outermost first.
fn open_marks(text: &str, refs: &Refs) -> Vec<String> {
    let mut open = Vec::new();
    if is_plain(text) {
        return open;
    }
    let text = without_placeholders(text);
    let masked = Masked::new(&text);
    // An open run comes as one event for each of its characters.
    let mut done = 0;
    for (event, range) in parse(&masked, refs) {
        if !matches!(event, Event::Text(_)) {
            continue;
        }
        let source = &masked.text;
        let mut at = range.start.max(done);
        while at < range.end {
            let mark = source.as_bytes()[at];
            if !b"*_~`".contains(&mark) {
                at += 1;
                continue;
            }
            let run = source[at..].bytes().take_while(|&b| b == mark).count();
            let escaped = source[..at].ends_with('\\');
            let next = source[at + run..].chars().next();
            let opens = match mark {
                b'*' | b'_' => run < 4 && next.is_none_or(|c| !c.is_whitespace()),
                b'~' => run == 2 && next.is_none_or(|c| !c.is_whitespace()),
                _ => mark == b'`',
            };
            let inside = mark == b'_' && source[..at].ends_with(char::is_alphanumeric);
            if opens && !escaped && !inside {
                open.push(source[at..at + run].to_owned());
                if mark == b'`' {
                    return open;
                }
            }
            at += run;
            done = at;
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_marks_are_closed() {
        for (text, healed) in [
            ("a **bold te", "a **bold te**"),
            ("a **bold *both", "a **bold *both***"),
            ("use `co", "use `co`"),
            ("use ``a ` b", "use ``a ` b``"),
            ("a **", "a"),
            ("a ~~b", "a ~~b~~"),
            ("see [docs](http://x", "see [docs](http://x)"),
            ("done **bold** `code` *it*", "done **bold** `code` *it*"),
            ("2 * 3 and a_b", "2 * 3 and a_b"),
            ("**a `b* c", "**a `b* c`**"),
        ] {
            assert_eq!(heal(text, &Refs::default()), healed, "{text}");
        }
    }
}
