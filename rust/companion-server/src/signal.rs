//! Wakes a task, for values that a lock guards already.

use std::mem;
use std::task::{Context, Poll, Waker};

/// A signal for one task. It stays set until the task takes it.
#[derive(Default)]
pub(crate) struct Signal {
    is_set: bool,
    waker: Option<Waker>,
}

impl Signal {
    pub(crate) fn set(&mut self) {
        self.is_set = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Takes the signal.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<()> {
        if mem::take(&mut self.is_set) {
            return Poll::Ready(());
        }
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
