//! Real modules through the whole way: written into a project, scanned, loaded, called.

#![allow(clippy::unwrap_used)]

mod broken;
mod calls;
mod fixture;
mod host;
mod scanning;

pub(crate) use fixture::{Fixture, Recorder};
