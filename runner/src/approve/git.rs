//! git, as far as it only looks. Its configuration can name programs to run (a file-system monitor, a pager, a diff
//! driver), so it is trusted only in the project's own repository and without options that bring configuration along.

use std::path::Path;

use super::harmless::without;
use super::word::Word;

/// Options of `log`, `diff` and their like that write or run something.
const REFUSED: &[&str] = &["--output", "--ext-diff", "--open-files-in-pager", "--paginate"];

/// Whether `git ARGS` only looks.
pub(super) fn only_looks(args: &[Word]) -> bool {
    let mut rest = args;
    while let Some((first, after)) = rest.split_first() {
        match first.text() {
            Some("--no-pager" | "--no-optional-locks" | "-P") => rest = after,
            _ => break,
        }
    }
    let Some((name, args)) = rest.split_first() else { return true };
    let first = args.first().map(|word| word.text().filter(|_| !word.is_loose()));
    match name.text() {
        Some("--version" | "version") => args.is_empty(),
        Some(
            "blame" | "cherry" | "count-objects" | "describe" | "diff" | "diff-tree"
            | "for-each-ref" | "log" | "ls-files" | "ls-tree" | "merge-base" | "name-rev"
            | "rev-list" | "rev-parse" | "shortlog" | "show" | "show-ref" | "status"
            | "whatchanged",
        ) => without(args, "", REFUSED),
        Some("grep") => without(args, "O", REFUSED),
        Some("cat-file") => without(args, "", &["--textconv", "--filters"]),
        Some("branch") => options_only(
            args,
            &["-a", "-r", "-v", "-vv", "--all", "--list", "--remotes", "--show-current"],
        ),
        Some("tag") => options_only(args, &["-l", "-n", "--list"]),
        Some("remote") => {
            options_only(args, &["-v", "--verbose"]) || first == Some(Some("get-url"))
        }
        Some("config") => {
            matches!(first, Some(Some("--get" | "--get-all" | "--get-regexp" | "--list" | "-l")))
        }
        Some("stash" | "worktree") => first == Some(Some("list")) && without(args, "", REFUSED),
        Some("reflog") => {
            args.is_empty() || (first == Some(Some("show")) && without(args, "", REFUSED))
        }
        _ => false,
    }
}

fn options_only(args: &[Word], allowed: &[&str]) -> bool {
    args.iter().all(|word| word.text().is_some_and(|text| allowed.contains(&text)))
}

/// Whether git, run in `cwd`, reads the configuration of the repository that the project itself is in.
pub(super) fn is_own_repository(root: &Path, cwd: &Path) -> bool {
    for dir in cwd.ancestors() {
        if dir.join(".git").exists() {
            return root.starts_with(dir);
        }
        if dir.join("HEAD").exists() && dir.join("objects").exists() {
            return false;
        }
    }
    true
}
