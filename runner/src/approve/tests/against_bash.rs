//! Random lines, judged here and run by the real bash: whatever passes must not have run `rm`.
//!
//! The lines only find stand-ins for programs, which do nothing but note that `rm` was called.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::passes;

/// Lines that are tried; `AUTOCODE_CASES` asks for more.
const CASES: usize = 400;

#[test]
fn bash_runs_no_program_that_was_not_seen() {
    let cases = std::env::var("AUTOCODE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(CASES);
    let seed = std::env::var("AUTOCODE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let mut random = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    stand_ins(dir.path());
    let (mut tried, mut passed) = (0, 0);
    while tried < cases {
        let line = mutated(&command(&mut random, 3), &mut random);
        if !line.contains("rm") {
            continue;
        }
        tried += 1;
        if passes(&line) {
            passed += 1;
            assert!(!runs_rm(&line, dir.path()), "seed {seed}: {line:?}");
        }
    }
    println!("{passed} of {tried} lines passed and were run");
}

fn stand_ins(dir: &Path) {
    for name in ["rm", "ls", "cat", "sleep", "head", "sort", "date", "grep"] {
        let path = dir.join(name);
        let body = if name == "rm" { ": > \"$MARK\"\n" } else { "" };
        std::fs::write(&path, format!("#!/bin/bash\n{body}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
}

fn runs_rm(line: &str, bin: &Path) -> bool {
    let place = tempfile::tempdir().unwrap();
    let mark = place.path().join("mark");
    let status = Command::new("/bin/bash")
        .args(["-c", line])
        .env_clear()
        .env("PATH", bin)
        .env("MARK", &mark)
        .current_dir(place.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.is_ok());
    mark.exists()
}

fn pick<'a>(random: &mut fastrand::Rng, from: &[&'a str]) -> &'a str {
    from[random.usize(..from.len())]
}

fn command(r: &mut fastrand::Rng, depth: usize) -> String {
    if depth == 0 {
        return pick(r, &["ls", "rm x", "ls -l", "echo a", ":", "cat", "true"]).to_owned();
    }
    let d = depth - 1;
    match r.u8(..20) {
        0 => format!("{}; {}", command(r, d), command(r, d)),
        1 => format!("{} && {}", command(r, d), command(r, d)),
        2 => format!("{} | {}", command(r, d), command(r, d)),
        3 => format!("({})", command(r, d)),
        4 => format!("{{ {}; }}", command(r, d)),
        5 => format!("if {}; then {}; fi", command(r, d), command(r, d)),
        6 => format!("for f in {}; do {}; done", word(r, d), command(r, d)),
        7 => format!("case {} in {}) {};; esac", word(r, d), word(r, d), command(r, d)),
        8 => format!("f() {{ {}; }}; {}", command(r, d), command(r, d)),
        9 => {
            let (tag, end) = (
                pick(r, &["EOF", "'EOF'", "\"EOF\"", "\\EOF"]),
                pick(r, &["EOF", "EOF ", "\tEOF"]),
            );
            format!(
                "cat {}{tag}\n{}\n{end}\n{}",
                pick(r, &["<<", "<<-"]),
                word(r, d),
                command(r, d)
            )
        }
        10 => format!("[[ {} == {} ]]", word(r, d), word(r, d)),
        11 => format!("x={}; {}", word(r, d), command(r, d)),
        12 => format!("# {}\n{}", word(r, d), command(r, d)),
        13 => format!("{} # {}\n{}", command(r, d), word(r, d), command(r, d)),
        14 => format!("[ {} = {} ]", word(r, d), word(r, d)),
        15 => format!("cat < <({})", command(r, d)),
        16 => format!("cat <<< {}", word(r, d)),
        _ => format!("echo {} {}", word(r, d), word(r, d)),
    }
}

fn word(r: &mut fastrand::Rng, depth: usize) -> String {
    if depth == 0 {
        return pick(
            r,
            &[
                "a", "\"a b\"", "'a b'", "a\\ b", "$x", "'#'", "\"'\"", "'\"'", "\\\"", "$'a'",
                "~", "*",
            ],
        )
        .to_owned();
    }
    let d = depth - 1;
    match r.u8(..12) {
        0 => format!("$({})", command(r, d)),
        1 => format!("\"$({})\"", command(r, d)),
        2 => format!("`{}`", command(r, d)),
        3 => format!("${{x:-{}}}", word(r, d)),
        4 => format!("\"${{x:-{}}}\"", word(r, d)),
        5 => format!("'{}'", command(r, d)),
        6 => format!("\"{}\"", command(r, d)),
        7 => format!("{}{}", word(r, d), word(r, d)),
        8 => "$((1 + 2))".to_owned(),
        9 => format!("${{x#{}}}", word(r, d)),
        _ => word(r, 0),
    }
}

/// A character or two gone, doubled or put in: quotes then close where nobody meant them to.
fn mutated(line: &str, r: &mut fastrand::Rng) -> String {
    let mut chars: Vec<char> = line.chars().collect();
    for _ in 0..r.usize(..3) {
        let at = r.usize(..=chars.len().saturating_sub(1));
        match r.u8(..3) {
            0 if !chars.is_empty() => {
                chars.remove(at);
            }
            1 if !chars.is_empty() => chars.insert(at, chars[at]),
            _ => {
                let special: Vec<char> = "'\"\\`$(){}[];&|<>#\n !*~=-".chars().collect();
                chars.insert(at, special[r.usize(..special.len())]);
            }
        }
    }
    chars.into_iter().collect()
}
