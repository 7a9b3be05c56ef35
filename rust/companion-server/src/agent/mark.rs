//! Clears the mark that hooks set while this process is suspended.

use std::sync::{Arc, OnceLock};

use companion_platform::SuspendedMark;
use tokio::sync::Semaphore;

use crate::disk::pool::BlockingPool;

pub(crate) struct HookMark {
    /// `None` until hooks may reach the server.
    mark: OnceLock<SuspendedMark>,
    /// One mark at a time: a disk that does not answer blocks one thread.
    clearing: Arc<Semaphore>,
    pool: Arc<BlockingPool>,
}

impl HookMark {
    pub(super) fn new(pool: Arc<BlockingPool>) -> Self {
        Self { mark: OnceLock::new(), clearing: Arc::new(Semaphore::new(1)), pool }
    }

    /// Hooks may reach the server at `port`.
    pub(crate) fn begin(&self, port: u16) {
        if let Some(mark) = SuspendedMark::of(port) {
            let _ = self.mark.set(mark);
            self.clear();
        }
    }

    /// Shows hooks that this process is not suspended any more.
    pub(crate) fn clear(&self) {
        let turn = Arc::clone(&self.clearing).try_acquire_owned();
        let (Some(mark), Ok(turn)) = (self.mark.get().cloned(), turn) else { return };
        self.pool.run(move || {
            let _turn = turn;
            mark.clear();
        });
    }
}
