//! Where a piece of code is in its grammar, from line to line.
//!
//! The rules of the game are those of [`syntect::parsing::ParseState`], whose operations these are.

use std::sync::{Arc, Mutex, PoisonError};

use syntect::parsing::syntax_definition::{Context, MatchOperation, MatchPattern};
use syntect::parsing::{ScopeStackOp, SyntaxReference};

use super::regex::{Line, Matcher, Regex};
use super::start;
use super::table::{Rule, Table};

/// Deeper than that nothing is pushed any more.
const MAX_DEPTH: usize = 100;

/// More than that do not match in any line that is coloured.
const MAX_RULES: usize = 50_000;

/// A scope comes or goes at a byte of the line.
pub(crate) type Op = (usize, ScopeStackOp);

/// Goes through code line by line.
#[derive(Clone, Debug)]
pub(crate) struct Parser {
    stack: Vec<Level>,
    is_first_line: bool,
    /// Depths at which a rule of a `with_prototype` has pushed: those below do not count above.
    walls: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Level {
    table: &'static Table,
    with_prototypes: Vec<&'static Table>,
    captures: Option<Arc<Captures>>,
}

/// What the groups of an earlier match held, as expressions; and the rules it was put into.
#[derive(Debug, Default)]
struct Captures {
    groups: Vec<Option<String>>,
    made: Mutex<Vec<(&'static Rule, Arc<Regex>)>>,
}

/// The rule that comes next.
struct Found {
    rule: &'static Rule,
    start: usize,
    end: usize,
    is_from_prototype: bool,
}

enum Next {
    Rule(Found),
    /// It would go back and forth in place for ever.
    Loop,
    Nothing,
}

/// Where rules come from, and whether that is further out than the context at hand.
struct Source<'a> {
    table: &'static Table,
    level: &'a Level,
    is_outer: bool,
}

/// What stays the same while one rule after the other is sought.
struct Search<'a> {
    line: Line<'a>,
    matcher: Matcher,
    /// Rules that matched nothing since the last one that did: they are not tried again.
    spent: Vec<&'static Rule>,
}

impl Parser {
    pub(crate) fn new(syntax: &'static SyntaxReference) -> Option<Self> {
        let table = Table::of(start(syntax)?);
        let level = Level { table, with_prototypes: Vec::new(), captures: None };
        Some(Self { stack: vec![level], is_first_line: true, walls: Vec::new() })
    }

    /// Appends what happens in a line, which ends with a line feed.
    pub(crate) fn line(&mut self, line: &str, ops: &mut Vec<Op>) {
        let Some(top) = self.stack.last() else { return };
        if std::mem::take(&mut self.is_first_line)
            && let Some(&scope) = top.table.context.meta_content_scope.first()
        {
            ops.push((0, ScopeStackOp::Push(scope)));
        }
        let mut search =
            Search { line: Line::new(line), matcher: Matcher::default(), spent: Vec::new() };
        let mut at = 0;
        let mut pushed_in_place = None;
        // A syntax may go round in circles without moving.
        for _ in 0..MAX_RULES {
            if self.stack.is_empty() {
                return;
            }
            while self.walls.last().is_some_and(|&wall| wall >= self.stack.len()) {
                self.walls.pop();
            }
            let may_loop = pushed_in_place == Some((at, self.stack.len()));
            let found = match self.next(&mut search, at, may_loop) {
                Next::Rule(found) => found,
                Next::Nothing => return,
                Next::Loop => match line[at..].chars().next() {
                    Some(c) if at + c.len_utf8() < line.len() => {
                        at += c.len_utf8();
                        continue;
                    }
                    _ => return,
                },
            };
            if found.end <= at && matches!(found.rule.pattern.operation, MatchOperation::Push(_)) {
                pushed_in_place = Some((found.end, self.stack.len() + 1));
            }
            at = found.end;
            if found.is_from_prototype {
                self.walls.push(self.stack.len());
            }
            self.obey(&found, &search, ops);
        }
    }

