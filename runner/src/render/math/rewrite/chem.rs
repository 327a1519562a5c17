//! `\ce{…}`: chemical formulas and equations as mhchem writes them, into plain TeX.
//!
//! The everyday part: elements with counts and charges, isotopes, states, arrows with labels,
//! bonds, addition compounds. What is not understood stands as it was written.

use super::super::source::Token;
use super::{Broken, Rewriter};

/// What stands before the next token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that could carry a count: a number here is a coefficient.
    Start,
    /// An element or a closed group.
    Element,
    /// An empty base that already waits for its element.
    Isotope,
}

/// Labels and groups nest no deeper than this.
const MAX_DEPTH: usize = 6;

impl<'a> Rewriter<'a> {
    pub(super) fn chemistry(&mut self) -> Result<(), Broken> {
        let tokens = self.argument()?;
        let in_text = self.in_text();
        self.out.push_str(if in_text { "${" } else { "{" });
        self.formula(&tokens, 0)?;
        self.out.push_str(if in_text { "}$" } else { "}" });
        self.chain = 0;
        Ok(())
    }

    fn formula(&mut self, tokens: &[Token<'a>], depth: usize) -> Result<(), Broken> {
        if depth > MAX_DEPTH {
            return Err(Broken);
        }
        self.spend(tokens.len())?;
        let mut before = Before::Start;
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            match token {
                Token::Space => {
                    if before == Before::Element && starts_species(tokens.get(at)) {
                        self.out.push_str(r"\ ");
                    }
                    before = Before::Start;
                }
                Token::Char('-' | '<' | '=') if let Some(arrow) = arrow(&tokens[at - 1..]) => {
                    at += arrow.length - 1;
                    self.arrow(&arrow, tokens, &mut at, depth)?;
                    before = Before::Start;
                }
                Token::Char('v') if before == Before::Start && ends_word(tokens.get(at)) => {
                    self.out.push_str(r"\downarrow ");
                }
                Token::Char(c) if c.is_alphabetic() => {
                    self.out.push_str(r"\text{");
                    self.out.push(c);
                    while let Some(&Token::Char(c)) = tokens.get(at)
                        && c.is_alphabetic()
                    {
                        self.out.push(c);
                        at += 1;
                    }
                    self.out.push('}');
                    before = Before::Element;
                }
                Token::Char(c) if c.is_ascii_digit() => {
                    let number = number(tokens, at - 1);
                    at += number.len() - 1;
                    if before == Before::Element {
                        self.out.push_str(&format!("_{{{number}}}"));
                    } else {
                        self.coefficient(&number, tokens, &mut at);
                        before = Before::Start;
                    }
                }
                Token::Char('^') if ends_word(tokens.get(at)) => self.out.push_str(r"\uparrow "),
                Token::Char(mark @ ('^' | '_')) => {
                    if before == Before::Start {
                        self.out.push_str("{}");
                        before = Before::Isotope;
                    }
                    self.script(mark, tokens, &mut at, depth)?;
                }
                Token::Char(sign @ ('+' | '-')) => {
                    let charge = before == Before::Element && ends_species(tokens.get(at));
                    if charge {
                        self.out.push_str(&format!("^{{{sign}}}"));
                    } else if before == Before::Element && sign == '-' {
                        self.out.push_str("{-}");
                        before = Before::Start;
                    } else {
                        self.out.push(sign);
                        before = Before::Start;
                    }
                }
                Token::Char('=') if before == Before::Element => self.out.push_str("{=}"),
                Token::Char('#') => self.out.push_str(r"{\equiv}"),
                Token::Char('*' | '.') => {
                    self.out.push_str(r"\cdot ");
                    before = Before::Start;
                }
                Token::Char(c @ ('(' | '[')) => {
                    self.out.push(c);
                    before = Before::Start;
                }
                Token::Char(c @ (')' | ']')) => {
                    self.out.push(c);
                    before = Before::Element;
                }
                Token::Char('$') => {
                    let rest = &tokens[at..];
                    let end = rest.iter().position(|t| *t == Token::Char('$')).ok_or(Broken)?;
                    self.plain(&rest[..end], depth)?;
                    at += end + 1;
                    before = Before::Element;
                }
                Token::Open => {
                    let inner = group(tokens, &mut at)?;
                    self.out.push('{');
                    self.formula(inner, depth + 1)?;
                    self.out.push('}');
                    before = Before::Element;
                }
                Token::Close => return Err(Broken),
                other => {
                    self.plain(&[other], depth)?;
                    before = Before::Element;
                }
            }
        }
        Ok(())
    }

    /// Mathematics within a formula: symbols only, since commands with arguments read elsewhere.
    fn plain(&mut self, tokens: &[Token<'a>], depth: usize) -> Result<(), Broken> {
        if depth > MAX_DEPTH {
            return Err(Broken);
        }
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += 1;
            match token {
                Token::Word(word) if self.is_known(word) => self.pass(word)?,
                Token::Word(word) => self.show(&format!("\\{word}"))?,
                Token::Open => {
                    let inner = group(tokens, &mut at)?;
                    self.out.push('{');
                    self.plain(inner, depth + 1)?;
                    self.out.push('}');
                }
                Token::Space => {}
                Token::Close => return Err(Broken),
                Token::Char(c) if "^_".contains(c) => self.out.push(c),
                other => self.token(other)?,
            }
        }
        Ok(())
    }

