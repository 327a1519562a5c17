//! The transcript on disk.
