//! One call: a fresh store, the limits, and what went wrong in words that the model can act on.
//!
//! The guest runs on a thread of its own, as a future that gives way at every tick: what must stay on the agent's thread
//! (progress, the host) comes back through a queue, and dropping the call ends the guest.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use wasmtime::Store;

use super::broken::{Broken, Phase};
use super::crew;
use super::engine::Ticking;
use super::failure::failure;
use super::grants::Grants;
use super::host::{Ask, Permits, State};
use super::http::{Network, Refusals};
use super::output::Sink;
use super::sandbox::Sandbox;
use super::shared::Code;
use crate::tools::{CallContext, Host, ToolStatus};

/// How long a tool may take to describe itself, and with how much memory.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(10);
/// What a guest may hand over in one go, in bytes: its answer, or an argument of a host function.
pub(crate) const MAX_TRANSFER: usize = 32 << 20;
/// Questions of a guest that wait for an answer.
const QUEUE: usize = 64;

/// What to run, and behind which grants.
pub(crate) struct Call<'a> {
    /// The tool's code.
    pub code: &'a Code,
    /// The file's name without its ending.
    pub stem: &'a str,
    /// What it is granted.
    pub grants: Arc<Grants>,
    /// The project.
    pub sandbox: &'a Sandbox,
    /// A JSON object that fits the tool's schema.
    pub arguments: &'a str,
}

/// What came of it: the text is the model's, not yet clipped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// How it ended.
    pub status: ToolStatus,
    /// What the tool said, or what happened to it.
    pub text: String,
}

/// Runs a tool: the guest on a thread of its own, what it asks answered here.
pub(crate) async fn run(call: Call<'_>, cx: &CallContext<'_>) -> Outcome {
    let (asks, mut asked) = mpsc::channel(QUEUE);
    let refusals = Refusals::default();
    let permits = Arc::new(Permits { grants: call.grants.clone(), stem: call.stem.to_owned() });
    let started = Guest::start(&call, cx, &permits, asks, refusals.clone());
    let ended = match started {
        Ok(guest) => guest.drive(&mut asked, call.grants.timeout(), cx).await,
        Err(text) => Ended::Returned(Err(text)),
    };
    while let Ok(ask) = asked.try_recv() {
        settle(ask, cx);
    }
    let mut outcome = match ended {
        Ended::Returned(Ok(text)) => return Outcome { status: ToolStatus::Ok, text },
        Ended::Returned(Err(text)) => Outcome { status: ToolStatus::Failed, text },
        Ended::TimedOut => Outcome {
            status: ToolStatus::TimedOut,
            text: format!(
                "stopped at its time limit of {} s; {} raises it",
                call.grants.timeout().as_secs(),
                grant_file("timeout_s", call.stem)
            ),
        },
        Ended::Cancelled => {
            return Outcome { status: ToolStatus::Cancelled, text: "interrupted".into() };
        }
    };
    for hint in hints(&call, &cx.cwd, &outcome.text, &refusals) {
        _ = write!(outcome.text, "\n{hint}");
    }
    outcome
}

/// A guest that runs. Dropping it ends the guest, at the latest at its next tick.
struct Guest {
    finished: oneshot::Receiver<Result<String, String>>,
    _alive: oneshot::Sender<()>,
}

enum Ended {
    Returned(Result<String, String>),
    TimedOut,
    Cancelled,
}

