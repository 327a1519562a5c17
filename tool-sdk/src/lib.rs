//! Write tools.
