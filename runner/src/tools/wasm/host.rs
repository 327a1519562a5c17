//! The host functions of the tool contract, each behind its grant, and the state of one call.
//!
//! A guest runs as a future that may move between threads; what it asks of the agent must not. So the state holds only
//! the sending end of a queue: [`Ask`]s go to whoever polls the guest, and the answers come back.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use wasmtime::component::{Linker, LinkerInstance, ResourceTable};
use wasmtime::{Engine, ResourceLimiter, Result, StoreContextMut};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::broken::clip;
use super::grants::Grants;
use super::http::Network;
use super::output::MAX_LINE;

/// The interface's name in the component model.
const INTERFACE: &str = "autocode:tool/host@0.1.0";
/// Entries of all tables of a guest together.
const MAX_TABLE: usize = 1 << 20;

/// What a guest asks of the agent's side.
pub(crate) enum Ask {
    /// Show a line.
    Progress(String),
    /// Run a command.
    Bash { command: String, timeout: Option<Duration>, reply: Reply },
    /// Call the model.
    Complete { prompt: String, reply: Reply },
    /// Run a sub-agent.
    Agent { task: String, reply: Reply },
    /// Call another tool.
    Call { tool: String, arguments: String, reply: Reply },
    /// Read a value of the session.
    StateGet { key: String, reply: oneshot::Sender<Option<String>> },
    /// Keep a value with the session.
    StateSet { key: String, value: String },
}

/// Where an answer goes.
pub(crate) type Reply = oneshot::Sender<Answer>;
type Answer = std::result::Result<String, String>;

/// The state of one instance.
pub(crate) struct State {
    /// WASI as this call sees it.
    pub wasi: WasiCtx,
    http: WasiHttpCtx,
    table: ResourceTable,
    network: Network,
    /// Memory used and its limit.
    pub memory: Memory,
    permits: Arc<Permits>,
    /// `None`: nobody is there to answer, as while a tool describes itself.
    asks: Option<mpsc::Sender<Ask>>,
}

/// The grants of a tool, with the words to refuse.
pub(crate) struct Permits {
    /// What is granted.
    pub grants: Arc<Grants>,
    /// The file's name without its ending.
    pub stem: String,
}

impl Permits {
    /// Why something was refused, and what would allow it.
    pub fn refusal(&self, what: &str, grant: &str) -> String {
        format!(
            "{what} is not granted to this tool; {grant} in .autocode/tools/{}.grants.json would allow it",
            self.stem
        )
    }
}

impl State {
    /// For one call.
    pub fn new(
        wasi: WasiCtx,
        permits: Arc<Permits>,
        network: Network,
        asks: Option<mpsc::Sender<Ask>>,
    ) -> Self {
        let limit = usize::try_from(permits.grants.memory_mb() << 20).unwrap_or(usize::MAX);
        let memory = Memory { used: 0, limit, table: 0, hit: false };
        Self {
            wasi,
            http: WasiHttpCtx::new(),
            table: ResourceTable::new(),
            network,
            memory,
            permits,
            asks,
        }
    }

    /// Asks, if the grant is there.
    fn ask<F: FnOnce(Reply) -> Ask>(
        &self,
        granted: bool,
        what: &str,
        grant: &str,
        make: F,
    ) -> impl Future<Output = Result<(Answer,)>> + Send + use<F> {
        let queue = match (&self.asks, granted) {
            (Some(asks), true) => Ok(asks.clone()),
            (None, _) => Err("a tool cannot ask for anything while it describes itself".to_owned()),
            (_, false) => Err(self.permits.refusal(what, grant)),
        };
        let asked = queue.map(|queue| {
            let (reply, answer) = oneshot::channel();
            (queue, make(reply), answer)
        });
        async move {
            let (queue, ask, answer) = match asked {
                Ok(asked) => asked,
                Err(refusal) => return Ok((Err(refusal),)),
            };
            let gone = || Err("the call is over".to_owned());
            if queue.send(ask).await.is_err() {
                return Ok((gone(),));
            }
            Ok((answer.await.unwrap_or_else(|_| gone()),))
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        WasiHttpCtxView { hooks: &mut self.network, table: &mut self.table, ctx: &mut self.http }
    }
}

/// The limiter: all memories of a call together.
pub(crate) struct Memory {
    used: usize,
    limit: usize,
    table: usize,
    /// Whether the guest wanted more than it may have.
    pub hit: bool,
}

impl ResourceLimiter for Memory {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        self.hit |= used > self.limit;
        if used <= self.limit {
            self.used = used;
        }
        Ok(used <= self.limit)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let table = self.table.saturating_add(desired.saturating_sub(current));
        if table <= MAX_TABLE {
            self.table = table;
        }
        Ok(table <= MAX_TABLE)
    }

