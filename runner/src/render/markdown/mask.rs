//! Formulas and bare addresses, taken out of a paragraph before its emphasis is parsed.
//!
//! `_`, `*` and backslashes mean something else inside them, so each is replaced by one
//! placeholder character and put back afterwards. Code spans, HTML tags and link targets are
//! left alone: what stands there is never a formula.

use std::ops::Range;

use super::address;

/// Stands for one slot. A noncharacter, so no text has a use for it.
pub(crate) const PLACEHOLDER: char = '\u{10fffe}';

/// Opens every masked text: a first line to be dropped. The text's own lines follow indented,
/// so that nothing in them can start a block.
pub(crate) const PREFIX: &str = ".\n";
const INDENT: &str = "    ";

/// The furthest an inline formula may reach.
const MAX_FORMULA: usize = 4096;
/// Bytes that may be scanned in vain before the rest of a text is taken as it is.
const MAX_WASTE: usize = 1 << 16;

/// What was taken out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A formula; its TeX is this part of the source.
    Math { tex: Range<usize>, display: bool },
    /// A bare address, as it stands in the source.
    Address { mail: bool },
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Where its placeholder is in the masked text.
    pub at: usize,
    /// What it stands for in the source.
    pub source: Range<usize>,
    pub kind: Kind,
}

/// A paragraph's text, ready for pulldown-cmark.
#[derive(Debug)]
pub(crate) struct Masked<'a> {
    pub source: &'a str,
    pub text: String,
    pub slots: Vec<Slot>,
    /// Pairs of offsets (masked, source) from where on the two run in parallel.
    anchors: Vec<(usize, usize)>,
}

impl<'a> Masked<'a> {
    /// Masks a text that holds no [`PLACEHOLDER`].
    pub(crate) fn new(source: &'a str) -> Self {
        let mut scan = Scan {
            bytes: source.as_bytes(),
            masked: Masked {
                source,
                text: String::with_capacity(source.len() + 16),
                slots: Vec::new(),
                anchors: Vec::new(),
            },
            copied: 0,
            waste: 0,
            no_code: Vec::new(),
        };
        scan.masked.text.push_str(PREFIX);
        scan.masked.text.push_str(INDENT);
        scan.anchor(0);
        scan.run();
        scan.masked
    }

    /// The slots whose placeholders are in this part of the masked text.
    pub(crate) fn slots_in(&self, range: Range<usize>) -> &[Slot] {
        let start = self.slots.partition_point(|s| s.at < range.start);
        let end = self.slots.partition_point(|s| s.at < range.end);
        &self.slots[start..end.max(start)]
    }

    /// The source offset of a masked one.
    pub(crate) fn source_offset(&self, masked: usize) -> usize {
        let n = self.anchors.partition_point(|&(at, _)| at <= masked);
        let (at, source) = self.anchors[n.saturating_sub(1)];
        source + masked.saturating_sub(at)
    }

    /// `text`, which came from that part of the masked text, with what was taken out put back.
    pub(crate) fn restore(&self, text: &str, range: Range<usize>) -> String {
        let mut slots = self.slots_in(range).iter();
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match slots.as_slice().first() {
                Some(slot) if c == PLACEHOLDER => {
                    out.push_str(&self.source[slot.source.clone()]);
                    slots.next();
                }
                _ => out.push(c),
            }
        }
        out
    }
}

