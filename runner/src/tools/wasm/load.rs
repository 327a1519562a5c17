//! From a file to a tool that has described itself, on threads of their own.
//!
//! The phases in order: read, parse and compile, link, schema. What is known of the same bytes from before is taken from
//! the cache; a tool that is only listed never has its code loaded.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tokio::sync::Notify;
use wasmtime::component::InstancePre;

use super::Checker;
use super::broken::{Broken, Phase};
use super::cache::{Cache, ContentHash};
use super::call::describe;
use super::compile::Compiler;
use super::describe::Description;
use super::engine;
use super::host::State;
use super::link::{deserialize, link};
use super::read::read;
use super::shared::{Code, Compiled, SharedEngine};

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
    checker: OnceLock<Result<Box<Checker>, String>>,
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
        let parameters = self.description.parameters.get();
        let checker = self.checker.get_or_init(|| Checker::new(parameters).map(Box::new));
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
        let parts = self.shared.and_then(|shared| (shared.split)(bytes));
        let Some((module, script)) = parts else {
            return self.native(bytes, hash, report).map(Code::Own);
        };
        let engine =
            self.engine.get(|| self.native(module, ContentHash::of(module), &mut |_, _| {}))?;
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
