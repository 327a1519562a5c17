//! Code into scopes: bat's syntaxes, as syntect understands them, in less time.
//!
//! Syntect looks for every pattern of a context in the whole rest of the line. Here a table tells
//! by the byte at hand which of them may match at a place, mostly one or none, and only those are
//! tried, there alone. What comes out is the same; tests hold it against syntect.

mod behind;
mod chars;
mod compile;
mod machine;
mod parser;
mod prefix;
mod program;
mod regex;
mod table;

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use syntect::parsing::syntax_definition::{Context, MatchOperation, Pattern};
use syntect::parsing::{SyntaxReference, SyntaxSet};

pub(crate) use parser::{Op, Parser};

/// All syntaxes, unpacked when first asked for; each syntax itself when it is first used.
pub(crate) fn syntaxes() -> &'static SyntaxSet {
    static SYNTAXES: OnceLock<SyntaxSet> = OnceLock::new();
    SYNTAXES.get_or_init(two_face::syntax::extra_newlines)
}

/// The context in which a syntax begins; each is sought once.
fn start(syntax: &'static SyntaxReference) -> Option<&'static Context> {
    type Starts = Mutex<HashMap<usize, Option<&'static Context>>>;
    static STARTS: OnceLock<Starts> = OnceLock::new();
    let mut starts =
        STARTS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let key = std::ptr::from_ref(syntax).addr();
    *starts.entry(key).or_insert_with(|| find_start(syntax))
}

/// It has the scope of its syntax, and pushes another context without a condition.
fn find_start(syntax: &'static SyntaxReference) -> Option<&'static Context> {
    let index = syntaxes().syntaxes().iter().position(|known| std::ptr::eq(known, syntax))?;
    (0..).map_while(|context| table::context(index, context)).find(|context| {
        let [Pattern::Match(pattern)] = context.patterns.as_slice() else { return false };
        context.meta_content_scope == [syntax.scope]
            && pattern.regex().regex_str().is_empty()
            && matches!(pattern.operation, MatchOperation::Push(_))
    })
}

#[cfg(test)]
mod tests;
