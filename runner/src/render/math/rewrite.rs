//! TeX source → source that KaTeX's parser takes, before that parser sees it.
//!
//! The parser recurses as deep as its input nests, fails a whole formula for one unknown command,
//! and knows commands that print to the terminal or define others. So nothing reaches it but what
//! this pass lets through: nesting and work are bounded, commands it does not know are translated
//! or stand behind placeholders that come out as they were written, definitions are expanded here.
//! Runs in linear time; gives up (`Broken`) rather than guess at unbalanced input.

mod arguments;
mod chem;
mod commands;
mod definitions;
mod delimiters;
mod environments;
mod special;
mod units;

use std::collections::HashMap;

use katex::KatexContext;
use katex::macros::builtins::BUILTIN_MACROS;

use super::lower::PLACEHOLDER;
use super::source::{Source, Token};
use commands::command;
use definitions::Definition;
use environments::Environment;

/// The source cannot be rendered and is to be shown as it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// How deep a formula may nest, counted in steps of the parser's recursion: a group is one, with
/// a command before it two. Far more than anyone writes; a step costs an unoptimised build up to
/// 20 KB of a stack of which a thread has 2 MB.
pub(super) const MAX_DEPTH: usize = 80;
/// Steps of an environment, and of a command in force for the rest of a group.
const ENVIRONMENT_DEPTH: usize = 3;
const SWITCH_DEPTH: usize = 2;
/// Steps of `\boxed` beyond those of a command with an argument.
const BOX_DEPTH: usize = 4;
/// Steps a formula may take, a token at depth n counting n + 1, since the parser copies an
/// argument once for every level around it.
const MAX_COST: usize = 400_000;
const MAX_PLACEHOLDERS: usize = 10_000;
/// How often definitions made in the formula may be used.
const MAX_EXPANSIONS: usize = 1_000;

/// Source for the parser and the texts its placeholders stand for.
#[derive(Debug)]
pub(super) struct Rewritten {
    pub tex: String,
    pub verbatim: Vec<String>,
}

pub(super) fn rewrite(tex: &str, katex: &KatexContext) -> Result<Rewritten, Broken> {
    let mut rewriter = Rewriter {
        katex,
        source: Source::new(tex),
        out: String::with_capacity(tex.len() * 2),
        verbatim: Vec::new(),
        frames: Vec::new(),
        definitions: HashMap::new(),
        cost: 0,
        expansions: 0,
        depth: 0,
        chain: 0,
        after_group: false,
        stray_columns: false,
    };
    while let Some(token) = rewriter.source.next() {
        rewriter.spend(1 + rewriter.frames.len())?;
        rewriter.token(token)?;
    }
    if !rewriter.frames.is_empty() {
        return Err(Broken);
    }
    let Rewriter { out, verbatim, stray_columns, .. } = rewriter;
    // Columns without an environment: what was meant is clear enough.
    let tex = if stray_columns { format!(r"\begin{{aligned}}{out}\end{{aligned}}") } else { out };
    Ok(Rewritten { tex, verbatim })
}

struct Rewriter<'a> {
    katex: &'a KatexContext,
    source: Source<'a>,
    out: String,
    verbatim: Vec<String>,
    frames: Vec<Frame>,
    definitions: HashMap<&'a str, Definition<'a>>,
    cost: usize,
    expansions: usize,
    /// Steps of recursion the parser is in at this point, of at most `MAX_DEPTH`.
    depth: usize,
    /// Steps it will be in for the commands in a row that still wait for their argument.
    chain: usize,
    /// The last token closed a group: a group that follows may be another argument.
    after_group: bool,
    /// An `&` was met outside all environments.
    stray_columns: bool,
}

/// Something that has to be closed.
struct Frame {
    kind: FrameKind,
    /// Inside, text rules hold: `_` is a character.
    text: bool,
    /// `depth` before it was opened, and at the start of each of its cells.
    outside: usize,
    inside: usize,
}

#[derive(Clone, Copy)]
enum FrameKind {
    Group,
    /// The argument of an unknown command, whose braces are shown.
    Shown,
    /// The text of a `\tag`, or of the starred one, which has no parentheses.
    Tag {
        bare: bool,
    },
    /// `$…$` in text.
    Math,
    Left,
    Environment(&'static Environment),
    /// An environment nobody knows, shown as it was written: the placeholder of its beginning.
    UnknownEnvironment(usize),
}

impl<'a> Rewriter<'a> {
    fn spend(&mut self, cost: usize) -> Result<(), Broken> {
        self.cost += cost;
        if self.cost > MAX_COST { Err(Broken) } else { Ok(()) }
    }

