//! A language engine that many tools share.
//!
//! A tool in a script language is an ordinary module: the engine with the script inside. Compiling the engine once per
//! script would be a waste, so a module that is "this engine and a script" is taken apart again and runs on the one
//! compiled engine, which gets the script through its export `load`.

use std::sync::{Arc, Mutex, PoisonError};

use wasmtime::component::InstancePre;

use super::broken::Broken;
use super::host::State;

/// Gives the engine's module before any script was put in, and the script, if a module is an engine with a script and
/// nothing else.
pub type Split = for<'a> fn(&'a [u8]) -> Option<(&'static [u8], &'a str)>;

/// How a module made with an engine is recognised.
#[derive(Clone, Copy)]
pub struct SharedEngine {
    /// Takes a module apart.
    pub split: Split,
}

/// The code of a tool, ready to be instantiated.
#[derive(Clone)]
pub(crate) enum Code {
    /// A module of its own.
    Own(InstancePre<State>),
    /// A script on a shared engine.
    Script { engine: InstancePre<State>, script: Arc<str> },
}

impl Code {
    /// What to instantiate.
    pub fn pre(&self) -> &InstancePre<State> {
        match self {
            Self::Own(pre) | Self::Script { engine: pre, .. } => pre,
        }
    }

    /// What to load into the instance before anything else.
    pub fn script(&self) -> Option<&str> {
        match self {
            Self::Own(_) => None,
            Self::Script { script, .. } => Some(script),
        }
    }
}

/// The compiled shared engine, made when the first tool needs it. Others wait for it meanwhile.
#[derive(Default)]
pub(crate) struct Compiled(Mutex<Option<InstancePre<State>>>);

impl Compiled {
    /// The engine, compiled by `make` the first time; a failure is tried again next time.
    pub fn get(
        &self,
        make: impl FnOnce() -> Result<InstancePre<State>, Broken>,
    ) -> Result<InstancePre<State>, Broken> {
        let mut compiled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = &*compiled {
            return Ok(engine.clone());
        }
        let engine = make()?;
        *compiled = Some(engine.clone());
        Ok(engine)
    }
}
