//! The rules of a context, found by the byte at hand.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use syntect::parsing::syntax_definition::{
    Context, ContextReference, MatchOperation, MatchPattern, Pattern,
};

use super::prefix::{MEMBERS, member};
use super::regex::Regex;
use super::syntaxes;

/// One pattern of a syntax.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) pattern: &'static MatchPattern,
    /// What it refers to in an earlier match is not put in.
    pub(super) regex: Regex,
    targets: OnceLock<Targets>,
}

/// The contexts a rule leads to.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) contexts: Vec<&'static Table>,
    /// What is matched first in all that is pushed upon the last of them.
    pub(super) with_prototype: Option<&'static Table>,
}

/// The rules that count in a context, in order.
pub(super) struct Table {
    pub(super) context: &'static Context,
    rules: Vec<&'static Rule>,
    /// How many of the rules come from the prototype of its syntax.
    prototype: usize,
    /// The rules that may match by what stands at a place: an index into `lists`.
    by_byte: [u16; MEMBERS],
    /// Indices of rules; the first is empty.
    lists: Vec<Box<[u16]>>,
}

impl Rule {
    /// The rule of a pattern; each is made once.
    fn of(pattern: &'static MatchPattern) -> &'static Self {
        static RULES: OnceLock<Mutex<HashMap<usize, &'static Rule>>> = OnceLock::new();
        let rules = RULES.get_or_init(Mutex::default);
        let mut rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
        rules.entry(std::ptr::from_ref(pattern).addr()).or_insert_with(|| {
            let regex = Regex::new(pattern.regex().regex_str().to_owned(), wanted(pattern));
            Box::leak(Box::new(Self { pattern, regex, targets: OnceLock::new() }))
        })
    }

    pub(super) fn targets(&self) -> &Targets {
        self.targets.get_or_init(|| {
            let (MatchOperation::Push(references) | MatchOperation::Set(references)) =
                &self.pattern.operation
            else {
                return Targets::default();
            };
            let with_prototype = self.pattern.with_prototype.as_ref();
            Targets {
                contexts: references.iter().filter_map(resolve).map(Table::of).collect(),
                with_prototype: with_prototype.and_then(resolve).map(Table::bare),
            }
        })
    }
}

fn resolve(reference: &ContextReference) -> Option<&'static Context> {
    reference.resolve(syntaxes()).ok()
}

impl Table {
    /// Of a context and the prototype of its syntax; each is made once.
    pub(super) fn of(context: &'static Context) -> &'static Self {
        Self::known(context, true)
    }

    /// Of a context alone.
    fn bare(context: &'static Context) -> &'static Self {
        Self::known(context, false)
    }

    fn known(context: &'static Context, with_prototype: bool) -> &'static Self {
        type Tables = Mutex<HashMap<(usize, bool), &'static Table>>;
        static TABLES: OnceLock<Tables> = OnceLock::new();
        let tables = TABLES.get_or_init(Mutex::default);
        let mut tables = tables.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (std::ptr::from_ref(context).addr(), with_prototype);
        tables.entry(key).or_insert_with(|| {
            let mut rules = Vec::new();
            if with_prototype && let Some(prototype) = prototype(context) {
                collect(prototype, &mut rules);
            }
            let prototype = rules.len();
            collect(context, &mut rules);
            Box::leak(Box::new(Self::build(context, rules, prototype)))
        })
    }

    fn build(context: &'static Context, rules: Vec<&'static Rule>, prototype: usize) -> Self {
        let mut by_first = vec![Vec::new(); MEMBERS];
        for (n, rule) in rules.iter().enumerate() {
            for byte in rule.regex.prefix.firsts() {
                by_first[byte].push(n as u16);
            }
        }
        // Most bytes share their list with others.
        let mut lists: Vec<Box<[u16]>> = vec![Box::default()];
        let by_byte = std::array::from_fn(|byte| {
            let list = by_first[byte].as_slice();
            let known = lists.iter().position(|known| **known == *list);
            known.unwrap_or_else(|| {
                lists.push(list.into());
                lists.len() - 1
            }) as u16
        });
        Self { context, rules, prototype, by_byte, lists }
    }

    /// The rules that may match at a place, in order, and whether each is the context's own.
    pub(super) fn candidates(
        &self,
        text: &[u8],
        at: usize,
    ) -> impl Iterator<Item = (&'static Rule, bool)> {
        let list = &self.lists[usize::from(self.by_byte[member(text, at)])];
        list.iter().map(|&n| (self.rules[usize::from(n)], usize::from(n) >= self.prototype))
    }

    /// The first place, from `at` on, where some rule may match; at most the end.
    pub(super) fn skip(&self, text: &[u8], at: usize) -> usize {
        let is_idle = |&at: &usize| self.by_byte[member(text, at)] == 0;
        (at..text.len()).take_while(is_idle).last().map_or(at, |last| last + 1)
    }
}

/// The groups of a pattern that matter, a bit for each.
fn wanted(pattern: &MatchPattern) -> u64 {
    let refers = |reference| resolve(reference).is_none_or(|context| context.uses_backrefs);
    let is_kept = match &pattern.operation {
        MatchOperation::Push(references) | MatchOperation::Set(references) => {
            references.iter().chain(&pattern.with_prototype).any(refers)
        }
        _ => false,
    };
    let groups = pattern.captures.iter().flatten().map(|&(group, _)| group);
    match is_kept || pattern.has_captures {
        true => !0,
        false => groups.fold(0, |set, group| set | 1 << group.min(63)),
    }
}

/// The prototype that a context begins with.
fn prototype(context: &Context) -> Option<&'static Context> {
    referred(&serde_json::to_value(context.prototype?).ok()?)
}

/// A context of a syntax by their numbers.
pub(super) fn context(syntax: usize, context: usize) -> Option<&'static Context> {
    referred(&serde_json::json!({ "syntax_index": syntax, "context_index": context }))
}

/// Contexts can only be looked up by references, and references only be read from data.
fn referred(id: &serde_json::Value) -> Option<&'static Context> {
    resolve(&serde_json::from_value(serde_json::json!({ "Direct": id })).ok()?)
}

/// All patterns of a context, included ones where they are included.
fn collect(context: &'static Context, rules: &mut Vec<&'static Rule>) {
    for pattern in &context.patterns {
        match pattern {
            Pattern::Match(pattern) => rules.push(Rule::of(pattern)),
            Pattern::Include(reference) => {
                if let Some(included) = resolve(reference) {
                    collect(included, rules);
                }
            }
        }
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Tables lead to each other in circles.
        f.debug_struct("Table").field("rules", &self.rules.len()).finish_non_exhaustive()
    }
}
