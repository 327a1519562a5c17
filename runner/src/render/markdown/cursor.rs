//! A position in one line, in bytes and in columns: tabs reach to the next multiple of four.

use std::borrow::Cow;

const TAB: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    line: &'a str,
    at: usize,
    column: usize,
    /// Columns of a tab at `at` that are already used up.
    used: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(line: &'a str) -> Self {
        Self { line, at: 0, column: 0, used: 0 }
    }

    /// What is left, without the rest of a tab that was cut.
    pub(crate) fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    /// What is left after white space.
    pub(crate) fn text(&self) -> &'a str {
        self.rest().trim_start_matches([' ', '\t'])
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.text().is_empty()
    }

    /// Columns of white space ahead.
    pub(crate) fn indent(&self) -> usize {
        let mut column = self.column;
        for b in self.rest().bytes() {
            match b {
                b' ' => column += 1,
                b'\t' => column += TAB - column % TAB,
                _ => break,
            }
        }
        column - self.column
    }

    /// Skips up to `columns` columns of white space; a tab may be left in part.
    pub(crate) fn skip_columns(&mut self, columns: usize) {
        let end = self.column + columns;
        while self.column < end {
            match self.line.as_bytes().get(self.at) {
                Some(b' ') => {
                    self.column += 1;
                    self.at += 1;
                }
                Some(b'\t') => {
                    let stop = self.column + TAB - self.column % TAB;
                    if stop <= end {
                        self.at += 1;
                        self.used = 0;
                        self.column = stop;
                    } else {
                        self.used += end - self.column;
                        self.column = end;
                    }
                }
                _ => return,
            }
        }
    }

    /// Skips all white space.
    pub(crate) fn skip_indent(&mut self) {
        self.skip_columns(self.indent());
    }

    /// Skips bytes that are no white space.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
        self.column += bytes;
        self.used = 0;
    }

    /// What is left, the rest of a tab that was cut as spaces.
    pub(crate) fn code(&self) -> Cow<'a, str> {
        if self.used == 0 {
            return Cow::Borrowed(self.rest());
        }
        let spaces = TAB - self.column % TAB;
        let after = self.rest().strip_prefix('\t').unwrap_or_default();
        Cow::Owned(format!("{}{after}", " ".repeat(spaces)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_may_be_taken_in_part() {
        let mut cursor = Cursor::new("\t\tx");
        assert_eq!(cursor.indent(), 8);
        cursor.skip_columns(2);
        assert_eq!((cursor.indent(), &*cursor.code()), (6, "  \tx"));
        cursor.skip_columns(4);
        assert_eq!((cursor.indent(), &*cursor.code()), (2, "  x"));
        cursor.skip_indent();
        assert_eq!(cursor.code(), "x");
    }

    #[test]
    fn columns_go_on_after_a_marker() {
        let mut cursor = Cursor::new("-\tx");
        cursor.skip(1);
        assert_eq!(cursor.indent(), 3);
        cursor.skip_columns(1);
        assert_eq!((cursor.indent(), &*cursor.code()), (2, "  x"));
    }
}
