//! What a word of a shell line can turn into, and what expanding it does.

use brush_parser::word::{Parameter, ParameterExpr as Expansion, WordPiece, WordPieceWithSource};

use super::line::{Reader, options};

/// An argument, as far as it is known before it is expanded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The value if it does not depend on anything; glob characters stand for themselves.
    text: Option<String>,
    /// It may become an option, or several words, or none.
    loose: bool,
    /// It may become several words, or none.
    several: bool,
}

impl Word {
    pub(super) fn unknown() -> Self {
        Self { text: None, loose: true, several: true }
    }

    /// `/dev/fd/N` of a process substitution.
    pub(super) fn descriptor() -> Self {
        Self { text: None, loose: false, several: false }
    }

    pub(super) fn assignment(name: &str, value: &Self) -> Self {
        // What is assigned is not split.
        Self {
            text: value.text.as_ref().map(|text| format!("{name}={text}")),
            loose: false,
            several: false,
        }
    }

    /// The value if it is known.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Whether it may become an option or several words.
    pub fn is_loose(&self) -> bool {
        self.loose
    }

    pub(super) fn is_several(&self) -> bool {
        self.several
    }

    pub(super) fn is_number(&self) -> bool {
        self.text().is_some_and(|text| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()))
    }

    /// What can follow `>&`: a number, or `-` to close.
    pub(super) fn is_descriptor_number(&self) -> bool {
        self.is_number() || self.text() == Some("-")
    }
}

/// A word while its pieces are put together.
struct Growing {
    text: Option<String>,
    loose: bool,
    several: bool,
    /// Nothing can have come before: what comes next may begin an option.
    at_start: bool,
    /// The unquoted text so far.
    bare: String,
}

impl Growing {
    fn new() -> Self {
        Self {
            text: Some(String::new()),
            loose: false,
            several: false,
            at_start: true,
            bare: String::new(),
        }
    }

    fn literal(&mut self, text: &str, quoted: bool) {
        if text.is_empty() {
            return;
        }
        if !quoted {
            self.bare.push_str(text);
        }
        self.at_start = false;
        if let Some(whole) = &mut self.text {
            whole.push_str(text);
        }
    }

    fn dynamic(&mut self, quoted: bool) {
        self.loose |= !quoted || self.at_start;
        self.several |= !quoted;
        self.text = None;
        self.at_start = false;
    }

    fn finish(mut self) -> Word {
        let begins = |chars: &[char]| self.text.as_deref().unwrap_or_default().starts_with(chars);
        let bracket = self.bare.find('[').is_some_and(|at| self.bare[at..].contains(']'));
        let globs = bracket || self.bare.contains(['*', '?']);
        self.several |= globs;
        if globs && begins(&['*', '?', '[', '-']) {
            self.loose = true;
        }
        // {a,b} and {1..3} become several words, of any shape.
        if self.bare.contains('{') && (self.bare.contains(',') || self.bare.contains("..")) {
            return Word::unknown();
        }
        Word { text: self.text, loose: self.loose, several: self.several }
    }
}

type Read<T> = Result<T, &'static str>;

impl Reader {
    /// Reads a word and notes what its expansion does.
    pub(super) fn word(&mut self, source: &str) -> Read<Word> {
        let pieces = brush_parser::word::parse(source, &options())
            .map_err(|_| "a word that is hard to read")?;
        let mut word = Growing::new();
        self.pieces(&pieces, false, &mut word)?;
        Ok(word.finish())
    }

    /// Reads the text of a here-document for what its expansion does.
    pub(super) fn here_text(&mut self, source: &str) -> Read<()> {
        let pieces = brush_parser::word::parse_heredoc(source, &options())
            .map_err(|_| "a here-document that is hard to read")?;
        self.pieces(&pieces, true, &mut Growing::new())
    }

    fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        quoted: bool,
        word: &mut Growing,
    ) -> Read<()> {
        for (at, piece) in pieces.iter().enumerate() {
            if let WordPiece::Text(text) = &piece.piece
                && text.ends_with('$')
                && !stays_a_dollar(pieces.get(at + 1))
            {
                // The parser found no end of what the dollar begins, and took it for text.
                self.unclear("an expansion that is hard to read");
            }
            self.piece(&piece.piece, quoted, word)?;
        }
        Ok(())
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool, word: &mut Growing) -> Read<()> {
        match piece {
            WordPiece::Text(text) => {
                if text.contains('`') || (!quoted && text.contains(['(', ')'])) {
                    self.unclear("a pattern or substitution that is hard to read");
                }
                word.literal(text, quoted);
            }
            WordPiece::SingleQuotedText(text) => word.literal(text, true),
            WordPiece::EscapeSequence(text) => match text.strip_prefix('\\') {
                Some("\n") | None => {}
                Some(escaped) => word.literal(escaped, true),
            },
            WordPiece::AnsiCQuotedText(_) | WordPiece::TildeExpansion(_) => word.dynamic(false),
            WordPiece::DoubleQuotedSequence(inner) => self.pieces(inner, true, word)?,
            WordPiece::GettextDoubleQuotedSequence(inner) => {
                word.dynamic(false);
                self.pieces(inner, true, word)?;
            }
            WordPiece::ParameterExpansion(expansion) => {
                let several = matches!(expansion, Expansion::Parameter { parameter, .. } if is_list(parameter));
                word.dynamic(quoted && !several);
                self.expansion(expansion)?;
            }
            WordPiece::CommandSubstitution(text) => {
                word.dynamic(quoted);
                self.substitution(text)?;
            }
            WordPiece::BackquotedCommandSubstitution(_) => {
                word.dynamic(quoted);
                self.unclear("a substitution in backquotes");
            }
            WordPiece::ArithmeticExpression(expression) => {
                word.dynamic(quoted);
                self.arithmetic(&expression.value);
            }
        }
        Ok(())
    }

    fn expansion(&mut self, expansion: &Expansion) -> Read<()> {
        let (parameter, indirect, nested) = match expansion {
            Expansion::Parameter { parameter, indirect }
            | Expansion::ParameterLength { parameter, indirect } => (parameter, indirect, None),
            Expansion::UseDefaultValues { parameter, indirect, default_value: nested, .. }
            | Expansion::UseAlternativeValue {
                parameter,
                indirect,
                alternative_value: nested,
                ..
            }
            | Expansion::RemoveSmallestSuffixPattern { parameter, indirect, pattern: nested }
            | Expansion::RemoveLargestSuffixPattern { parameter, indirect, pattern: nested }
            | Expansion::RemoveSmallestPrefixPattern { parameter, indirect, pattern: nested }
            | Expansion::RemoveLargestPrefixPattern { parameter, indirect, pattern: nested } => {
                (parameter, indirect, nested.as_deref())
            }
            // Assigning, indirect and evaluating forms, and what is rare.
            _ => {
                self.unclear("an expansion that is hard to read");
                return Ok(());
            }
        };
        let indexed = matches!(parameter, Parameter::NamedWithIndex { .. });
        if *indirect || indexed {
            self.unclear("an expansion that is evaluated in turn");
        }
        match nested {
            Some(nested) => self.word(nested).map(drop),
            None => Ok(()),
        }
    }
}

/// Whether a dollar sign before this piece stands for itself.
fn stays_a_dollar(next: Option<&WordPieceWithSource>) -> bool {
    match next.map(|next| &next.piece) {
        None => true,
        Some(WordPiece::Text(text)) => text.starts_with([' ', '\n', '.', ',', '/', ';']),
        Some(_) => false,
    }
}

fn is_list(parameter: &Parameter) -> bool {
    matches!(parameter, Parameter::Special(_) | Parameter::NamedWithAllIndices { .. })
}
