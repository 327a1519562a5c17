//! Code into coloured text: bat's syntaxes, mapped to inks instead of a theme.
//!
//! Nothing is loaded before the first block that names a language, and a language costs nothing
//! before its first line. State goes from line to line, so a block may grow for ever.

use std::collections::HashMap;
use std::sync::{OnceLock, RwLock};

use syntect::parsing::{BasicScopeStackOp, Scope, ScopeStack, SyntaxReference};

use super::grammar::{Op, Parser, syntaxes};
use super::style::{Ink, Style};

/// Longer lines are data; colouring them costs more than it tells.
const MAX_LINE: usize = 2048;

/// Where the parser is in a piece of code.
#[derive(Clone, Debug)]
pub(crate) struct Highlighter {
    parser: Parser,
    scopes: ScopeStack,
    /// The style of each open scope.
    styles: Vec<Style>,
    buffer: String,
    ops: Vec<Op>,
}

impl Highlighter {
    /// For a language by name, alias or file extension.
    pub(crate) fn for_language(name: &str) -> Option<Self> {
        Some(Self {
            parser: Parser::new(find(name)?)?,
            scopes: ScopeStack::new(),
            styles: Vec::new(),
            buffer: String::new(),
            ops: Vec::new(),
        })
    }

    /// Calls `put` with the pieces of a line, in order.
    pub(crate) fn line(&mut self, line: &str, mut put: impl FnMut(&str, Style)) {
        if line.len() > MAX_LINE {
            return put(line, Style::PLAIN);
        }
        self.buffer.clear();
        self.buffer.push_str(line);
        self.buffer.push('\n');
        self.parser.line(&self.buffer, &mut self.ops);
        let mut start = 0;
        for (at, op) in self.ops.drain(..) {
            let at = at.min(line.len());
            if at > start {
                put(&line[start..at], self.styles.last().copied().unwrap_or_default());
                start = at;
            }
            let styles = &mut self.styles;
            // A broken stack costs colours, nothing else.
            let _ = self.scopes.apply_with_hook(&op, |op, _| match op {
                BasicScopeStackOp::Push(scope) => {
                    let outer = styles.last().copied().unwrap_or_default();
                    styles.push(style(scope, outer));
                }
                BasicScopeStackOp::Pop => _ = styles.pop(),
            });
        }
        if start < line.len() {
            put(&line[start..], self.styles.last().copied().unwrap_or_default());
        }
    }
}

/// The syntax of a language; names are remembered, for the search is long.
fn find(name: &str) -> Option<&'static SyntaxReference> {
    type Names = RwLock<HashMap<String, Option<&'static SyntaxReference>>>;
    const MAX_NAME: usize = 32;
    const MAX_NAMES: usize = 256;
    static NAMES: OnceLock<Names> = OnceLock::new();
    let name = name.trim_start_matches(['.', '{']).trim_end_matches('}').to_ascii_lowercase();
    if name.len() > MAX_NAME || PLAIN.contains(&name.as_str()) {
        return None;
    }
    let names = NAMES.get_or_init(Names::default);
    if let Some(&known) = names.read().ok().as_ref().and_then(|names| names.get(&name)) {
        return known;
    }
    let found = syntaxes().find_syntax_by_token(alias(&name));
    if let Ok(mut names) = names.write()
        && names.len() < MAX_NAMES
    {
        names.insert(name, found);
    }
    found
}

/// Names of no language at all.
const PLAIN: [&str; 7] = ["", "text", "txt", "plain", "plaintext", "none", "output"];

/// What the syntaxes call the languages that people name otherwise.
fn alias(name: &str) -> &str {
    match name {
        "shell" | "console" | "shellsession" | "shell-session" | "terminal" | "zsh" | "ksh" => {
            "bash"
        }
        "golang" => "go",
        "node" | "mjs" | "cjs" => "js",
        "jsonc" | "json5" | "jsonl" | "ndjson" => "json",
        "csharp" | "c#" => "cs",
        "python3" | "py3" | "pycon" => "py",
        "patch" => "diff",
        "hcl" => "tf",
        "docker" => "dockerfile",
        "make" => "makefile",
        "viml" => "vim",
        other => other,
    }
}

/// The look of a scope inside a text of the style `outer`.
fn style(scope: Scope, outer: Style) -> Style {
    type Cache = RwLock<HashMap<Scope, Option<Style>>>;
    static CACHE: OnceLock<Cache> = OnceLock::new();
    let cache = CACHE.get_or_init(Cache::default);
    let known = cache.read().ok().and_then(|cache| cache.get(&scope).copied());
    let own = known.unwrap_or_else(|| {
        let own = look(scope);
        if let Ok(mut cache) = cache.write() {
            cache.insert(scope, own);
        }
        own
    });
    match own {
        // The text of a key stays a key.
        Some(own) if own.ink == Ink::Text && outer.ink == Ink::Property => outer,
        Some(own) => own,
        None => outer,
    }
}

