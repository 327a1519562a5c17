#![allow(clippy::unwrap_used)]
//! What syntect and Oniguruma say is right, and must be said here too.

use std::path::{Path, PathBuf};

use onig::{MatchParam, RegexOptions, Region, SearchOptions, Syntax};
use proptest::prelude::*;
use syntect::parsing::ParseState;

use super::regex::{Line, Matcher, Regex};
use super::*;

/// Compares the operations of every line with those of syntect; tells how many lines there were.
fn compare(name: &str, language: &str, code: &str) -> usize {
    let Some(syntax) = syntaxes().find_syntax_by_token(language) else { return 0 };
    let mut parser = Parser::new(syntax).unwrap();
    let mut state = ParseState::new(syntax);
    let mut ops = Vec::new();
    for (n, line) in code.lines().enumerate() {
        let line = format!("{line}\n");
        ops.clear();
        parser.line(&line, &mut ops);
        assert_eq!(
            ops,
            state.parse_line(&line, syntaxes()).unwrap(),
            "{name}:{} ({language}): {line}",
            n + 1
        );
    }
    code.lines().count()
}

#[test]
fn every_syntax_has_a_beginning() {
    for syntax in syntaxes().syntaxes() {
        let language = &syntax.name;
        assert!(start(syntax).is_some(), "{language}");
        compare(
            language,
            language,
            "a(\"b\\n\", 'c') = {1: [x]} // # -- e\n<p q='r'>\n\n  - f: $g\n",
        );
    }
}

#[test]
fn sources_of_this_project_are_read_as_by_syntect() {
    fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_ours = !name.to_string_lossy().starts_with('.') && name != "target";
            match entry.file_type().unwrap() {
                kind if kind.is_dir() && is_ours => walk(&path, files),
                kind if kind.is_file() && is_ours => files.push(path),
                _ => {}
            }
        }
    }
    let mut files = Vec::new();
    let runner = Path::new(env!("CARGO_MANIFEST_DIR"));
    walk(&runner.join("src/tools"), &mut files);
    walk(&runner.join("js-engine"), &mut files);
    walk(&runner.join("../example-tools"), &mut files);
    files.push(runner.join("../README.md"));
    let mut lines = 0;
    for file in files {
        let Some(language) = file.extension().and_then(|name| name.to_str()) else { continue };
        let Ok(code) = std::fs::read_to_string(&file) else { continue };
        lines += compare(&file.to_string_lossy(), language, &code);
    }
    assert!(lines > 1000, "{lines}");
}

#[test]
fn code_of_many_languages_is_read_as_by_syntect() {
    let Some(corpus) = std::env::var_os("AUTOCODE_CORPUS").map(PathBuf::from) else {
        println!("left out: AUTOCODE_CORPUS is not set, so no code of it was compared");
        return;
    };
    let mut lines = 0;
    for name in
        ["code-langs.md", "pi-ai-readme.md", "rich-cn.md", "grow-10k.md", "octokit-readme.md"]
    {
        let text = std::fs::read_to_string(corpus.join("md").join(name)).unwrap();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("```") {
            let (language, after) = rest[at + 3..].split_once('\n').unwrap_or_default();
            let end = after.find("```").unwrap_or(after.len());
            // Long blocks of one kind say little more.
            let code: String = after[..end].split_inclusive('\n').take(250).collect();
            lines += compare(name, language.trim(), &code);
            rest = after.get(end + 3..).unwrap_or_default();
        }
    }
    println!("{lines} lines compared");
    assert!(lines > 2000, "{lines}");
}

/// What Oniguruma says of a place: where the match ends, and where its groups are.
type Said = Option<(usize, Vec<Option<(usize, usize)>>)>;

const GROUPS: usize = 8;