struct Scan<'a> {
    bytes: &'a [u8],
    masked: Masked<'a>,
    /// Source bytes already in the masked text.
    copied: usize,
    waste: usize,
    /// Lengths of backtick runs that are known to have no partner ahead.
    no_code: Vec<usize>,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            at = match byte {
                b'\n' => self.newline(at),
                b'\\' => self.backslash(at),
                b'`' => self.code(at),
                b'<' => self.tag(at),
                b']' if self.bytes.get(at + 1) == Some(&b'(') => self.target(at + 2),
                b'$' => self.dollar(at),
                b'h' | b'H' | b'w' | b'W' | b'f' | b'F' => self.address(at),
                b'@' => self.mail(at),
                _ => at + 1,
            };
        }
        self.copy_to(self.bytes.len());
    }

    fn copy_to(&mut self, end: usize) {
        self.masked.text.push_str(&self.masked.source[self.copied..end]);
        self.copied = end;
    }

    fn anchor(&mut self, source: usize) {
        self.masked.anchors.push((self.masked.text.len(), source));
    }

    fn newline(&mut self, at: usize) -> usize {
        self.copy_to(at + 1);
        self.masked.text.push_str(INDENT);
        self.anchor(at + 1);
        at + 1
    }

    fn slot(&mut self, source: Range<usize>, kind: Kind) -> usize {
        self.copy_to(source.start);
        let end = source.end;
        self.masked.slots.push(Slot { at: self.masked.text.len(), source, kind });
        self.masked.text.push(PLACEHOLDER);
        self.copied = end;
        self.anchor(end);
        end
    }

    fn backslash(&mut self, at: usize) -> usize {
        let (close, display) = match self.bytes.get(at + 1) {
            Some(b'(') => (r"\)", false),
            Some(b'[') => (r"\]", true),
            _ => return at + 2,
        };
        let Some(tex) = self.until(at + 2, close) else { return at + 2 };
        let text = &self.masked.source[tex.clone()];
        if text.trim().is_empty() || (display && !looks_like_math(text)) {
            return at + 2;
        }
        let end = tex.end + 2;
        self.slot(at..end, Kind::Math { tex, display })
    }

    fn until(&mut self, from: usize, close: &str) -> Option<Range<usize>> {
        if self.waste > MAX_WASTE {
            return None;
        }
        let end = self.masked.source.floor_char_boundary(from + 4 * MAX_FORMULA);
        let text = &self.masked.source[from..end.max(from)];
        let found = text.find(close);
        self.waste += found.map_or(text.len(), |_| 0);
        found.map(|n| from..from + n)
    }

    fn code(&mut self, at: usize) -> usize {
        let run = run_length(self.bytes, at);
        let start = at + run;
        if self.no_code.contains(&run) {
            return start;
        }
        let mut next = start;
        while let Some(n) = memchr::memchr(b'`', &self.bytes[next..]) {
            let found = run_length(self.bytes, next + n);
            next += n + found;
            if found == run {
                return self.pass_over(start, next);
            }
        }
        self.no_code.push(run);
        start
    }

    /// Goes on at `end`, minding the line ends before it.
    fn pass_over(&mut self, from: usize, end: usize) -> usize {
        let mut at = from;
        while let Some(n) = memchr::memchr(b'\n', &self.bytes[at..end]) {
            at = self.newline(at + n);
        }
        end
    }

    fn tag(&mut self, at: usize) -> usize {
        if !self.bytes.get(at + 1).is_some_and(|b| b.is_ascii_alphabetic() || b"/!?".contains(b)) {
            return at + 1;
        }
        match memchr::memchr3(b'>', b'\n', b'<', &self.bytes[at + 1..]) {
            Some(n) if self.bytes[at + 1 + n] == b'>' => self.pass_over(at, at + 2 + n),
            _ => at + 1,
        }
    }

    /// The target of a link, up to its closing parenthesis.
    fn target(&mut self, from: usize) -> usize {
        let mut depth = 0;
        let mut escaped = false;
        let window = match self.waste > MAX_WASTE {
            true => &[],
            false => &self.bytes[from..self.bytes.len().min(from + MAX_FORMULA)],
        };
        for (n, &b) in window.iter().enumerate() {
            match b {
                _ if escaped => {}
                b'\n' => break,
                b'(' => depth += 1,
                b')' if depth == 0 => return self.pass_over(from, from + n + 1),
                b')' => depth -= 1,
                _ => {}
            }
            escaped = b == b'\\' && !escaped;
        }
        self.waste += window.len();
        from
    }

    fn dollar(&mut self, at: usize) -> usize {
        if self.bytes.get(at + 1) == Some(&b'$') {
            let run = at + run_length(self.bytes, at);
            if run != at + 2 {
                return run;
            }
            let Some(tex) = self.until(run, "$$") else { return run };
            let text = &self.masked.source[tex.clone()];
            if text.trim().is_empty() {
                return tex.end + 2;
            }
            if text.contains(char::is_whitespace) && !looks_like_math(text) {
                return run;
            }
            let end = tex.end + 2;
            return self.slot(at..end, Kind::Math { tex, display: true });
        }
        let before = self.masked.source[..at].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphanumeric()) {
            return at + 1;
        }
        match self.closing_dollar(at + 1) {
            Some(end)
                if is_formula(&self.masked.source[at + 1..end], &self.masked.source[end + 1..]) =>
            {
                self.slot(at..end + 1, Kind::Math { tex: at + 1..end, display: false })
            }
            _ => at + 1,
        }
    }

    /// The next dollar that is not inside braces.
    fn closing_dollar(&mut self, from: usize) -> Option<usize> {
        if self.waste > MAX_WASTE || self.bytes.get(from).is_none_or(u8::is_ascii_whitespace) {
            return None;
        }
        let mut depth = 0i32;
        let mut escaped = false;
        let window = &self.bytes[from..self.bytes.len().min(from + MAX_FORMULA)];
        for (n, &b) in window.iter().enumerate() {
            match b {
                _ if escaped => {}
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b'$' if depth <= 0 => return Some(from + n),
                _ => {}
            }
            escaped = b == b'\\' && !escaped;
        }
        self.waste += window.len();
        None
    }

    fn address(&mut self, at: usize) -> usize {
        let starts_word = self.masked.source[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() || super::super::width::is_ideographic(c));
        match starts_word.then(|| address::web(&self.masked.source[at..])).flatten() {
            Some(len) => self.slot(at..at + len, Kind::Address { mail: false }),
            None => at + 1,
        }
    }

    fn mail(&mut self, at: usize) -> usize {
        match address::mail(self.masked.source, at) {
            Some(range) if range.start >= self.copied => {
                self.slot(range, Kind::Address { mail: true })
            }
            _ => at + 1,
        }
    }
}

