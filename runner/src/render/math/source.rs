//! TeX source as tokens, with room to push tokens back: the reading half of `rewrite`.

/// One token; words carry no backslash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// `\word`
    Word(&'a str),
    /// `\,` and other one-character commands.
    Escape(char),
    Space,
    Open,
    Close,
    Char(char),
    /// The text of a `\verb`.
    Verbatim(&'a str),
}

/// Reads a source from its start; tokens that were pushed back come first.
pub(super) struct Source<'a> {
    rest: &'a str,
    pushed: Vec<Token<'a>>,
    /// The last character read is a digit, after which `%` is a percent sign.
    after_digit: bool,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, pushed: Vec::new(), after_digit: false }
    }

    /// The next token, with spaces as they are.
    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        self.pushed.pop().or_else(|| self.lex())
    }

    pub(super) fn push(&mut self, token: Token<'a>) {
        self.pushed.push(token);
    }

    /// Puts `tokens` in front of what is left, in their order.
    pub(super) fn push_all(&mut self, tokens: &[Token<'a>]) {
        self.pushed.extend(tokens.iter().rev());
    }

    pub(super) fn peek(&mut self) -> Option<Token<'a>> {
        let token = self.next()?;
        self.pushed.push(token);
        Some(token)
    }

    /// The next token that is not a space; the spaces are gone.
    pub(super) fn next_solid(&mut self) -> Option<Token<'a>> {
        loop {
            match self.next()? {
                Token::Space => {}
                token => return Some(token),
            }
        }
    }

    pub(super) fn peek_solid(&mut self) -> Option<Token<'a>> {
        let token = self.next_solid()?;
        self.pushed.push(token);
        Some(token)
    }

    /// Takes the next token if it is this character.
    pub(super) fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(Token::Char(c));
        if found {
            self.next();
        }
        found
    }

    /// A group as it stands in the source, where `%` and `#` are only characters: an address.
    pub(super) fn raw_group(&mut self) -> Option<&'a str> {
        if !self.pushed.is_empty() {
            return None;
        }
        let inner = self.rest.trim_start().strip_prefix('{')?;
        let mut depth = 1_usize;
        for (at, byte) in inner.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.rest = &inner[at + 1..];
                return Some(&inner[..at]);
            }
        }
        None
    }

    fn lex(&mut self) -> Option<Token<'a>> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        let after_digit = std::mem::replace(&mut self.after_digit, c.is_ascii_digit());
        if c != '\\' {
            self.rest = chars.as_str();
        }
        Some(match c {
            '\\' => return self.command(),
            '{' => Token::Open,
            '}' => Token::Close,
            '%' if !after_digit => {
                let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
                self.rest = &self.rest[end..];
                return self.lex();
            }
            c if c.is_whitespace() => {
                self.rest = self.rest.trim_start();
                self.after_digit = after_digit;
                Token::Space
            }
            c => Token::Char(c),
        })
    }

    fn command(&mut self) -> Option<Token<'a>> {
        let after = &self.rest[1..];
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let Some(first) = after.chars().next() else {
            // A backslash at the very end.
            self.rest = after;
            return Some(Token::Verbatim("\\"));
        };
        if end == 0 {
            self.rest = &after[first.len_utf8()..];
            return Some(Token::Escape(if first.is_whitespace() { ' ' } else { first }));
        }
        let word = &after[..end];
        self.rest = &after[end..];
        if word == "verb" {
            return Some(self.verbatim());
        }
        Some(Token::Word(word))
    }

    fn verbatim(&mut self) -> Token<'a> {
        let rest = self.rest.strip_prefix('*').unwrap_or(self.rest);
        let mut chars = rest.chars();
        if let Some(delimiter) = chars.next()
            && let Some((text, after)) = chars.as_str().split_once(delimiter)
        {
            self.rest = after;
            return Token::Verbatim(text);
        }
        Token::Word("verb")
    }
}

/// The source text that `tokens` stand for.
pub(super) fn text(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        match token {
            Token::Word(word) => {
                out.push('\\');
                out.push_str(word);
                out.push(' ');
            }
            Token::Escape(c) => {
                out.push('\\');
                out.push(*c);
            }
            Token::Space => out.push(' '),
            Token::Open => out.push('{'),
            Token::Close => out.push('}'),
            Token::Char(c) => out.push(*c),
            Token::Verbatim(text) => out.push_str(text),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(source: &str) -> Vec<Token<'_>> {
        let mut source = Source::new(source);
        std::iter::from_fn(|| source.next()).collect()
    }

    #[test]
    fn words_end_at_the_first_character_that_is_no_letter() {
        assert_eq!(
            tokens(r"\frac1\,x"),
            [Token::Word("frac"), Token::Char('1'), Token::Escape(','), Token::Char('x')]
        );
    }

    #[test]
    fn a_percent_sign_after_a_number_is_no_comment() {
        assert_eq!(tokens("5% a").len(), 4);
        assert_eq!(tokens("a% gone\nb"), [Token::Char('a'), Token::Char('b')]);
    }

    #[test]
    fn verb_is_one_token_and_needs_no_ascii_delimiter() {
        assert_eq!(tokens(r"\verb|a{b|c"), [Token::Verbatim("a{b"), Token::Char('c')]);
        assert_eq!(tokens(r"\verb€x€"), [Token::Verbatim("x")]);
        assert_eq!(tokens(r"\verb|a")[0], Token::Word("verb"));
    }
}
