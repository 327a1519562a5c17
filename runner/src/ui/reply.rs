//! A reply as it arrives, drawn on standard output.

use std::io::{self, Write};

use crate::env::Env;

/// x
pub struct ReplyView { any: bool }

impl ReplyView {
    pub fn new(_env: &Env) -> Self { Self { any: false } }
    pub fn push(&mut self, text: &str) { self.any = true; let _ = io::stdout().write_all(text.as_bytes()); let _ = io::stdout().flush(); }
    pub fn discard(&mut self) {}
    /// ends; whether something was drawn
    pub fn finish(&mut self) -> bool { if self.any { println!(); } std::mem::take(&mut self.any) }
}
