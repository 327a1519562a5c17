//! The one wasmtime engine of the process, made when the first tool needs it.
//!
//! Its configuration decides which compiled code fits: [`Runtime::key`] names it, and code is kept under that name.
//! A thread advances the engine's epoch while calls run, so that a busy guest gives way every ten milliseconds.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use wasmtime::component::Linker;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::host::{self, State};

/// A guest's own stack; a script engine's runaway recursion needs this much to be caught by itself.
pub(crate) const MAX_STACK: usize = 4 << 20;
/// What host functions get on top of it.
const HOST_STACK: usize = 2 << 20;
/// Calls that can be in flight at once (tools call tools, sub-agents run beside each other).
const MAX_INSTANCES: u32 = 32;
/// How long a guest may compute before others get a turn.
const TICK: Duration = Duration::from_millis(10);
/// Ticks without a call until the ticking thread ends.
const IDLE_TICKS: u32 = 100;

/// What every tool is compiled for and linked with.
pub(crate) struct Runtime {
    /// The engine.
    pub engine: Engine,
    /// WASI and the tool contract's host functions.
    pub linker: Linker<State>,
    /// Names the configuration: compiled code fits the same key only.
    pub key: String,
}

/// The process's runtime.
///
/// # Errors
/// When the machine cannot run compiled wasm at all; one line.
pub(crate) fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    RUNTIME.get_or_init(Runtime::new).as_ref().map_err(Clone::clone)
}

impl Runtime {
    fn new() -> Result<Self, String> {
        let fail = |error: wasmtime::Error| format!("no wasm engine on this machine: {error:#}");
        // Pooling reserves address space ahead; where that is limited, instances are made on demand.
        let engine =
            Engine::new(&config(true)).or_else(|_| Engine::new(&config(false))).map_err(fail)?;
        let linker = host::linker(&engine).map_err(fail)?;
        let key = key(&engine);
        Ok(Self { engine, linker, key })
    }
}

/// An engine that only compiles, for a process that ends afterwards.
pub(crate) fn compiler() -> Result<Engine, String> {
    Engine::new(&config(false))
        .map_err(|error| format!("no wasm compiler on this machine: {error:#}"))
}

fn config(pooling: bool) -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        .max_wasm_stack(MAX_STACK)
        .async_stack_size(MAX_STACK + HOST_STACK)
        // Backtraces walk frame pointers; tables for native unwinders would only make the code larger.
        .native_unwind_info(false);
    if pooling {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(MAX_INSTANCES)
            .total_memories(MAX_INSTANCES)
            .total_stacks(MAX_INSTANCES)
            .total_core_instances(40 * MAX_INSTANCES)
            .total_tables(40 * MAX_INSTANCES)
            .max_tables_per_module(4)
            .table_elements(1 << 16)
            .max_core_instance_size(4 << 20)
            .max_component_instance_size(8 << 20)
            .table_keep_resident(KEEP_RESIDENT);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

/// What a table keeps mapped between calls: clearing it is cheaper than giving it back and faulting it in again. For a
/// memory it is not: most languages put an untouched stack where it begins.
const KEEP_RESIDENT: usize = 16 << 10;

fn key(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// A call in flight: as long as one lives, the epoch advances.
pub(crate) struct Ticking(());

struct Ticker {
    calls: u32,
    alive: bool,
}

static TICKER: Mutex<Ticker> = Mutex::new(Ticker { calls: 0, alive: false });

impl Ticking {
    /// Begins a call.
    pub fn begin(engine: &Engine) -> Self {
        let mut ticker = TICKER.lock().unwrap_or_else(PoisonError::into_inner);
        ticker.calls += 1;
        if !ticker.alive {
            let engine = engine.clone();
            let thread = std::thread::Builder::new().name("wasm-epoch".into());
            // Without the thread, a guest that never waits holds the others up until it returns; nothing else breaks.
            ticker.alive = thread.spawn(move || tick(&engine)).is_ok();
        }
        Self(())
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        TICKER.lock().unwrap_or_else(PoisonError::into_inner).calls -= 1;
    }
}

fn tick(engine: &Engine) {
    let mut idle = 0;
    loop {
        std::thread::sleep(TICK);
        engine.increment_epoch();
        let mut ticker = TICKER.lock().unwrap_or_else(PoisonError::into_inner);
        idle = if ticker.calls == 0 { idle + 1 } else { 0 };
        if idle > IDLE_TICKS {
            ticker.alive = false;
            return;
        }
    }
}
