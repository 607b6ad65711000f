//! Found: the blocks that an evaluation has come to so far, which stand also if it never ends.

use std::sync::{Arc, Mutex, PoisonError};

use crate::signal::{Intensity, Signal};

/// The blocks that an evaluation has come to so far; a clone sees the same.
#[derive(Clone, Debug, Default)]
pub struct Found(Arc<Mutex<Vec<Signal>>>);

impl Found {
    /// Returns what was found.
    pub fn blocks(&self) -> Vec<Signal> {
        let blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.clone()
    }

    /// Keeps the blocks among the signals that a binding gave, before anything is asked of the past, which may hang.
    pub(super) fn keep<'a>(&self, signals: impl IntoIterator<Item = &'a Signal>) {
        let blocks = signals
            .into_iter()
            .filter(|signal| signal.intensity() == Intensity::Block);
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.extend(blocks.cloned());
    }
}
