//! Reading the arguments of commands that are handled here.

use super::super::source::Token;
use super::{Broken, Rewriter};

impl<'a> Rewriter<'a> {
    /// The next argument: the tokens of a group without its braces, or one token.
    pub(super) fn argument(&mut self) -> Result<Vec<Token<'a>>, Broken> {
        match self.source.next_solid().ok_or(Broken)? {
            Token::Open => {}
            Token::Close => return Err(Broken),
            token => return Ok(vec![token]),
        }
        let mut tokens = Vec::new();
        let mut depth = 0_usize;
        loop {
            let token = self.source.next().ok_or(Broken)?;
            self.spend(1)?;
            match token {
                Token::Open => depth += 1,
                Token::Close if depth == 0 => return Ok(tokens),
                Token::Close => depth -= 1,
                _ => {}
            }
            tokens.push(token);
        }
    }

    /// An argument in square brackets, if one follows.
    pub(super) fn optional(&mut self) -> Result<Option<Vec<Token<'a>>>, Broken> {
        if self.source.peek_solid() != Some(Token::Char('[')) {
            return Ok(None);
        }
        self.source.next();
        let mut tokens = Vec::new();
        let mut depth = 0_usize;
        loop {
            let token = self.source.next().ok_or(Broken)?;
            self.spend(1)?;
            match token {
                Token::Char(']') if depth == 0 => return Ok(Some(tokens)),
                Token::Open => depth += 1,
                Token::Close => depth = depth.checked_sub(1).ok_or(Broken)?,
                _ => {}
            }
            tokens.push(token);
        }
    }
}
