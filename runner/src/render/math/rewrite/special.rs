//! Commands whose handling is more than a replacement.

use katex::symbols::{Atom, Group};

use super::super::lower::TAG;
use super::super::source::{Token, text};
use super::super::tree::Class;
use super::commands::{Command, Special};
use super::{Broken, FrameKind, Rewriter, with_backslash};

impl<'a> Rewriter<'a> {
    pub(super) fn run(&mut self, word: &'a str, command: &'static Command) -> Result<(), Broken> {
        match command {
            Command::Template { arguments, body } => {
                self.source.take('*');
                let mut read = Vec::with_capacity(*arguments);
                while read.len() < *arguments {
                    read.push(self.argument()?);
                }
                self.expand_template(body, &read)
            }
            Command::Symbol(c, class) => self.extra_symbol(c, *class),
            Command::Operator { name, limits } => {
                self.out.push_str(if *limits { r"\operatorname*{" } else { r"\operatorname{" });
                self.out.push_str(name);
                self.out.push('}');
                self.chain = 0;
                Ok(())
            }
            Command::Drop { arguments } => {
                self.source.take('*');
                for _ in 0..*arguments {
                    self.argument()?;
                }
                Ok(())
            }
            Command::Text(name) => self.text_argument(name),
            Command::Special(special) => self.special(word, special),
        }
    }

    fn special(&mut self, word: &'a str, special: &'static Special) -> Result<(), Broken> {
        match special {
            Special::Begin => self.begin(),
            Special::End => self.end(),
            Special::Left => self.left(),
            Special::Right => self.right(),
            Special::Middle => self.middle(),
            Special::Big => self.big(word),
            Special::OpenGroup => self.token(Token::Open),
            Special::CloseGroup => self.token(Token::Close),
            Special::Dots => {
                let centred = self.source.peek_solid().is_some_and(|next| self.is_operator(next));
                self.out.push_str(if centred { r"\cdots " } else { r"\ldots " });
                Ok(())
            }
            Special::Char => self.char_number(),
            Special::LineBreak => self.line_break(),
            Special::Space => {
                self.source.take('*');
                let width = self.argument()?;
                if let Some(em) = dimension(&text(&width)) {
                    self.out.push_str(&format!(r"\hskip{em:.3}em\relax "));
                }
                Ok(())
            }
            Special::Color => {
                self.optional()?;
                self.argument()?;
                Ok(())
            }
            Special::ColorBox { colours, as_text } => {
                self.optional()?;
                for _ in 0..*colours {
                    self.argument()?;
                }
                self.text_argument(as_text)
            }
            Special::Tag => self.tag(),
            Special::Reference { before, after } => {
                let label = self.argument()?;
                self.show(&format!("{before}{}{after}", text(&label)))
            }
            Special::Skip => {
                self.optional()?;
                self.optional()?;
                self.pass(word)
            }
            Special::Ignore => {
                self.optional()?;
                self.optional()?;
                Ok(())
            }
            Special::Shift => {
                while !matches!(self.source.peek(), None | Some(Token::Word(_) | Token::Open)) {
                    self.source.next();
                }
                Ok(())
            }
            Special::Link { shown } => {
                let address = match self.source.raw_group() {
                    Some(raw) => raw.to_owned(),
                    None => text(&self.argument()?),
                };
                self.spend(address.len())?;
                if *shown { self.show(&address) } else { Ok(()) }
            }
            Special::Picture => self.picture(),
            Special::Unicode => self.unicode(),
            Special::Plain { until, form } => self.plain_command(until, form),
            Special::Chemistry => self.chemistry(),
            Special::Number => self.number(),
            Special::Unit => self.unit(),
            Special::Quantity => self.quantity(word),
            Special::Angle => self.angle(),
            Special::NewCommand => self.new_command(),
            Special::Def => self.def(),
            Special::Let => self.let_(),
            Special::DeclareOperator => self.declare_operator(),
            Special::Derivative(forms) => self.derivative(forms),
            Special::Refused => self.unknown(word),
        }
    }

    fn extra_symbol(&mut self, c: &str, class: Class) -> Result<(), Broken> {
        let wrapper = match class {
            _ if self.in_text() || self.out.trim_end().ends_with(['^', '_']) => "",
            Class::Ord | Class::Inner => "",
            Class::Op => r"\mathop{",
            Class::Bin => r"\mathbin{",
            Class::Rel => r"\mathrel{",
            Class::Open => r"\mathopen{",
            Class::Close => r"\mathclose{",
            Class::Punct => r"\mathpunct{",
        };
        self.out.push_str(wrapper);
        self.show(c)?;
        if !wrapper.is_empty() {
            self.out.push('}');
        }
        Ok(())
    }

    /// The number of an equation, in a group that the layouts find.
    fn tag(&mut self) -> Result<(), Broken> {
        let bare = self.source.take('*');
        self.out.extend(['{', TAG]);
        self.out.push_str(r"\text{");
        if self.source.next_solid() != Some(Token::Open) {
            return Err(Broken);
        }
        self.enter(FrameKind::Tag { bare }, true)?;
        if !bare {
            self.out.push('(');
        }
        Ok(())
    }

    /// A command whose argument is text.
    fn text_argument(&mut self, name: &str) -> Result<(), Broken> {
        self.out.push('\\');
        self.out.push_str(name);
        self.out.push(' ');
        self.chain += 1;
        match self.source.next_solid().ok_or(Broken)? {
            Token::Open => {
                self.enter(FrameKind::Group, true)?;
                self.out.push('{');
                Ok(())
            }
            Token::Close => Err(Broken),
            single => {
                self.enter(FrameKind::Group, true)?;
                self.out.push('{');
                self.token(single)?;
                self.close()
            }
        }
    }

