use super::*;
use crate::env::Env;

fn judge(line: &str, policy: Approve, rules: &Rules) -> Verdict {
    let dir = tempfile::tempdir().unwrap();
    judge_command(line, policy, rules, dir.path(), dir.path())
}

fn passes(line: &str) -> bool {
    judge(line, Approve::Writes, &Rules::default()) == Verdict::Run
}

fn why(line: &str) -> String {
    match judge(line, Approve::Writes, &Rules::default()) {
        Verdict::Run => "runs".to_owned(),
        Verdict::Ask(offer) => offer.why.join(", "),
    }
}

fn offer(line: &str) -> Offer {
    match judge(line, Approve::Writes, &Rules::default()) {
        Verdict::Run => panic!("{line} runs"),
        Verdict::Ask(offer) => offer,
    }
}

#[test]
fn looking_is_not_asked_about() {
    let lines = [
        "ls",
        "ls -la src/*.rs",
        "cat a.txt b.txt | head -50",
        "cat 'a b' \"c d\" e\\ f",
        "/bin/ls; /usr/bin/wc -l x",
        "pwd && ls || true",
        "cd src && ls -la",
        "rg -n 'fn main' src | sort | uniq -c | sort -rn | head",
        "grep -rn 'rm -rf' . --include=*.rs",
        "echo 'rm -rf /' \"$(date +%s)\" # rm x",
        "find . -name '*.rs' -type f | xargs wc -l",
        "find . -name '*.rs' -print0 | xargs -0 -n 1 grep -l TODO",
        "find src | xargs -I{} cat {}",
        "sed -n '1,200p' src/main.rs",
        "sed -n -e '5p;$p' a b",
        "git status --short",
        "git --no-pager log --oneline -5",
        "git diff HEAD~1 -- src && git show HEAD:README.md && git log -p --stat",
        "git branch -a; git remote -v; git stash list; git config --get user.name; git rev-parse HEAD",
        "ls >/dev/null 2>&1",
        "ls 2> /dev/null | cat",
        "cat < input.txt",
        "cat <<EOF\nhello $USER $(date)\nEOF",
        "cat <<'EOF'\n$(rm x) is text here\nEOF",
        "wc -l <<< \"$x\"",
        "diff <(ls a) <(ls b)",
        "for f in a b c; do echo \"$f\"; cat \"$f\"; done",
        "x=5; echo $x; y=$(ls); echo \"$y\"",
        "while true; do sleep 1; break; done",
        "if [ -f \"$f\" ]; then cat \"$f\"; else echo none; fi",
        "[ \"$x\" = y ] && test ! -d src && [ -n \"$y\" ]",
        "if [[ -f a && $x == b* ]]; then ls; fi",
        "[[ 1 -eq 1 ]] && echo $((1 + 2))",
        "case $x in a) ls;; *) pwd;; esac",
        "(cd src; ls)",
        "{ ls; pwd; }",
        "! ls",
        "time ls",
        "timeout -k 1 5 ls",
        "command -v cargo",
        "LC_ALL=C sort x",
        "set -euo pipefail; ls",
        "f() { ls \"$1\"; }",
        "echo ${x:-none} ${#x} ${x%.rs} ${x##*/}",
        "date; date -u +%F; date -d yesterday +%F",
        "ls &",
        "printf '%s\\n' a b",
        "tail -n +5 x | tr a-z A-Z | cut -d: -f1",
        "jq '.a[] | .b' x.json",
        "\\ls; 'ls'; l\"s\"",
        "ls \\\n -la",
        "",
    ];
    for line in lines {
        assert!(passes(line), "{line}: {}", why(line));
    }
}

