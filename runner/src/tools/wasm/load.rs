//! From a file to a tool that has described itself, on threads of their own.
//!
//! The phases in order: read, parse and compile, link, schema. What is known of the same bytes from before is taken from
//! the cache; a tool that is only listed never has its code loaded.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::Notify;
use wasmtime::component::types::{ComponentItem, Type};
use wasmtime::component::{Component, InstancePre};

use super::Checker;
use super::broken::{Broken, Phase};
use super::cache::{Cache, ContentHash};
use super::call::describe;
use super::compile::Compiler;
use super::describe::Description;
use super::engine::{self, Runtime};
use super::host::State;
use super::lift::other_contract;
use super::shared::{Code, Compiled, SharedEngine};

/// Largest module, in bytes.
const MAX_MODULE: u64 = 64 << 20;
/// Files loaded at once; each compilation uses all cores anyway.
const WORKERS: usize = 2;
/// A compiler in process needs more than a thread's usual stack.
const STACK: usize = 16 << 20;

/// A tool: what its bytes are and what they say of themselves.
pub(crate) struct Tool {
    /// Of the module's bytes.
    pub hash: ContentHash,
    /// What it says of itself.
    pub description: Description,
    code: Mutex<Option<Code>>,
    checker: OnceLock<Result<Checker, String>>,
}

impl Tool {
    /// A tool whose code is loaded when it is first called.
    pub fn known(hash: ContentHash, description: Description) -> Self {
        Self { hash, description, code: Mutex::new(None), checker: OnceLock::new() }
    }

    /// The code, if it is loaded.
    pub fn code(&self) -> Option<Code> {
        self.code.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_code(self, code: Code) -> Self {
        self.set_code(code);
        self
    }

    fn set_code(&self, code: Code) {
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some(code);
    }

    /// The arguments to run with, or why they do not fit.
    pub fn check(&self, arguments: &str) -> Result<String, String> {
        let checker = self.checker.get_or_init(|| Checker::new(self.description.parameters.get()));
        checker.as_ref().map_err(Clone::clone)?.check(arguments)
    }
}

/// What became of a file: a tool, or why it is none.
pub(crate) type Loaded = Result<Arc<Tool>, Broken>;

/// A file on its way.
#[derive(Default)]
pub(crate) struct Pending {
    done: OnceLock<Loaded>,
    notify: Notify,
}

impl Pending {
    /// What became of it, if it is done.
    pub fn get(&self) -> Option<&Loaded> {
        self.done.get()
    }

    /// Waits until it is done.
    pub async fn wait(&self) -> &Loaded {
        loop {
            let notified = self.notify.notified();
            if let Some(loaded) = self.done.get() {
                return loaded;
            }
            notified.await;
        }
    }

    fn finish(&self, loaded: Loaded) {
        // Set once: a job's result stands, the guard against its loss comes second.
        _ = self.done.set(loaded);
        self.notify.notify_waiters();
    }
}

/// Loads files in the background.
#[derive(Clone)]
pub struct Loader(Arc<Inner>);

struct Inner {
    cache: Cache,
    compiler: Compiler,
    shared: Option<SharedEngine>,
    engine: Compiled,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    workers: usize,
}

struct Job {
    path: PathBuf,
    want_code: bool,
    pending: Arc<Pending>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.pending.finish(Err(Broken::new(Phase::Read, "loading it was given up").passing()));
    }
}

impl Loader {
    /// With compiled code under the user's `cache_dir`.
    pub fn new(cache_dir: &Path, compiler: Compiler, shared: Option<SharedEngine>) -> Self {
        Self(Arc::new(Inner {
            cache: Cache::new(cache_dir),
            compiler,
            shared,
            engine: Compiled::default(),
            queue: Mutex::default(),
        }))
    }

    /// The cache.
    pub(crate) fn cache(&self) -> &Cache {
        &self.0.cache
    }

    /// Begins to load a file; with its code even where its description is known.
    pub(crate) fn load(&self, path: PathBuf, want_code: bool) -> Arc<Pending> {
        let pending = Arc::new(Pending::default());
        let job = Job { path, want_code, pending: pending.clone() };
        let mut queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push_back(job);
        if queue.workers < WORKERS {
            let inner = self.0.clone();
            let thread = std::thread::Builder::new().name("wasm-load".into()).stack_size(STACK);
            if thread.spawn(move || inner.work()).is_ok() {
                queue.workers += 1;
            } else if queue.workers == 0 {
                queue.jobs.clear();
            }
        }
        pending
    }

    /// The code of a tool, when it can be had without compiling.
    pub(crate) fn compiled(&self, tool: &Tool) -> Option<Code> {
        let runtime = engine::runtime().ok()?;
        let path = self.0.cache.code(&runtime.key, tool.hash)?;
        let code = Code::Own(link(runtime, &deserialize(runtime, &path)?).ok()?);
        tool.set_code(code.clone());
        Some(code)
    }

