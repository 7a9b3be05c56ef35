//! Runs all servers of a process on one thread, and waits at the end for all their threads.
//!
//! One thread is enough, because a request costs microseconds. It keeps the order of editor
//! requests, and memory: one allocator arena, one stack. Blocking disk access runs on the [blocking
//! pool](crate::disk::pool) of each server.

#[cfg(test)]
mod tests;

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

/// The thread. A host stops its servers before it ends or drops this.
pub struct Runtime {
    handle: Handle,
    stop: CancellationToken,
    /// `None` once the runtime has ended.
    threads: Option<(ThreadGuard, Remaining)>,
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
        let threads = Some((alive, Remaining(Mutex::new(gone))));
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

    /// Ends the runtime. Waits 0.5 s for its threads. Returns those that still wait for a disk, if
    /// there are any.
    pub fn end(mut self) -> Option<Remaining> {
        self.stop()
    }

    fn stop(&mut self) -> Option<Remaining> {
        self.stop.cancel();
        let (_, mut remaining) = self.threads.take()?;
        let ended = remaining.0.get_mut().recv_timeout(END_TIMEOUT);
        (ended == Err(RecvTimeoutError::Timeout)).then_some(remaining)
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.stop().is_some() {
            log::warn!("a disk does not answer, and a thread still waits for it");
        }
    }
}

/// The threads of an ended runtime that still wait for a disk.
#[derive(Debug)]
pub struct Remaining(Mutex<Receiver<Infallible>>);

impl Remaining {
    /// Waits until these threads have ended, however long a disk takes.
    pub fn wait(self) {
        let _ = self.0.into_inner().recv();
    }
}

/// Held by each thread of a runtime while it runs.
#[derive(Clone, Debug)]
pub(crate) struct ThreadGuard(
    #[expect(dead_code, reason = "its end is what counts")] Sender<Infallible>,
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