fn run_length(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|&&b| b == bytes[at]).count()
}

/// Whether what stands between two dollars is a formula rather than a price or a variable.
fn is_formula(tex: &str, after: &str) -> bool {
    if tex.is_empty() || tex.ends_with(char::is_whitespace) || tex.contains("\n\n") {
        return false;
    }
    let suffix = after.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    if !matches!(suffix, "" | "s" | "st" | "nd" | "rd" | "th") {
        return false;
    }
    // `$5 a month, 20$`: prose about money, unless something in it is only written in formulas.
    let amount = tex.starts_with(|c: char| c.is_ascii_digit());
    let prose = tex.split_ascii_whitespace().skip(1).any(|word| {
        word.len() > 2 && word.chars().all(|c| c.is_alphabetic() || c == ',' || c == '.')
    });
    !(amount && prose && !looks_like_math(tex))
}

/// Whether a text has signs that prose does not have.
fn looks_like_math(text: &str) -> bool {
    text.trim().chars().count() == 1
        || text.contains(['\\', '^', '_', '=', '+', '<', '>', '{', '|'])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn taken(source: &str) -> Vec<&str> {
        let masked = Masked::new(source);
        masked.slots.iter().map(|slot| &source[slot.source.clone()]).collect()
    }

    #[test]
    fn money_variables_and_paths_are_no_formulas() {
        for text in [
            "$5 and $6",
            "$5-$10 or $5/$6",
            "$PATH and $HOME/$USER:$PATH",
            "`$a$` and ``x $b$ ` y``",
            r"C:\to\file a_b_c",
            "US$5 and CA$7",
            "$ a $ and $$",
            "$5 for the first, 20$ for the second",
            r"see \[optional\] and \(",
            "<a href=\"$x$\">[t](http://h/$a$)",
            r"\$a\$",
            "echo $$ and $$$ $$",
        ] {
            assert_eq!(taken(text).iter().filter(|t| t.contains('$')).count(), 0, "{text}");
        }
    }

    #[test]
    fn formulas_are_found() {
        for (text, found) in [
            (r"$\frac{a}{b}$", vec![r"$\frac{a}{b}$"]),
            (r"the $n$th of $x_1$, $x_2$.", vec!["$n$", "$x_1$", "$x_2$"]),
            (r"a \(x\) b \[y = 1\]", vec![r"\(x\)", r"\[y = 1\]"]),
            ("公式$E=mc^2$是 $$x$$", vec!["$E=mc^2$", "$$x$$"]),
            (r"$\text{for $a<b$}$", vec![r"$\text{for $a<b$}$"]),
            ("`a` $x$ `b", vec!["$x$"]),
            ("**$x$**", vec!["$x$"]),
        ] {
            assert_eq!(taken(text), found, "{text}");
        }
    }

    #[test]
    fn addresses_are_found() {
        assert_eq!(
            taken("see https://x.org/a_b_c?q=$x, www.y.org. and m@n.org"),
            ["https://x.org/a_b_c?q=$x", "www.y.org", "m@n.org"]
        );
    }

    #[test]
    fn offsets_map_back_to_the_source() {
        let source = "ab $x$\ncd $y$ ef";
        let masked = Masked::new(source);
        for (needle, at) in [("ab", 0), ("cd", 7), ("ef", 14)] {
            let offset = masked.text.find(needle).unwrap();
            assert_eq!(masked.source_offset(offset), at);
        }
        let whole = 0..masked.text.len();
        assert_eq!(masked.restore(&masked.text, whole), ".\n    ab $x$\n    cd $y$ ef");
    }

    #[test]
    fn unclosed_openers_cost_linear_time() {
        for hostile in ["${", r"\(", "$a ", "`", "[x](", "$$ ", "a@", "<a "] {
            let text = hostile.repeat(50_000);
            assert!(taken(&text).len() < 50_000);
        }
        let mut ticks = String::new();
        for n in 1..700 {
            ticks.push_str(&"`".repeat(n));
            ticks.push(' ');
        }
        assert!(taken(&ticks).is_empty());
    }
}