    /// Looks at a file phase by phase, as it is done when it is loaded, without what is known of it from before.
    pub fn inspect(&self, path: &Path) -> Inspection {
        let mut phases = Vec::new();
        // On a thread: it waits for the tool, and the caller may be one that must not wait in that way.
        let loaded = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK);
            let work = || {
                self.0.load(path, Effort::Inspect, &mut |phase, note| phases.push((phase, note)))
            };
            thread.spawn_scoped(scope, work).ok().and_then(|thread| thread.join().ok())
        });
        let crashed = || Err(Broken::new(Phase::Read, "looking at it failed").passing());
        let tool = loaded.unwrap_or_else(crashed).map(|tool| Inspected {
            name: tool.description.name.clone(),
            description: tool.description.description.clone(),
            parameters: tool.description.parameters.get().to_owned(),
        });
        Inspection { phases, tool }
    }
}

/// What holds for a file, phase by phase.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The phases that went well, each with a word on it.
    pub phases: Vec<(Phase, String)>,
    /// What the tool says of itself, or where it stopped.
    pub tool: Result<Inspected, Broken>,
}

/// What an inspected tool says of itself.
#[derive(Clone, Debug)]
pub struct Inspected {
    /// Its name, if it gives one; it is the file's otherwise.
    pub name: Option<String>,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments, as text.
    pub parameters: String,
}

/// How much of what is known counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// The description, wherever it comes from.
    Describe,
    /// The code too.
    Code,
    /// Every phase anew.
    Inspect,
}

type Report<'a> = &'a mut dyn FnMut(Phase, String);

impl Inner {
    fn work(&self) {
        loop {
            let job = {
                let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(job) = queue.jobs.pop_front() else {
                    queue.workers -= 1;
                    return;
                };
                job
            };
            let effort = if job.want_code { Effort::Code } else { Effort::Describe };
            // A crash on one file is that file's; the job's end tells whoever waits for it.
            let loaded =
                catch_unwind(AssertUnwindSafe(|| self.load(&job.path, effort, &mut |_, _| {})));
            if let Ok(loaded) = loaded {
                job.pending.finish(loaded);
            }
        }
    }

    fn load(&self, path: &Path, effort: Effort, report: Report<'_>) -> Loaded {
        let bytes = read(path)?;
        let hash = ContentHash::of(&bytes);
        report(Phase::Read, format!("{} bytes, sha256 {hash}", bytes.len()));
        self.make(&bytes, hash, effort, report).map(Arc::new)
    }

    fn make(
        &self,
        bytes: &[u8],
        hash: ContentHash,
        effort: Effort,
        report: Report<'_>,
    ) -> Result<Tool, Broken> {
        let known = if effort == Effort::Inspect { None } else { self.cache.description(hash) };
        if let (Effort::Describe, Some(description)) = (effort, &known) {
            return Ok(Tool::known(hash, description.clone()));
        }
        let code = self.code(bytes, hash, report)?;
        let description = match known {
            Some(description) => description,
            None => {
                let description = Description::parse(&ask(&code)?)?;
                self.cache.keep_description(hash, &description);
                description
            }
        };
        report(Phase::Schema, description.description.clone());
        Ok(Tool::known(hash, description).with_code(code))
    }

    fn code(&self, bytes: &[u8], hash: ContentHash, report: Report<'_>) -> Result<Code, Broken> {
        let script =
            self.shared.and_then(|shared| Some((shared, (shared.split)(bytes, shared.module)?)));
        let Some((shared, script)) = script else {
            return self.native(bytes, hash, report).map(Code::Own);
        };
        let engine = self
            .engine
            .get(|| self.native(shared.module, ContentHash::of(shared.module), &mut |_, _| {}))?;
        report(Phase::Parse, format!("a script of {} bytes on the shared engine", script.len()));
        report(Phase::Link, "the engine's imports are met".into());
        Ok(Code::Script { engine, script: script.into() })
    }

    /// Compiled and linked, from the cache where it is there and fits.
    fn native(
        &self,
        bytes: &[u8],
        hash: ContentHash,
        report: Report<'_>,
    ) -> Result<InstancePre<State>, Broken> {
        let runtime =
            engine::runtime().map_err(|error| Broken::new(Phase::Link, error).passing())?;
        let cached =
            self.cache.code(&runtime.key, hash).and_then(|path| deserialize(runtime, &path));
        let component = match cached {
            Some(component) => {
                report(Phase::Parse, "compiled before".into());
                component
            }
            None => {
                let path = self
                    .cache
                    .keep_code(&runtime.key, hash, |file| self.compiler.compile(bytes, file))?;
                report(Phase::Parse, "compiled".into());
                deserialize(runtime, &path).ok_or_else(|| {
                    Broken::new(Phase::Link, "the compiled code does not load").passing()
                })?
            }
        };
        let pre = link(runtime, &component)?;
        report(Phase::Link, "imports are met, `schema` and `run` are there".into());
        Ok(pre)
    }
}

