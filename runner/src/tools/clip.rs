//! Keeps both ends of a long output and says what was left out.
//!
//! Limits count characters. A cut never falls inside a character or an ANSI escape sequence, and goes to a line's end
//! where one is near. What does not fit is never just gone: the notice says how much it is and where it can be read.

use std::fmt;
use std::path::Path;

use super::out::OutDir;

/// How far back an escape sequence that a cut might fall into can begin.
const ESCAPE_WINDOW: usize = 256;

/// Both ends of `text`, `limit` characters of it in all, around one line that says what was left out and that the
/// whole is at `path`; `text` itself where that is short enough.
pub fn clip(text: &str, limit: usize, path: Option<&Path>) -> String {
    if fits(text, limit) {
        return text.to_owned();
    }
    cut(text, limit, &path.map_or(Whole::Nowhere, Whole::At))
}

/// As [`clip`], keeping the whole of a text that is too long in `out`.
pub fn clip_to_file(text: &str, limit: usize, out: &OutDir) -> String {
    if fits(text, limit) {
        return text.to_owned();
    }
    clip_keeping(text, text.as_bytes(), limit, out)
}

/// Both ends of `text`, which is `output` made readable; `output` itself is what is kept.
pub(crate) fn clip_keeping(text: &str, output: &[u8], limit: usize, out: &OutDir) -> String {
    match out.keep(output) {
        Ok(path) => cut(text, limit, &Whole::At(&path)),
        Err(error) => cut(text, limit, &Whole::Lost(&error.to_string())),
    }
}

/// Whether `text` has at most `limit` characters.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    text.len() <= limit
        || (text.len() / 4 <= limit && text.chars().take(limit.saturating_add(1)).count() <= limit)
}

/// Where the whole text of clipped output is.
pub(crate) enum Whole<'a> {
    /// In this file.
    At(&'a Path),
    /// Its beginning, this many bytes, in this file.
    Begins(&'a Path, u64),
    /// It could not be kept, for this reason.
    Lost(&'a str),
    /// It was not kept.
    Nowhere,
}

/// An amount of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) chars: u64,
    pub(crate) lines: u64,
}

impl Size {
    /// Counts UTF-8 text, whatever pieces it comes in.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let chars = bytes.iter().filter(|&&b| b & 0xC0 != 0x80).count();
        Self { chars: chars as u64, lines: memchr::memchr_iter(b'\n', bytes).count() as u64 }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.chars += more.chars;
        self.lines += more.lines;
    }

    fn minus(self, less: Self) -> Self {
        Self {
            chars: self.chars.saturating_sub(less.chars),
            lines: self.lines.saturating_sub(less.lines),
        }
    }
}

/// Puts the ends of a text of the size `total` together. `start` and `end` may be longer than what is kept of them,
/// and may be the same text.
pub(crate) fn join(start: &str, end: &str, total: Size, limit: usize, whole: &Whole<'_>) -> String {
    let head = head(start, limit.div_ceil(2));
    let tail = tail(end, limit / 2);
    let mut kept = Size::of(head.as_bytes());
    kept.add(Size::of(tail.as_bytes()));
    let notice = Notice { left_out: total.minus(kept), whole };
    let gap = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{gap}{notice}\n{tail}")
}

fn cut(text: &str, limit: usize, whole: &Whole<'_>) -> String {
    join(text, text, Size::of(text.as_bytes()), limit, whole)
}

struct Notice<'a> {
    left_out: Size,
    whole: &'a Whole<'a>,
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Size { chars, lines } = self.left_out;
        write!(f, "[... {chars} characters")?;
        if lines > 1 {
            write!(f, " in {lines} lines")?;
        }
        f.write_str(" left out; ")?;
        match self.whole {
            Whole::At(path) => write!(f, "full output: {}", path.display()),
            Whole::Begins(path, bytes) => write!(f, "its first {bytes} bytes: {}", path.display()),
            Whole::Lost(reason) => write!(f, "the full output could not be kept: {reason}"),
            Whole::Nowhere => f.write_str("the full output was not kept"),
        }?;
        f.write_str(" ...]")
    }
}

/// The first `chars` characters, or a little less.
fn head(text: &str, chars: usize) -> &str {
    let Some((mut end, _)) = text.char_indices().nth(chars) else { return text };
    if let Some((start, _)) = escape_around(text.as_bytes(), end) {
        end = start;
    }
    let near = end - end / 8;
    match memchr::memrchr(b'\n', &text.as_bytes()[near..end]) {
        Some(newline) => &text[..=near + newline],
        None => &text[..end],
    }
}

/// The last `chars` characters, or a little less.
fn tail(text: &str, chars: usize) -> &str {
    if chars == 0 {
        return "";
    }
    let Some((mut start, _)) = text.char_indices().rev().nth(chars - 1) else { return text };
    if let Some((_, Some(stop))) = escape_around(text.as_bytes(), start) {
        start = stop;
    }
    let near = start + (text.len() - start) / 8;
    match memchr::memchr(b'\n', &text.as_bytes()[start..near]) {
        Some(newline) => &text[start + newline + 1..],
        None => &text[start..],
    }
}

