//! The way in: text in pieces of any size, finished lines out, and what is open as it looks now.
//!
//! Invariants: a finished line is handed out once and never changes; all of them depend on the
//! text alone, not on how it was cut; each byte is parsed a bounded number of times.

use super::super::options::Options;
use super::super::style::{Line, Style};
use super::blocks::Blocks;
use super::layout::Layout;

/// Bytes of a line that are taken at a time if it is text of a paragraph.
const FRAGMENT: usize = 2048;

/// As much of a line that is taken whole is looked at before it ends: far more than a screenful.
const MAX_AHEAD: usize = 1 << 16;

/// Markdown being written.
#[derive(Clone, Debug)]
pub struct Markdown {
    blocks: Blocks,
    layout: Layout,
    /// The line that has not ended.
    line: String,
    progress: Progress,
    /// Whether a line feed would belong to the carriage return before it.
    after_return: bool,
}

/// What became of the beginning of an unfinished line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Progress {
    /// Nothing was taken yet.
    Untouched,
    /// It is taken whole, however long it gets.
    Whole,
    /// It is text, and its beginning was taken already.
    Begun,
}

impl Markdown {
    /// Nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self::styled(options, Style::PLAIN)
    }

    /// Nothing yet; text that nothing else styles will have this style.
    #[must_use]
    pub fn styled(options: Options, base: Style) -> Self {
        Self {
            blocks: Blocks::new(),
            layout: Layout::new(options, base),
            line: String::new(),
            progress: Progress::Untouched,
            after_return: false,
        }
    }

    /// Takes more text.
    pub fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
            let feed = rest.as_bytes()[at] == b'\n';
            let second_half = feed && at == 0 && self.after_return;
            if !second_half {
                self.line.push_str(&rest[..at]);
                self.end_line();
            }
            self.after_return = !feed;
            rest = &rest[at + 1..];
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.line.push_str(rest);
            self.take_fragments();
        }
    }

    /// The lines that were finished since the last call.
    pub fn take_committed(&mut self) -> Vec<Line> {
        self.layout.take()
    }

    /// What is open, as it would look if the text ended here; only its last `rows` rows count.
    #[must_use]
    pub fn tail(&self, rows: usize) -> Vec<Line> {
        let mut blocks = self.blocks.clone();
        let mut layout = self.layout.ahead(rows);
        layout.take();
        if self.progress == Progress::Begun {
            blocks.more(&self.line, &mut layout);
        } else if !is_undecided(&self.line) {
            let seen = self.line.floor_char_boundary(MAX_AHEAD);
            blocks.line(&self.line[..seen], &mut layout);
        }
        blocks.finish_ahead(&mut layout);
        let mut lines = layout.take();
        lines.drain(..lines.len().saturating_sub(rows));
        lines
    }

    /// Ends the text: the lines that are left.
    pub fn finish(&mut self) -> Vec<Line> {
        if !self.line.is_empty() || self.progress == Progress::Begun {
            self.end_line();
        }
        self.blocks.finish(&mut self.layout);
        self.layout.take()
    }

    /// Lines that are finished from now on have another width.
    pub fn resize(&mut self, width: u16) {
        self.layout.set_width(width);
    }

    fn end_line(&mut self) {
        self.take_fragments();
        let line = std::mem::take(&mut self.line);
        if self.progress == Progress::Begun {
            self.blocks.more(&line, &mut self.layout);
        } else {
            self.blocks.line(&line, &mut self.layout);
        }
        self.progress = Progress::Untouched;
        self.line = line;
        self.line.clear();
    }

    fn take_fragments(&mut self) {
        while self.line.len() >= FRAGMENT && self.progress != Progress::Whole {
            let end = self.line.floor_char_boundary(FRAGMENT);
            let (head, _) = self.line.split_at(end);
            match self.progress {
                Progress::Untouched if self.blocks.takes_text(head) => {
                    self.blocks.line(head, &mut self.layout);
                    self.progress = Progress::Begun;
                }
                Progress::Untouched | Progress::Whole => {
                    self.progress = Progress::Whole;
                    return;
                }
                Progress::Begun => self.blocks.more(head, &mut self.layout),
            }
            self.line.drain(..end);
        }
    }
}

/// Whether an unfinished line may still become anything, so that showing it would flicker.
fn is_undecided(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '>']);
    let marks = line.bytes().all(|b| b"-=*_#`~+$\\[<! ".contains(&b)) && line.len() < 8;
    let number = line.trim_end_matches([' ', '.', ')']).bytes().all(|b| b.is_ascii_digit());
    let delimiters = line.starts_with('|') && line.bytes().all(|b| b"|:- ".contains(&b));
    !line.is_empty() && (marks || (number && line.len() < 8) || delimiters)
}
