//! Front ends over the agent's event stream.

pub mod stdin;
