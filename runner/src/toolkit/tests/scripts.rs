//! What a script can count on: the engine's language, its built-ins, and how it fails.

use super::*;

const SCHEMA: &str =
    "export const schema = {description: 'A test.', parameters: {type: 'object'}};\n";

/// Runs `body` as a tool; its errors have the schema's line before them.
fn script(bench: &Bench, body: &str, args: &str) -> std::result::Result<String, String> {
    bench.write(".autocode/src/x/tool.js", format!("{SCHEMA}{body}"));
    bench.tool("build x").map_err(|(_, error)| error)?;
    let said = bench.tool_args(&["run", "x", args]).map_err(|(_, error)| error)?;
    Ok(said.strip_suffix('\n').unwrap().to_owned())
}

fn run(body: &str) -> std::result::Result<String, String> {
    script(&Bench::new(), body, "{}")
}

#[test]
fn a_string_is_returned_as_it_is_and_other_values_as_json() {
    let bench = Bench::new();
    let run = |returned: &str| {
        script(
            &bench,
            &format!("export function run(args) {{ return {returned} }}"),
            r#"{"a": "é"}"#,
        )
    };
    assert_eq!(run("args.a + '\\n'").unwrap(), "é\n");
    assert_eq!(run("({...args, n: [1, undefined]})").unwrap(), r#"{"a":"é","n":[1,null]}"#);
    assert_eq!(run("undefined").unwrap(), "");
    assert_eq!(run("null").unwrap(), "null");
    assert_eq!(run("'\\ud800'").unwrap(), "\u{fffd}\u{fffd}\u{fffd}");
}

#[test]
fn an_exception_comes_back_with_the_lines_of_the_script() {
    let error =
        run("function inner() { null.x }\nexport function run() {\n  [1].map(() => inner());\n}")
            .unwrap_err();
    assert_eq!(
        error,
        "TypeError: cannot read property 'x' of null\n    at inner (.autocode/src/x/tool.js:2:20)\n    at <anonymous> (.autocode/src/x/tool.js:4:17)\n    at run (.autocode/src/x/tool.js:4:7)"
    );
    assert_eq!(run("export function run() { throw 'plain text' }").unwrap_err(), "plain text");
    assert_eq!(run("export function run() { throw {code: 3} }").unwrap_err(), r#"{"code":3}"#);
    let error =
        run("export function run() { throw new Error('outer', {cause: new RangeError('inner')}) }")
            .unwrap_err();
    assert!(
        error.starts_with("Error: outer\n    at run")
            && error.contains("\ncaused by: RangeError: inner"),
        "{error}"
    );
}

#[test]
fn run_may_be_async_and_is_waited_for() {
    assert_eq!(run("export async function run() { await new Promise((done) => setTimeout(done, 5)); return 'waited' }").unwrap(), "waited");
    assert_eq!(
        run("const early = await 'ready'; export async function run() { return early }").unwrap(),
        "ready"
    );
    let error =
        run("export async function run() { await null; throw new Error('late') }").unwrap_err();
    assert!(error.starts_with("Error: late\n    at run (.autocode/src/x/tool.js:2:"), "{error}");
    let error = run("export async function run() { await new Promise(() => {}) }").unwrap_err();
    assert!(error.contains("nothing is left to settle"), "{error}");
}

#[test]
fn timers_fire_in_order_until_they_are_cleared() {
    let order = run(
        "export async function run() {
           const seen = [];
           const tick = setInterval(() => seen.push('tick'), 2);
           setTimeout(() => seen.push('late'), 9);
           clearTimeout(setTimeout(() => seen.push('never'), 1));
           await new Promise((done) => setTimeout((x) => { seen.push(x); done() }, 1, 'first'));
           while (seen.filter((s) => s === 'tick').length < 2) await new Promise((done) => setTimeout(done, 1));
           clearInterval(tick);
           while (!seen.includes('late')) await new Promise((done) => setTimeout(done, 1));
           return seen.filter((s, i) => seen.indexOf(s) === i);
         }",
    );
    assert_eq!(order.unwrap(), r#"["first","tick","late"]"#);
}

#[test]
fn runaway_recursion_is_an_error_that_a_script_can_catch() {
    let deep = "const deep = (n) => deep(n + 1) + 1;\n";
    let caught = run(&format!(
        "{deep}export function run() {{ try {{ deep(0) }} catch (e) {{ return e.name }} }}"
    ));
    assert_eq!(caught.unwrap(), "RangeError");
    let error = run(&format!("{deep}export function run() {{ deep(0) }}")).unwrap_err();
    assert!(
        error.starts_with(
            "RangeError: Maximum call stack size exceeded\n    at deep (.autocode/src/x/tool.js:2:"
        ),
        "{error}"
    );
    // Native functions in between use more of the machine's stack than of the script's.
    let bench = Bench::new();
    let mut trapped = Vec::new();
    for body in [
        "const f = (a) => a.map(() => f(a)); export function run() { f([1]) }",
        "const f = (s) => s.replace(/x/, () => f(s)); export function run() { f('x') }",
        "export function run() { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; JSON.stringify(a) }",
        "export function run() { JSON.parse('['.repeat(1e6)) }",
        "export function run() { const o = {get x() { return o.x }}; o.x }",
        "export function run() { const p = new Proxy({}, {get: (t, k, r) => r[k]}); p.x }",
        "export function run() { const f = () => [3, 1, 2].sort(f); f() }",
        "export function run() { class A { constructor() { new A() } } new A() }",
        "export function run() { new RegExp('('.repeat(1e5) + ')'.repeat(1e5)) }",
        "export function run() { const f = () => Reflect.apply(f, null, []); f() }",
        "export function run() { const o = {toString() { return `${o}` }}; String(o) }",
        "export function run() { const o = {toJSON() { return JSON.stringify(o) }}; JSON.stringify(o) }",
    ] {
        let error = script(&bench, body, "{}").unwrap_err();
        if !error.contains("Error: ") || error.contains("trapped") {
            trapped.push(format!("{body}: {error}"));
        }
    }
    assert!(trapped.is_empty(), "{}", trapped.join("\n"));
}

#[test]
fn source_that_is_nested_too_deeply_ends_in_a_clear_word() {
    // The parser's frames are out of the check's sight; the machine's stack ends them.
    let error = run("export function run() { eval('('.repeat(1e5)) }").unwrap_err();
    assert!(error.contains("its calls are nested too deeply"), "{error}");
    let error = run(&format!("const x = {};\nexport function run() {{}}", "[".repeat(100_000)))
        .unwrap_err();
    assert!(error.contains("nested too deeply"), "{error}");
}

#[test]
fn files_are_read_written_listed_and_removed() {
    let bench = Bench::new();
    bench.write("a.txt", "héllo\n");
    bench.write("sub/b.txt", "b");
    bench.write("sub/.git/config", "");
    bench.write("sub/deep/c.txt", "");
    let did = script(
        &bench,
        "export function run() {
           fs.writeFile('new.txt', 'one\\n');
           fs.appendFile('new.txt', new TextEncoder().encode('twö'));
           const { size, type, mtime } = fs.stat('new.txt');
           fs.mkdir('p/q');
           fs.rename('new.txt', 'p/q/new.txt');
           const text = fs.readFile('p/q/new.txt');
           const bytes = fs.readFile('a.txt', null).length;
           fs.remove('p');
           fs.remove('p');
           return [text, size, type, mtime instanceof Date, bytes, fs.exists('p'), fs.exists('sub'),
                   fs.list('sub').reverse(), fs.list('sub', {recursive: true})];
         }",
        "{}",
    );
    assert_eq!(
        did.unwrap(),
        r#"["one\ntwö",8,"file",true,7,false,true,["deep/","b.txt",".git/"],["b.txt","deep/c.txt"]]"#
    );
}

#[test]
fn a_file_that_is_not_there_and_one_that_is_out_of_reach_are_told_apart() {
    let read = |path: &str| {
        run(&format!(
            "export function run() {{ try {{ fs.readFile('{path}') }} catch (e) {{ return `${{e.code}} ${{e.message}}` }} }}"
        ))
    };
    assert_eq!(
        read("nope").unwrap(),
        "ENOENT ENOENT: cannot read 'nope': no such file or directory"
    );
    for path in ["/etc/passwd", "../../../../../../etc/passwd"] {
        assert_eq!(
            read(path).unwrap(),
            format!(
                "EACCES EACCES: cannot read '{path}': /etc/passwd is outside of the project; the grant \"fs\": [\"/etc/passwd\"] would allow it"
            )
        );
    }
    let error = run("fs.readFile('x');\nexport function run() {}").unwrap_err();
    assert!(
        error.contains("no directory is open to the tool (none is while its schema is read)"),
        "{error}"
    );
}

#[test]
fn a_link_out_of_the_project_leads_nowhere() {
    let bench = Bench::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), bench.path("link")).unwrap();
    let body = "export function run() { return fs.readFile('link/secret') }";
    assert!(script(&bench, body, "{}").unwrap_err().contains("cannot read 'link/secret'"));
    let body = "export function run() { fs.writeFile('link/mine', 'x') }";
    assert!(script(&bench, body, "{}").unwrap_err().contains("cannot write 'link/mine'"));
    // Removing the link leaves what it leads to.
    script(&bench, "export function run() { fs.remove('link') }", "{}").unwrap();
    assert!(outside.path().join("secret").exists());
}

