//! A shell line as the things it does: programs run, files written, variables set, wherever in the line they stand.
//!
//! Invariant: nothing that bash would do is missing from the list. Whatever is not plainly understood becomes
//! [`Deed::Unclear`], or the whole line is refused; so a difference between this reading and bash's errs towards asking.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Part, CompoundCommand};
use brush_parser::{Parser, ParserImpl, ParserOptions};

use super::word::Word;

/// One thing that a line does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Runs a program or builtin.
    Run(Run),
    /// Writes to a file.
    Write(Word),
    /// Sets a variable that other programs may heed.
    Set(Word),
    /// Something that cannot be told in advance; says what.
    Unclear(&'static str),
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// `NAME=value` before it.
    pub sets: Vec<Word>,
    /// Program and arguments.
    pub words: Vec<Word>,
}

/// Longer lines are asked about unread.
const LONGEST: usize = 16 * 1024;
/// Brackets inside brackets, substitutions inside substitutions.
const DEEPEST: usize = 12;
/// Longer numbers mean nothing good, and the parser does not bound them.
const DIGITS: usize = 9;

/// All that `line` does; `Err` when it cannot be read, with the reason.
pub fn deeds(line: &str) -> Result<Vec<Deed>, &'static str> {
    let mut reader = Reader { deeds: Vec::new(), depth: 0 };
    reader.program(line)?;
    Ok(reader.deeds)
}

/// How the parser reads: as `bash -c` does. Tildes are left alone, they only ever stand for a directory.
pub(super) fn options() -> ParserOptions {
    ParserOptions {
        enable_extended_globbing: false,
        posix_mode: false,
        sh_mode: false,
        tilde_expansion_at_word_start: false,
        tilde_expansion_after_colon: false,
        parser_impl: ParserImpl::Peg,
    }
}

pub(super) struct Reader {
    deeds: Vec<Deed>,
    depth: usize,
}

type Read = Result<(), &'static str>;

impl Reader {
    pub(super) fn unclear(&mut self, what: &'static str) {
        self.deeds.push(Deed::Unclear(what));
    }

    fn program(&mut self, text: &str) -> Read {
        plain(text)?;
        let mut parser = Parser::new(text.as_bytes(), &options());
        let program = parser
            .parse_program()
            .map_err(|_| "it is not shell syntax as far as it can be read")?;
        program.complete_commands.iter().try_for_each(|list| self.list(list))
    }