#[test]
fn whatever_writes_runs_or_hides_something_is_asked_about() {
    let lines = [
        // Programs that write, wherever they stand.
        "rm x",
        "ls; rm -rf x",
        "ls && rm x",
        "ls || rm x",
        "ls | rm x",
        "ls & rm x",
        "ls\nrm x",
        "(rm x)",
        "{ rm x; }",
        "! rm x",
        "time rm x",
        "ls $(rm x)",
        "ls \"$(rm x)\"",
        "ls `rm x`",
        "ls <(rm x)",
        "ls > >(rm x)",
        "cat <<EOF\n$(rm x)\nEOF",
        "cat <<< $(rm x)",
        "echo ${x:-$(rm x)}",
        "echo \"${x:-$(rm x)}\"",
        "echo $(echo $(rm x))",
        "for f in $(rm x); do ls; done",
        "for f in a; do rm $f; done",
        "while rm x; do ls; done",
        "until ls; do rm x; done",
        "if rm x; then ls; fi",
        "if ls; then pwd; elif rm x; then pwd; else pwd; fi",
        "if ls; then pwd; else rm x; fi",
        "case $(rm x) in *) ls;; esac",
        "case a in *) rm x;; esac",
        "case a in $(rm x)) ls;; esac",
        "f() { rm x; }; f",
        "ls() { rm x; }; ls",
        "function ls { rm x; }; ls",
        "f() { \"$@\"; }; f rm x",
        "[[ -f $(rm x) ]]",
        "[[ a == $(rm x) ]]",
        "coproc rm x",
        "x=$(rm x)",
        "x=$(rm x) ls",
        "a=(1 $(rm x)); ls",
        "a[$(rm x)]=1",
        // Names in disguise.
        "\\rm x",
        "r\"m\" x",
        "'rm' x",
        "$'rm' x",
        "$'\\x72m' x",
        "$x y",
        "${x} y",
        "$(echo rm) x",
        "{rm,x}",
        "./ls",
        "/tmp/ls",
        "bin/ls",
        "~/bin/ls",
        "l* x",
        // Programs that run programs.
        "env X=1 rm y",
        "env rm y",
        "sudo ls",
        "bash -c ls",
        "sh x.sh",
        "eval ls",
        "exec ls",
        "source x",
        ". x",
        "trap 'rm x' EXIT",
        "alias ls=rm",
        "command rm x",
        "command -p rm x",
        "builtin eval 'rm x'",
        "nice rm x",
        "timeout 5 rm x",
        "timeout 5",
        "timeout -s rm x",
        "nohup rm x",
        "xargs rm",
        "ls | xargs rm -f",
        "ls | xargs -n1 sh -c 'rm x'",
        "ls | xargs --foo cat",
        "ls | xargs sort",
        "ls | xargs find",
        "ls | xargs -I ls ls",
        "ls | xargs -I{} {} x",
        "ls | xargs -I x sort x",
        "python3 -c 'print(1)'",
        "awk '{print}' x",
        "perl -e 1",
        "make",
        "cargo test",
        "npm run x",
        "curl http://x",
        "tee x",
        "xdg-open x",
        // Options that write or run.
        "find . -delete",
        "find . -exec rm {} +",
        "find . -execdir rm {} \\;",
        "find . -ok rm {} \\;",
        "find . -fprintf x y",
        "find $x",
        "find *",
        "find . \"-delete\"",
        "find . -del\\ete",
        "find {.,-delete}",
        "sort -o x y",
        "sort -uo x y",
        "sort --output=x y",
        "sort --outp x y",
        "sort --compress-program=rm y",
        "sort $x",
        "sort *",
        "sort -* x",
        "sort \"$@\"",
        "rg --pre rm x",
        "rg --pre=rm x",
        "rg --hostname-bin=rm x",
        "fd -x rm",
        "fd -Hx rm",
        "fd --exec rm",
        "tree -o x",
        "uniq a b",
        "sed -i s/a/b/ x",
        "sed s/a/b/ x",
        "sed -n '1,5p;w y' x",
        "sed -n 'e rm' x",
        "sed -n p -i x",
        "sed -n 1p --in-place x",
        "sed -n \"$x\" y",
        "date -s 10:00",
        "date 01010101",
        "date --set=x",
        "hostname evil",
        "file -C x",
        "printf -v PATH x",
        "printf $x",
        "set -- x",
        "base64 -o x y",
        // git.
        "git push",
        "git commit -am x",
        "git checkout .",
        "git -c core.pager='rm x' log",
        "git -c core.fsmonitor=./x status",
        "git -C elsewhere status",
        "git --git-dir=x status",
        "git --exec-path=x status",
        "git -p log",
        "git --paginate log",
        "git diff --output=x",
        "git diff --outp=x",
        "git show --ext-diff",
        "git log $x",
        "git grep -O x",
        "git grep --open-files-in-pager=rm x",
        "git branch new",
        "git branch -D x",
        "git tag v1",
        "git remote add x y",
        "git config user.name x",
        "git config alias.status '!rm x'",
        "git stash",
        "git stash drop",
        "git reflog expire --all",
        "git cat-file --textconv x",
        "git help log",
        "git unknown-alias",
        "cd elsewhere && git status",
        "git status; pushd elsewhere; git status",
        "GIT_PAGER=rm git log",
        "GIT_EXTERNAL_DIFF=x git diff",
        // Files.
        "ls > x",
        "ls >> x",
        "ls >| x",
        "ls &> x",
        "ls &>> x",
        "ls >& x",
        "ls 2> x",
        "ls <> x",
        "> x",
        "{ ls; } > x",
        "(ls) > x",
        "if ls; then pwd; fi > x",
        "for f in a; do ls; done > x",
        "f() { ls; } > x",
        "ls > \"$x\"",
        "ls > /dev/sda",
        "ls > /dev/tcp/host/80",
        "cat < /dev/tcp/host/80",
        "cat < \"$x\"",
        "ls > /dev/null > x",
        "exec 3> x",
        "ls {fd}> x",
        // Variables that others heed.
        "PATH=/tmp ls",
        "PATH=/tmp; ls",
        "LD_PRELOAD=x ls",
        "BASH_ENV=x ls",
        "IFS=x; ls",
        "export PATH=/tmp; ls",
        "declare -x PATH=/tmp",
        "readonly x=1",
        "for PATH in /tmp; do ls; done",
        "https_proxy=x; ls",
        "unset x",
        "read x",
        // Evaluation.
        "echo $((x))",
        "echo $((a[$(rm x)]))",
        "((x=1))",
        "for ((i=0; i<a[$(rm x)]; i++)); do ls; done",
        "let x=1",
        "[[ $x -eq 1 ]]",
        "[[ -v x ]]",
        "[ -v 'a[$(rm x)]' ]",
        "[ $x ]",
        "[ \"$x\" \"$y\" ]",
        "[ a -a \"$x\" b ]",
        "test -v x",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${a[$(rm x)]}",
        "echo ${x:$(rm x)}",
        "echo ${x:=rm}",
        "echo ${x/a/$(rm x)}",
        // Texts that shells may read differently.
        "ls 'unclosed",
        "ls $(ls",
        "ls )",
        "ls;; rm x",
        "ls\u{a0}x",
        "ls\r\nrm x",
        "ls \u{1b}[2K",
        "ls\u{2028}rm x",
        "ls\0rm x",
        "echo \"$(echo # )\nrm x\n)\"",
        "echo $(case a in a) rm x;; esac)",
        "cat <<E\\OF\nx\nEOF\nrm x\nE\\OF",
        "cat <<'E'OF\nx\nEOF\nrm x\n'E'OF",
        "cat <<EOF\nx\n EOF\nrm x\nEOF",
        "cat <<-EOF\n\tx\n\tEOF\nrm x\nEOF",
        "[ \"$(cat <<'EOF'\n$'a\nEOF\nrm x)\" = 'b' ]",
        "echo \"$(rm x\"",
        "echo \"a`rm x\"",
        "echo a$(rm x' )'",
        "select x in a; do ls; done",
        "ls 99999999999999999999> x",
        "echo ~99999999999999999999",
        "echo {1..99999999999999999999}",
    ];
    for line in lines {
        assert!(!passes(line), "{line}");
    }
}

