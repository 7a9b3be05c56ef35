//! Runs servers on one thread, and waits at the end for all their threads.
//!
//! One thread is enough, because a request costs microseconds. It keeps the order of editor
//! requests, and memory: one allocator arena, one stack. Blocking disk access runs on the [blocking
//! pool](crate::disk::pool) of each server.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// The longest wait for threads at the end. Only a disk that does not answer makes it that long.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The thread. A host stops its servers before it drops this. That waits for all threads, 0.5 s at
/// most.
pub struct Runtime {
    handle: Handle,
    stop: CancellationToken,
    /// `None` once the runtime has ended.
    threads: Option<(ThreadGuard, Mutex<Receiver<Infallible>>)>,
}

impl Runtime {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let (alive, gone) = mpsc::channel();
        let alive = ThreadGuard(alive);
        alive.spawn("gemini-companion", move || runtime.block_on(stopped.cancelled()))?;
        let threads = Some((alive, Mutex::new(gone)));
        Ok(Self { handle, stop, threads })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// A guard for further threads of this runtime.
    pub(crate) fn alive(&self) -> &ThreadGuard {
        let (alive, _) = self.threads.as_ref().expect("it has not ended");
        alive
    }

    /// Ends the runtime, and waits for its threads, at most for `limit`. Returns whether they have ended. A
    /// host drops it instead; tests wait longer.
    pub fn end(mut self, limit: Duration) -> bool {
        self.stop(limit)
    }

    fn stop(&mut self, limit: Duration) -> bool {
        self.stop.cancel();
        let Some((_, mut gone)) = self.threads.take() else { return true };
        gone.get_mut().recv_timeout(limit) != Err(RecvTimeoutError::Timeout)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if !self.stop(END_TIMEOUT) {
            log::warn!("a disk does not answer, and a thread still waits for it");
        }
    }
}

/// Held by each thread of a runtime while it runs.
#[derive(Clone, Debug)]
pub(crate) struct ThreadGuard(
    #[expect(dead_code, reason = "only its end counts")] Sender<Infallible>,
);

impl ThreadGuard {
    /// Starts a thread that holds the guard.
    pub(crate) fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let alive = self.clone();
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            alive.hold();
            run();
        })?;
        Ok(())
    }

    /// Makes the calling thread hold the guard until its end.
    pub(crate) fn hold(self) {
        thread_local! {
            static HELD: RefCell<Option<ThreadGuard>> = const { RefCell::new(None) };
        }
        HELD.set(Some(self));
    }
}
