//! `\newcommand`, `\def` and `\let` within one formula, expanded here so that the parser, which
//! would recurse with them, never sees a definition.

use std::rc::Rc;

use super::super::source::{Source, Token};
use super::{Broken, Rewriter};

#[derive(Clone)]
pub(super) struct Definition<'a> {
    arguments: usize,
    /// The value of a first argument in brackets that may be left out.
    default: Option<Rc<[Token<'a>]>>,
    body: Rc<[Token<'a>]>,
}

impl<'a> Rewriter<'a> {
    /// Puts the body in front of what is left to read, arguments filled in.
    pub(super) fn expand(&mut self, definition: &Definition<'a>) -> Result<(), Broken> {
        let mut arguments: Vec<Vec<Token<'a>>> = Vec::with_capacity(definition.arguments);
        if let Some(default) = &definition.default {
            arguments.push(self.optional()?.unwrap_or_else(|| default.to_vec()));
        }
        while arguments.len() < definition.arguments {
            arguments.push(self.argument()?);
        }
        self.fill(&definition.body, &arguments)
    }

    /// As `expand`, for a body written down in our tables.
    pub(super) fn expand_template(
        &mut self,
        body: &'static str,
        arguments: &[Vec<Token<'a>>],
    ) -> Result<(), Broken> {
        let mut source = Source::new(body);
        let body: Vec<Token<'a>> = std::iter::from_fn(|| source.next()).collect();
        self.fill(&body, arguments)
    }

    fn fill(&mut self, body: &[Token<'a>], arguments: &[Vec<Token<'a>>]) -> Result<(), Broken> {
        let mut tokens = Vec::with_capacity(body.len());
        let mut rest = body.iter();
        while let Some(token) = rest.next() {
            let Token::Char('#') = token else {
                tokens.push(*token);
                continue;
            };
            let digit = match rest.next() {
                Some(Token::Char(c)) => c.to_digit(10).ok_or(Broken)? as usize,
                _ => return Err(Broken),
            };
            let argument = digit.checked_sub(1).and_then(|i| arguments.get(i)).ok_or(Broken)?;
            tokens.extend(argument);
            self.spend(argument.len())?;
        }
        self.spend(1 + body.len())?;
        self.source.push_all(&tokens);
        Ok(())
    }

    /// `\newcommand{\name}[arguments][default]{body}`
    pub(super) fn new_command(&mut self) -> Result<(), Broken> {
        self.source.take('*');
        let name = self.defined_name()?;
        let arguments = match self.optional()?.as_deref() {
            None => 0,
            Some([Token::Char(c)]) => c.to_digit(10).ok_or(Broken)? as usize,
            Some(_) => return Err(Broken),
        };
        let default = self.optional()?.map(Rc::from);
        let body = self.argument()?.into();
        self.definitions.insert(name, Definition { arguments, default, body });
        Ok(())
    }

    /// `\def\name#1#2{body}`
    pub(super) fn def(&mut self) -> Result<(), Broken> {
        let Some(Token::Word(name)) = self.source.next_solid() else { return Err(Broken) };
        let mut arguments = 0;
        while self.source.peek_solid() != Some(Token::Open) {
            let (hash, digit) = (self.source.next(), self.source.next());
            let (Some(Token::Char('#')), Some(Token::Char(c))) = (hash, digit) else {
                return Err(Broken);
            };
            arguments += 1;
            if c.to_digit(10) != Some(arguments) {
                return Err(Broken);
            }
        }
        let body = self.argument()?.into();
        let arguments = arguments as usize;
        self.definitions.insert(name, Definition { arguments, default: None, body });
        Ok(())
    }

    /// `\let\name=\other`
    pub(super) fn let_(&mut self) -> Result<(), Broken> {
        let Some(Token::Word(name)) = self.source.next_solid() else { return Err(Broken) };
        if self.source.peek_solid() == Some(Token::Char('=')) {
            self.source.next();
        }
        let other = self.source.next_solid().ok_or(Broken)?;
        let body: Rc<[Token<'a>]> = match other {
            Token::Word(word) => match self.definitions.get(word) {
                Some(known) => {
                    let known = known.clone();
                    self.definitions.insert(name, known);
                    return Ok(());
                }
                None => Rc::from([other]),
            },
            Token::Open | Token::Close => return Err(Broken),
            _ => Rc::from([other]),
        };
        self.definitions.insert(name, Definition { arguments: 0, default: None, body });
        Ok(())
    }

    /// `\DeclareMathOperator{\name}{text}`
    pub(super) fn declare_operator(&mut self) -> Result<(), Broken> {
        let limits = self.source.take('*');
        let name = self.defined_name()?;
        let text = self.argument()?;
        let mut body = vec![Token::Word("operatorname")];
        if limits {
            body.push(Token::Char('*'));
        }
        body.push(Token::Open);
        body.extend(text);
        body.push(Token::Close);
        self.definitions
            .insert(name, Definition { arguments: 0, default: None, body: body.into() });
        Ok(())
    }

    fn defined_name(&mut self) -> Result<&'a str, Broken> {
        match self.argument()?.as_slice() {
            [Token::Word(name)] => Ok(name),
            _ => Err(Broken),
        }
    }
}
