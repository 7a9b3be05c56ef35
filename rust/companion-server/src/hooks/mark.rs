//! Clears the mark that hooks set while this process is suspended.

use std::sync::Arc;

use companion_platform::SuspendedMark;

use crate::disk::pool::{BlockingPool, DiskQueue};

pub(crate) struct HookMark {
    /// `None` if hooks can set none.
    mark: Option<SuspendedMark>,
    /// One mark at a time.
    disk: DiskQueue,
}

impl HookMark {
    pub(super) fn new(mark: Option<SuspendedMark>, pool: Arc<BlockingPool>) -> Self {
        Self { mark, disk: DiskQueue::new(pool) }
    }

    /// Shows hooks that this process is not suspended any more.
    pub(crate) fn clear(&self) {
        if let Some(mark) = self.mark.clone()
            && let Some(turn) = self.disk.try_turn()
        {
            turn.run(move || mark.clear());
        }
    }
}
