//! Signals the end of a server, and tracks the tasks that may finish before it.

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The signals and tasks of one server. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Lifecycle {
    /// Stop accepting connections and requests, but finish the current ones.
    pub(crate) stopping: CancellationToken,
    /// Drop everything that has not finished.
    pub(crate) aborting: CancellationToken,
    /// The tasks of the listeners.
    pub(crate) listening: TaskTracker,
    /// The tasks of the connections.
    pub(crate) tasks: TaskTracker,
}