#[test]
fn long_and_nested_lines_are_asked_about_without_being_read() {
    for line in [
        "ls ".repeat(10_000),
        "(".repeat(5_000),
        format!("{}ls{}", "(".repeat(13), ")".repeat(13)),
        format!("{}ls{}", "$(echo ".repeat(11), ")".repeat(11)),
        format!("{}ls{}", "if ls; then ".repeat(20), "; fi".repeat(20)),
        "{".repeat(5_000),
        "[[ ( ".repeat(1_000),
        "`".repeat(5_000),
        "\\".repeat(5_001),
        "\"$(".repeat(2_000),
        "<<".repeat(2_000),
        "<<a ".repeat(500),
        "a=(".repeat(1_000),
        "${x:-".repeat(1_000),
    ] {
        assert!(!passes(&line), "{}", &line[..20]);
    }
    // As deep as is read at all, and quickly.
    for (open, close) in
        [("( ", " )"), ("{ ", "; }"), ("((", "))"), ("[[ ( ", " ) ]]"), ("f() { ", "; }")]
    {
        let line = format!("{}ls{}", open.repeat(6), close.repeat(6));
        let _ = passes(&line);
    }
}

#[test]
fn the_policy_decides_what_is_asked_at_all() {
    let rules = Rules::default();
    assert_eq!(judge("rm -rf x", Approve::Never, &rules), Verdict::Run);
    assert!(matches!(judge("ls", Approve::Always, &rules), Verdict::Ask(_)));
    assert!(matches!(judge("", Approve::Always, &rules), Verdict::Ask(_)));
    assert_eq!(judge_tool("search", Approve::Never, &rules), Verdict::Run);
    assert!(matches!(judge_tool("search", Approve::Writes, &rules), Verdict::Ask(_)));
}