    fn memories(&self) -> usize {
        100
    }
}

/// Everything a tool can import.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    wasmtime_wasi_http::p2::add_only_http_to_linker_async(&mut linker)?;
    let mut host = linker.instance(INTERFACE)?;
    ungranted(&mut host)?;
    granted(&mut host)?;
    Ok(linker)
}

/// What needs no grant.
fn ungranted(host: &mut LinkerInstance<'_, State>) -> Result<()> {
    host.func_wrap_async("progress", |store: StoreContextMut<'_, State>, (line,): (String,)| {
        let asks = store.data().asks.clone();
        Box::new(async move {
            if let Some(asks) = asks {
                // Waits for room, so that a guest cannot fill memory with lines that nobody has shown yet.
                _ = asks.send(Ask::Progress(clip(&line, MAX_LINE).to_owned())).await;
            }
            Ok(())
        })
    })?;
    host.func_wrap_async("state-get", |store: StoreContextMut<'_, State>, (key,): (String,)| {
        let asks = store.data().asks.clone();
        Box::new(async move {
            let Some(asks) = asks else { return Ok((None,)) };
            let (reply, answer) = oneshot::channel();
            _ = asks.send(Ask::StateGet { key, reply }).await;
            Ok((answer.await.unwrap_or(None),))
        })
    })?;
    host.func_wrap_async(
        "state-set",
        |store: StoreContextMut<'_, State>, (key, value): (String, String)| {
            let asks = store.data().asks.clone();
            Box::new(async move {
                if let Some(asks) = asks {
                    _ = asks.send(Ask::StateSet { key, value }).await;
                }
                Ok(())
            })
        },
    )
}

/// What needs one.
fn granted(host: &mut LinkerInstance<'_, State>) -> Result<()> {
    type Store<'a> = StoreContextMut<'a, State>;
    host.func_wrap_async("bash", |store: Store<'_>, (command, seconds): (String, Option<u32>)| {
        let state = store.data();
        let timeout = seconds.map(|s| Duration::from_secs(s.into()));
        Box::new(state.ask(state.permits.grants.bash, "bash", "\"bash\": true", move |reply| {
            Ask::Bash { command, timeout, reply }
        }))
    })?;
    host.func_wrap_async("complete", |store: Store<'_>, (prompt,): (String,)| {
        let state = store.data();
        Box::new(state.ask(
            state.permits.grants.model,
            "the model",
            "\"model\": true",
            move |reply| Ask::Complete { prompt, reply },
        ))
    })?;
    host.func_wrap_async("agent", |store: Store<'_>, (task,): (String,)| {
        let state = store.data();
        Box::new(state.ask(
            state.permits.grants.model,
            "a sub-agent",
            "\"model\": true",
            move |reply| Ask::Agent { task, reply },
        ))
    })?;
    host.func_wrap_async("call", |store: Store<'_>, (tool, arguments): (String, String)| {
        let state = store.data();
        let grant = format!("\"tools\": [\"{}\"]", clip(&tool, 64));
        let what = format!("calling {}", clip(&tool, 64));
        let granted = state.permits.grants.tools.allow(&tool);
        Box::new(state.ask(granted, &what, &grant, move |reply| Ask::Call {
            tool,
            arguments,
            reply,
        }))
    })
}