    fn coefficient(&mut self, number: &str, tokens: &[Token<'a>], at: &mut usize) {
        if tokens.get(*at) == Some(&Token::Char('/'))
            && let Some(Token::Char(c)) = tokens.get(*at + 1)
            && c.is_ascii_digit()
        {
            let below = self::number(tokens, *at + 1);
            *at += 1 + below.len();
            self.out.push_str(&format!(r"\tfrac{{{number}}}{{{below}}}"));
        } else {
            self.out.push_str(number);
        }
    }

    fn script(
        &mut self,
        mark: char,
        tokens: &[Token<'a>],
        at: &mut usize,
        depth: usize,
    ) -> Result<(), Broken> {
        self.out.push(mark);
        self.out.push_str(r"{\mathrm{");
        match tokens.get(*at) {
            Some(Token::Open) => {
                *at += 1;
                let inner = group(tokens, at)?;
                self.plain(inner, depth + 1)?;
            }
            Some(Token::Char(c)) if c.is_alphabetic() => {
                self.out.push(*c);
                *at += 1;
            }
            _ => {
                while let Some(Token::Char(c)) = tokens.get(*at)
                    && (c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
                {
                    self.out.push(*c);
                    *at += 1;
                }
            }
        }
        self.out.push_str("}}");
        Ok(())
    }

    fn arrow(
        &mut self,
        arrow: &Arrow,
        tokens: &[Token<'a>],
        at: &mut usize,
        depth: usize,
    ) -> Result<(), Broken> {
        let above = bracketed(tokens, at);
        let below = if above.is_some() { bracketed(tokens, at) } else { None };
        let Some(above) = above else {
            self.out.push_str(arrow.bare);
            return Ok(());
        };
        self.out.push_str(arrow.labelled);
        if let Some(below) = below {
            self.out.push_str("[{");
            self.formula(below, depth + 1)?;
            self.out.push_str("}]");
        }
        self.out.push('{');
        self.formula(above, depth + 1)?;
        self.out.push('}');
        Ok(())
    }
}

struct Arrow {
    length: usize,
    bare: &'static str,
    labelled: &'static str,
}

fn arrow(tokens: &[Token]) -> Option<Arrow> {
    const ARROWS: &[(&str, &str, &str)] = &[
        ("<=>>", r"\rightleftharpoons ", r"\xrightleftharpoons"),
        ("<<=>", r"\rightleftharpoons ", r"\xrightleftharpoons"),
        ("<-->", r"\rightleftarrows ", r"\xrightleftarrows"),
        ("<=>", r"\rightleftharpoons ", r"\xrightleftharpoons"),
        ("<->", r"\leftrightarrow ", r"\xleftrightarrow"),
        ("->", r"\rightarrow ", r"\xrightarrow"),
        ("<-", r"\leftarrow ", r"\xleftarrow"),
        ("=>", r"\Rightarrow ", r"\xRightarrow"),
    ];
    let (signs, bare, labelled) = ARROWS.iter().find(|(signs, ..)| {
        let mut expected = signs.chars();
        tokens.iter().take(signs.len()).all(|t| Some(*t) == expected.next().map(Token::Char))
            && tokens.len() >= signs.len()
    })?;
    Some(Arrow { length: signs.len(), bare, labelled })
}

fn number(tokens: &[Token], from: usize) -> String {
    let digits = tokens[from..].iter().map_while(|token| match token {
        Token::Char(c) if c.is_ascii_digit() => Some(*c),
        _ => None,
    });
    let mut number: String = digits.collect();
    let after = |n: usize| tokens.get(from + number.len() + n);
    // A decimal point, not the dot of an addition compound.
    if after(0) == Some(&Token::Char('.'))
        && number == "0"
        && let Some(Token::Char(c)) = after(1)
        && c.is_ascii_digit()
    {
        let rest = self::number(tokens, from + number.len() + 1);
        number.push('.');
        number.push_str(&rest);
    }
    number
}

fn bracketed<'t, 'a>(tokens: &'t [Token<'a>], at: &mut usize) -> Option<&'t [Token<'a>]> {
    if tokens.get(*at) != Some(&Token::Char('[')) {
        return None;
    }
    let rest = &tokens[*at + 1..];
    let end = rest.iter().position(|token| *token == Token::Char(']'))?;
    *at += end + 2;
    Some(&rest[..end])
}

/// The rest of the group whose opening brace has just been passed.
fn group<'t, 'a>(tokens: &'t [Token<'a>], at: &mut usize) -> Result<&'t [Token<'a>], Broken> {
    let from = *at;
    let mut depth = 1_usize;
    while let Some(token) = tokens.get(*at) {
        *at += 1;
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok(&tokens[from..*at - 1]);
        }
    }
    Err(Broken)
}

fn ends_word(next: Option<&Token>) -> bool {
    matches!(next, None | Some(Token::Space))
}

fn ends_species(next: Option<&Token>) -> bool {
    matches!(
        next,
        None | Some(Token::Space | Token::Close | Token::Char(')' | ']' | ',' | '(' | '_' | '^'))
    )
}

fn starts_species(next: Option<&Token>) -> bool {
    match next {
        Some(Token::Char(c)) => c.is_alphanumeric() && *c != 'v' || matches!(c, '(' | '['),
        Some(Token::Word(_)) => true,
        _ => false,
    }
}