#[test]
fn relative_paths_start_where_the_agent_works() {
    let mut bench = Bench::new();
    bench.write("top.txt", "top");
    bench.write("deep/here.txt", "here");
    bench.env.cwd = bench.path("deep");
    let body =
        "export function run() { return fs.readFile('here.txt') + fs.readFile('../top.txt') }";
    assert_eq!(script(&bench, body, "{}").unwrap(), "heretop");
}

#[test]
fn habits_from_node_work() {
    let bench = Bench::new();
    bench.write("a.txt", "a");
    let did = script(
        &bench,
        "import { readFileSync, readdirSync, statSync, existsSync } from 'node:fs';
         import { readFile } from 'fs/promises';
         import path, { join, extname } from 'path';
         export async function run() {
           return [readFileSync('a.txt', 'utf8'), await readFile('a.txt', { encoding: 'utf8' }), existsSync('b'),
                   readdirSync('.', { withFileTypes: true }).find((e) => e.name === 'a.txt').isFile(),
                   statSync('.').isDirectory(), join('x', '..', 'y'), extname('x/y.tar.gz'), path.relative('a/b', 'a/c')];
         }",
        "{}",
    );
    assert_eq!(did.unwrap(), r#"["a","a",false,true,true,"y",".gz","../c"]"#);
}

#[test]
fn a_script_is_told_what_it_does_not_have_and_what_to_do() {
    let error = run("export function run() { fetch('https://example.com') }").unwrap_err();
    assert!(error.contains("host.call(\"fetch\", {url})"), "{error}");
    let error = run("export function run() { host.bash('true') }").unwrap_err();
    assert!(error.contains("\"bash\"") && error.contains("x.grants.json"), "{error}");
}

#[test]
fn the_host_is_there_with_its_grants() {
    let bench = Bench::new();
    bench.tool("add todo").unwrap();
    script(&bench, "export function run() {}", "{}").unwrap();
    bench.write(
        ".autocode/tools/x.grants.json",
        r#"{"bash": true, "tools": ["todo"], "model": true}"#,
    );
    trust::grant(&Project::at(bench.dir.path()), &bench.env, Origin::Here).unwrap();
    let did = script(
        &bench,
        "export function run() {
           host.state.set('k', {n: 1});
           const refused = (() => { try { host.complete('x') } catch (e) { return e.message } })();
           return [host.state.get('k'), host.state.get('none') ?? null, host.bash('echo $((6 * 7))').trim(),
                   host.call('todo', {add: ['a']}), refused];
         }",
        "{}",
    );
    assert_eq!(
        did.unwrap(),
        "[{\"n\":1},null,\"42\",\"[ ] 1 a\\n1 open, 0 done\",\"complete needs a model, which a tool has only when the agent calls it\"]"
    );
}

