//! What wasm tools cost the agent: a scan that finds nothing new, a start with many cached tools, a call.
//!
//! `cargo bench -p autocode --bench wasm`. Modules are compiled in this process, so its memory says nothing.

#![allow(clippy::unwrap_used, missing_docs)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use autocode::env::Env;
use autocode::project::Project;
use autocode::tools::toolbox::Toolbox;
use autocode::tools::wasm::{Compiler, Loader};
use autocode::tools::{CallContext, Host, ToolStatus};
use autocode_tests::wat::{Behaviour, tool};
use criterion::{Criterion, criterion_group, criterion_main};
use futures_util::future::LocalBoxFuture;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

const MANY: usize = 200;

/// Nothing is asked of it here.
struct Nobody;

impl Host for Nobody {
    fn bash<'a>(
        &'a self,
        _: &'a str,
        _: Option<Duration>,
    ) -> LocalBoxFuture<'a, Result<String, String>> {
        refuse()
    }
    fn complete<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        refuse()
    }
    fn agent<'a>(&'a self, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        refuse()
    }
    fn call<'a>(&'a self, _: &'a str, _: &'a str) -> LocalBoxFuture<'a, Result<String, String>> {
        refuse()
    }
    fn state_get(&self, _: &str) -> Option<String> {
        None
    }
    fn state_set(&self, _: &str, _: &str) {}
}

fn refuse<'a>() -> LocalBoxFuture<'a, Result<String, String>> {
    Box::pin(std::future::ready(Err("nobody is here".into())))
}

fn toolbox(dir: &Path) -> Toolbox {
    let env = Env::at(dir);
    let loader = Loader::new(&env.cache_dir, Compiler::InProcess, None);
    Toolbox::new(&Project::at(dir), &env, loader, "")
}

/// A toolbox that has settled: files are old enough to be told apart by their times.
fn settled(runtime: &Runtime, dir: &Path) -> Toolbox {
    let mut toolbox = toolbox(dir);
    runtime.block_on(toolbox.rescan_all(true));
    std::thread::sleep(Duration::from_millis(50));
    runtime.block_on(toolbox.rescan_all(true));
    runtime.block_on(toolbox.rescan_all(true));
    toolbox
}

fn many(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let tools = dir.path().join(".autocode/tools");
    fs::create_dir_all(&tools).unwrap();
    for n in 0..MANY {
        let module = tool(&format!("Gives the number {n}."), Behaviour::Returns("x"));
        fs::write(tools.join(format!("tool{n:03}.wasm")), module).unwrap();
    }
    let mut stocked = settled(&runtime, dir.path());
    assert_eq!(stocked.names().count(), MANY + 1);
    criterion.bench_function("scan of 200 unchanged tools", |bencher| {
        bencher.iter(|| runtime.block_on(stocked.rescan(true)));
    });
    criterion.bench_function("first scan of 200 cached tools", |bencher| {
        bencher.iter(|| {
            let mut toolbox = toolbox(dir.path());
            runtime.block_on(toolbox.rescan(true));
            assert_eq!(toolbox.names().count(), MANY + 1);
        });
    });
}

fn call(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let tools = dir.path().join(".autocode/tools");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join("text.wasm"), tool("Gives a text.", Behaviour::Returns("x"))).unwrap();
    fs::write(tools.join("add.wasm"), include_bytes!("../../assets/tools/add.wasm")).unwrap();
    let toolbox = settled(&runtime, dir.path());
    let cancel = CancellationToken::new();
    for (name, arguments) in [("text", "{}"), ("add", r#"{"a":1,"b":2}"#)] {
        criterion.bench_function(&format!("call of {name}, fresh store"), |bencher| {
            bencher.iter(|| {
                let context = CallContext {
                    cancel: &cancel,
                    progress: &|_| {},
                    host: &Nobody,
                    cwd: dir.path().to_owned(),
                    output_limit: 1000,
                };
                let result = runtime.block_on(toolbox.call(name, arguments, context));
                assert_eq!(result.status, ToolStatus::Ok, "{}", result.content);
            });
        });
    }
}

criterion_group!(benches, many, call);
criterion_main!(benches);
