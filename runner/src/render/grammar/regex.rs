//! The expressions of syntaxes: what they can begin with, and what they match at a place.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use fancy_regex::Expr;
use fancy_regex::internal::{FLAG_MULTI, FLAG_ONIGURUMA_MODE, FLAG_UNICODE};
use onig::{MatchParam, RegexOptions, Region, SearchOptions, Syntax};

use super::machine::Machine;
use super::prefix::{Prefix, needs};
use super::program::Program;

/// An expression in Oniguruma's syntax.
pub(super) struct Regex {
    /// No other has it.
    id: usize,
    source: String,
    pub(super) prefix: Prefix,
    /// ASCII that has to be in the rest of the text.
    needs: u128,
    /// A bit for each group whose place is asked for.
    wanted: u64,
    engine: OnceLock<Engine>,
    /// What it says, until the engine is made of it.
    expr: Mutex<Option<Expr>>,
}

enum Engine {
    Own(Program),
    Oniguruma(onig::Regex),
    /// It is none.
    Broken,
}

/// Whether an alternative begins after this part of an expression.
fn begins(before: &str) -> bool {
    let starts = ["(", "|", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"];
    before.is_empty() || starts.iter().any(|start| before.ends_with(start))
}

/// Whether another alternative follows before the end of the group that this is the rest of.
fn has_alternative(rest: &str) -> bool {
    let (mut depth, mut in_class, mut is_escaped) = (0, false, false);
    for c in rest.chars() {
        match c {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            '\\' => is_escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            '|' if !in_class && depth == 0 => return true,
            _ => {}
        }
        if depth < 0 {
            break;
        }
    }
    false
}

/// A line, and what is in it.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    /// ASCII in the rest of the line, from each place on.
    rest: Vec<u128>,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut rest = vec![0; text.len() + 1];
        for (at, byte) in text.bytes().enumerate().rev() {
            let own = if byte.is_ascii() { 1 << byte } else { 0 };
            rest[at] = rest[at + 1] | own;
        }
        Self { text, rest }
    }
}

/// Where matches in one line are noted, each further on than the last or at the same place.
#[derive(Default)]
pub(super) struct Matcher {
    machine: Machine,
    region: Region,
    /// Whether the last match was Oniguruma's.
    is_region: bool,
    /// Where an expression of Oniguruma's matches next, if it does.
    ahead: HashMap<usize, Option<usize>>,
    #[cfg(test)]
    pub(super) searches: usize,
}

impl Regex {
    pub(super) fn new(source: String, wanted: u64) -> Self {
        let expr = parse(&source);
        let prefix = expr.as_ref().map_or(Prefix::ANY, Prefix::of);
        let needs = expr.as_ref().map_or(0, needs);
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { id, source, prefix, needs, wanted, engine: OnceLock::new(), expr: Mutex::new(expr) }
    }

    /// Whether it is worth trying at a place; the first byte is not looked at again.
    pub(super) fn may_match(&self, line: &Line<'_>, at: usize) -> bool {
        self.needs & !line.rest[at] == 0 && self.prefix.allows(line.text.as_bytes(), at)
    }

    /// Whether it can begin with what stands there.
    #[cfg(test)]
    pub(super) fn may_begin(&self, text: &[u8], at: usize) -> bool {
        self.prefix.firsts().any(|first| first == super::prefix::member(text, at))
    }

    fn engine(&self) -> &Engine {
        self.engine.get_or_init(|| {
            let expr = self.expr.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(program) = expr.and_then(|expr| Program::of(&expr, self.wanted)) {
                return Engine::Own(program);
            }
            let options = RegexOptions::REGEX_OPTION_CAPTURE_GROUP;
            let compiled = onig::Regex::with_options(&self.source, options, Syntax::default());
            compiled.map_or(Engine::Broken, Engine::Oniguruma)
        })
    }
}

/// What an expression says; `None` where it would say something else to Oniguruma.
fn parse(source: &str) -> Option<Expr> {
    // So syntect writes the end of a line, which `$` is anyway.
    let source = source.replace("(?m:$)", "$");
    for (at, _) in source.match_indices("(?") {
        let rest = &source[at + 2..];
        let end = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '-')?;
        let (flags, rest) = rest.split_at(end);
        // Oniguruma's `m` is another flag than the parser's. Its flags inside an alternative take in those that follow:
        // `a(?i)b|c` is `a(?i:b|c)`.
        let takes_in =
            rest.starts_with(')') && !begins(&source[..at]) && has_alternative(&rest[1..]);
        if flags.contains(['m', 's']) || takes_in {
            return None;
        }
    }
    let flags = FLAG_ONIGURUMA_MODE | FLAG_UNICODE | FLAG_MULTI;
    let tree = Expr::parse_tree_with_flags(&source, flags).ok()?;
    tree.named_groups.is_empty().then_some(tree.expr)
}

impl Matcher {
    /// Where the match that begins at a place ends.
    pub(super) fn match_at(&mut self, regex: &Regex, text: &str, at: usize) -> Option<usize> {
        match regex.engine() {
            Engine::Own(program) => {
                self.is_region = false;
                self.machine.match_at(program, text, at)
            }
            Engine::Oniguruma(onig) => {
                self.is_region = true;
                self.search_at(regex.id, onig, text, at)
            }
            Engine::Broken => None,
        }
    }

    /// As syntect does it: sought once in the whole rest of the line, for Oniguruma sees sooner there that nothing comes.
    fn search_at(
        &mut self,
        id: usize,
        regex: &onig::Regex,
        text: &str,
        at: usize,
    ) -> Option<usize> {
        let none = SearchOptions::SEARCH_OPTION_NONE;
        match self.ahead.get(&id) {
            Some(None) => return None,
            Some(&Some(start)) if start > at => return None,
            Some(&Some(start)) if start == at => {
                let (region, param) = (Some(&mut self.region), MatchParam::default());
                let length = regex.match_with_param(text, at, none, region, param).ok()??;
                return Some(at + length);
            }
            _ => {}
        }
        let (region, param) = (Some(&mut self.region), MatchParam::default());
        let start = regex.search_with_param(text, at, text.len(), none, region, param);
        let start = start.ok().flatten();
        #[cfg(test)]
        {
            self.searches += 1;
        }
        self.ahead.insert(id, start);
        start.filter(|&start| start == at)?;
        Some(self.region.pos(0)?.1)
    }

    /// Where a group of the last match begins and ends.
    pub(super) fn group(&self, group: usize) -> Option<(usize, usize)> {
        match self.is_region {
            true => self.region.pos(group),
            false => self.machine.group(group),
        }
    }
}

impl std::fmt::Debug for Regex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Regex").field(&self.source).finish()
    }
}
