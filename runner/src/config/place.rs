//! Where in a JSON text something is, for messages. Runs only once there is something to complain about.

/// The 1-based line of the last key at `path` in `text`, which is valid JSON.
pub(super) fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let mut scan = Scan { text: text.as_bytes(), at: 0 };
    let at = scan.find(path)?;
    Some(1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count())
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    /// Reads one value; where it is an object, returns the offset of the last key at `path` in it.
    fn find(&mut self, path: &[&str]) -> Option<usize> {
        let (name, below) = path.split_first()?;
        self.expect(b'{')?;
        let mut found = None;
        while self.peek()? != b'}' {
            let start = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            if key == *name {
                let here = self.at;
                let inner = if below.is_empty() { Some(start) } else { self.find(below) };
                found = inner.or(found);
                self.at = here;
            }
            self.skip_value()?;
            if self.peek()? == b',' {
                self.at += 1;
            }
        }
        found
    }

    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at)?.is_ascii_whitespace() {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.skip_string()?;
        serde_json::from_slice(&self.text[start..self.at]).ok()
    }

    fn skip_string(&mut self) -> Option<()> {
        self.expect(b'"')?;
        while self.text.get(self.at)? != &b'"' {
            self.at += if self.text[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        Some(())
    }

    /// Without recursion: only the depth of brackets matters.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    while self
                        .text
                        .get(self.at)
                        .is_some_and(|b| !b",:]}".contains(b) && !b.is_ascii_whitespace())
                    {
                        self.at += 1;
                    }
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_keys_at_any_depth_and_is_not_fooled_by_values() {
        let text = "{\n \"a\": {\"x\": [1, {\"b\": \"}\"}], \"y\":\n null},\n \"s\": \"\\\"b\\\": {\",\n \"b\"\n: -1.5e3,\n\n \"\\u0063\": true}";
        assert_eq!(line_of(text, &["a"]), Some(2));
        assert_eq!(line_of(text, &["a", "y"]), Some(2));
        assert_eq!(line_of(text, &["b"]), Some(5));
        assert_eq!(line_of(text, &["c"]), Some(8));
        assert_eq!(line_of(text, &["x"]), None);
        assert_eq!(line_of(text, &["b", "c"]), None);
    }

    #[test]
    fn a_repeated_key_is_where_it_is_last() {
        assert_eq!(line_of("{\"a\": 1,\n\"a\": 2}", &["a"]), Some(2));
    }

    #[test]
    fn text_that_is_no_json_object_has_no_keys() {
        for text in ["", "[]", "{", "{\"a", "{\"a\\", "{\"a\"", "{\"a\":", "{\"a\":]", "nonsense"] {
            line_of(text, &["a"]);
            assert_eq!(line_of(text, &["b"]), None, "{text}");
        }
    }
}