impl From<String> for Broken {
    fn from(cause: String) -> Self {
        Self::new(Phase::Read, cause).passing()
    }
}

/// The file's bytes, if it is a file of a sensible size. Never waits for anyone to write into it.
fn read(path: &Path) -> Result<Vec<u8>, Broken> {
    let fail = |error: io::Error| Broken::new(Phase::Read, explain(&error));
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path).map_err(fail)?;
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        return Err(Broken::new(
            Phase::Read,
            format!("it is {}, not a file", kind(meta.file_type())),
        ));
    }
    let too_large = |size: u64| {
        let cause = format!("it has {} MiB; a tool has at most {}", size >> 20, MAX_MODULE >> 20);
        Err(Broken::new(Phase::Read, cause).hint("strip debug information and optimise for size"))
    };
    if meta.len() > MAX_MODULE {
        return too_large(meta.len());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0));
    file.take(MAX_MODULE + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_MODULE { too_large(bytes.len() as u64) } else { Ok(bytes) }
}

fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the link leads to nothing, or the file is gone".into(),
        io::ErrorKind::PermissionDenied => "no permission to read it".into(),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            "its links form a loop".into()
        }
        _ => error.to_string(),
    }
}

fn kind(kind: fs::FileType) -> &'static str {
    if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// Code from a file of our own cache; `None` when it does not fit this engine after all.
#[allow(unsafe_code)]
fn deserialize(runtime: &Runtime, path: &Path) -> Option<Component> {
    // SAFETY: the cache gives out only files that `keep_code` put, whole, into a directory that is ours alone; they hold
    // what our own compiler wrote, and are replaced by rename or unlinked, never changed.
    unsafe { Component::deserialize_file(&runtime.engine, path) }.ok()
}

/// Meets the imports and checks the exports.
fn link(runtime: &Runtime, component: &Component) -> Result<InstancePre<State>, Broken> {
    let engine = &runtime.engine;
    let ty = component.component_type();
    let exports = || ty.exports(engine).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
    if let Some(other) = other_contract(ty.imports(engine).map(|(name, _)| name)) {
        return Err(other);
    }
    let pre = runtime.linker.instantiate_pre(component).map_err(|error| {
        let known = |name: &str| {
            (name.starts_with("wasi:") && name.contains("@0.2."))
                || name.starts_with("autocode:tool/host@0.1.")
        };
        let missing = ty
            .imports(engine)
            .map(|(name, _)| name.to_owned())
            .filter(|name| !known(name))
            .collect();
        Broken::new(Phase::Link, format!("{error:#}"))
            .missing(missing)
            .hint("a tool may import WASI 0.2 and autocode:tool/host@0.1.0, nothing else")
    })?;
    for (name, wanted) in
        [("schema", "func() -> string"), ("run", "func(args: string) -> result<string, string>")]
    {
        let found = ty.exports(engine).find(|(export, _)| *export == name).map(|(_, item)| item.ty);
        let cause = match found {
            Some(ComponentItem::ComponentFunc(func)) if fits(name, &func) => continue,
            Some(_) => format!("the export `{name}` has another type than `{wanted}`"),
            None => format!("the component does not export `{name}: {wanted}`"),
        };
        return Err(Broken::new(Phase::Link, cause)
            .exports(exports())
            .hint("the world is `tool` in autocode:tool@0.1.0; both functions are exports of the world itself"));
    }
    Ok(pre)
}

fn fits(name: &str, func: &wasmtime::component::types::ComponentFunc) -> bool {
    let params: Vec<Type> = func.params().map(|(_, ty)| ty).collect();
    let results: Vec<Type> = func.results().collect();
    match (name, params.as_slice(), results.as_slice()) {
        ("schema", [], [Type::String]) => true,
        ("run", [Type::String], [Type::Result(result)]) => {
            result.ok() == Some(Type::String) && result.err() == Some(Type::String)
        }
        _ => false,
    }
}

/// Lets the tool describe itself. Called on a loading thread only.
fn ask(code: &Code) -> Result<String, Broken> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime =
        runtime.map_err(|error| Broken::new(Phase::Schema, error.to_string()).passing())?;
    let text = runtime.block_on(describe(code));
    // A guest may have left a thread in a system call: it is not waited for.
    runtime.shutdown_background();
    text
}
