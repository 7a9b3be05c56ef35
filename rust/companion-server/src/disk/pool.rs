//! The threads on which one server waits for its disks. They are its own, and few: a disk that
//! does not answer is the trouble of the window that has asked it.

use std::io;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;

use crate::runtime::ThreadGuard;

/// The most at a time: the context, the workspace, the kind of a proposal and the next process each
/// need one, and no more, since each waits for its answer before it asks again.
const THREADS: usize = 4;

pub(crate) struct BlockingPool {
    handle: Handle,
    /// Nothing once they have ended. Nothing but its threads is ever used.
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

    /// Those of the test's own runtime, whose clock stands still while one is busy.
    #[cfg(test)]
    pub(crate) fn of_test() -> Self {
        Self { handle: Handle::current(), pool: Mutex::default() }
    }

    /// Has a thread do something that may take any time.
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

    /// What a further thread for the server's disks holds; nothing once they have ended.
    pub(crate) fn alive(&self) -> Option<ThreadGuard> {
        self.pool.lock().as_ref().map(|(_, alive)| alive.clone())
    }

    /// Lets them go, without waiting.
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio::sync::oneshot;

    use super::*;
    use crate::runtime::Runtime as ServerRuntime;

    #[test]
    fn once_they_have_ended_nothing_is_left_of_them() {
        let runtime = ServerRuntime::start().unwrap();
        let pool = BlockingPool::new(runtime.alive().clone()).unwrap();
        pool.end();
        assert!(pool.alive().is_none());
        assert!(runtime.end().is_none(), "nobody waits for a disk");
    }

    /// A server may be dropped on the thread that it runs on, which must not wait.
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
        let remaining = runtime.end().expect("it still waits");
        drop(disk);
        remaining.wait();
        assert!(looking.await.unwrap(), "it has come to its own end");
    }
}
