//! Settings: their layers, schema and validation, saving, and hot reload.

mod settings;

pub use settings::{Approve, Settings};