    /// The earliest match from `from` on, of the first rule among those that match there.
    fn next(&self, search: &mut Search<'_>, from: usize, may_loop: bool) -> Next {
        let Some(top) = self.stack.last() else { return Next::Nothing };
        let wall = self.walls.last().copied().unwrap_or(0);
        let mut sources = Vec::new();
        for level in self.stack.get(wall..).unwrap_or_default() {
            let outer = level.with_prototypes.iter();
            sources.extend(outer.map(|&table| Source { table, level, is_outer: true }));
        }
        sources.push(Source { table: top.table, level: top, is_outer: false });
        search.spent.clear();
        let line = search.line.text;
        let mut at = from;
        loop {
            if let [only] = sources.as_slice() {
                at = only.table.skip(line.as_bytes(), at);
            }
            if line.is_char_boundary(at) {
                match self.here(search, &sources, at, may_loop && at == from) {
                    Next::Nothing => {}
                    found => return found,
                }
            }
            if at >= line.len() {
                return Next::Nothing;
            }
            at += 1;
        }
    }

    /// The first rule that matches at a place.
    fn here(
        &self,
        search: &mut Search<'_>,
        sources: &[Source<'_>],
        at: usize,
        may_loop: bool,
    ) -> Next {
        let mut next = Next::Nothing;
        let text = search.line.text.as_bytes();
        for source in sources {
            for (rule, is_own) in source.table.candidates(text, at) {
                let captures = source.level.captures.as_deref().filter(|_| is_own);
                let Some(end) = search.try_rule(rule, at, captures) else { continue };
                match rule.pattern.operation {
                    // It does nothing, here nor later in the line.
                    MatchOperation::None if end == at => search.spent.push(rule),
                    MatchOperation::Push(_) if self.stack.len() >= MAX_DEPTH => {}
                    MatchOperation::Pop if may_loop && end == at => next = Next::Loop,
                    _ => {
                        let is_from_prototype = source.is_outer;
                        return Next::Rule(Found { rule, start: at, end, is_from_prototype });
                    }
                }
            }
        }
        next
    }

    /// Does what a rule says.
    fn obey(&mut self, found: &Found, search: &Search<'_>, ops: &mut Vec<Op>) {
        let pattern = found.rule.pattern;
        let Some(level) = self.stack.last() else { return };
        let context = level.table.context;
        before(found, context, ops);
        for &scope in &pattern.scope {
            ops.push((found.start, ScopeStackOp::Push(scope)));
        }
        captured(pattern, &search.matcher, ops);
        if !pattern.scope.is_empty() {
            ops.push((found.end, ScopeStackOp::Pop(pattern.scope.len())));
        }
        after(found, context, ops);
        self.go(found, search);
    }

    /// Changes the stack.
    fn go(&mut self, found: &Found, search: &Search<'_>) {
        let mut inherited = match found.rule.pattern.operation {
            MatchOperation::None => return,
            MatchOperation::Pop => {
                self.stack.pop();
                return;
            }
            MatchOperation::Push(_) => Vec::new(),
            MatchOperation::Set(_) => {
                self.stack.pop().map(|level| level.with_prototypes).unwrap_or_default()
            }
        };
        let targets = found.rule.targets();
        for (n, &table) in targets.contexts.iter().enumerate() {
            let mut with_prototypes = std::mem::take(&mut inherited);
            if n == targets.contexts.len() - 1 {
                with_prototypes.extend(targets.with_prototype);
            }
            let refers = table.context.uses_backrefs
                || with_prototypes.iter().any(|table| table.context.uses_backrefs);
            let captures = refers.then(|| Arc::new(search.captures()));
            self.stack.push(Level { table, with_prototypes, captures });
        }
    }
}

impl Search<'_> {
    /// Where a rule's match that begins at a place ends.
    fn try_rule(
        &mut self,
        rule: &'static Rule,
        at: usize,
        captures: Option<&Captures>,
    ) -> Option<usize> {
        if self.spent.iter().any(|&spent| std::ptr::eq(spent, rule)) {
            return None;
        }
        if rule.pattern.has_captures
            && let Some(captures) = captures
        {
            return self.try_regex(&captures.put_into(rule), at);
        }
        self.try_regex(&rule.regex, at)
    }

    fn try_regex(&mut self, regex: &Regex, at: usize) -> Option<usize> {
        let may_match = regex.may_match(&self.line, at);
        may_match.then(|| self.matcher.match_at(regex, self.line.text, at))?
    }

    fn captures(&self) -> Captures {
        let text = |(start, end)| regex_syntax::escape(&self.line.text[start..end]);
        // More cannot be named with one digit.
        let groups = (0..10).map(|group| self.matcher.group(group).map(text)).collect();
        Captures { groups, made: Mutex::default() }
    }
}

