//! The servers of this process, by number, and what they share: one runtime and one thread that
//! calls Kotlin. Both begin with the first server and end with the last.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use companion_server::{Runtime, Server};
use parking_lot::Mutex;

use crate::callbacks::{CallbackThread, KotlinSide, Listener, Message, Queue};
use crate::gate::Error;
use crate::ide::Jvm;
use crate::logging;

/// Those of this process.
pub(crate) static CORES: Cores<Jvm> = Cores::new(Jvm);

pub(crate) struct Cores<I: KotlinSide> {
    ide: I,
    /// The running servers, and those that are stopping. Held for the time of a look-up only.
    servers: Mutex<BTreeMap<i64, Server>>,
    /// The number of the newest server.
    last: AtomicI64,
    /// What the servers share. Held for moments, but when the last one ends: who starts or stops one
    /// must not wait for the disk of another.
    shared: Mutex<Option<Shared<I::Object>>>,
}

struct Shared<O> {
    runtime: Arc<Runtime>,
    callbacks: CallbackThread<O>,
    /// How many servers run, are starting or are stopping.
    servers: usize,
}

impl<I: KotlinSide> Cores<I> {
    pub(crate) const fn new(ide: I) -> Self {
        let servers = Mutex::new(BTreeMap::new());
        Self { ide, servers, last: AtomicI64::new(0), shared: Mutex::new(None) }
    }

    /// Starts a server by `open` and returns its number, which is never used again.
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

    /// Stops a server, within a little more than 2 s. One that is not running is fine.
    pub(crate) fn stop(&self, core: i64) {
        let Ok(server) = self.get(core) else { return };
        server.stop();
        drop(server);
        // Only now, or another that stops meanwhile would take from it what both share.
        if self.servers.lock().remove(&core).is_some() {
            self.leave(core);
        }
    }

    /// One more server needs the threads, which begin with the first.
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

    /// One less does. The last one ends the threads: the JVM may unload this library next.
    fn leave(&self, core: i64) {
        let mut shared = self.shared.lock();
        let Some(Shared { callbacks, servers, .. }) = &mut *shared else { return };
        *servers -= 1;
        if *servers > 0 {
            // The objects of the last one go with the thread, or later: they keep the class loader.
            callbacks.remove(core);
        } else if let Some(Shared { runtime, callbacks, .. }) = shared.take() {
            logging::forward_to_nobody();
            callbacks.end(Arc::into_inner(runtime).and_then(Runtime::end));
        }
    }

    /// A running server.
    pub(crate) fn get(&self, core: i64) -> Result<Server, Error> {
        self.servers.lock().get(&core).cloned().ok_or(Error::NotRunning(core))
    }
}

#[cfg(test)]
mod tests;
