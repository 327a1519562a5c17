//! Settings: their layers, schema and validation, saving, and hot reload.

mod expand;
mod layers;
mod load;
mod place;
mod save;
mod schema;
mod settings;

pub use layers::{Layer, Overrides, Problem, Source};
pub use load::{Loaded, load, no_model};
pub use save::{Scope, file, save};
pub use schema::{KEYS, Key};
pub use settings::{Approve, Settings};
