//! Programs that only look: what may run unasked when writing is asked about.
//!
//! Invariant: a program is here only if no argument that passes its check can make it write, connect or run another
//! program. Reading is not asked about. What is not here is asked; that costs a question, never a file.

use super::git;
use super::line::Run;
use super::word::Word;

/// Those that no argument makes do anything else.
const ALWAYS: &[&str] = &[
    ":",
    "b2sum",
    "basename",
    "break",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "df",
    "diff",
    "dirname",
    "dirs",
    "du",
    "echo",
    "egrep",
    "exit",
    "expand",
    "expr",
    "false",
    "fgrep",
    "fmt",
    "fold",
    "free",
    "grep",
    "groups",
    "head",
    "hexdump",
    "id",
    "join",
    "jq",
    "ls",
    "lscpu",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pgrep",
    "popd",
    "printenv",
    "ps",
    "pushd",
    "pwd",
    "readlink",
    "realpath",
    "return",
    "rev",
    "seq",
    "sha1sum",
    "sha224sum",
    "sha256sum",
    "sha384sum",
    "sha512sum",
    "shift",
    "sleep",
    "stat",
    "strings",
    "tac",
    "tail",
    "tr",
    "true",
    "type",
    "uname",
    "unexpand",
    "uptime",
    "wait",
    "wc",
    "whereis",
    "which",
    "who",
    "whoami",
];

/// Variables that change how a program's output looks and nothing else.
const COSMETIC: &[&str] = &[
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "NO_COLOR",
    "TZ",
];

/// Whether the command only looks. `own_repository`: git's own configuration here is the project's, not a stranger's.
pub(super) fn is_harmless(run: &Run, own_repository: bool) -> bool {
    run.sets.iter().all(is_cosmetic) && only_looks(&run.words, own_repository)
}

pub(super) fn is_cosmetic(set: &Word) -> bool {
    set.text()
        .and_then(|text| text.split_once('='))
        .is_some_and(|(name, _)| COSMETIC.contains(&name))
}

fn only_looks(words: &[Word], own_repository: bool) -> bool {
    let Some((name, args)) = words.split_first() else { return true };
    let Some(name) = program(name) else { return false };
    if ALWAYS.contains(&name) {
        return true;
    }
    match name {
        "command" => command(args, own_repository),
        "builtin" => only_looks(args, own_repository),
        "timeout" => wrapped(args, &["-k", "-s"], 1, own_repository),
        "nice" => wrapped(args, &["-n"], 0, own_repository),
        "xargs" => xargs(args, own_repository),
        "env" => args.is_empty(),
        "test" => test(args),
        "[" => args.split_last().is_some_and(|(last, args)| last.text() == Some("]") && test(args)),
        "base64" => without(args, "o", &["--output"]),
        "printf" => args.first().is_some_and(|first| !first.is_loose() && !starts(first, "-v")),
        "set" => args.iter().all(|word| word.text().is_some_and(is_shell_option)),
        "date" => date(args),
        "hostname" => args.is_empty(),
        "file" => without(args, "C", &["--compile"]),
        "find" => without_words(args, &FIND),
        "fd" | "fdfind" => without(args, "xX", &["--exec", "--exec-batch"]),
        "rg" => without(args, "", &["--pre", "--hostname-bin"]),
        "sort" => without(args, "oT", &["--output", "--compress-program", "--temporary-directory"]),
        "tree" => without(args, "oR", &["--output"]),
        "uniq" => args.iter().all(|word| !word.is_loose()) && positional(args) <= 1,
        "sed" => sed(args),
        "git" => own_repository && git::only_looks(args),
        _ => false,
    }
}

const FIND: [&str; 9] =
    ["-delete", "-exec", "-execdir", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir"];

/// The program's name; only the system's own directories stand for the plain name.
fn program(word: &Word) -> Option<&str> {
    let text = word.text().filter(|_| !word.is_loose())?;
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|dir| text.strip_prefix(dir)).unwrap_or(text);
    (!name.contains('/')).then_some(name)
}

fn starts(word: &Word, start: &str) -> bool {
    word.text().is_none_or(|text| text.starts_with(start))
}

/// Whether no argument may be one of these: `short` letters, alone or in a cluster, or `long` options, abbreviated or
/// not.
pub(super) fn without(args: &[Word], short: &str, long: &[&str]) -> bool {
    args.iter().all(|word| {
        if word.is_loose() {
            return false;
        }
        let Some(text) = word.text() else { return true };
        if let Some(name) = text.strip_prefix("--") {
            let name = name.split('=').next().unwrap_or_default();
            return name.is_empty() || !long.iter().any(|option| option[2..].starts_with(name));
        }
        !text.strip_prefix('-').is_some_and(|cluster| cluster.contains(|c| short.contains(c)))
    })
}

fn without_words(args: &[Word], refused: &[&str]) -> bool {
    args.iter()
        .all(|word| !word.is_loose() && word.text().is_none_or(|text| !refused.contains(&text)))
}

fn positional(args: &[Word]) -> usize {
    args.iter()
        .filter(|word| word.text().is_none_or(|text| !text.starts_with('-') || text == "-"))
        .count()
}

