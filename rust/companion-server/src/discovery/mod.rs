//! The discovery file, by which the CLI finds this server.
//!
//! Owns the file from its first byte to its removal, puts it back if somebody else removes or
//! changes it, and clears away those that dead processes left. It never takes anything from a
//! file, least of all a token: what it wrote is what it knows.

mod place;
mod sweep;
#[cfg(test)]
mod tests;
mod workspace;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

use companion_platform::{PrivateDir, Watch};
use companion_protocol::ide::DiscoveryFile;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use place::Place;
pub(crate) use workspace::workspace_path;

/// After a change the file is left alone for that long, since changes come in bursts.
const SETTLE: Duration = Duration::from_millis(200);
/// And for that long after it was put back, should another program insist.
const TRUCE: Duration = Duration::from_secs(1);
/// A file that could not be written is tried again after this, then after twice as long, …
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// … and at last every so often.
const LAST_RETRY: Duration = Duration::from_mins(1);
/// How often to look at a file that the system can't watch for us.
const UNWATCHED: Duration = Duration::from_secs(30);
/// How long the end of the server waits for a disk that does not answer.
const DISK: Duration = Duration::from_millis(500);

/// The file, from [`publish`](Self::publish) to [`remove`](Self::remove). Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    file: Arc<File>,
}

#[derive(Debug)]
struct File {
    place: Place,
    pid: u32,
    port: u16,
    name: String,
    state: Mutex<State>,
    changed: Notify,
    /// It was there when we last looked.
    in_place: AtomicBool,
    /// It is to be there no more.
    removed: AtomicBool,
}

#[derive(Debug)]
struct State {
    content: DiscoveryFile,
    /// Where it was last written.
    dir: Option<PrivateDir>,
    /// Why it could not be written, as it was logged.
    trouble: Option<String>,
}

impl Discovery {
    /// Writes the file. `dir` is where the client looks, by default; `pid` is the editor's. A
    /// failure is logged: terminals in the editor still have the server in their environment.
    pub(crate) fn publish(dir: Option<&Path>, pid: u32, content: DiscoveryFile) -> Self {
        Self::publish_in(Place::new(dir), pid, content)
    }

    fn publish_in(place: Place, pid: u32, content: DiscoveryFile) -> Self {
        place.warn_if_exposed();
        let port = content.port;
        let file = File {
            place,
            pid,
            port,
            name: file_name(pid, port),
            state: Mutex::new(State { content, dir: None, trouble: None }),
            changed: Notify::new(),
            in_place: AtomicBool::new(false),
            removed: AtomicBool::new(false),
        };
        let _ = file.write(&mut file.state.lock()); // which logs an error
        Self { file: Arc::new(file) }
    }

    /// Clears away what is stale, and keeps the file in place. Ends only when it is removed.
    pub(crate) async fn keep(self) {
        let file = Arc::clone(&self.file);
        spawn_blocking(move || sweep::sweep(&file.place, file.pid, file.port));
        let mut retry = FIRST_RETRY;
        let mut watch;
        loop {
            let file = Arc::clone(&self.file);
            // A disk may be slow, and the server's thread must not be.
            let Ok(Some(seen)) = spawn_blocking(move || file.look()).await else { return };
            let changed = self.file.changed.notified();
            let Ok(Seen { restored, watch: new }) = seen else {
                let _ = timeout(retry, changed).await;
                retry = LAST_RETRY.min(retry * 2);
                continue;
            };
            retry = FIRST_RETRY;
            watch = new; // only now the old one ends, so that nothing is missed
            if watch.is_some() {
                changed.await;
            } else {
                let _ = timeout(UNWATCHED, changed).await;
            }
            sleep(if restored { TRUCE } else { SETTLE }).await;
        }
    }

    /// Puts another workspace into the file.
    pub(crate) fn set_workspace_path(&self, workspace_path: String) -> io::Result<()> {
        let mut state = self.file.state.lock();
        state.content.workspace_path = workspace_path;
        self.file.write(&mut state).inspect_err(|_| self.file.changed.notify_one())
    }

