//! The one thread on which all servers of a process run, and word of when it and all others that
//! servers have started are gone.
//!
//! One thread is enough: a request costs microseconds. It keeps order (requests to the editor
//! arise in the order of their causes) and memory (one allocator arena, one stack). What may wait
//! for a disk is done on [`threads`](crate::threads) of each server's own.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

/// How long the end waits for threads. Only a disk that does not answer holds one up.
const END: Duration = Duration::from_millis(500);

/// The thread; it ends when this is dropped, together with all servers.
#[derive(Debug)]
pub struct Runtime {
    handle: Handle,
    stop: CancellationToken,
    /// Nothing once it has ended.
    threads: Option<(Alive, Remaining)>,
}

impl Runtime {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let (alive, gone) = mpsc::channel();
        let alive = Alive(alive);
        alive.spawn("gemini-companion", move || runtime.block_on(stopped.cancelled()))?;
        Ok(Self { handle, stop, threads: Some((alive, Remaining(Mutex::new(gone)))) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// What its further threads hold.
    pub(crate) fn alive(&self) -> &Alive {
        let (alive, _) = self.threads.as_ref().expect("it has not ended");
        alive
    }

    /// Ends it, and waits for half a second at most. Returns the threads that still wait for a
    /// disk then, if there are any.
    pub fn end(mut self) -> Option<Remaining> {
        self.stop()
    }

    fn stop(&mut self) -> Option<Remaining> {
        self.stop.cancel();
        let (_, mut remaining) = self.threads.take()?;
        let ended = remaining.0.get_mut().recv_timeout(END);
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

/// Threads that a runtime has left behind.
#[derive(Debug)]
pub struct Remaining(Mutex<Receiver<Infallible>>);

impl Remaining {
    /// Waits until they are gone, however long a disk may take.
    pub fn wait(self) {
        let _ = self.0.into_inner().recv();
    }
}

/// Held by each thread of a runtime for as long as it runs.
#[derive(Clone, Debug)]
pub(crate) struct Alive(#[expect(dead_code, reason = "its end is what counts")] Sender<Infallible>);

impl Alive {
    /// Starts a thread.
    pub(crate) fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let alive = self.clone();
        let thread = thread::Builder::new().name(name.to_owned());
        thread.spawn(move || {
            alive.hold();
            run();
        })?;
        Ok(())
    }

    /// The calling thread holds it until its very end.
    pub(crate) fn hold(self) {
        thread_local! {
            static HELD: RefCell<Option<Alive>> = const { RefCell::new(None) };
        }
        HELD.set(Some(self));
    }
}
