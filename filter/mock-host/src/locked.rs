//! What several threads may hold a handle on, one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value behind a lock. A test that panicked while it held the lock leaves the value as it was.
#[derive(Debug, Default)]
pub(crate) struct Locked<T>(Mutex<T>);

impl<T> Locked<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(crate) fn hold(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
