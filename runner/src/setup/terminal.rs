//! Setup's questions on a real terminal: one line of input at a time, secrets unseen, Esc and Ctrl-C walk away.
//!
//! Raw mode lasts for one question only and is left however that ends.

use std::io::{self, IsTerminal as _, Stdout, Write as _};

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::Terminal;
use super::question::{Line, Question};
use crate::plain::visible;

/// The terminal that the process runs in.
pub struct Console {
    out: Stdout,
    colour: bool,
    /// Only ASCII can be drawn.
    ascii: bool,
}

impl Console {
    /// The terminal, if there is one at both ends.
    pub fn new(colour: bool, ascii: bool) -> Option<Self> {
        let out = io::stdout();
        (out.is_terminal() && io::stdin().is_terminal()).then_some(Self { out, colour, ascii })
    }

    fn style(&self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    fn line(&self, line: &Line) -> String {
        let (good, bad) = if self.ascii { ("ok", "x") } else { ("✓", "✗") };
        match line {
            Line::Choice { number, name, detail, mark } => {
                let name = format!("{:<22}", visible(name));
                let detail = format!("{:<36}", visible(detail));
                let row = format!(
                    " {} {name} {} {}",
                    self.style("36", &format!("{number:>3}")),
                    self.style("2", &detail),
                    self.style("32", &visible(mark))
                );
                row.trim_end().to_owned()
            }
            Line::Note(text) => {
                let text = visible(text);
                let text = if self.ascii { text.replace('…', "...") } else { text };
                format!("  {}", self.style("2", &text))
            }
            Line::Good(text) => format!("  {} {}", self.style("32", good), visible(text)),
            Line::Bad(text) => format!("  {} {}", self.style("31", bad), visible(text)),
        }
    }
}

impl Terminal for Console {
    fn show(&mut self, line: &Line) -> io::Result<()> {
        let text = self.line(line);
        writeln!(self.out, "{text}")
    }

    fn ask(&mut self, question: &Question) -> io::Result<Option<String>> {
        for line in &question.above {
            self.show(line)?;
        }
        let default = match question.default.as_str() {
            "" => String::new(),
            default => self.style("2", &format!(" [{}]", visible(default))),
        };
        write!(self.out, "{} {}{default}: ", self.style("1;35", "?"), question.label)?;
        self.out.flush()?;
        let answer = {
            let _raw = Raw::new()?;
            self.read(question.hidden)
        };
        writeln!(self.out)?;
        answer
    }
}

impl Console {
    fn read(&mut self, hidden: bool) -> io::Result<Option<String>> {
        let mut input = Input::default();
        loop {
            let step = match read()? {
                Event::Key(key) if key.kind != KeyEventKind::Release => input.key(key),
                Event::Paste(text) => {
                    text.chars().filter(|c| !c.is_control()).for_each(|c| input.text.push(c));
                    Step::Typed(text)
                }
                _ => Step::Nothing,
            };
            match step {
                Step::Done => return Ok(Some(input.text)),
                Step::Left => return Ok(None),
                Step::Typed(text) if !hidden => write!(self.out, "{}", visible(&text))?,
                Step::Erased(columns) if !hidden => {
                    write!(self.out, "{}", "\u{8} \u{8}".repeat(columns))?
                }
                _ => {}
            }
            self.out.flush()?;
        }
    }
}

/// A line being typed.
#[derive(Default)]
struct Input {
    text: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Typed(String),
    /// So many columns of it are gone.
    Erased(usize),
    Done,
    Left,
}

impl Input {
    fn key(&mut self, key: KeyEvent) -> Step {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => Step::Done,
            KeyCode::Esc => Step::Left,
            KeyCode::Char('c') if control => Step::Left,
            KeyCode::Char('d') if control && self.text.is_empty() => Step::Left,
            KeyCode::Char('j' | 'm') if control => Step::Done,
            KeyCode::Char('u') if control => self.erase(0),
            KeyCode::Char('w') if control => {
                let kept = self.text.trim_end();
                self.erase(kept.rfind(char::is_whitespace).map_or(0, |at| at + 1))
            }
            KeyCode::Backspace => {
                let last = self.text.char_indices().next_back().map_or(0, |(at, _)| at);
                self.erase(last)
            }
            KeyCode::Char('h') if control => {
                let last = self.text.char_indices().next_back().map_or(0, |(at, _)| at);
                self.erase(last)
            }
            KeyCode::Char(c)
                if !control && !key.modifiers.contains(KeyModifiers::ALT) && !c.is_control() =>
            {
                self.text.push(c);
                Step::Typed(c.to_string())
            }
            _ => Step::Nothing,
        }
    }

    fn erase(&mut self, from: usize) -> Step {
        let gone = self.text.split_off(from);
        Step::Erased(gone.chars().filter_map(unicode_width::UnicodeWidthChar::width).sum())
    }
}

struct Raw;

impl Raw {
    fn new() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Nothing more can be done about a terminal that is gone.
        let _ = disable_raw_mode();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(input: &mut Input, text: &str) {
        for c in text.chars() {
            input.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        }
    }

    #[test]
    fn a_line_is_typed_mended_and_left() {
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        let mut input = Input::default();
        assert_eq!(input.key(control('d')), Step::Left);
        typed(&mut input, "one 漢");
        assert_eq!(input.key(control('d')), Step::Nothing);
        assert_eq!(input.key(plain(KeyCode::Backspace)), Step::Erased(2));
        assert_eq!(input.key(control('w')), Step::Erased(4));
        assert_eq!(input.key(plain(KeyCode::Backspace)), Step::Erased(0));
        typed(&mut input, "two");
        assert_eq!(input.key(control('u')), Step::Erased(3));
        typed(&mut input, "3");
        assert_eq!(input.key(plain(KeyCode::Enter)), Step::Done);
        assert_eq!(input.text, "3");
        assert_eq!(input.key(plain(KeyCode::Esc)), Step::Left);
        assert_eq!(input.key(control('c')), Step::Left);
    }

    #[test]
    fn what_a_server_says_is_shown_without_acting() {
        let console = Console { out: io::stdout(), colour: false, ascii: false };
        let line = Line::Choice {
            number: 7,
            name: "evil\u{1b}[2J".to_owned(),
            detail: "host".to_owned(),
            mark: String::new(),
        };
        assert_eq!(console.line(&line), "   7 evil\\u{1b}[2J          host");
        assert_eq!(console.line(&Line::Bad("no\u{7}".to_owned())), "  ✗ no\\u{7}");
    }
}
