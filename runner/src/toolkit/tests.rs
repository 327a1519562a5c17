#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use clap::Parser;
use tempfile::TempDir;

use super::cli::ToolArgs;
use super::*;
use crate::tools::wasm::javascript;

/// A project in a directory of its own, with the programs of the machine left out.
struct Bench {
    dir: TempDir,
    env: Env,
}

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    tool: ToolArgs,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut env = Env::at(dir.path());
        // A home directory is where the search for a project ends.
        env.home = None;
        Self { dir, env }
    }

    /// What a command line prints, or its error and exit status.
    fn tool(&self, line: &str) -> std::result::Result<String, (u8, String)> {
        let args = Cli::parse_from(std::iter::once("tool").chain(line.split(' '))).tool;
        let mut out = Vec::new();
        match run(&args.command, &self.env, &mut out) {
            Ok(()) => Ok(String::from_utf8(out).unwrap()),
            Err(error) => Err((error.exit_status(), error.to_string())),
        }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    fn script_of(&self, name: &str) -> String {
        let module = fs::read(self.path(&format!(".autocode/tools/{name}.wasm"))).unwrap();
        javascript::split(&module, javascript::ENGINE).unwrap().to_owned()
    }
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_tool_is_javascript_where_nothing_is_installed_and_builds_as_it_is() {
    let bench = Bench::new();
    let said = bench.tool("new lines").unwrap();
    assert_eq!(
        said,
        "wrote .autocode/src/lines/tool.js (JavaScript): a tool that works as it is\n\
         edit it, then: autocode tool build lines && autocode tool run lines '{\"path\": \".autocode/src/lines/tool.js\"}'\n"
    );
    let said = bench.tool("build lines").unwrap();
    assert!(said.starts_with("built .autocode/tools/lines.wasm (7"), "{said}");
    let source = fs::read_to_string(bench.path(".autocode/src/lines/tool.js")).unwrap();
    assert!(source.contains("name: \"lines\"") && !source.contains("{{"));
    assert_eq!(
        bench.script_of("lines"),
        format!("{source}//# sourceURL=.autocode/src/lines/tool.js\n")
    );
    assert_eq!(names(&bench.path(".autocode/tools")), ["lines.wasm"], "nothing half-done stays");
}

#[test]
fn each_language_has_a_scaffold_that_says_its_name_everywhere() {
    let bench = Bench::new();
    for (lang, entry) in [
        ("js", "tool.js"),
        ("rust", "src/lib.rs"),
        ("c", "tool.c"),
        ("zig", "tool.zig"),
        ("as", "tool.ts"),
        ("py", "tool.py"),
    ] {
        bench.tool(&format!("new x-{lang} --lang {lang}")).unwrap();
        let source = bench.path(&format!(".autocode/src/x-{lang}"));
        assert!(source.join(entry).is_file());
        let mark = Language::of(&source).unwrap();
        assert_eq!(mark.entry(), entry);
        for (path, _) in mark.templates() {
            assert!(
                !fs::read_to_string(source.join(path)).unwrap().contains("{{"),
                "{lang}: {path}"
            );
        }
    }
}

#[test]
fn what_is_there_is_never_overwritten() {
    let bench = Bench::new();
    bench.tool("new mine").unwrap();
    fs::write(bench.path(".autocode/src/mine/tool.js"), "// mine").unwrap();
    let (status, error) = bench.tool("new mine").unwrap_err();
    assert_eq!(status, 2);
    assert!(error.starts_with(".autocode/src/mine exists"), "{error}");
    assert_eq!(fs::read_to_string(bench.path(".autocode/src/mine/tool.js")).unwrap(), "// mine");
    bench.tool("add todo").unwrap();
    assert_eq!(
        bench.tool("add todo").unwrap_err(),
        (2, ".autocode/tools/todo.wasm exists already".to_owned())
    );
    assert_eq!(bench.tool("new todo").unwrap_err().0, 2);
}

#[test]
fn names_that_are_no_names_are_refused_with_the_rule() {
    let bench = Bench::new();
    for name in ["Lines", "1st", "../x", "a/b", "ö", "a.b", &"x".repeat(65)] {
        let (status, error) = bench.tool(&format!("new {name}")).unwrap_err();
        assert_eq!(status, 2, "{name}");
        assert!(error.contains("a-z, 0-9, - and _"), "{error}");
    }
    assert!(bench.tool("new bash").unwrap_err().1.contains("the agent's own tool"));
    assert!(!bench.path(".autocode").exists());
}

#[test]
fn build_without_a_name_builds_the_tool_one_is_in_or_all() {
    let mut bench = Bench::new();
    assert!(bench.tool("build").unwrap_err().1.contains("nothing to build in .autocode/src"));
    bench.tool("new one").unwrap();
    bench.tool("new two").unwrap();
    let said = bench.tool("build").unwrap();
    assert!(said.contains("tools/one.wasm") && said.contains("tools/two.wasm"), "{said}");
    bench.env.cwd = bench.path(".autocode/src/two");
    let said = bench.tool("build").unwrap();
    assert!(!said.contains("one.wasm") && said.contains("two.wasm"), "{said}");
}

#[test]
fn a_tool_that_does_not_build_leaves_the_old_module_and_the_others() {
    let bench = Bench::new();
    bench.tool("new bad").unwrap();
    bench.tool("new good").unwrap();
    bench.tool("build bad").unwrap();
    let before = bench.script_of("bad");
    fs::write(bench.path(".autocode/src/bad/tool.js"), b"\xff").unwrap();
    assert_eq!(
        bench.tool("build").unwrap_err(),
        (1, "bad does not build\n.autocode/src/bad/tool.js is not UTF-8".to_owned())
    );
    assert_eq!(bench.script_of("bad"), before);
    assert!(bench.path(".autocode/tools/good.wasm").exists());
    fs::write(bench.path(".autocode/src/bad/tool.js"), " \n").unwrap();
    assert!(bench.tool("build bad").unwrap_err().1.ends_with("tool.js: the script is empty"));
}

#[test]
fn a_missing_compiler_is_named_with_the_way_to_get_it() {
    let bench = Bench::new();
    for (lang, way) in [
        ("rust", "rustup"),
        ("c", "pip install ziglang"),
        ("zig", "pip install ziglang"),
        ("as", "npm install"),
        ("py", "pip install componentize-py"),
    ] {
        bench.tool(&format!("new x-{lang} --lang {lang}")).unwrap();
        let (status, error) = bench.tool(&format!("build x-{lang}")).unwrap_err();
        assert_eq!(status, 1);
        assert!(error.contains(way) && error.contains("--lang js"), "{lang}: {error}");
    }
}

#[test]
fn bundled_tools_are_listed_and_installed_with_their_source() {
    let bench = Bench::new();
    let list = bench.tool("add").unwrap();
    assert!(list.contains("outline ") && list.contains("todo "), "{list}");
    assert!(bench.tool("add nope").unwrap_err().1.contains("it has outline, todo"));
    bench.tool("add outline").unwrap();
    assert!(
        bench
            .script_of("outline")
            .starts_with(&fs::read_to_string(bench.path(".autocode/src/outline/tool.js")).unwrap())
    );
}

#[test]
fn remove_takes_the_module_and_its_grants_and_leaves_the_source() {
    let bench = Bench::new();
    bench.tool("add todo").unwrap();
    fs::write(bench.path(".autocode/tools/todo.grants.json"), "{}").unwrap();
    assert_eq!(
        bench.tool("remove todo").unwrap(),
        "removed .autocode/tools/todo.wasm and .autocode/tools/todo.grants.json\nits source stays in .autocode/src/todo\n"
    );
    assert!(names(&bench.path(".autocode/tools")).is_empty());
    assert!(bench.path(".autocode/src/todo/tool.js").exists());
    assert_eq!(
        bench.tool("remove todo").unwrap_err(),
        (2, "there is no tool todo in .autocode/tools".to_owned())
    );
}

#[test]
fn the_help_teaches_a_tool_that_works() {
    use clap::CommandFactory;
    let help = Cli::command().render_long_help().to_string();
    let start = help.find("  export const schema").unwrap();
    let end = start + help[start..].find("\n  }\n").unwrap() + 5;
    let script: String = help[start..end]
        .lines()
        .map(|line| line.strip_prefix("  ").unwrap_or(line))
        .map(|line| format!("{line}\n"))
        .collect();
    assert!(script.contains("export function run({ path })"), "{script}");
    let bench = Bench::new();
    fs::create_dir_all(bench.path(".autocode/src/lines")).unwrap();
    fs::write(bench.path(".autocode/src/lines/tool.js"), &script).unwrap();
    bench.tool("build lines").unwrap();
    assert!(include_str!("guide.txt").lines().all(|line| line.chars().count() <= 80));
}