#[test]
fn what_browsers_and_node_have_in_common_is_there() {
    let did = run(
        "export function run() {
           const url = new URL('../x?q=1#h', 'https://User:pw@Example.com:443/a/b/c');
           url.searchParams.append('z', 'a b&c');
           const data = {when: new Date(0), map: new Map([['a', {b: 1}]])};
           data.self = data;
           const copy = structuredClone(data);
           return [url.href, String(new URLSearchParams({a: '1 2'})), URL.canParse('nope'), new URL('file:a/../b').href,
                   copy.self === copy, copy.map.get('a').b, copy.when.toISOString(),
                   new TextDecoder().decode(new Uint8Array([0xe2, 0x82, 0xac, 0xff])), atob(btoa('x'))];
         }",
    );
    assert_eq!(
        did.unwrap(),
        r#"["https://User:pw@example.com/a/x?q=1&z=a+b%26c#h","a=1+2",false,"file:///b",true,1,"1970-01-01T00:00:00.000Z","€�","x"]"#
    );
}

#[test]
fn a_script_that_eats_all_memory_is_stopped_with_a_clear_word() {
    let error = run(
        "export function run() { const all = []; for (;;) all.push('x'.repeat(1e6) + all.length) }",
    )
    .unwrap_err();
    assert!(error.contains("memory"), "{error}");
}
