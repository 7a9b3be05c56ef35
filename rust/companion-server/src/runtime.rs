//! The one thread on which all servers of a process run, and word of when it and all others that
//! servers have started are gone.
//!
//! One thread is enough: a request costs microseconds. It keeps order (requests to the editor
//! arise in the order of their causes) and memory (one allocator arena, one stack). What may wait
//! for a disk is done on the [blocking pool](crate::disk::pool) of each server.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::sync::Weak;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Handle};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long the end waits for threads. Only a disk that does not answer holds one up.
const END_TIMEOUT: Duration = Duration::from_millis(500);

/// The thread. When this is dropped, servers that still run on it are stopped first, each in its
/// order; so whoever has started both may drop them in any order.
pub struct Runtime {
    handle: Handle,
    steps: Steps,
    stop: CancellationToken,
    /// The servers on it, as far as there are any.
    guests: Mutex<Vec<Weak<dyn Guest>>>,
    /// Nothing once it has ended.
    threads: Option<(ThreadGuard, Remaining)>,
}

/// The moments that a timer reaches with one wake-up of the thread. tokio (`runtime/time/wheel`) comes
/// to a moment that is seconds away in up to three, unless a step of 64 × 64 ms, counted from the
/// runtime's start, ends then.
#[derive(Clone, Copy)]
pub(crate) struct Steps(Instant);

const STEP_LENGTH: Duration = Duration::from_millis(64 * 64);

impl Steps {
    /// For a runtime that starts next. Started a millisecond later, its timers take two wake-ups again.
    pub(crate) fn from_now() -> Self {
        Self(Instant::now())
    }

    /// The first such moment that is not before `at`, if `at` is seconds away; else `at`. What is to
    /// happen more rarely than once a minute costs little as it is.
    pub(crate) fn not_before(self, at: Instant) -> Instant {
        let away = at.saturating_duration_since(Instant::now());
        if !(2 * STEP_LENGTH..Duration::from_mins(1)).contains(&away) {
            return at;
        }
        let steps = (at - self.0).as_millis().div_ceil(STEP_LENGTH.as_millis());
        self.0 + STEP_LENGTH * u32::try_from(steps).unwrap_or(u32::MAX)
    }
}

/// What runs on a runtime, and has an end of its own.
pub(crate) trait Guest: Send + Sync {
    /// Comes to that end, and waits for it. Does nothing the second time.
    fn stop(&self);
}

impl Runtime {
    /// Starts the thread.
    pub fn start() -> io::Result<Self> {
        let steps = Steps::from_now();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let (alive, gone) = mpsc::channel();
        let alive = ThreadGuard(alive);
        alive.spawn("gemini-companion", move || runtime.block_on(stopped.cancelled()))?;
        let threads = Some((alive, Remaining(Mutex::new(gone))));
        Ok(Self { handle, steps, stop, guests: Mutex::default(), threads })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn steps(&self) -> Steps {
        self.steps
    }

    /// What its further threads hold.
    pub(crate) fn alive(&self) -> &ThreadGuard {
        let (alive, _) = self.threads.as_ref().expect("it has not ended");
        alive
    }

    /// `guest` is stopped before this ends, unless it is gone by then.
    pub(crate) fn host(&self, guest: Weak<dyn Guest>) {
        let mut guests = self.guests.lock();
        guests.retain(|guest| guest.strong_count() > 0);
        guests.push(guest);
    }

    /// Ends it, and waits for half a second at most, besides what its servers take. Returns the threads that still wait for a
    /// disk then, if there are any.
    pub fn end(mut self) -> Option<Remaining> {
        self.stop()
    }

    fn stop(&mut self) -> Option<Remaining> {
        for guest in self.guests.get_mut().drain(..).filter_map(|guest| guest.upgrade()) {
            guest.stop();
        }
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
pub(crate) struct ThreadGuard(
    #[expect(dead_code, reason = "its end is what counts")] Sender<Infallible>,
);

impl ThreadGuard {
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
            static HELD: RefCell<Option<ThreadGuard>> = const { RefCell::new(None) };
        }
        HELD.set(Some(self));
    }
}