/// Compares what both say of every place of a text.
fn agree(source: &str, text: &str) -> Result<(), TestCaseError> {
    let options = RegexOptions::REGEX_OPTION_CAPTURE_GROUP;
    let Ok(onig) = onig::Regex::with_options(source, options, Syntax::default()) else {
        return Ok(());
    };
    let regex = Regex::new(source.to_owned(), !0);
    let line = Line::new(text);
    let mut matcher = Matcher::default();
    for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
        let mut region = Region::new();
        let (none, param) = (SearchOptions::SEARCH_OPTION_NONE, MatchParam::default());
        let length = onig.match_with_param(text, at, none, Some(&mut region), param).unwrap();
        let wanted: Said = length
            .map(|length| (at + length, (1..GROUPS).map(|group| region.pos(group)).collect()));
        let own: Said = matcher
            .match_at(&regex, text, at)
            .map(|end| (end, (1..GROUPS).map(|group| matcher.group(group)).collect()));
        prop_assert_eq!(&own, &wanted, "{} at {} of {:?}", source, at, text);
        let may = regex.may_match(&line, at) && regex.may_begin(text.as_bytes(), at);
        prop_assert!(may || wanted.is_none(), "{} is not tried at {} of {:?}", source, at, text);
    }
    Ok(())
}

/// Expressions of all that syntaxes use, over few letters.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "ab", "é", "-", r"\.", "ß"]).prop_map(str::to_owned),
        2 => prop::sample::select(vec![
            "[ab]", "[^a]", r"\w", r"\s", r"\S", ".", r"\d", "[[:alpha:]_]", r"\h", r"[^\n]", r"\W"
        ]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["^", "$", r"\b", r"\B", r"\z", r"\Z", r"\A", "(?m:$)", ""])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["(?i:aB)", "(?i:[a-c])", "(?x: a # b\n b )", r"(?<=a)", r"(?<!b|é)"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let repeat =
            prop::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "*+", "++"]);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..4)
                .prop_map(|parts| format!("(?:{})", parts.join("|"))),
            1 => inner.clone().prop_map(|inner| format!("({inner})")),
            2 => (inner.clone(), repeat).prop_map(|(inner, repeat)| format!("(?:{inner}){repeat}")),
            1 => inner.clone().prop_map(|inner| format!("(?={inner})")),
            1 => inner.clone().prop_map(|inner| format!("(?!{inner})")),
            1 => inner.prop_map(|inner| format!("(?>{inner})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn expressions_match_as_in_oniguruma(source in expression(), text in "[abABé. _ß1-]{0,8}\n?") {
        agree(&source, &text)?;
    }
}

#[test]
fn flags_inside_an_alternative_take_in_the_next() {
    for source in [
        "a(?i)b|c",
        "(?i)a|b",
        "x(?:a|(?i)b)c",
        "(?x) a | b # c",
        "(?i)k",
        "[^[:alpha:]]",
        r"a\1|b",
    ] {
        for text in ["aB", "aC", "C", "B", "xBc", "a", "\u{212a}", "é"] {
            agree(source, text).unwrap();
        }
    }
}

#[test]
fn an_expression_that_never_ends_costs_a_bounded_time() {
    let text = "a".repeat(2000) + "\n";
    let regex = Regex::new("(?:a|a)*(?:a|a)*b".into(), 0);
    let mut matcher = Matcher::default();
    // Many times as many places as a line has.
    for at in 0..text.len() {
        assert_eq!(matcher.match_at(&regex, &text, at), None);
    }
}

/// An expression that looks for a colon far ahead, tried anew at every place, cost the square of a long line.
#[test]
fn what_oniguruma_is_asked_is_sought_once_a_line() {
    let mut matcher = Matcher::default();
    let text = "a".repeat(2000) + "b\n";
    // Named groups are left to Oniguruma.
    let regex = Regex::new("(?<x>b)".into(), !0);
    let ends: Vec<usize> =
        (0..=2000).filter_map(|at| matcher.match_at(&regex, &text, at)).collect();
    assert_eq!(ends, [2001]);
    assert_eq!(matcher.group(1), Some((2000, 2001)));
    assert_eq!(matcher.searches, 1);
}