    /// The text inside `$(…)`.
    pub(super) fn substitution(&mut self, text: &str) -> Read {
        // Where such a text ends is where shells have disagreed: comments, `case`, here-documents.
        let tricky = text.contains(['#', '`']) || text.contains("<<") || has_word(text, "case");
        if tricky {
            self.unclear("a substitution that is hard to read");
            return Ok(());
        }
        self.depth += 1;
        if self.depth > 4 {
            return Err("substitutions are nested too deeply");
        }
        self.program(text)?;
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, list: &ast::CompoundList) -> Read {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first)?;
            for next in &and_or.additional {
                let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline)?;
            }
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) -> Read {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &ast::Command) -> Read {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.compound(compound)
            }
            // The body counts as if it ran: a function may be called like any program.
            ast::Command::Function(function) => {
                self.redirects(function.body.1.as_ref())?;
                self.compound(&function.body.0)
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirects(redirects.as_ref())?;
                self.test(&test.expr)
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Read {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.variable(&clause.variable_name, None);
                for word in clause.values.iter().flatten() {
                    self.word(&word.value)?;
                }
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value)?;
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value)?;
                    }
                    case.cmd.iter().try_for_each(|list| self.list(list))?;
                }
                Ok(())
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                for branch in clause.elses.iter().flatten() {
                    branch.condition.iter().try_for_each(|list| self.list(list))?;
                    self.list(&branch.body)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value);
                Ok(())
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                self.unclear("arithmetic");
                self.list(&clause.body.list)
            }
            CompoundCommand::Coprocess(process) => {
                self.unclear("a coprocess");
                self.command(&process.body)
            }
        }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) -> Read {
        let mut run = Run::default();
        for part in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match part {
                Part::AssignmentWord(assignment, _) => {
                    run.sets.extend(self.assignment(assignment)?)
                }
                other => self.part(other, &mut run)?,
            }
        }
        if let Some(name) = &simple.word_or_name {
            run.words.push(self.word(&name.value)?);
        }
        for part in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.part(part, &mut run)?;
        }
        if run.words.is_empty() {
            self.deeds.extend(run.sets.into_iter().map(Deed::Set));
        } else {
            self.deeds.push(Deed::Run(run));
        }
        Ok(())
    }

    fn part(&mut self, part: &Part, run: &mut Run) -> Read {
        match part {
            Part::IoRedirect(redirect) => self.redirect(redirect),
            Part::Word(word) => {
                run.words.push(self.word(&word.value)?);
                Ok(())
            }
            // After the program's name it is an argument like any other.
            Part::AssignmentWord(_, word) => {
                if word.value.contains('(') {
                    self.unclear("an array");
                }
                run.words.push(self.word(&word.value)?);
                Ok(())
            }
            Part::ProcessSubstitution(_, subshell) => {
                run.words.push(Word::descriptor());
                self.list(&subshell.list)
            }
        }
    }

    /// The assignment as a word if it matters to other programs.
    fn assignment(&mut self, assignment: &ast::Assignment) -> Result<Option<Word>, &'static str> {
        let (ast::AssignmentName::VariableName(name), ast::AssignmentValue::Scalar(value)) =
            (&assignment.name, &assignment.value)
        else {
            self.unclear("an array");
            return Ok(None);
        };
        let value = self.word(&value.value)?;
        Ok((!is_private(name)).then(|| Word::assignment(name, &value)))
    }

    fn variable(&mut self, name: &str, value: Option<&Word>) {
        if !is_private(name) {
            let value = value.cloned().unwrap_or_else(Word::unknown);
            self.deeds.push(Deed::Set(Word::assignment(name, &value)));
        }
    }

    fn redirects(&mut self, list: Option<&ast::RedirectList>) -> Read {
        list.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect) -> Read {
        use ast::IoFileRedirectKind as Kind;
        use ast::IoFileRedirectTarget as Target;
        match redirect {
            ast::IoRedirect::File(_, _, Target::Fd(_)) => Ok(()),
            ast::IoRedirect::File(_, _, Target::ProcessSubstitution(_, subshell)) => {
                self.list(&subshell.list)
            }
            ast::IoRedirect::File(_, kind, Target::Filename(word) | Target::Duplicate(word)) => {
                let word = self.word(&word.value)?;
                match kind {
                    Kind::Read => self.read(&word),
                    Kind::DuplicateInput | Kind::DuplicateOutput if word.is_descriptor_number() => {
                    }
                    _ => self.write(word),
                }
                Ok(())
            }
            ast::IoRedirect::OutputAndError(word, _) => {
                let word = self.word(&word.value)?;
                self.write(word);
                Ok(())
            }
            ast::IoRedirect::HereString(_, word) => self.word(&word.value).map(drop),
            ast::IoRedirect::HereDocument(_, document) => self.here_document(document),
        }
    }

    fn write(&mut self, word: Word) {
        const NOWHERE: [&str; 3] = ["/dev/null", "/dev/stdout", "/dev/stderr"];
        if !word.text().is_some_and(|text| NOWHERE.contains(&text)) {
            self.deeds.push(Deed::Write(word));
        }
    }

    /// bash opens connections for some names.
    fn read(&mut self, word: &Word) {
        if word.text().is_none_or(|text| text.contains("/dev/tcp/") || text.contains("/dev/udp/")) {
            self.unclear("input that cannot be told in advance");
        }
    }

    fn here_document(&mut self, document: &ast::IoHereDocument) -> Read {
        let end = document.here_end.value.as_str();
        let end =
            ['\'', '"'].iter().find_map(|q| end.strip_prefix(*q)?.strip_suffix(*q)).unwrap_or(end);
        let is_plain =
            !end.is_empty() && end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let ends_within = document.doc.value.lines().any(|line| line.trim() == end);
        if !is_plain || ends_within {
            return Err("a here-document that is hard to read");
        }
        if document.requires_expansion { self.here_text(&document.doc.value) } else { Ok(()) }
    }

    fn test(&mut self, test: &ast::ExtendedTestExpr) -> Read {
        use ast::{BinaryPredicate as Binary, ExtendedTestExpr as Test, UnaryPredicate as Unary};
        match test {
            Test::And(a, b) | Test::Or(a, b) => {
                self.test(a)?;
                self.test(b)
            }
            Test::Not(a) | Test::Parenthesized(a) => self.test(a),
            Test::UnaryTest(kind, word) => {
                if matches!(
                    kind,
                    Unary::ShellVariableIsSetAndAssigned | Unary::ShellVariableIsSetAndNameRef
                ) {
                    self.unclear("a test of a variable's name");
                }
                self.word(&word.value).map(drop)
            }
            Test::BinaryTest(kind, a, b) => {
                let (a, b) = (self.word(&a.value)?, self.word(&b.value)?);
                let arithmetic = matches!(
                    kind,
                    Binary::ArithmeticEqualTo
                        | Binary::ArithmeticNotEqualTo
                        | Binary::ArithmeticLessThan
                        | Binary::ArithmeticLessThanOrEqualTo
                        | Binary::ArithmeticGreaterThan
                        | Binary::ArithmeticGreaterThanOrEqualTo
                );
                if arithmetic && !(a.is_number() && b.is_number()) {
                    self.unclear("arithmetic");
                }
                Ok(())
            }
        }
    }

    /// A name in arithmetic is evaluated in turn, substitutions in its value included.
    pub(super) fn arithmetic(&mut self, text: &str) {
        let harmless = |c: char| c.is_ascii_digit() || " \t\n+-*/%()<>=!&|^~?:,".contains(c);
        if !text.chars().all(harmless) {
            self.unclear("arithmetic");
        }
    }
}

/// A variable that only the line itself looks at: programs and bash heed capitals, and a few others.
fn is_private(name: &str) -> bool {
    let heeded = name.ends_with("_proxy") || ["histchars", "auto_resume"].contains(&name);
    !heeded && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Refuses texts on which readings differ, or which would cost the parser too much.
fn plain(text: &str) -> Read {
    if text.len() > LONGEST {
        return Err("it is too long to be read");
    }
    if text
        .chars()
        .any(|c| c != '\n' && c != '\t' && (c.is_control() || (c.is_whitespace() && c != ' ')))
    {
        return Err("it has unusual white space or control characters");
    }
    let mut digits = 0;
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > DIGITS {
            return Err("it has a very long number");
        }
        match byte {
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    let blocks = ["if", "for", "while", "until", "case", "select", "function"];
    let blocks: usize = blocks.iter().map(|word| count_words(text, word)).sum();
    if deepest > DEEPEST || blocks > DEEPEST {
        return Err("it is nested too deeply");
    }
    Ok(())
}

fn has_word(text: &str, word: &str) -> bool {
    count_words(text, word) > 0
}

fn count_words(text: &str, word: &str) -> usize {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|part| *part == word).count()
}
