//! Clears the mark that hooks set while this process is suspended.

use std::sync::Arc;

use companion_platform::SuspendedMark;
use tokio::sync::Semaphore;

use crate::disk::pool::BlockingPool;

pub(crate) struct HookMark {
    /// `None` if hooks can set none.
    mark: Option<SuspendedMark>,
    /// One mark at a time: a disk that does not answer blocks one thread.
    clearing: Arc<Semaphore>,
    pool: Arc<BlockingPool>,
}

impl HookMark {
    pub(super) fn new(mark: Option<SuspendedMark>, pool: Arc<BlockingPool>) -> Self {
        Self { mark, clearing: Arc::new(Semaphore::new(1)), pool }
    }

    /// Shows hooks that this process is not suspended any more.
    pub(crate) fn clear(&self) {
        let turn = Arc::clone(&self.clearing).try_acquire_owned();
        let (Some(mark), Ok(turn)) = (self.mark.clone(), turn) else { return };
        self.pool.run(move || {
            let _turn = turn;
            mark.clear();
        });
    }
}