#[test]
fn the_reasons_are_told() {
    assert_eq!(
        why("ls; rm x; rm y; echo > z; PATH=. ls; $x"),
        "runs rm, writes z, runs ls, runs a program that is not known in advance"
    );
    assert_eq!(why("PATH=."), "sets PATH");
    assert_eq!(why("ls 'x"), "it is not shell syntax as far as it can be read");
}

#[test]
fn a_rule_covers_every_simple_command_or_the_line_is_asked_about() {
    let mut rules = Rules::default();
    rules.allow(offer("cargo test --workspace").exactly);
    let passes = |line: &str, rules: &Rules| judge(line, Approve::Writes, rules) == Verdict::Run;
    for line in [
        "cargo test --workspace",
        "cargo   test '--workspace'",
        "cargo test --workspace 2>&1 | tail -20",
        "cd x && cargo test --workspace && ls",
        "(cargo test --workspace)",
    ] {
        assert!(passes(line, &rules), "{line}");
    }
    for line in [
        "cargo test",
        "cargo test --workspace --release",
        "cargo test --workspace; rm x",
        "cargo test --workspace $(rm x)",
        "cargo test --workspace > x",
        "cargo test --workspace | tee x",
        "X=1 cargo test --workspace",
        "./cargo test --workspace",
        "cargo test --workspace*",
        "cargo test $x",
        "cargo 'test --workspace'",
    ] {
        assert!(!passes(line, &rules), "{line}");
    }
    let mut rules = Rules::default();
    rules.allow(offer("cargo test -p a").broadly);
    for line in ["cargo test", "cargo test -p b \"$x\"", "cargo test $(ls)"] {
        assert!(passes(line, &rules), "{line}");
    }
    for line in
        ["cargo run", "cargo --config x test", "cargo test $(rm x)", "X=1 cargo test", "cargo"]
    {
        assert!(!passes(line, &rules), "{line}");
    }
}

