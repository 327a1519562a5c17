//! Keeps both ends of a long output and says what was left out.
