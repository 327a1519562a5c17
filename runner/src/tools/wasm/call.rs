//! One call: a fresh store, the limits, and what went wrong in words that the model can act on.
//!
//! The guest is polled here, beside the queue of what it asks; dropping the future ends the guest wherever it is.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use wasmtime::{Store, Trap, WasmBacktrace};

use super::broken::{Broken, Phase, clip, one_line};
use super::engine::{MAX_STACK, Ticking};
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
const MAX_TRANSFER: usize = 32 << 20;
/// Questions of a guest that wait for an answer.
const QUEUE: usize = 64;
/// Lines of stderr and frames of the backtrace in a trap's report.
const STDERR_LINES: usize = 12;
const FRAMES: usize = 16;
/// Longest report of a failure, in bytes.
const MAX_FAILURE: usize = 6 << 10;

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

/// Runs a tool.
pub(crate) async fn run(call: Call<'_>, cx: &CallContext<'_>) -> Outcome {
    let (asks, mut asked) = mpsc::channel(QUEUE);
    let stdout = Sink::lines(asks.clone());
    let stderr = Sink::end();
    let refusals = Refusals::default();
    let wasi = match call.sandbox.open(&cx.cwd, &call.grants, stdout.clone(), stderr.clone()) {
        Ok(wasi) => wasi,
        Err(text) => return Outcome { status: ToolStatus::Failed, text },
    };
    let permits = Arc::new(Permits { grants: call.grants.clone(), stem: call.stem.to_owned() });
    let network = Network::new(permits.clone(), refusals.clone());
    let mut store = store(call.code, State::new(wasi, permits.clone(), network, Some(asks)));

    let ended = {
        let guest = guest(&mut store, call.code, Entry::Run(call.arguments));
        drive(guest, &mut asked, call.grants.timeout(), cx).await
    };
    stdout.flush();
    while let Ok(ask) = asked.try_recv() {
        settle(ask, cx);
    }
    let mut outcome = match ended {
        Ended::Returned(Ok(Ok(text))) => return Outcome { status: ToolStatus::Ok, text },
        Ended::Returned(Ok(Err(text))) => Outcome { status: ToolStatus::Failed, text },
        Ended::Returned(Err(error)) => {
            let text = failure(&error, store.data().memory.hit, &permits, &stderr);
            Outcome { status: ToolStatus::Failed, text }
        }
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

enum Ended {
    Returned(Returned),
    TimedOut,
    Cancelled,
}

/// Polls the guest and answers what it asks. Time that the agent takes to answer is not the guest's.
async fn drive(
    guest: impl Future<Output = Returned>,
    asked: &mut mpsc::Receiver<Ask>,
    limit: Duration,
    cx: &CallContext<'_>,
) -> Ended {
    tokio::pin!(guest);
    let deadline = tokio::time::sleep(limit);
    tokio::pin!(deadline);
    loop {
        let ask = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Ended::Cancelled,
            returned = &mut guest => return Ended::Returned(returned),
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

fn grant_file(grant: &str, stem: &str) -> String {
    format!("\"{grant}\" in .autocode/tools/{stem}.grants.json")
}

/// What a failed call may be about, beside what the tool itself says.
fn hints(call: &Call<'_>, cwd: &Path, said: &str, refusals: &Refusals) -> Vec<String> {
    let mut hints = refusals.take();
    let arguments: serde_json::Value = serde_json::from_str(call.arguments).unwrap_or_default();
    let mut texts = Vec::new();
    strings(&arguments, &mut texts);
    let words = said.split(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | ',' | ':')
    });
    if let Some(path) = call.sandbox.outside(cwd, &call.grants, texts.into_iter().chain(words)) {
        let path = path.display();
        let already_told = said.contains("\"fs\":");
        if !already_told {
            let grant = format!("\"fs\": [\"{path}\"]");
            let file = format!(".autocode/tools/{}.grants.json", call.stem);
            hints.push(format!(
                "{path} is outside of the project; {grant} in {file} would allow it"
            ));
        }
    }
    hints
}

fn strings<'a>(value: &'a serde_json::Value, out: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| strings(field, out)),
        _ => {}
    }
}

/// A trap or a broken contract, with what the guest last said and where it was.
fn failure(error: &wasmtime::Error, memory_hit: bool, permits: &Permits, stderr: &Sink) -> String {
    let mut text = match (
        memory_hit,
        error.downcast_ref::<Trap>(),
        error.downcast_ref::<wasmtime_wasi::I32Exit>(),
    ) {
        (true, ..) => format!(
            "the tool ran into its memory limit of {} MiB; {} raises it",
            permits.grants.memory_mb(),
            grant_file("memory_mb", &permits.stem)
        ),
        (_, Some(Trap::StackOverflow), _) => {
            format!(
                "the tool trapped: its calls are nested too deeply (its stack has {} MiB)",
                MAX_STACK >> 20
            )
        }
        (_, Some(trap), _) => {
            let trap = trap.to_string();
            format!("the tool trapped: {}", trap.strip_prefix("wasm trap: ").unwrap_or(&trap))
        }
        (.., Some(exit)) => format!("the tool exited with status {} instead of returning", exit.0),
        _ => explain(&format!("{:#}", error.root_cause())),
    };
    let lines = stderr.last_lines(STDERR_LINES);
    if !lines.is_empty() {
        _ = write!(text, "\nlast lines of stderr:\n{lines}");
    }
    if let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() {
        _ = write!(text, "{}", frames(backtrace));
    }
    clip(&text, MAX_FAILURE).to_owned()
}

/// What breaks the contract without a trap.
fn explain(cause: &str) -> String {
    if cause.contains("fuel") {
        return format!("the tool handed over more than {} MiB at once", MAX_TRANSFER >> 20);
    }
    if cause.contains("utf-8") {
        return format!("the tool returned text that is not UTF-8 ({cause})");
    }
    format!("the tool broke the contract: {}", one_line(cause, 500))
}

fn frames(backtrace: &WasmBacktrace) -> String {
    let mut text = String::new();
    let frames = backtrace.frames();
    for frame in frames.iter().take(FRAMES) {
        let name = match frame.func_name() {
            Some(name) => format!("{:#}", rustc_demangle::demangle(name)),
            None => format!("function {}", frame.func_index()),
        };
        _ = write!(text, "\n  at {}", clip(&name, 160));
    }
    match frames.len().checked_sub(FRAMES) {
        Some(more) if more > 0 => format!("\nwasm backtrace:{text}\n  … and {more} more"),
        _ if text.is_empty() => text,
        _ => format!("\nwasm backtrace:{text}"),
    }
}
