//! The project's wasm tools: from a file to something the model can call, and the call itself.
//!
//! One runtime path: whatever the language, a file becomes a component ([`lift`]), the component native code
//! ([`compile`], [`cache`]), and the code runs in a store of its own per call, behind its grants ([`call`], [`host`],
//! [`grants`]). What does not get that far is a [`Broken`], with the phase and the cause.
//!
//! Native code is loaded only from our own cache, never from the project. A module never grants itself anything.

mod arguments;
mod broken;
mod cache;
mod call;
mod compile;
mod crew;
mod describe;
mod engine;
mod failure;
mod grants;
mod host;
mod http;
pub(crate) mod index;
pub mod javascript;
mod lift;
mod link;
mod load;
mod output;
mod read;
mod sandbox;
mod scan;
mod shared;

pub use broken::{Broken, Phase};
pub use compile::{COMPILE_COMMAND, Compiler, compile_child_main};
pub use grants::Grants;
pub use load::{Inspected, Inspection, Loader};
pub use shared::SharedEngine;

pub(crate) use arguments::Checker;
pub(crate) use call::{Call, Outcome, run};
pub(crate) use describe::{Description, is_name};
pub(crate) use index::Known;
pub(crate) use load::{Pending, Tool};
pub(crate) use read::MAX_MODULE;
pub(crate) use sandbox::Sandbox;
pub(crate) use scan::{Scanner, Seen, Stamp};
