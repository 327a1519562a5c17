//! Scripted model server and pty harness.
