//! Starts and stops the servers of this process, which have numbers.
//!
//! The servers share one runtime and one thread that calls Kotlin. Both start with the first server
//! and end with the last.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use companion_server::{Runtime, Server};
use parking_lot::Mutex;

use crate::callbacks::{CallbackThread, KotlinSide, Listener, Message, Queue};
use crate::gate::Error;
use crate::jvm::Jvm;
use crate::logging;

/// The servers of this process.
pub(crate) static CORES: Cores<Jvm> = Cores::new(Jvm);

pub(crate) struct Cores<I: KotlinSide> {
    ide: I,
    /// The running and the stopping servers. Locked only during a look-up.
    servers: Mutex<BTreeMap<i64, Server>>,
    /// The number of the newest server.
    last: AtomicI64,
    /// The shared parts. Locked briefly, except when the last server ends: a start or stop must not
    /// wait for the disk of another server.
    shared: Mutex<Option<Shared<I::Object>>>,
}

struct Shared<O> {
    runtime: Arc<Runtime>,
    callbacks: CallbackThread<O>,
    /// The number of servers that run, start or stop.
    servers: usize,
}

impl<I: KotlinSide> Cores<I> {
    pub(crate) const fn new(ide: I) -> Self {
        let servers = Mutex::new(BTreeMap::new());
        Self { ide, servers, last: AtomicI64::new(0), shared: Mutex::new(None) }
    }

    /// Starts a server by `open` and returns its number, which is never reused.
    pub(crate) fn start(
        &self,
        callbacks: I::Object,
        open: impl FnOnce(&Runtime, Listener<I::Object>) -> io::Result<Server>,
    ) -> Result<i64, Error> {
        let core = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (runtime, queue) = self.enter(core, callbacks)?;
        let started = open(&runtime, Listener::new(core, queue));
        drop(runtime);
        match started {
            Ok(server) => {
                self.servers.lock().insert(core, server);
                Ok(core)
            }
            Err(error) => {
                self.leave(core);
                Err(error.into())
            }
        }
    }

    /// Stops a server; blocks for little more than 2 s. Does nothing if the server is not running.
    pub(crate) fn stop(&self, core: i64) {
        let Ok(server) = self.get(core) else { return };
        server.stop();
        drop(server);
        // Only now: otherwise another stop could end the shared parts too early.
        if self.servers.lock().remove(&core).is_some() {
            self.leave(core);
        }
    }

    /// Counts one more server, and starts the threads for the first one.
    fn enter(
        &self,
        core: i64,
        callbacks: I::Object,
    ) -> Result<(Arc<Runtime>, Queue<I::Object>), Error> {
        let mut shared = self.shared.lock();
        let shared = match &mut *shared {
            Some(shared) => shared,
            none => none.insert(self.begin()?),
        };
        shared.servers += 1;
        shared.callbacks.add(core, callbacks);
        Ok((Arc::clone(&shared.runtime), shared.callbacks.queue()))
    }

    fn begin(&self) -> io::Result<Shared<I::Object>> {
        let runtime = Arc::new(Runtime::start()?);
        let callbacks = CallbackThread::start(self.ide.clone())?;
        let queue = callbacks.queue();
        logging::forward_to(move |level, text| {
            let _ = queue.send(Message::Log(level, text));
        });
        Ok(Shared { runtime, callbacks, servers: 0 })
    }

    /// Counts one server less, and ends the threads after the last one.
    fn leave(&self, core: i64) {
        let mut shared = self.shared.lock();
        let Some(Shared { callbacks, servers, .. }) = &mut *shared else { return };
        *servers -= 1;
        if *servers > 0 {
            // The thread frees the last server's objects at its end.
            callbacks.remove(core);
        } else if let Some(Shared { runtime, callbacks, .. }) = shared.take() {
            drop(runtime);
            logging::forward_to_nobody();
            callbacks.end();
        }
    }

    /// Finds a running server.
    ///
    /// # Errors
    /// If no running server has this number.
    pub(crate) fn get(&self, core: i64) -> Result<Server, Error> {
        self.servers.lock().get(&core).cloned().ok_or(Error::NotRunning(core))
    }
}

#[cfg(test)]
mod tests;
