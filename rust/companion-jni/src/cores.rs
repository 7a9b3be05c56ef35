//! The servers of this process, by number, and what they share: one runtime and one thread that
//! calls Kotlin. Both begin with the first server and end with the last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use companion_server::{Config, Listeners, Resume, Runtime, Server};
use parking_lot::{Mutex, MutexGuard};

use crate::callbacks::{CallbackThread, Callbacks, Listener};
use crate::gate::Error;

/// The running servers, and those that are stopping. Held for the time of a look-up only.
static SERVERS: Mutex<BTreeMap<i64, Server>> = Mutex::new(BTreeMap::new());

/// The number of the newest server.
static LAST: AtomicI64 = AtomicI64::new(0);

/// What the running servers share. Held while one is started or stopped.
static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

struct Shared {
    runtime: Runtime,
    callbacks: CallbackThread,
}

/// Starts a server and returns its number, which is never used again.
pub(crate) fn start(
    listeners: Listeners,
    config: Config,
    last: Option<Resume>,
    callbacks: Callbacks,
) -> Result<i64, Error> {
    let mut shared = SHARED.lock();
    let started = start_in(&mut shared, listeners, config, last, callbacks);
    end_if_unused(shared);
    started
}

fn start_in(
    shared: &mut Option<Shared>,
    listeners: Listeners,
    config: Config,
    last: Option<Resume>,
    callbacks: Callbacks,
) -> Result<i64, Error> {
    let shared = match shared {
        Some(shared) => shared,
        none => {
            none.insert(Shared { runtime: Runtime::start()?, callbacks: CallbackThread::start()? })
        }
    };
    let core = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    shared.callbacks.add(core, callbacks);
    let host = Arc::new(Listener::new(core, shared.callbacks.queue()));
    match Server::resume(&shared.runtime, listeners, config, host, last) {
        Ok(server) => {
            SERVERS.lock().insert(core, server);
            Ok(core)
        }
        Err(error) => {
            shared.callbacks.remove(core);
            Err(error.into())
        }
    }
}

/// Stops a server, within a little more than 2 s. One that is not running is fine.
pub(crate) fn stop(core: i64) {
    let Ok(server) = get(core) else { return };
    server.stop();
    // Only now, or another that stops meanwhile would take from it what both share.
    let shared = SHARED.lock();
    SERVERS.lock().remove(&core);
    if let Some(shared) = &*shared {
        shared.callbacks.remove(core);
    }
    end_if_unused(shared);
}

/// Joins the threads if no server needs them any more: the JVM may unload this library next.
fn end_if_unused(mut shared: MutexGuard<'_, Option<Shared>>) {
    if SERVERS.lock().is_empty() {
        *shared = None;
    }
}

/// A running server.
pub(crate) fn get(core: i64) -> Result<Server, Error> {
    SERVERS.lock().get(&core).cloned().ok_or(Error::NotRunning(core))
}
