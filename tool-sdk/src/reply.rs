//! What a tool's function returns, made into the answer for the model.
//!
//! Method resolution picks [`Fallible`] for a `Result` and [`Plain`] for the rest, so that both are plain Rust.

use std::fmt::Display;

/// What the function returned.
pub struct Answer<T>(pub T);

/// Results: the error's whole chain, where its type shows one in the alternate form.
pub trait Fallible {
    /// The answer.
    fn reply(&self) -> Result<String, String>;
}

impl<T: Display, E: Display> Fallible for Answer<Result<T, E>> {
    fn reply(&self) -> Result<String, String> {
        match &self.0 {
            Ok(value) => Ok(value.to_string()),
            Err(error) => Err(format!("{error:#}")),
        }
    }
}

/// Everything else that can be displayed.
pub trait Plain {
    /// The answer.
    fn reply(&self) -> Result<String, String>;
}

impl<T: Display> Plain for &Answer<T> {
    fn reply(&self) -> Result<String, String> {
        Ok(self.0.to_string())
    }
}