    /// Whether dots before this stand at the height of the operators.
    fn is_operator(&self, token: Token) -> bool {
        match token {
            Token::Char(c) => matches!(c, '+' | '-' | '*' | '=' | '<' | '>'),
            Token::Word(word) => {
                if matches!(word, "int" | "iint" | "iiint" | "oint" | "sum" | "prod" | "not") {
                    return true;
                }
                let info = with_backslash(word, |name| self.katex.symbols.get_math(name));
                matches!(info, Some(info) if matches!(info.group, Group::Atom(Atom::Bin | Atom::Rel)))
            }
            _ => false,
        }
    }

    fn char_number(&mut self) -> Result<(), Broken> {
        let radix = match self.source.peek_solid().ok_or(Broken)? {
            Token::Char('"') => 16,
            Token::Char('\'') => 8,
            Token::Char('`') => {
                self.source.next();
                return match self.source.next().ok_or(Broken)? {
                    Token::Char(c) | Token::Escape(c) => self.show(c.encode_utf8(&mut [0; 4])),
                    _ => Err(Broken),
                };
            }
            _ => 10,
        };
        if radix != 10 {
            self.source.next();
        }
        let mut code: Option<u32> = None;
        while let Some(Token::Char(c)) = self.source.peek()
            && let Some(digit) = c.to_digit(radix)
        {
            self.source.next();
            code = Some(code.unwrap_or(0).saturating_mul(radix).saturating_add(digit));
        }
        let c = code.and_then(char::from_u32).ok_or(Broken)?;
        self.show(c.encode_utf8(&mut [0; 4]))
    }

    /// `\unicode{x263A}`, `\unicode{9786}`
    fn unicode(&mut self) -> Result<(), Broken> {
        self.optional()?;
        let code = self.argument()?;
        let code = text(&code);
        let code = match code.trim().strip_prefix(['x', 'U', 'u']) {
            Some(digits) => u32::from_str_radix(digits.trim_start_matches('+'), 16),
            None => code.trim().parse(),
        };
        let c = code.ok().and_then(char::from_u32).ok_or(Broken)?;
        self.show(c.encode_utf8(&mut [0; 4]))
    }

    fn picture(&mut self) -> Result<(), Broken> {
        let options = self.optional()?.map(|options| text(&options)).unwrap_or_default();
        let path = self.argument()?;
        let path = text(&path);
        let described = options.split(',').find_map(|option| option.trim().strip_prefix("alt="));
        let name = path.rsplit('/').next().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        self.show(described.unwrap_or(stem))
    }

    fn plain_command(&mut self, until: &str, form: &'static str) -> Result<(), Broken> {
        let mut tokens = Vec::new();
        loop {
            match self.source.next().ok_or(Broken)? {
                Token::Word(word) if word == until => break,
                token => tokens.push(token),
            }
            self.spend(1)?;
        }
        self.expand_template(form, &[tokens])
    }

    /// `\dv{x}`, `\dv{f}{x}`, `\dv[n]{f}{x}`, `\pdv{f}{x}{y}`: one form for each.
    fn derivative(&mut self, forms: &'static [&'static str; 4]) -> Result<(), Broken> {
        self.source.take('*');
        let order = self.optional()?;
        let mut arguments = vec![self.argument()?];
        while arguments.len() < 3 && self.source.peek() == Some(Token::Open) {
            arguments.push(self.argument()?);
        }
        let form = match (&order, arguments.len()) {
            (None, 1) => forms[0],
            (None, 2) => forms[1],
            (None, _) => forms[3],
            (Some(_), 1) => {
                arguments.insert(0, Vec::new());
                forms[2]
            }
            (Some(_), _) => forms[2],
        };
        arguments.truncate(if order.is_some() { 2 } else { 3 });
        arguments.extend(order);
        self.expand_template(form, &arguments)
    }

    /// Ends a line or a row; the distance in brackets is dropped, a bracket that is content is not.
    pub(super) fn line_break(&mut self) -> Result<(), Broken> {
        if self.in_text() {
            self.out.push(' ');
            return Ok(());
        }
        self.next_cell();
        self.source.take('*');
        // The space keeps the parser from looking for a distance.
        self.out.push_str(r"\\ ");
        self.distance()
    }

    /// Drops a distance in brackets, if one follows.
    fn distance(&mut self) -> Result<(), Broken> {
        const LONGEST: usize = 16;
        if self.source.peek_solid() != Some(Token::Char('[')) {
            return Ok(());
        }
        let mut tokens = Vec::new();
        while tokens.len() < LONGEST
            && let Some(token) = self.source.next()
        {
            tokens.push(token);
            if token == Token::Char(']') {
                break;
            }
        }
        self.spend(tokens.len())?;
        if let [_, inner @ .., Token::Char(']')] = tokens.as_slice()
            && dimension(&text(inner)).is_some()
        {
            return Ok(());
        }
        self.source.push_all(&tokens);
        Ok(())
    }
}

/// A TeX length in em.
fn dimension(text: &str) -> Option<f32> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic() || c == '\\')?;
    let number: f32 = text[..end].trim().parse().ok()?;
    let em = match text[end..].trim() {
        "em" => 1.0,
        "ex" => 0.43,
        "mu" => 1.0 / 18.0,
        "pt" | "bp" | "px" => 0.1,
        "mm" => 0.285,
        "cm" => 2.85,
        "in" => 7.2,
        "pc" => 1.2,
        r"\baselineskip" => 1.2,
        _ => return None,
    };
    Some((number * em).clamp(-50.0, 50.0))
}