/// The escape sequence that a cut at `at` would fall into: its start, and its end where it has one.
fn escape_around(bytes: &[u8], at: usize) -> Option<(usize, Option<usize>)> {
    let mut from = at.saturating_sub(ESCAPE_WINDOW);
    // Forwards, since the end of one sequence can look like the start of another.
    while let Some(start) = memchr::memchr(0x1b, &bytes[from..at]).map(|found| from + found) {
        let stop = escape_length(&bytes[start..]).map(|length| start + length);
        match stop {
            Some(stop) if stop <= at => from = stop,
            _ => return Some((start, stop)),
        }
    }
    None
}

/// The length of the escape sequence that `bytes` begin with (ECMA-48: CSI, strings ended by BEL or ST, two bytes).
fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'[' => Some(bytes.iter().skip(2).position(|b| (0x40..=0x7e).contains(b))? + 3),
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let end = 2 + bytes.iter().skip(2).position(|&b| b == 7 || b == 0x1b)?;
            Some(match &bytes[end..] {
                [7, ..] => end + 1,
                [0x1b, b'\\', ..] => end + 2,
                _ => end,
            })
        }
        0x20..=0x7e => Some(2),
        _ => Some(1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_text_stays_as_it_is() {
        assert_eq!(clip("", 0, None), "");
        assert_eq!(clip("αβγ", 3, None), "αβγ");
    }

    #[test]
    fn both_ends_stay_around_what_was_left_out() {
        let text = "a".repeat(50) + &"b".repeat(100) + &"c".repeat(50);
        let expected = format!(
            "{}\n[... 100 characters left out; full output: /out/1.txt ...]\n{}",
            "a".repeat(50),
            "c".repeat(50)
        );
        assert_eq!(clip(&text, 100, Some(Path::new("/out/1.txt"))), expected);
    }

    #[test]
    fn a_cut_goes_to_the_end_of_a_near_line() {
        let lines: String = (100..200).map(|n| format!("line {n}\n")).collect();
        let clipped = clip(&lines, 400, None);
        let notice = "[... 504 characters in 56 lines left out; the full output was not kept ...]";
        let (head, tail) = clipped.split_once(&format!("{notice}\n")).unwrap();
        assert!(head.ends_with("line 121\n") && tail.starts_with("line 178\n"), "{clipped}");
    }

    #[test]
    fn a_cut_spares_escape_sequences() {
        let red = "\x1b[38;5;196mx\x1b[0m".repeat(100);
        let link = "\x1b]8;;https://example.org/\x1b\\x\x1b]8;;\x07".repeat(100);
        for text in [red, link] {
            for limit in 40..120 {
                let clipped = clip(&text, limit, None);
                let (head, tail) = clipped.split_once("[... ").unwrap();
                let head = head.trim_end_matches('\n');
                let tail = tail.split_once("...]\n").unwrap().1;
                assert!(text.starts_with(head) && text.ends_with(tail));
                for part in [head, tail] {
                    assert_eq!(strip(part).trim_matches('x'), "", "{limit}: {part:?}");
                }
            }
        }
    }

    fn strip(text: &str) -> String {
        let (mut rest, mut plain) = (text, String::new());
        while let Some(at) = rest.find('\x1b') {
            plain.push_str(&rest[..at]);
            let length = escape_length(&rest.as_bytes()[at..]).unwrap_or(0);
            assert!(length > 0, "{text:?}");
            rest = &rest[at + length..];
        }
        plain + rest
    }

    #[test]
    fn the_whole_text_is_kept_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let text = "x".repeat(1000);
        let clipped = clip_to_file(&text, 10, &OutDir::new(dir.path()));
        let path = clipped.split_once("full output: ").unwrap().1.split_once(" ...]").unwrap().0;
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_as_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("out"), "").unwrap();
        let clipped = clip_to_file("0123456789", 2, &OutDir::new(dir.path().join("out")));
        assert!(clipped.contains("8 characters left out; the full output could not be kept: "));
    }

    proptest! {
        #[test]
        fn any_text_and_limit_give_valid_ends(text in "(\\PC|\x1b|\n){0,200}", limit in 0usize..250) {
            let clipped = clip(&text, limit, None);
            if text.chars().count() <= limit {
                prop_assert_eq!(clipped, text);
            } else {
                let (head, rest) = clipped.rsplit_once("[... ").unwrap();
                let tail = rest.split_once("...]\n").unwrap().1;
                prop_assert!(head.chars().count() + tail.chars().count() <= limit + 1);
                prop_assert!(text.starts_with(head.trim_end_matches('\n')) && text.ends_with(tail));
            }
        }
    }
}
