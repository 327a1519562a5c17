//! Settings: their layers, schema and validation, saving, and hot reload.

mod changes;
mod expand;
mod layers;
mod live;
mod load;
mod place;
pub mod prompt;
mod save;
mod schema;
mod settings;
mod watch;

pub use changes::Change;
pub use layers::{Layer, Overrides, Problem, Source};
pub use live::Live;
pub use load::{Loaded, described, load, no_model};
pub use save::{Scope, file, save};
pub use schema::{KEYS, Key};
pub use settings::{Approve, Settings};
