//! ripgrep as a tool: its own crates, behind typed arguments. The files come from `ignore`, the matches from `grep`.

#[cfg(target_os = "wasi")]
mod realpath;

use std::path::Path;

use autocode_tool::{Result, path, tool};
use grep::printer::StandardBuilder;
use grep::regex::RegexMatcherBuilder;
use grep::searcher::{BinaryDetection, SearcherBuilder};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;

/// Longest line shown; a minified file has one.
const MAX_COLUMNS: u64 = 250;

/// Search the project's files with a regular expression, like ripgrep: skips what git ignores, hidden and binary files.
#[tool]
struct Search {
    /// Regular expression (Rust syntax).
    pattern: String,
    /// File or directory; default: the working directory.
    #[serde(default = "here")]
    path: String,
    /// Only files that match one of these, as in `*.rs`; `!*.lock` leaves some out.
    #[serde(default)]
    globs: Vec<String>,
    /// Ignore case.
    #[serde(default)]
    ignore_case: bool,
    /// Take the pattern as plain text.
    #[serde(default)]
    literal: bool,
    /// Lines shown before and after each match.
    #[serde(default)]
    context: usize,
    /// Name the files only.
    #[serde(default)]
    files_only: bool,
    /// Most lines shown.
    #[serde(default = "enough")]
    limit: usize,
}

fn here() -> String {
    ".".to_owned()
}

fn enough() -> usize {
    200
}

impl Search {
    fn run(self) -> Result {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(self.ignore_case)
            .fixed_strings(self.literal)
            .line_terminator(Some(b'\n'))
            .build(&self.pattern)?;
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .before_context(self.context)
            .after_context(self.context)
            .build();
        let root = path(&self.path)?;
        let mut lines = Vec::new();
        let mut more = false;
        for entry in self.walk(&root)?.build() {
            let entry = entry?;
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                continue;
            }
            let shown = self.shown(entry.path(), &root);
            let mut printer = StandardBuilder::new()
                .max_columns(Some(MAX_COLUMNS))
                .max_columns_preview(true)
                .build_no_color(Vec::new());
            // A file that cannot be read is not worth the whole search.
            if searcher
                .search_path(&matcher, entry.path(), printer.sink_with_path(&matcher, &shown))
                .is_err()
            {
                continue;
            }
            let found = printer.into_inner().into_inner();
            let found = String::from_utf8_lossy(&found);
            if self.files_only && !found.is_empty() {
                lines.push(shown);
            } else {
                lines.extend(found.lines().map(str::to_owned));
            }
            more = lines.len() > self.limit;
            if more {
                break;
            }
        }
        lines.truncate(self.limit);
        if more {
            lines.push(format!(
                "… more than {} lines; narrow the pattern, path or globs",
                self.limit
            ));
        }
        Ok(if lines.is_empty() { "no matches".to_owned() } else { lines.join("\n") })
    }

    fn walk(&self, root: &Path) -> Result<WalkBuilder> {
        let mut globs = OverrideBuilder::new(root);
        for glob in &self.globs {
            globs.add(glob)?;
        }
        let mut walk = WalkBuilder::new(root);
        walk.overrides(globs.build()?).require_git(false).sort_by_file_path(Path::cmp);
        Ok(walk)
    }

    /// A file as it was asked for, relative where the question was.
    fn shown(&self, file: &Path, root: &Path) -> String {
        let below = file.strip_prefix(root).unwrap_or(file);
        let shown = Path::new(&self.path).join(below);
        shown.strip_prefix(".").unwrap_or(&shown).to_string_lossy().trim_end_matches('/').to_owned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn search(arguments: &str) -> std::result::Result<String, String> {
        autocode_tool::run::<Search>(arguments)
    }

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::create_dir(dir.path().join("src")).unwrap();
        write(".gitignore", "ignored.rs\n");
        write("ignored.rs", "fn main() {}\n");
        write("src/main.rs", "// start\nfn main() {\n    run();\n}\n");
        write("notes.txt", "Main thing: a.b\n");
        write("data.bin", "fn main\0");
        dir
    }

    fn within(dir: &tempfile::TempDir, rest: &str) -> String {
        let found = search(&format!(r#"{{"path": {:?}, {rest}}}"#, dir.path())).unwrap();
        found.replace(&format!("{}/", dir.path().display()), "")
    }

    #[test]
    fn matches_have_file_and_line_and_ignored_files_none() {
        assert_eq!(within(&tree(), r#""pattern": "fn \\w+""#), "src/main.rs:2:fn main() {");
    }

    #[test]
    fn context_case_globs_and_literals_do_what_they_say() {
        let tree = tree();
        assert_eq!(
            within(&tree, r#""pattern": "run", "context": 1"#),
            "src/main.rs-2-fn main() {\nsrc/main.rs:3:    run();\nsrc/main.rs-4-}"
        );
        assert_eq!(
            within(&tree, r#""pattern": "MAIN", "ignore_case": true, "files_only": true"#),
            "notes.txt\nsrc/main.rs"
        );
        assert_eq!(
            within(&tree, r#""pattern": "main", "ignore_case": true, "globs": ["*.txt"]"#),
            "notes.txt:1:Main thing: a.b"
        );
        assert_eq!(
            within(&tree, r#""pattern": "a.b", "literal": true"#),
            "notes.txt:1:Main thing: a.b"
        );
        assert_eq!(within(&tree, r#""pattern": "(b.a", "literal": true"#), "no matches");
    }

    #[test]
    fn too_much_is_cut_with_a_word() {
        let found = within(&tree(), r#""pattern": "", "limit": 2"#);
        assert_eq!(found.lines().count(), 3);
        assert!(
            found.ends_with("… more than 2 lines; narrow the pattern, path or globs"),
            "{found}"
        );
    }

    #[test]
    fn a_bad_pattern_and_a_missing_path_are_errors() {
        assert!(search(r#"{"pattern": "("}"#).unwrap_err().contains("unclosed group"));
        assert!(search(r#"{"pattern": "x", "path": "/no/such/place"}"#).is_err());
    }
}
