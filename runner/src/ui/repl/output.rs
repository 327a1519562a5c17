//! The end of a running command's output, as a terminal would show it: a carriage return begins the line anew.

use std::collections::VecDeque;

use crate::render::Line;

/// Lines that are kept.
const LINES: usize = 64;

/// Bytes of one line that are kept.
const LINE: usize = 2048;

/// The last lines of a stream of text.
#[derive(Debug, Default)]
pub(super) struct Output {
    whole: VecDeque<String>,
    line: String,
    /// The next character begins the line anew.
    returned: bool,
}

impl Output {
    /// Takes more.
    pub(super) fn push(&mut self, text: &str) {
        for (n, part) in text.split('\n').enumerate() {
            if n > 0 {
                self.end_line();
            }
            for (n, piece) in part.split('\r').enumerate() {
                self.returned |= n > 0;
                if !piece.is_empty() {
                    if std::mem::take(&mut self.returned) {
                        self.line.clear();
                    }
                    let room = LINE.saturating_sub(self.line.len());
                    self.line.push_str(&piece[..piece.floor_char_boundary(room)]);
                }
            }
        }
    }

    fn end_line(&mut self) {
        if self.whole.len() == LINES {
            self.whole.pop_front();
        }
        self.whole.push_back(std::mem::take(&mut self.line));
        self.returned = false;
    }

    /// The last lines that hold something, made by `draw`, which is told which one is the first.
    pub(super) fn last(&self, most: usize, draw: impl Fn(bool, &str) -> Line) -> Vec<Line> {
        let lines = self.whole.iter().chain(std::iter::once(&self.line));
        let lines: Vec<&String> = lines.filter(|line| !line.trim().is_empty()).collect();
        let above = lines.len().saturating_sub(most);
        lines[above..].iter().enumerate().map(|(n, line)| draw(n == 0, line)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Style;

    fn last(text: &[&str], most: usize) -> Vec<String> {
        let mut output = Output::default();
        text.iter().for_each(|part| output.push(part));
        let lines = output.last(most, |_, text| Line::of(text, Style::PLAIN));
        lines.iter().map(|line| line.text().to_owned()).collect()
    }

    #[test]
    fn the_last_lines_are_kept_and_blank_ones_left_out() {
        assert_eq!(last(&["a\nb\n\nc", "d\n"], 2), ["b", "cd"]);
        assert_eq!(last(&[&"x\n".repeat(1000)], 100).len(), LINES);
    }

    #[test]
    fn a_carriage_return_begins_the_line_anew() {
        assert_eq!(last(&["10 %\r", "20 %\r", "30 %"], 5), ["30 %"]);
        assert_eq!(last(&["done\r\nnext"], 5), ["done", "next"]);
    }
}
