//! LaTeX formulas as text.

/// One line of Unicode.
pub fn inline(tex: &str) -> String {
    tex.trim().to_owned()
}

/// Rows, each at most `width` cells where possible.
pub fn display(tex: &str, _width: usize) -> Vec<String> {
    tex.trim().lines().map(|row| row.trim().to_owned()).collect()
}
