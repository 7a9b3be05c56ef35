//! The servers of this process, by number, and what they share: one runtime and one thread that
//! calls Kotlin. Both begin with the first server and end with the last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use companion_protocol::settings::Settings;
use companion_server::{Config, Runtime, Server};
use parking_lot::Mutex;

use crate::callbacks::{CallbackThread, Callbacks, Listener, Queue};
use crate::gate::Error;

/// The running servers, and those that are stopping. Held for the time of a look-up only.
static SERVERS: Mutex<BTreeMap<i64, Server>> = Mutex::new(BTreeMap::new());

/// The number of the newest server.
static LAST: AtomicI64 = AtomicI64::new(0);

/// What the servers share. Held for moments, but when the last one ends: who starts or stops one
/// must not wait for the disk of another.
static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

struct Shared {
    runtime: Arc<Runtime>,
    callbacks: CallbackThread,
    /// How many servers run, are starting or are stopping.
    servers: usize,
}

/// Starts a server and returns its number, which is never used again.
pub(crate) fn start(settings: Settings, callbacks: Callbacks) -> Result<i64, Error> {
    let core = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let (runtime, queue) = enter(core, callbacks)?;
    let started =
        Server::open(&runtime, Config::new(settings), Arc::new(Listener::new(core, queue)));
    drop(runtime);
    match started {
        Ok(server) => {
            SERVERS.lock().insert(core, server);
            Ok(core)
        }
        Err(error) => {
            leave(core);
            Err(error.into())
        }
    }
}

/// Stops a server, within a little more than 2 s. One that is not running is fine.
pub(crate) fn stop(core: i64) {
    let Ok(server) = get(core) else { return };
    server.stop();
    drop(server);
    // Only now, or another that stops meanwhile would take from it what both share.
    if SERVERS.lock().remove(&core).is_some() {
        leave(core);
    }
}

/// One more server needs the threads, which begin with the first.
fn enter(core: i64, callbacks: Callbacks) -> Result<(Arc<Runtime>, Queue), Error> {
    let mut shared = SHARED.lock();
    let shared = match &mut *shared {
        Some(shared) => shared,
        none => none.insert(Shared {
            runtime: Arc::new(Runtime::start()?),
            callbacks: CallbackThread::start()?,
            servers: 0,
        }),
    };
    shared.servers += 1;
    shared.callbacks.add(core, callbacks);
    Ok((Arc::clone(&shared.runtime), shared.callbacks.queue()))
}

/// One less does. The last one ends the threads: the JVM may unload this library next.
fn leave(core: i64) {
    let mut shared = SHARED.lock();
    let Some(Shared { callbacks, servers, .. }) = &mut *shared else { return };
    *servers -= 1;
    if *servers > 0 {
        // The objects of the last one go with the thread, or later: they keep the class loader.
        callbacks.remove(core);
    } else if let Some(Shared { runtime, callbacks, .. }) = shared.take() {
        callbacks.end(Arc::into_inner(runtime).and_then(Runtime::end));
    }
}

/// A running server.
pub(crate) fn get(core: i64) -> Result<Server, Error> {
    SERVERS.lock().get(&core).cloned().ok_or(Error::NotRunning(core))
}