impl Captures {
    /// A rule's expression with what the groups held; each is made once.
    fn put_into(&self, rule: &'static Rule) -> Arc<Regex> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, regex)) = made.iter().find(|&&(known, _)| std::ptr::eq(known, rule)) {
            return regex.clone();
        }
        let source = substituted(rule.pattern.regex().regex_str(), &self.groups);
        let regex = Arc::new(Regex::new(source, !0));
        made.push((rule, regex.clone()));
        regex
    }
}

/// An expression with what an earlier match held in place of `\1` and so on.
fn substituted(source: &str, groups: &[Option<String>]) -> String {
    let mut out = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some(digit) if digit.is_ascii_digit() => {
                let group = digit.to_digit(10).and_then(|n| groups.get(n as usize));
                out.push_str(group.and_then(Option::as_deref).unwrap_or_default());
            }
            other => {
                out.push('\\');
                out.extend(other);
            }
        }
    }
    out
}

/// The scopes of the groups of a match, outer ones first.
fn captured(pattern: &MatchPattern, matcher: &Matcher, ops: &mut Vec<Op>) {
    let Some(captures) = &pattern.captures else { return };
    let mut sorted = Vec::new();
    for (group, scopes) in captures {
        let Some((start, end)) = matcher.group(*group).filter(|(start, end)| start != end) else {
            continue;
        };
        let longest_first = -((end - start) as i32);
        for &scope in scopes {
            sorted.push(((start, longest_first), ScopeStackOp::Push(scope)));
        }
        sorted.push(((end, i32::MIN), ScopeStackOp::Pop(scopes.len())));
    }
    sorted.sort_by_key(|&(place, _)| place);
    ops.extend(sorted.into_iter().map(|((at, _), op)| (at, op)));
}

/// The scopes of contexts that cover a match.
fn before(found: &Found, context: &Context, ops: &mut Vec<Op>) {
    let is_set = match found.rule.pattern.operation {
        MatchOperation::None => return,
        MatchOperation::Pop => {
            if !context.meta_content_scope.is_empty() {
                ops.push((found.start, ScopeStackOp::Pop(context.meta_content_scope.len())));
            }
            return;
        }
        MatchOperation::Push(_) => false,
        MatchOperation::Set(_) => true,
    };
    if is_set && context.clear_scopes.is_some() {
        ops.push((found.start, ScopeStackOp::Restore));
    }
    for table in &found.rule.targets().contexts {
        if let Some(amount) = table.context.clear_scopes.filter(|_| !is_set) {
            ops.push((found.start, ScopeStackOp::Clear(amount)));
        }
        for &scope in &table.context.meta_scope {
            ops.push((found.start, ScopeStackOp::Push(scope)));
        }
    }
}

/// The scopes of contexts from the end of a match on.
fn after(found: &Found, context: &Context, ops: &mut Vec<Op>) {
    let is_set = match found.rule.pattern.operation {
        MatchOperation::None => return,
        MatchOperation::Pop => {
            if !context.meta_scope.is_empty() {
                ops.push((found.end, ScopeStackOp::Pop(context.meta_scope.len())));
            }
            if context.clear_scopes.is_some() {
                ops.push((found.end, ScopeStackOp::Restore));
            }
            return;
        }
        MatchOperation::Push(_) => false,
        MatchOperation::Set(_) => true,
    };
    let targets = || found.rule.targets().contexts.iter().map(|table| table.context);
    let old = context.meta_scope.len() + context.meta_content_scope.len();
    let changes = (is_set && old > 0)
        || targets().any(|target| {
            !target.meta_content_scope.is_empty() || (is_set && target.clear_scopes.is_some())
        });
    if !changes {
        return;
    }
    let covering: usize = targets().map(|target| target.meta_scope.len()).sum();
    let leaving = covering + if is_set { old } else { 0 };
    if leaving > 0 {
        ops.push((found.end, ScopeStackOp::Pop(leaving)));
    }
    for target in targets() {
        if let Some(amount) = target.clear_scopes.filter(|_| is_set) {
            ops.push((found.end, ScopeStackOp::Clear(amount)));
        }
        for &scope in target.meta_scope.iter().chain(&target.meta_content_scope) {
            ops.push((found.end, ScopeStackOp::Push(scope)));
        }
    }
}