    /// Where the file is, if it is.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.file.in_place.load(Relaxed).then(|| self.file.path())
    }

    /// Removes the file for good.
    pub(crate) fn remove(&self) {
        self.file.removed.store(true, SeqCst);
        match self.file.state.try_lock_for(DISK) {
            Some(state) => self.file.remove(&state),
            // Whoever has the lock sees that it is to be removed.
            None => log::warn!("the disk of {} does not answer", self.file.path().display()),
        }
    }
}

/// What a look at the file came to.
struct Seen {
    /// Somebody else had removed or changed it.
    restored: bool,
    /// `None` if the system can't watch it.
    watch: Option<Watch>,
}

impl File {
    fn path(&self) -> PathBuf {
        self.place.path().join(&self.name)
    }

    /// Puts the file in place if it isn't, and watches it from then on. `None` once it is removed.
    fn look(self: &Arc<Self>) -> Option<io::Result<Seen>> {
        let mut state = self.state.lock();
        if self.removed.load(SeqCst) {
            return None;
        }
        let was_in_place = self.in_place.load(Relaxed);
        let seen = self.place.open().map(|dir| {
            let watch = self.watch(); // before the look, so that nothing happens in between
            let wanted = json(&state.content);
            // What can't be read is not what we have written.
            let found = dir.read(&self.name, wanted.len() as u64).ok().flatten();
            (found.is_some_and(|(found, _)| found == wanted), watch)
        });
        match seen {
            Ok((true, watch)) => Some(Ok(Seen { restored: false, watch })),
            Ok((false, watch)) => Some(self.write(&mut state).map(|()| {
                if was_in_place {
                    let path = self.path();
                    log::warn!("{} was removed or changed, and put back", path.display());
                }
                Seen { restored: was_in_place, watch }
            })),
            Err(error) => Some(Err(self.failed(&mut state, error))),
        }
    }

    fn watch(self: &Arc<Self>) -> Option<Watch> {
        let file = Arc::downgrade(self);
        let changed = move || {
            if let Some(file) = file.upgrade() {
                file.changed.notify_one();
            }
        };
        Watch::start(&self.place.dirs(), &self.name, changed)
            .inspect_err(|error| log::debug!("the discovery file can't be watched: {error}"))
            .ok()
    }

    /// Writes the file, unless it is to be removed.
    fn write(&self, state: &mut State) -> io::Result<()> {
        if self.removed.load(SeqCst) {
            return Ok(());
        }
        let written = self.place.open().and_then(|dir| {
            dir.write(&self.name, &json(&state.content))?;
            state.dir = Some(dir);
            Ok(())
        });
        if let Err(error) = written {
            return Err(self.failed(state, error));
        }
        self.in_place.store(true, Relaxed);
        if state.trouble.take().is_some() {
            log::warn!("the discovery file is in place now");
        }
        if self.removed.load(SeqCst) {
            self.remove(state);
        }
        Ok(())
    }

    /// Logs why there is no file, once per reason.
    fn failed(&self, state: &mut State, error: io::Error) -> io::Error {
        self.in_place.store(false, Relaxed);
        let reason = error.to_string();
        if state.trouble.as_ref() != Some(&reason) {
            log::warn!(
                "could not write the discovery file {}: {reason}; until it can be, a CLI finds \
                 this editor only from a terminal that has its environment",
                self.path().display()
            );
            state.trouble = Some(reason);
        }
        error
    }

    fn remove(&self, state: &State) {
        self.in_place.store(false, Relaxed);
        if let Some(Err(error)) = state.dir.as_ref().map(|dir| dir.remove(&self.name)) {
            log::warn!("could not remove {}: {error}", self.path().display());
        }
    }
}

fn json(content: &DiscoveryFile) -> Vec<u8> {
    serde_json::to_vec(content).expect("strings and numbers are JSON")
}

/// As the client matches it: `^gemini-ide-server-(\d+)-\d+\.json$`.
fn file_name(pid: u32, port: u16) -> String {
    format!("gemini-ide-server-{pid}-{port}.json")
}
