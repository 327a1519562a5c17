//! Environments: what stands for what, and the arguments that the parser would refuse.

use super::super::source::{Token, text};
use super::{Broken, FrameKind, Rewriter};

/// An environment we know, by the one of KaTeX that it becomes.
pub(super) struct Environment {
    pub name: &'static str,
    /// Empty: the content alone.
    pub target: &'static str,
    arguments: Arguments,
}

enum Arguments {
    /// A position in brackets, which says nothing here.
    Position,
    /// `[r]`: the alignment of a starred matrix.
    Alignment,
    /// `{c|c}`
    Columns,
    /// The number of column pairs.
    Pairs,
    /// A length in braces, which says nothing here.
    Distance,
    /// Columns the environment itself implies.
    Implied(&'static str),
}

use Arguments::{Alignment, Columns, Distance, Implied, Pairs, Position};

const fn environment(
    name: &'static str,
    target: &'static str,
    arguments: Arguments,
) -> Environment {
    Environment { name, target, arguments }
}

/// Numbers are never invented, so every environment that numbers becomes the one that does not.
static ENVIRONMENTS: &[Environment] = &[
    environment("align", "align*", Position),
    environment("align*", "align*", Position),
    environment("aligned", "aligned", Position),
    environment("split", "aligned", Position),
    environment("cases", "cases", Position),
    environment("pmatrix", "pmatrix", Position),
    environment("bmatrix", "bmatrix", Position),
    environment("vmatrix", "vmatrix", Position),
    environment("Bmatrix", "Bmatrix", Position),
    environment("Vmatrix", "Vmatrix", Position),
    environment("matrix", "matrix", Position),
    environment("smallmatrix", "smallmatrix", Position),
    environment("array", "array", Columns),
    environment("darray", "darray", Columns),
    environment("equation", "align*", Position),
    environment("equation*", "align*", Position),
    environment("gather", "gather*", Position),
    environment("gather*", "gather*", Position),
    environment("gathered", "gathered", Position),
    environment("alignat", "alignat*", Pairs),
    environment("alignat*", "alignat*", Pairs),
    environment("alignedat", "alignedat", Pairs),
    environment("multline", "align*", Position),
    environment("multline*", "align*", Position),
    environment("multlined", "aligned", Position),
    environment("eqnarray", "array", Implied("rcl")),
    environment("eqnarray*", "array", Implied("rcl")),
    environment("IEEEeqnarray", "array", Columns),
    environment("IEEEeqnarray*", "array", Columns),
    environment("flalign", "align*", Position),
    environment("flalign*", "align*", Position),
    environment("dmath", "align*", Position),
    environment("dmath*", "align*", Position),
    environment("dcases", "dcases", Position),
    environment("rcases", "rcases", Position),
    environment("drcases", "drcases", Position),
    environment("cases*", "cases", Position),
    environment("dcases*", "dcases", Position),
    environment("rcases*", "rcases", Position),
    environment("lgathered", "gathered", Position),
    environment("rgathered", "gathered", Position),
    environment("spreadlines", "", Distance),
    environment("crampedsubarray", "subarray", Columns),
    environment("smallmatrix*", "matrix*", Alignment),
    environment("matrix*", "matrix*", Alignment),
    environment("pmatrix*", "pmatrix*", Alignment),
    environment("bmatrix*", "bmatrix*", Alignment),
    environment("Bmatrix*", "Bmatrix*", Alignment),
    environment("vmatrix*", "vmatrix*", Alignment),
    environment("Vmatrix*", "Vmatrix*", Alignment),
    environment("psmallmatrix", "pmatrix", Position),
    environment("bsmallmatrix", "bmatrix", Position),
    environment("Bsmallmatrix", "Bmatrix", Position),
    environment("vsmallmatrix", "vmatrix", Position),
    environment("Vsmallmatrix", "Vmatrix", Position),
    environment("subarray", "subarray", Columns),
    environment("tabular", "array", Columns),
    environment("CD", "CD", Position),
    environment("math", "", Position),
    environment("displaymath", "", Position),
    environment("subequations", "", Position),
];

impl<'a> Rewriter<'a> {
    pub(super) fn begin(&mut self) -> Result<(), Broken> {
        let name = self.argument()?;
        let name = text(&name);
        let Some(known) = ENVIRONMENTS.iter().find(|known| known.name == name.trim()) else {
            self.show(&format!("\\begin{{{name}}}"))?;
            let shown = self.verbatim.len() - 1;
            self.enter(FrameKind::UnknownEnvironment(shown), false)?;
            self.out.push_str(r"\begin{matrix}");
            return Ok(());
        };
        self.enter(FrameKind::Environment(known), false)?;
        if known.target.is_empty() {
            if matches!(known.arguments, Distance) {
                self.argument()?;
            }
            self.out.push('{');
            return Ok(());
        }
        self.out.push_str(r"\begin{");
        self.out.push_str(known.target);
        self.out.push('}');
        match &known.arguments {
            Position | Distance => drop(self.position()?),
            Alignment => {
                let position = self.position()?;
                if let Some([Token::Char(c @ ('l' | 'c' | 'r'))]) = position.as_deref() {
                    self.out.extend(['[', *c, ']']);
                }
            }
            Columns => {
                self.position()?;
                let columns = self.argument()?;
                self.out.push('{');
                self.columns(&columns, 0)?;
                self.out.push('}');
            }
            Pairs => {
                self.argument()?;
                // Room for all; columns nobody fills do not show.
                self.out.push_str("{20}");
            }
            Implied(columns) => {
                self.out.push('{');
                self.out.push_str(columns);
                self.out.push('}');
            }
        }
        // Keeps a bracket that begins the first cell from being read as an argument.
        self.out.push_str(r"\relax ");
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<(), Broken> {
        let name = self.argument()?;
        let name = text(&name);
        match self.leave()? {
            FrameKind::Environment(known) if known.name == name.trim() => {
                if known.target.is_empty() {
                    self.out.push('}');
                } else {
                    self.out.push_str(r"\end{");
                    self.out.push_str(known.target);
                    self.out.push('}');
                }
                Ok(())
            }
            FrameKind::UnknownEnvironment(shown)
                if self.verbatim[shown] == format!("\\begin{{{name}}}") =>
            {
                self.out.push_str(r"\end{matrix}");
                self.show(&format!("\\end{{{name}}}"))
            }
            _ => Err(Broken),
        }
    }

    /// `[t]` right after `\begin{…}`; a bracket further on belongs to the content.
    fn position(&mut self) -> Result<Option<Vec<Token<'a>>>, Broken> {
        if self.source.peek() != Some(Token::Char('[')) {
            return Ok(None);
        }
        let position = self.optional()?.unwrap_or_default();
        if matches!(position.as_slice(), [Token::Char('t' | 'c' | 'b' | 'l' | 'r')] | []) {
            return Ok(Some(position));
        }
        self.source.push(Token::Char(']'));
        self.source.push_all(&position);
        self.source.push(Token::Char('['));
        Ok(None)
    }