impl Guest {
    fn start(
        call: &Call<'_>,
        cx: &CallContext<'_>,
        permits: &Arc<Permits>,
        asks: mpsc::Sender<Ask>,
        refusals: Refusals,
    ) -> Result<Self, String> {
        let (stdout, stderr) = (Sink::lines(asks.clone()), Sink::end());
        let wasi = call.sandbox.open(&cx.cwd, &call.grants, stdout.clone(), stderr.clone())?;
        let state =
            State::new(wasi, permits.clone(), Network::new(permits.clone(), refusals), Some(asks));
        let (code, arguments, permits) =
            (call.code.clone(), call.arguments.to_owned(), permits.clone());
        let (finish, finished) = oneshot::channel();
        let (alive, mut given_up) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Handle::current();
        let job = move || {
            let mut store = store(&code, state);
            let returned = runtime.block_on(async {
                tokio::select! {
                    biased;
                    _ = &mut given_up => None,
                    returned = guest(&mut store, &code, Entry::Run(&arguments)) => Some(returned),
                }
            });
            let Some(returned) = returned else { return };
            stdout.flush();
            let memory_hit = store.data().memory.hit;
            // That nobody waits for it any more is no error.
            _ = finish.send(
                returned
                    .unwrap_or_else(|error| Err(failure(&error, memory_hit, &permits, &stderr))),
            );
        };
        crew::run(job).map_err(|error| format!("no thread for the tool: {error}"))?;
        Ok(Self { finished, _alive: alive })
    }

    /// What a guest gives back within a moment. To fall asleep and be woken takes longer than most guests do; where
    /// there is one processor only, it is the guest's after the first part of the moment.
    fn at_once(&mut self) -> Option<Result<String, String>> {
        const MOMENT: Duration = Duration::from_micros(400);
        const ALONE: Duration = Duration::from_micros(40);
        let begun = std::time::Instant::now();
        loop {
            match self.finished.try_recv() {
                Ok(returned) => return Some(returned),
                Err(oneshot::error::TryRecvError::Closed) => return None,
                Err(oneshot::error::TryRecvError::Empty) => {}
            }
            match begun.elapsed() {
                past if past > MOMENT => return None,
                past if past > ALONE => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    /// Waits for the guest and answers what it asks. Time that the agent takes to answer is not the guest's.
    async fn drive(
        mut self,
        asked: &mut mpsc::Receiver<Ask>,
        limit: Duration,
        cx: &CallContext<'_>,
    ) -> Ended {
        if let Some(returned) = self.at_once() {
            return Ended::Returned(returned);
        }
        let deadline = tokio::time::sleep(limit);
        tokio::pin!(deadline);
        loop {
            let ask = tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Ended::Cancelled,
                returned = &mut self.finished => {
                    let crashed = || Err("the tool crashed the thread it ran on".to_owned());
                    return Ended::Returned(returned.unwrap_or_else(|_| crashed()));
                }
                Some(ask) = asked.recv() => ask,
                () = &mut deadline => return Ended::TimedOut,
            };
            let asked_at = Instant::now();
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Ended::Cancelled,
                () = answer(ask, cx.progress, cx.host) => {}
            }
            let extended = deadline.deadline() + asked_at.elapsed();
            deadline.as_mut().reset(extended);
        }
    }
}

/// Asks a tool to describe itself: nothing granted, nobody to ask.
pub(crate) async fn describe(code: &Code) -> Result<String, Broken> {
    let stderr = Sink::end();
    let permits = Arc::new(Permits { grants: Arc::new(Grants::default()), stem: String::new() });
    let network = Network::new(permits.clone(), Refusals::default());
    let state = State::new(Sandbox::closed(stderr.clone()), permits.clone(), network, None);
    let mut store = store(code, state);
    let ended = {
        let guest = guest(&mut store, code, Entry::Schema);
        tokio::time::timeout(DESCRIBE_TIMEOUT, guest).await
    };
    match ended {
        Ok(Ok(Ok(text))) => Ok(text),
        Ok(Ok(Err(text))) => Err(Broken::new(Phase::Schema, text)),
        Ok(Err(error)) => Err(Broken::new(
            Phase::Schema,
            failure(&error, store.data().memory.hit, &permits, &stderr),
        )),
        Err(_) => {
            let cause = format!("schema() did not return within {} s", DESCRIBE_TIMEOUT.as_secs());
            Err(Broken::new(Phase::Schema, cause).hint("schema() only returns text").passing())
        }
    }
}

fn store(code: &Code, state: State) -> Store<State> {
    let mut store = Store::new(code.pre().engine(), state);
    store.limiter(|state| &mut state.memory);
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);
    store.set_hostcall_fuel(MAX_TRANSFER);
    store
}

/// Which export is called.
enum Entry<'a> {
    Schema,
    Run(&'a str),
}

