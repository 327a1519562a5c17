//! A point in a reply at which the server waits until the test says go on.

use std::sync::{Arc, Condvar, Mutex};

use crate::deadline;

/// Shared by the test and the reply that stops at it. Once open it stays open.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    reached: bool,
    open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until a reply has been sent up to this gate.
    pub fn wait_until_reached(&self) {
        let (lock, condvar) = &*self.0;
        let (guard, found) =
            deadline::wait(condvar, lock.lock().unwrap(), |state| state.reached.then_some(()));
        drop(guard);
        assert!(found.is_some(), "no reply came to the gate");
    }

    /// Lets the reply go on.
    pub fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    /// The server's side: says that the gate is reached and waits for it to open; false when it stayed closed.
    pub(super) fn pass(&self) -> bool {
        let (lock, condvar) = &*self.0;
        let mut state = lock.lock().unwrap();
        state.reached = true;
        condvar.notify_all();
        let (guard, found) = deadline::wait(condvar, state, |state| state.open.then_some(()));
        drop(guard);
        found.is_some()
    }
}
