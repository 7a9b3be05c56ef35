//! Starts and stops the servers of this process, which have numbers.
//!
//! Each server has a runtime and a thread that calls Kotlin; both end with it.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicI64, Ordering};

use companion_server::{Runtime, Server};
use parking_lot::Mutex;

use crate::callbacks::{CallbackThread, KotlinSide, Listener};
use crate::gate::Error;
use crate::jvm::Jvm;
use crate::logging;

/// The servers of this process.
pub(crate) static CORES: Cores<Jvm> = Cores::new(Jvm);

pub(crate) struct Cores<I: KotlinSide> {
    ide: I,
    /// The running and the stopping servers. Locked only during a look-up.
    running: Mutex<BTreeMap<i64, Core>>,
    /// The number of the newest server.
    last: AtomicI64,
}

struct Core {
    server: Server,
    threads: Threads,
}

/// The threads of a server.
struct Threads {
    runtime: Runtime,
    callbacks: CallbackThread,
}

impl<I: KotlinSide> Cores<I> {
    pub(crate) const fn new(ide: I) -> Self {
        Self { ide, running: Mutex::new(BTreeMap::new()), last: AtomicI64::new(0) }
    }

    /// Starts a server by `open`, whose events go to `object`, and returns its number, which is
    /// never reused.
    pub(crate) fn start(
        &self,
        object: I::Object,
        open: impl FnOnce(&Runtime, Listener) -> io::Result<Server>,
    ) -> Result<i64, Error> {
        let core = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let runtime = Runtime::start()?;
        let callbacks = CallbackThread::start(self.ide.clone(), object)?;
        logging::add(core, callbacks.queue());
        let opened = open(&runtime, Listener::new(callbacks.queue()));
        let threads = Threads { runtime, callbacks };
        match opened {
            Ok(server) => {
                self.running.lock().insert(core, Core { server, threads });
                Ok(core)
            }
            Err(error) => {
                threads.end(core);
                Err(error.into())
            }
        }
    }

    /// Stops a server; blocks for little more than 2 s. Does nothing if the server is not running.
    pub(crate) fn stop(&self, core: i64) {
        let Ok(server) = self.get(core) else { return };
        server.stop();
        let stopped = self.running.lock().remove(&core);
        if let Some(Core { threads, .. }) = stopped {
            threads.end(core);
        }
    }

    /// Finds a running server.
    ///
    /// # Errors
    /// If no running server has this number.
    pub(crate) fn get(&self, core: i64) -> Result<Server, Error> {
        let running = self.running.lock();
        running.get(&core).map(|core| core.server.clone()).ok_or(Error::NotRunning(core))
    }
}

impl Threads {
    fn end(self, core: i64) {
        drop(self.runtime);
        logging::remove(core);
        self.callbacks.end();
    }
}

#[cfg(test)]
mod tests;
