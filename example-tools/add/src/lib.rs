//! The smallest tool: a doc comment for the model, typed arguments, an answer.

use autocode_tool::tool;

/// Add two numbers.
#[tool]
fn add(
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
) -> f64 {
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_adds() {
        assert_eq!(super::add(2.0, 0.5), 2.5);
    }
}
