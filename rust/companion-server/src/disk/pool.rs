//! Runs the blocking disk access of one server on a few separate threads.
//!
//! A disk that does not answer blocks only the window that uses it.

use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;

use crate::runtime::ThreadGuard;

/// The most threads. These need one each, since each waits for its answer before it asks again: the
/// context, the workspace, its worktrees, the probe of a proposal, the resume file, the files of
/// hooks, the count of their lines, the mark for hooks, the resume files of peers, the list of
/// changes, and the processes of CLIs. So a dead disk leaves the resume file its thread.
const THREADS: usize = 11;

pub(crate) struct BlockingPool {
    handle: Handle,
    /// `None` once the pool has ended. Only the threads of this runtime are used.
    pool: Mutex<Option<(Runtime, ThreadGuard)>>,
}

impl BlockingPool {
    pub(crate) fn new(alive: ThreadGuard) -> io::Result<Self> {
        let pool = Builder::new_current_thread()
            .thread_name("gemini-companion-disk")
            .max_blocking_threads(THREADS)
            .build()?;
        Ok(Self { handle: pool.handle().clone(), pool: Mutex::new(Some((pool, alive))) })
    }

    /// Uses the blocking threads of the test's own runtime. Its clock stands still while one is
    /// busy.
    #[cfg(test)]
    pub(crate) fn of_test() -> Self {
        Self { handle: Handle::current(), pool: Mutex::default() }
    }

    /// Runs a function that may block for any time.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let alive = self.alive();
        self.handle.spawn_blocking(move || {
            if let Some(alive) = alive {
                alive.hold();
            }
            job()
        })
    }

    /// A guard for a further thread of this server; `None` once the pool has ended.
    pub(crate) fn alive(&self) -> Option<ThreadGuard> {
        self.pool.lock().as_ref().map(|(_, alive)| alive.clone())
    }

    /// Ends the pool without waiting for its threads.
    pub(crate) fn end(&self) {
        if let Some((pool, _)) = self.pool.lock().take() {
            pool.shutdown_background();
        }
    }
}

impl Drop for BlockingPool {
    fn drop(&mut self) {
        self.end();
    }
}

/// Gives the users of a pool their turns, one at a time. A disk that does not answer blocks one
/// thread then, however many of them wait.
pub(crate) struct DiskQueue {
    pool: Arc<BlockingPool>,
    turn: Arc<Semaphore>,
}

impl DiskQueue {
    pub(crate) fn new(pool: Arc<BlockingPool>) -> Self {
        Self { pool, turn: Arc::new(Semaphore::new(1)) }
    }

    /// Waits for all earlier turns to end.
    pub(crate) async fn turn(&self) -> DiskTurn {
        let permit = Arc::clone(&self.turn).acquire_owned().await.expect("it is never closed");
        DiskTurn { pool: Arc::clone(&self.pool), permit: Arc::new(permit) }
    }

    /// A turn; `None` while another one lasts.
    pub(crate) fn try_turn(&self) -> Option<DiskTurn> {
        let permit = Arc::clone(&self.turn).try_acquire_owned().ok()?;
        Some(DiskTurn { pool: Arc::clone(&self.pool), permit: Arc::new(permit) })
    }
}

/// Lasts until it is dropped and its jobs have ended.
pub(crate) struct DiskTurn {
    pool: Arc<BlockingPool>,
    permit: Arc<OwnedSemaphorePermit>,
}

impl DiskTurn {
    /// Runs a function that may block for any time.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> JoinHandle<T> {
        let permit = Arc::clone(&self.permit);
        self.pool.run(move || {
            let _permit = permit;
            job()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::sync::oneshot;

    use super::*;
    use crate::runtime::Runtime as ServerRuntime;

    #[test]
    fn once_they_have_ended_nothing_is_left_of_them() {
        let runtime = ServerRuntime::start().unwrap();
        let pool = BlockingPool::new(runtime.alive().clone()).unwrap();
        pool.end();
        assert!(pool.alive().is_none());
        assert!(runtime.end(Duration::from_mins(1)), "nobody waits for a disk");
    }

    /// A server may be dropped on its own thread, which must not wait.
    #[tokio::test]
    async fn they_are_dropped_without_waiting_for_one_that_waits_for_a_disk() {
        let runtime = ServerRuntime::start().unwrap();
        let pool = BlockingPool::new(runtime.alive().clone()).unwrap();
        let (asked, asks) = oneshot::channel();
        let (disk, answer) = mpsc::channel::<()>();
        let looking = pool.run(move || {
            asked.send(()).unwrap();
            answer.recv().is_err()
        });
        asks.await.unwrap();
        drop(pool);
        assert!(!runtime.end(Duration::ZERO), "it still waits");
        drop(disk);
        assert!(looking.await.unwrap(), "it has come to its own end");
    }
}
