//! `\left`, `\right`, `\middle` and the `\big` family: only what the parser takes for a delimiter
//! goes to it as one.

use super::super::source::Token;
use super::{Broken, FrameKind, Rewriter};

/// Commands that may follow `\left` and `\big`.
const DELIMITERS: &[&str] = &[
    "langle",
    "rangle",
    "lang",
    "rang",
    "lt",
    "gt",
    "lvert",
    "rvert",
    "lVert",
    "rVert",
    "vert",
    "Vert",
    "lfloor",
    "rfloor",
    "lceil",
    "rceil",
    "lbrace",
    "rbrace",
    "lbrack",
    "rbrack",
    "lparen",
    "rparen",
    "lgroup",
    "rgroup",
    "lmoustache",
    "rmoustache",
    "backslash",
    "uparrow",
    "downarrow",
    "updownarrow",
    "Uparrow",
    "Downarrow",
    "Updownarrow",
];

impl<'a> Rewriter<'a> {
    pub(super) fn left(&mut self) -> Result<(), Broken> {
        self.enter(FrameKind::Left, false)?;
        self.out.push_str(r"\left");
        if self.delimiter()? {
            return Ok(());
        }
        // A bracket the parser cannot stretch: set beside an empty one.
        match self.source.peek_solid() {
            Some(Token::Word(_)) => self.out.push('.'),
            _ => return Err(Broken),
        }
        Ok(())
    }

    pub(super) fn right(&mut self) -> Result<(), Broken> {
        self.chain = 0;
        let before = self.out.len();
        self.out.push_str(r"\right");
        if !self.delimiter()? {
            self.out.truncate(before);
            match self.source.next_solid() {
                Some(token @ Token::Word(_)) => self.token(token)?,
                _ => return Err(Broken),
            }
            self.out.push_str(r"\right.");
        }
        match self.leave()? {
            FrameKind::Left => Ok(()),
            _ => Err(Broken),
        }
    }

    pub(super) fn middle(&mut self) -> Result<(), Broken> {
        let fenced = self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Left));
        if fenced {
            self.out.push_str(r"\middle");
        }
        if self.delimiter()? { Ok(()) } else { Err(Broken) }
    }

    /// `\big` and its kin; before what is no delimiter they say nothing.
    pub(super) fn big(&mut self, word: &str) -> Result<(), Broken> {
        let before = self.out.len();
        self.out.push('\\');
        self.out.push_str(word);
        self.out.push(' ');
        if self.source.peek_solid() == Some(Token::Open) {
            let group = self.argument()?;
            if let [only] = group.as_slice()
                && is_delimiter(*only)
            {
                self.source.push(*only);
            } else {
                self.out.truncate(before);
                self.source.push(Token::Close);
                self.source.push_all(&group);
                self.source.push(Token::Open);
                return Ok(());
            }
        }
        if !self.source.peek_solid().is_some_and(is_delimiter) {
            self.out.truncate(before);
            return Ok(());
        }
        self.delimiter().map(drop)
    }

    /// Writes the delimiter that follows, if one does. A brace without its backslash is taken
    /// for the brace.
    fn delimiter(&mut self) -> Result<bool, Broken> {
        let Some(token) = self.source.peek_solid() else { return Err(Broken) };
        match token {
            Token::Open => self.out.push_str(r"\{"),
            Token::Close => self.out.push_str(r"\}"),
            Token::Char(c) if is_delimiter(token) => self.out.push(c),
            Token::Escape(c) if is_delimiter(token) => self.out.extend(['\\', c]),
            Token::Word(word) if is_delimiter(token) => {
                self.out.push('\\');
                self.out.push_str(word);
                self.out.push(' ');
            }
            _ => return Ok(false),
        }
        self.source.next();
        Ok(true)
    }
}

fn is_delimiter(token: Token) -> bool {
    match token {
        Token::Char(c) => ".()[]/|<>⟨⟩⌊⌋⌈⌉⟮⟯⎰⎱".contains(c),
        Token::Escape(c) => matches!(c, '{' | '}' | '|'),
        Token::Word(word) => DELIMITERS.contains(&word),
        _ => false,
    }
}
