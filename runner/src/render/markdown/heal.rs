//! The end of an unfinished paragraph: marks that are open are closed for the time being, so that
//! bold text is bold while it is being written, and no bare `**` flickers by.
//!
//! Only for what is shown and drawn again; what is final is never touched.

use super::inline;
use super::refs::Refs;

/// The text with what it leaves open closed, or taken off if nothing follows it yet.
pub(crate) fn heal(text: &str, refs: &Refs) -> String {
    let mut text = text.trim_end().to_owned();
    for _ in 0..2 {
        let open = inline::open_marks(&text, refs);
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