    /// A column specification with only what the parser knows.
    fn columns(&mut self, spec: &[Token<'a>], depth: usize) -> Result<(), Broken> {
        let mut at = 0;
        while let Some(token) = spec.get(at) {
            at += 1;
            let Token::Char(c) = token else { continue };
            match c {
                'l' | 'c' | 'r' | '|' | ':' => self.out.push(*c),
                'L' => self.out.push('l'),
                'C' => self.out.push('c'),
                'R' | 'S' => self.out.push('r'),
                'X' | 'J' => self.out.push('l'),
                'p' | 'm' | 'b' => {
                    self.out.push('l');
                    group(spec, &mut at);
                }
                '@' | '!' | '>' | '<' => {
                    group(spec, &mut at);
                }
                '*' if depth < 2 => {
                    let times = text(group(spec, &mut at)).trim().parse::<usize>().unwrap_or(1);
                    let repeated = group(spec, &mut at);
                    for _ in 0..times.min(32) {
                        self.spend(repeated.len())?;
                        self.columns(repeated, depth + 1)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The group at `at`, without its braces; `at` moves past it.
fn group<'t, 'a>(tokens: &'t [Token<'a>], at: &mut usize) -> &'t [Token<'a>] {
    if tokens.get(*at) != Some(&Token::Open) {
        return &[];
    }
    let from = *at + 1;
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(*at) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            *at = index + 1;
            return &tokens[from..index];
        }
    }
    *at = tokens.len();
    &[]
}