/// Prefixes of scopes and what they look like; the first that fits wins.
const LOOKS: [(&str, Ink); 56] = [
    ("comment", Ink::Comment),
    ("meta.mapping.key", Ink::Property),
    ("meta.structure.dictionary.key", Ink::Property),
    ("meta.interpolation", Ink::Plain),
    ("meta.template.expression", Ink::Plain),
    ("source", Ink::Plain),
    ("string.unquoted.plain.out", Ink::Plain),
    ("string", Ink::Text),
    ("constant.character.escape", Ink::Property),
    ("constant", Ink::Number),
    ("keyword.operator.word", Ink::Keyword),
    ("keyword.operator.logical.python", Ink::Keyword),
    ("keyword.operator", Ink::Operator),
    ("keyword", Ink::Keyword),
    ("storage.type.numeric", Ink::Number),
    ("storage", Ink::Keyword),
    ("entity.name.function", Ink::Function),
    ("entity.name.macro", Ink::Function),
    ("entity.name.type", Ink::Type),
    ("entity.name.class", Ink::Type),
    ("entity.name.struct", Ink::Type),
    ("entity.name.enum", Ink::Type),
    ("entity.name.trait", Ink::Type),
    ("entity.name.interface", Ink::Type),
    ("entity.name.impl", Ink::Type),
    ("entity.name.namespace", Ink::Type),
    ("entity.name.module", Ink::Type),
    ("entity.name.tag.yaml", Ink::Property),
    ("entity.name.tag", Ink::Variable),
    ("entity.name.section", Ink::Heading),
    ("entity.name.label", Ink::Property),
    ("entity.name.constant", Ink::Number),
    ("entity.name", Ink::Function),
    ("entity.other.attribute-name", Ink::Number),
    ("entity.other.inherited-class", Ink::Type),
    ("entity.other", Ink::Property),
    ("support.function", Ink::Function),
    ("support.macro", Ink::Function),
    ("support.type.property-name", Ink::Property),
    ("support.type", Ink::Type),
    ("support.class", Ink::Type),
    ("support.constant", Ink::Number),
    ("support", Ink::Function),
    ("variable.function", Ink::Function),
    ("variable.annotation", Ink::Property),
    ("variable.language", Ink::Variable),
    ("variable.other.key", Ink::Property),
    ("variable", Ink::Plain),
    ("meta.annotation", Ink::Property),
    ("markup.inserted", Ink::Added),
    ("markup.deleted", Ink::Removed),
    ("markup.changed", Ink::Changed),
    ("meta.diff.range", Ink::Changed),
    ("meta.diff.header", Ink::Heading),
    ("markup.heading", Ink::Heading),
    ("markup.raw", Ink::Code),
];

fn look(scope: Scope) -> Option<Style> {
    static PREFIXES: OnceLock<Vec<(Scope, Ink)>> = OnceLock::new();
    let prefixes = PREFIXES.get_or_init(|| {
        LOOKS.iter().filter_map(|&(name, ink)| Some((Scope::new(name).ok()?, ink))).collect()
    });
    let ink = prefixes.iter().find(|(prefix, _)| prefix.is_prefix_of(scope))?.1;
    let style = Style::of(ink);
    Some(if ink == Ink::Comment { style.italic() } else { style })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn pieces(language: &str, lines: &[&str]) -> Vec<(String, Ink)> {
        let mut highlighter = Highlighter::for_language(language).unwrap();
        let mut out: Vec<(String, Ink)> = Vec::new();
        for line in lines {
            highlighter.line(line, |part, style| match out.last_mut() {
                Some((text, ink)) if *ink == style.ink => text.push_str(part),
                _ => out.push((part.to_owned(), style.ink)),
            });
        }
        out
    }

    fn ink_of(pieces: &[(String, Ink)], text: &str) -> Ink {
        pieces.iter().find(|(piece, _)| piece.contains(text)).unwrap().1
    }

    #[test]
    fn code_is_coloured_by_what_it_means() {
        let rust = pieces("rust", &["pub fn main() { // note", "    let s = \"x\"; }"]);
        assert_eq!(ink_of(&rust, "fn"), Ink::Keyword);
        assert_eq!(ink_of(&rust, "main"), Ink::Function);
        assert_eq!(ink_of(&rust, "note"), Ink::Comment);
        assert_eq!(ink_of(&rust, "\"x\""), Ink::Text);
        let json = pieces("json", &["{\"key\": \"value\", \"n\": 1}"]);
        assert_eq!(ink_of(&json, "key"), Ink::Property);
        assert_eq!(ink_of(&json, "value"), Ink::Text);
        assert_eq!(ink_of(&json, "1"), Ink::Number);
    }

    #[test]
    fn state_goes_from_line_to_line() {
        let c = pieces("c", &["/* one", "two */ int x;"]);
        assert_eq!(ink_of(&c, "two"), Ink::Comment);
        assert_eq!(ink_of(&c, "int"), Ink::Keyword);
    }

    #[test]
    fn diffs_show_what_comes_and_goes() {
        let diff = pieces("diff", &["@@ -1 +1 @@", "-old", "+new", " same"]);
        assert_eq!(ink_of(&diff, "old"), Ink::Removed);
        assert_eq!(ink_of(&diff, "new"), Ink::Added);
        assert_eq!(ink_of(&diff, "same"), Ink::Plain);
    }

    #[test]
    fn usual_names_find_their_language() {
        for name in [
            "py",
            "python",
            "sh",
            "bash",
            "console",
            "js",
            "ts",
            "tsx",
            "yaml",
            "yml",
            "toml",
            "c++",
            "cpp",
            "c#",
            "golang",
            "go",
            "java",
            "kotlin",
            "swift",
            "ruby",
            "sql",
            "html",
            "css",
            "json",
            "jsonc",
            "dockerfile",
            "makefile",
            "xml",
            "lua",
            "php",
            "zig",
        ] {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("text").is_none() && find("no-such-language").is_none());
    }
}
