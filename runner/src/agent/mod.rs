//! The loop: turn, step, tool calls; context budget and compaction. Emits events, takes inputs, never prints.

pub mod event;