#[test]
fn offers_are_as_narrow_as_what_is_asked() {
    let shown = |rules: &[Rule]| rules.iter().map(Rule::shown).collect::<Vec<_>>();
    let two = offer("ls | grep x; rm a; npm run build > log");
    assert_eq!(shown(&two.exactly), ["rm a", "> log", "npm run build"]);
    assert_eq!(shown(&two.broadly), ["rm a", "> log", "npm run build …"]);
    let one = offer("rm a");
    assert_eq!((shown(&one.exactly), shown(&one.broadly)), (vec!["rm a".to_owned()], vec![]));
    let none = offer("rm $x");
    assert_eq!((none.exactly, none.broadly), (vec![], vec![]));
    assert_eq!(shown(&offer("FOO=1 make all").broadly), [""; 0]);
    // Under `always` what only looks needs a rule too.
    let Verdict::Ask(all) = judge("ls | rm a", Approve::Always, &Rules::default()) else {
        panic!()
    };
    assert_eq!(shown(&all.exactly), ["ls", "rm a"]);
}

#[test]
fn rules_of_a_project_are_kept_with_the_user() {
    let dir = tempfile::tempdir().unwrap();
    let env = Env::at(dir.path());
    let root = dir.path().join("project");
    let mut rules = Rules::load(&env, &root);
    assert_eq!(rules.all().count(), 0);
    rules.keep(offer("make check").exactly, &env, &root).unwrap();
    rules.keep(vec![Rule::Tool("search".to_owned())], &env, &root).unwrap();
    rules.allow(offer("make all").exactly);

    let again = Rules::load(&env, &root);
    assert_eq!(again.all().map(Rule::shown).collect::<Vec<_>>(), ["make check", "the tool search"]);
    assert_eq!(judge("make check", Approve::Writes, &again), Verdict::Run);
    assert_eq!(judge_tool("search", Approve::Always, &again), Verdict::Run);
    assert!(matches!(judge_tool("other", Approve::Always, &again), Verdict::Ask(_)));
    assert_eq!(Rules::load(&env, dir.path()).all().count(), 0);

    std::fs::write(env.config_dir.join("approvals.json"), "{").unwrap();
    assert_eq!(Rules::load(&env, &root).all().count(), 0);
    assert!(rules.keep(Vec::new(), &env, &root).is_err());
    assert_eq!(std::fs::read_to_string(env.config_dir.join("approvals.json")).unwrap(), "{");
}

#[test]
fn git_is_not_asked_about_only_in_the_projects_own_repository() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo/project");
    for sub in [
        "repo/.git",
        "repo/project/src",
        "repo/project/vendor/.git",
        "repo/project/bare/objects",
        "other/.git",
    ] {
        std::fs::create_dir_all(dir.path().join(sub)).unwrap();
    }
    std::fs::write(root.join("bare/HEAD"), "").unwrap();
    let passes = |cwd: &str| {
        let cwd = dir.path().join(cwd);
        judge_command("git status", Approve::Writes, &Rules::default(), &root, &cwd) == Verdict::Run
    };
    assert!(passes("repo/project"));
    assert!(passes("repo/project/src"));
    assert!(!passes("repo/project/vendor"));
    assert!(!passes("repo/project/bare"));
    assert!(!passes("other"));
}

mod against_bash;

mod any_text {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn never_panics_and_never_loses_a_program(
            parts in proptest::collection::vec(
                prop_oneof![
                    Just("ls"), Just(" "), Just("\n"), Just(";"), Just("&&"), Just("|"), Just("("), Just(")"),
                    Just("{"), Just("}"), Just("$("), Just("`"), Just("\""), Just("'"), Just("\\"), Just("$"),
                    Just("<<EOF\n"), Just("EOF\n"), Just(">"), Just("<"), Just("&"), Just("#"), Just("if "),
                    Just("then "), Just("fi"), Just("case "), Just("in "), Just("esac"), Just("[["), Just("]]"),
                    Just("!"), Just("=1"), Just("x"), Just("${x:-"), Just("*"), Just("~"), Just("((")
                ],
                0..24,
            ),
            random in "\\PC{0,40}",
        ) {
            let line = parts.concat();
            let _ = passes(&line);
            let _ = passes(&random);
            // A program on a line of its own, after whatever came before, either is seen or the line is not understood;
            // unless a quote, comment or document before it makes it text.
            if !line.contains(['\'', '"', '\\', '#', '<', '`']) {
                prop_assert!(!passes(&format!("{line}\nrm x\n")), "{line}");
            }
        }
    }
}
