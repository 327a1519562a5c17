#![allow(clippy::unwrap_used)]

mod scripts;

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
        // The engine is compiled once for all tests.
        env.cache_dir = std::env::current_exe().unwrap().with_file_name("toolkit-cache");
        Self { dir, env }
    }

    /// What a command line prints, or its error and exit code.
    fn tool(&self, line: &str) -> std::result::Result<String, (u8, String)> {
        self.tool_args(&line.split(' ').collect::<Vec<_>>())
    }

    fn tool_args(&self, args: &[&str]) -> std::result::Result<String, (u8, String)> {
        let args = Cli::parse_from(std::iter::once("tool").chain(args.iter().copied())).tool;
        let mut out = Vec::new();
        match run(&args.command, &self.env, &mut out) {
            Ok(()) => Ok(String::from_utf8(out).unwrap()),
            Err(error) => Err((error.exit() as u8, error.to_string())),
        }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn script_of(&self, name: &str) -> String {
        let module = fs::read(self.path(&format!(".autocode/tools/{name}.wasm"))).unwrap();
        javascript::split(&module, javascript::engine()).unwrap().to_owned()
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
    assert!(said.ends_with(": lines, Count the lines of a text file.\n"), "{said}");
    bench.write("three.txt", "1\n\n3\n");
    assert_eq!(
        bench.tool_args(&["run", "lines", r#"{"path": "three.txt"}"#]).unwrap(),
        "3 lines\n"
    );
    assert_eq!(
        bench.tool_args(&["run", "lines", r#"{"path": "three.txt", "skipBlank": true}"#]).unwrap(),
        "2 lines\n"
    );
    let source = fs::read_to_string(bench.path(".autocode/src/lines/tool.js")).unwrap();
    assert!(source.contains("name: \"lines\"") && !source.contains("{{"));
    assert_eq!(
        bench.script_of("lines"),
        format!("{source}//# sourceURL=.autocode/src/lines/tool.js\n")
    );
    assert_eq!(names(&bench.path(".autocode/tools")), ["lines.wasm"], "nothing half-done stays");
}

#[test]
fn a_build_is_noted_for_the_comparison() {
    let bench = Bench::new();
    let told =
        || crate::drift::Drift::of(&crate::project::Project::at(bench.dir.path())).stat(false);
    bench.tool("new lines").unwrap();
    bench.tool("build lines").unwrap();
    assert!(told().ends_with("· as built from its source\n"), "{}", told());
    let source = bench.path(".autocode/src/lines/tool.js");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, format!("{text}\n// more\n")).unwrap();
    assert!(told().ends_with("· its source is newer: build it again\n"), "{}", told());
    bench.tool("build lines").unwrap();
    assert!(told().ends_with("· as built from its source\n"), "{}", told());
    let module = bench.path(".autocode/tools/lines.wasm");
    let mut bytes = fs::read(&module).unwrap();
    bytes.extend([0, 2, 1, b'x']);
    fs::write(&module, bytes).unwrap();
    assert!(told().ends_with("· changed since it was built here\n"), "{}", told());
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
    assert_eq!(
        names(&bench.path(".autocode/tools")),
        ["bad.wasm", "good.wasm"],
        "nothing half-done stays"
    );
}

#[test]
fn an_error_in_a_script_is_shown_at_build_with_its_place_and_line() {
    let bench = Bench::new();
    let build = |script: &str| {
        bench.write(".autocode/src/x/tool.js", script);
        bench.tool("build x").unwrap_err()
    };
    assert_eq!(
        build("export const schema = {};\nexport function run() {\n\treturn );\n}\n"),
        (
            1,
            "x does not build\n\
             .autocode/src/x/tool.js:3:9: SyntaxError: unexpected token in expression: ')'\n\
             3 | \treturn );\n  | \t       ^"
                .to_owned()
        )
    );
    let (_, error) =
        build("export const schema = {};\nexport function run() { return 1 }\nnope();\n");
    assert!(
        error.contains("tool.js:3:1: ReferenceError: nope is not defined\n3 | nope();\n"),
        "{error}"
    );
    let (_, error) = build("export const schema = {description: 'x'};\n");
    assert!(
        error.contains(
            "tool.js: TypeError: a tool needs `export function run(args) { … }`; here it is missing"
        ),
        "{error}"
    );
    let (_, error) = build("import x from 'left-pad';\n");
    assert!(
        error.contains("cannot import 'left-pad'") && error.contains("fs, path and host"),
        "{error}"
    );
    assert!(!bench.path(".autocode/tools/x.wasm").exists());
}

#[test]
fn run_says_what_is_wrong_and_its_exit_code_says_whose_fault_it_is() {
    let bench = Bench::new();
    bench.tool("add todo").unwrap();
    assert_eq!(
        bench.tool("run nope").unwrap_err(),
        (2, "there is no tool `nope` here; there are: todo".to_owned())
    );
    let (code, error) = bench.tool_args(&["run", "todo", r#"{"done": [7]}"#]).unwrap_err();
    assert_eq!(code, 1);
    assert!(
        error.starts_with("Error: there is no entry 7\n    at find (.autocode/src/todo/tool.js:"),
        "{error}"
    );
    let (code, error) = bench.tool_args(&["run", "todo", r#"{"add": {"x": 1}}"#]).unwrap_err();
    assert!(code == 1 && error.contains("add"), "{error}");
}

#[test]
fn check_tells_phase_by_phase_what_holds() {
    let bench = Bench::new();
    bench.tool("add outline").unwrap();
    let said = bench.tool("check .autocode/tools/outline.wasm").unwrap();
    let phases: Vec<&str> =
        said.lines().take_while(|line| !line.is_empty()).map(|line| &line[..11]).collect();
    assert_eq!(phases, ["read    ok ", "parse   ok ", "link    ok ", "schema  ok "]);
    assert!(
        said.contains("\noutline: List what source files declare")
            && said.contains("\"required\": ["),
        "{said}"
    );
    bench.write("garbage.wasm", "\0asm\x01\0\0\0 and more");
    let (code, error) = bench.tool("check garbage.wasm").unwrap_err();
    assert!(code == 1 && error.starts_with("BROKEN: garbage.wasm fails in phase parse"), "{error}");
    assert_eq!(bench.tool("check nope.wasm").unwrap_err(), (2, "there is no nope.wasm".to_owned()));
    fs::copy(bench.path(".autocode/tools/outline.wasm"), bench.path("Out Line.wasm")).unwrap();
    bench.tool_args(&["check", "Out Line.wasm"]).unwrap();
}

#[test]
fn list_shows_every_file_whatever_its_state() {
    let bench = Bench::new();
    assert!(bench.tool("list").unwrap().contains("there are no tools in .autocode/tools"));
    bench.tool("add todo").unwrap();
    bench.write(".autocode/tools/bad.wasm", "no module");
    bench.write(".autocode/tools/todo.grants.json", r#"{"bash": true}"#);
    // Written by hand: the person has to say that they are theirs.
    let trusted = Project::at(bench.dir.path());
    trust::grant(&trusted, &bench.env, Origin::Here).unwrap();
    let said = bench.tool("list").unwrap();
    assert!(
        said.contains("todo  ready") && said.contains("grants: bash\n  Keep a todo list"),
        "{said}"
    );
    assert!(
        said.contains("bad   broken")
            && said.contains("BROKEN: .autocode/tools/bad.wasm fails in phase parse"),
        "{said}"
    );
    let listed: serde_json::Value =
        serde_json::from_str(&bench.tool("list --json").unwrap()).unwrap();
    let states: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), tool["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states.len(), 2);
    assert!(states.contains(&("todo", "ready")) && states.contains(&("bad", "broken")), "{listed}");
}

#[test]
fn tools_of_a_project_that_is_not_trusted_are_neither_run_nor_made_trusted() {
    let theirs = Bench::new();
    theirs.tool("add todo").unwrap();
    let module = fs::read(theirs.path(".autocode/tools/todo.wasm")).unwrap();
    let bench = Bench::new();
    bench.write(".autocode/tools/stranger.wasm", module);
    bench.tool("add todo").unwrap();
    for line in ["run stranger", "run todo", "list"] {
        let (code, error) = bench.tool(line).unwrap_err();
        assert!(code == 2 && error.contains("not trusted"), "{line}: {error}");
    }
}

#[test]
fn what_is_made_here_is_trusted_here() {
    let bench = Bench::new();
    bench.tool("new mine").unwrap();
    bench.tool("build mine").unwrap();
    assert!(matches!(trust::assess(&Project::at(bench.dir.path()), &bench.env), Trust::Trusted));
    bench.tool("list").unwrap();
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
    assert!(
        bench.tool("add nope").unwrap_err().1.contains("it has add, fetch, outline, search, todo")
    );
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
    bench.write(".autocode/src/lines/tool.js", &script);
    bench.write("README.md", "one\ntwo");
    bench.tool("build lines").unwrap();
    assert_eq!(
        bench.tool_args(&["run", "lines", r#"{"path": "README.md"}"#]).unwrap(),
        "2 lines\n"
    );
    assert!(include_str!("../guide.txt").lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn search_finds_what_git_does_not_ignore() {
    let bench = Bench::new();
    bench.tool("add search").unwrap();
    bench.write(".gitignore", "gone/\n");
    bench.write("gone/a.rs", "fn needle() {}\n");
    bench.write("src/a.rs", "// one\nfn needle() {}\n");
    let found = bench.tool_args(&["run", "search", r#"{"pattern": "fn \\w+"}"#]).unwrap();
    assert_eq!(found, "src/a.rs:2:fn needle() {}\n");
    let (code, error) =
        bench.tool_args(&["run", "search", r#"{"pattern": "x", "path": "/etc"}"#]).unwrap_err();
    assert!(code == 1 && error.contains("/etc is outside of the project"), "{error}");
}

#[test]
fn fetch_reads_a_page_from_a_granted_server_only() {
    use std::io::Read;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let read = stream.read(&mut request).unwrap();
        let page =
            "<html><head><title>x</title></head><body><h1>Hello</h1><p>a &lt; b</p></body></html>";
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length:";
        write!(stream, "{head} {}\r\n\r\n{page}", page.len()).unwrap();
        String::from_utf8_lossy(&request[..read]).into_owned()
    });
    let bench = Bench::new();
    let said = bench.tool("add fetch").unwrap();
    assert!(
        said.contains("it needs a grant, for example in .autocode/tools/fetch.grants.json"),
        "{said}"
    );
    let arguments = format!(r#"{{"url": "http://{address}/page?q=1"}}"#);
    let (code, error) = bench.tool_args(&["run", "fetch", &arguments]).unwrap_err();
    assert!(code == 1 && error.contains("net") && error.contains("fetch.grants.json"), "{error}");
    bench.write(".autocode/tools/fetch.grants.json", format!(r#"{{"net": ["{address}"]}}"#));
    trust::grant(&Project::at(bench.dir.path()), &bench.env, Origin::Here).unwrap();
    let page = bench.tool_args(&["run", "fetch", &arguments]).unwrap();
    assert_eq!(page, "Hello\n\na < b\n");
    assert!(server.join().unwrap().starts_with("GET /page?q=1 HTTP/1.1"));
}