/// `command -v NAME` tells where it is; `command NAME …` runs it.
fn command(args: &[Word], own_repository: bool) -> bool {
    match args.first().and_then(Word::text) {
        Some("-v" | "-V") => true,
        Some(name) if !name.starts_with('-') => only_looks(args, own_repository),
        _ => args.is_empty(),
    }
}

/// `timeout 5 PROGRAM …`: options with a value, then `values` words, then the program.
fn wrapped(args: &[Word], options: &[&str], values: usize, own_repository: bool) -> bool {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        match first.text() {
            Some(option) if options.contains(&option) => rest = after.get(1..).unwrap_or_default(),
            Some(text) if text.starts_with('-') => return false,
            Some(_) => break,
            None => return false,
        }
    }
    let known = rest.iter().take(values).all(|word| !word.is_loose());
    known
        && rest
            .get(values..)
            .is_some_and(|rest| !rest.is_empty() && only_looks(rest, own_repository))
}

/// The program gets words from its input, and they may be anything.
fn xargs(args: &[Word], own_repository: bool) -> bool {
    let mut rest = args;
    let mut replaced = None;
    while let Some((first, after)) = rest.split_first() {
        match first.text() {
            Some("-0" | "-r" | "-t" | "--null" | "--no-run-if-empty") => rest = after,
            Some("-n" | "-L" | "-P" | "-d") => rest = after.get(1..).unwrap_or_default(),
            Some("-I") => {
                let Some(mark) = after.first().and_then(Word::text) else { return false };
                replaced = Some(mark);
                rest = &after[1..];
            }
            Some(text) if text.starts_with("-I") => {
                replaced = text.get(2..);
                rest = after;
            }
            Some(text) if text.starts_with('-') => return false,
            Some(_) => break,
            None => return false,
        }
    }
    let is_input = |word: &Word| {
        replaced.is_some_and(|mark| {
            word.text().is_none_or(|text| mark.is_empty() || text.contains(mark))
        })
    };
    let given = rest.iter().map(|word| if is_input(word) { Word::unknown() } else { word.clone() });
    let words: Vec<Word> = given.chain([Word::unknown()]).collect();
    rest.is_empty() || only_looks(&words, own_repository)
}

/// `[ … ]` with an operator that does not evaluate what it is given, as `-v` does.
fn test(args: &[Word]) -> bool {
    const UNARY: &str = "abcdefghknprstuwxzGLNOS";
    const BINARY: [&str; 13] =
        ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot"];
    let args = match args.split_first() {
        Some((first, rest)) if first.text() == Some("!") => rest,
        _ => args,
    };
    if args.iter().any(Word::is_several) {
        return false;
    }
    match args {
        [] | [_] => true,
        [unary, _] => unary.text().is_some_and(|text| {
            text.len() == 2 && text.strip_prefix('-').is_some_and(|letter| UNARY.contains(letter))
        }),
        [_, binary, _] => binary.text().is_some_and(|text| BINARY.contains(&text)),
        _ => false,
    }
}

fn is_shell_option(text: &str) -> bool {
    let letters = text
        .strip_prefix(['-', '+'])
        .is_some_and(|l| !l.is_empty() && l.chars().all(|c| "eufxo".contains(c)));
    letters || ["pipefail", "errexit", "nounset", "xtrace"].contains(&text)
}

/// Showing, not setting.
fn date(args: &[Word]) -> bool {
    const VALUED: [&str; 4] = ["-d", "--date", "-r", "--reference"];
    let mut takes_value = false;
    for word in args {
        let Some(text) = word.text().filter(|_| !word.is_loose()) else { return false };
        if std::mem::take(&mut takes_value) {
            continue;
        }
        takes_value = VALUED.contains(&text);
        let shows = text.starts_with('+')
            || ["-u", "--utc", "-R", "-I"].contains(&text)
            || text.starts_with("--date=");
        if !(shows
            || takes_value
            || text.starts_with("-I")
            || text.starts_with("--iso-8601")
            || text.starts_with("--rfc"))
        {
            return false;
        }
    }
    true
}

/// `sed -n '1,20p;$p' FILE…`: every other script may write or run something.
fn sed(args: &[Word]) -> bool {
    let mut quiet = false;
    let mut script = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text().filter(|_| !word.is_loose()) else { return false };
        match text {
            "-n" | "--quiet" | "--silent" => quiet = true,
            "-e" if script.is_none() => script = words.next().and_then(Word::text),
            "-e" => return false,
            option if option.starts_with('-') && option != "-" => return false,
            first if script.is_none() => script = Some(first),
            _ => {}
        }
    }
    quiet && script.is_some_and(|script| script.split(';').all(prints_lines))
}

/// `5p`, `1,20p`, `$p`, `p`.
fn prints_lines(command: &str) -> bool {
    let Some(address) = command.trim().strip_suffix('p') else { return false };
    let line =
        |text: &str| text == "$" || (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()));
    address.is_empty() || address.split(',').all(line) && address.split(',').count() <= 2
}