type Returned = wasmtime::Result<Result<String, String>>;

/// The guest's part of a call.
async fn guest(store: &mut Store<State>, code: &Code, entry: Entry<'_>) -> Returned {
    let _ticking = Ticking::begin(store.engine());
    let instance = code.pre().instantiate_async(&mut *store).await?;
    if let Some(script) = code.script() {
        let load =
            instance.get_typed_func::<(&str,), (Result<(), String>,)>(&mut *store, "load")?;
        if let (Err(error),) = load.call_async(&mut *store, (script,)).await? {
            return Ok(Err(error));
        }
    }
    match entry {
        Entry::Schema => {
            let schema = instance.get_typed_func::<(), (String,)>(&mut *store, "schema")?;
            let (text,) = schema.call_async(&mut *store, ()).await?;
            Ok(Ok(text))
        }
        Entry::Run(arguments) => {
            let run = instance
                .get_typed_func::<(&str,), (Result<String, String>,)>(&mut *store, "run")?;
            let (result,) = run.call_async(&mut *store, (arguments,)).await?;
            Ok(result)
        }
    }
}

/// Answers one question. That nobody waits for the answer any more is no error.
async fn answer(ask: Ask, progress: &dyn Fn(&str), host: &dyn Host) {
    match ask {
        Ask::Progress(line) => progress(&line),
        Ask::Bash { command, timeout, reply } => _ = reply.send(host.bash(&command, timeout).await),
        Ask::Complete { prompt, reply } => _ = reply.send(host.complete(&prompt).await),
        Ask::Agent { task, reply } => _ = reply.send(host.agent(&task).await),
        Ask::Call { tool, arguments, reply } => _ = reply.send(host.call(&tool, &arguments).await),
        Ask::StateGet { key, reply } => _ = reply.send(host.state_get(&key)),
        Ask::StateSet { key, value } => host.state_set(&key, &value),
    }
}

/// What was sent without waiting for an answer still counts when the guest is gone; the rest has no one to answer to.
fn settle(ask: Ask, cx: &CallContext<'_>) {
    match ask {
        Ask::Progress(line) => (cx.progress)(&line),
        Ask::StateSet { key, value } => cx.host.state_set(&key, &value),
        _ => {}
    }
}

/// Where a grant is given.
pub(crate) fn grant_file(grant: &str, stem: &str) -> String {
    format!("\"{grant}\" in .autocode/tools/{stem}.grants.json")
}

/// What a failed call may be about, beside what the tool itself says.
fn hints(call: &Call<'_>, cwd: &Path, said: &str, refusals: &Refusals) -> Vec<String> {
    let mut hints = refusals.take();
    let about_files = FILE_TROUBLE.iter().any(|words| said.contains(words));
    let told = said.contains("\"fs\":");
    if !about_files || told {
        return hints;
    }
    let arguments: serde_json::Value = serde_json::from_str(call.arguments).unwrap_or_default();
    let mut texts = Vec::new();
    strings(&arguments, &mut texts);
    let words = said.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ':')
    });
    let file = format!(".autocode/tools/{}.grants.json", call.stem);
    if let Some(path) = call.sandbox.outside(cwd, &call.grants, texts.into_iter().chain(words)) {
        let path = path.display();
        hints.push(format!(
            "{path} is outside of the project; \"fs\": [\"{path}\"] in {file} would allow it"
        ));
    } else if !call.sandbox.allows(cwd, &call.grants) {
        let cwd = cwd.display();
        hints.push(format!(
            "the working directory {cwd} is outside of the project, so that relative paths lead nowhere here; \
             \"fs\": [\"{cwd}\"] in {file} would allow it"
        ));
    }
    hints
}

/// How languages speak of a path that WASI refused or did not find.
const FILE_TROUBLE: [&str; 8] = [
    "os error",
    "errno",
    "ENOENT",
    "EPERM",
    "ENOTCAPABLE",
    "No such file",
    "not permitted",
    "pre-opened",
];

fn strings<'a>(value: &'a serde_json::Value, out: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| strings(field, out)),
        _ => {}
    }
}