    fn in_text(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.text)
    }

    fn enter(&mut self, kind: FrameKind, text: bool) -> Result<(), Broken> {
        let steps = match kind {
            FrameKind::Environment(_) | FrameKind::UnknownEnvironment(_) => ENVIRONMENT_DEPTH,
            FrameKind::Left | FrameKind::Tag { .. } => 2,
            FrameKind::Group | FrameKind::Shown | FrameKind::Math => 1,
        };
        let outside = self.depth;
        let waiting = std::mem::take(&mut self.chain).max(usize::from(self.after_group));
        let inside = outside + waiting + steps;
        if inside > MAX_DEPTH {
            return Err(Broken);
        }
        self.depth = inside;
        self.frames.push(Frame { kind, text, outside, inside });
        Ok(())
    }

    fn leave(&mut self) -> Result<FrameKind, Broken> {
        let frame = self.frames.pop().ok_or(Broken)?;
        self.depth = frame.outside;
        Ok(frame.kind)
    }

    fn token(&mut self, token: Token<'a>) -> Result<(), Broken> {
        let chain = std::mem::take(&mut self.chain);
        let after_group = self.after_group;
        self.after_group = match token {
            Token::Close => true,
            Token::Open | Token::Space => after_group,
            _ => false,
        };
        match token {
            Token::Word(word) => {
                self.chain = chain;
                return self.word(word);
            }
            Token::Space => {
                self.chain = chain;
                self.out.push(' ');
            }
            Token::Open => {
                self.chain = chain;
                self.enter(FrameKind::Group, self.in_text())?;
                self.after_group = false;
                self.out.push('{');
            }
            Token::Close => self.close()?,
            Token::Escape(c) => self.escape(c)?,
            Token::Char(c) => self.character(c)?,
            Token::Verbatim(text) => self.show(text)?,
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Broken> {
        match self.leave()? {
            FrameKind::Group => self.out.push('}'),
            FrameKind::Tag { bare } => self.out.push_str(if bare { "}}" } else { ")}}" }),
            FrameKind::Shown => {
                self.out.push('}');
                self.show("}")?;
                self.shown_arguments()?;
            }
            _ => return Err(Broken),
        }
        Ok(())
    }

    fn character(&mut self, c: char) -> Result<(), Broken> {
        let text = self.in_text();
        match c {
            '#' => self.out.push_str(r"\#"),
            '%' => self.out.push_str(r"\%"),
            '_' if text => self.out.push_str(r"\_"),
            '^' if text => self.out.push_str(r"\textasciicircum "),
            '&' if text => self.out.push_str(r"\&"),
            '&' => match self.frames.last().map(|frame| frame.kind) {
                None => {
                    self.stray_columns = true;
                    self.next_cell();
                    self.out.push('&');
                }
                Some(FrameKind::Environment(_) | FrameKind::UnknownEnvironment(_)) => {
                    self.next_cell();
                    self.out.push('&');
                }
                Some(_) => self.out.push_str(r"\&"),
            },
            '$' if text => {
                self.enter(FrameKind::Math, false)?;
                self.out.push('$');
            }
            '$' => {
                // In mathematics a dollar sign has nothing to say unless it ends it.
                if let Some(FrameKind::Math) = self.frames.last().map(|frame| frame.kind) {
                    self.leave()?;
                    self.out.push('$');
                }
            }
            c if u32::from(c) >= PLACEHOLDER || !super::is_printable(c) => {
                self.out.push(char::REPLACEMENT_CHARACTER);
            }
            c => self.out.push(c),
        }
        Ok(())
    }

    /// A new cell begins; the parser forgets switches there.
    fn next_cell(&mut self) {
        self.depth = self.frames.last().map_or(0, |frame| frame.inside);
    }

    fn escape(&mut self, c: char) -> Result<(), Broken> {
        match c {
            '\\' => self.line_break(),
            // Mathematics inside mathematics.
            '(' | ')' | '[' | ']' if !self.in_text() => Ok(()),
            '{' | '}' | ',' | ';' | ':' | '!' | '>' | ' ' | '|' | '%' | '#' | '$' | '&' | '_' => {
                self.out.push('\\');
                self.out.push(c);
                Ok(())
            }
            '\'' | '`' | '^' | '~' | '=' | '.' | '"' => {
                self.chain += 1;
                self.out.push('\\');
                self.out.push(c);
                Ok(())
            }
            '/' | '-' => Ok(()),
            _ => self.show(&format!("\\{c}")),
        }
    }

    fn word(&mut self, word: &'a str) -> Result<(), Broken> {
        if let Some(definition) = self.definitions.get(word).cloned() {
            self.expansions += 1;
            if self.expansions > MAX_EXPANSIONS {
                return Err(Broken);
            }
            return self.expand(&definition);
        }
        match command(word) {
            Some(known) => self.run(word, known),
            None if is_implicit(word) || self.is_known(word) => self.pass(word),
            None => self.unknown(word),
        }
    }

    /// Whether the parser may have this command as it is: it knows it, and we do not.
    fn is_known(&self, word: &str) -> bool {
        let in_parser = with_backslash(word, |name| {
            self.katex.functions.contains_key(name)
                || BUILTIN_MACROS.contains_key(name)
                || self.katex.symbols.get_math(name).is_some()
                || self.katex.symbols.get_text(name).is_some()
        });
        in_parser && command(word).is_none()
    }

    /// Hands a command on to the parser.
    fn pass(&mut self, word: &str) -> Result<(), Broken> {
        use katex::parser::parse_node::NodeType::{Font, Sizing, Styling};
        match with_backslash(word, |name| self.katex.functions.get(name)) {
            Some(function) if function.num_args > 0 => self.chain += 1,
            Some(function) if matches!(function.node_type, Some(Font | Sizing | Styling)) => {
                self.depth += SWITCH_DEPTH + std::mem::take(&mut self.chain);
            }
            Some(_) => self.chain = 0,
            None if word == "boxed" => self.chain += 1 + BOX_DEPTH,
            // A macro, perhaps with arguments.
            None if with_backslash(word, |name| BUILTIN_MACROS.contains_key(name)) => {
                self.chain = self.chain.max(1);
            }
            None => self.chain = 0,
        }
        if self.depth + self.chain > MAX_DEPTH {
            return Err(Broken);
        }
        self.out.push('\\');
        self.out.push_str(word);
        self.out.push(' ');
        Ok(())
    }

    /// An unknown command is shown as it was written, and so are the braces of its arguments;
    /// what stands in them is rendered.
    fn unknown(&mut self, word: &str) -> Result<(), Broken> {
        let spaced = matches!(
            self.source.peek(),
            Some(Token::Space | Token::Char('a'..='z' | 'A'..='Z' | '0'..='9'))
        );
        self.show(&format!("\\{word}{}", if spaced { " " } else { "" }))?;
        self.shown_arguments()
    }

    fn shown_arguments(&mut self) -> Result<(), Broken> {
        if self.source.peek() == Some(Token::Open) {
            self.source.next();
            self.show("{")?;
            self.enter(FrameKind::Shown, self.in_text())?;
            self.out.push('{');
        }
        Ok(())
    }

    /// Puts `text` into the output behind a placeholder.
    fn show(&mut self, text: &str) -> Result<(), Broken> {
        let index = self.verbatim.len();
        if index >= MAX_PLACEHOLDERS {
            return Err(Broken);
        }
        self.chain = 0;
        self.verbatim.push(super::printable(text).into_owned());
        self.out.extend(char::from_u32(PLACEHOLDER + index as u32));
        Ok(())
    }
}

/// Commands the parser knows without a table.
fn is_implicit(word: &str) -> bool {
    matches!(word, "limits" | "nolimits" | "relax")
}

/// Calls `f` with `\word`, without an allocation for words of usual length.
fn with_backslash<T>(word: &str, f: impl FnOnce(&str) -> T) -> T {
    let mut buffer = [0_u8; 32];
    if let Some(room) = buffer.get_mut(1..=word.len()) {
        room.copy_from_slice(word.as_bytes());
        buffer[0] = b'\\';
        if let Ok(name) = std::str::from_utf8(&buffer[..=word.len()]) {
            return f(name);
        }
    }
    f(&format!("\\{word}"))
}
