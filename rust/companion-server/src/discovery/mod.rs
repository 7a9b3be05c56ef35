//! Writes the discovery files, by which clients find this server: one for each client profile.
//!
//! It rewrites a file that somebody else removes or changes, removes it at the end, and removes the files
//! of dead processes. It never reads anything from a file, least of all a token.

mod keeper;
mod place;
mod sweep;
#[cfg(test)]
mod tests;
mod workspace;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use companion_platform::is_process_alive;
use companion_protocol::dialect::{ClientProfile, Naming};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::status::DiscoveryStatus;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use crate::runtime::ThreadGuard;
use keeper::{Keeper, KeeperCommand, WatchedFile};
use place::DiscoveryDir;
pub(crate) use workspace::workspace_path;

/// How long a server waits for a disk, when it starts and when it stops.
pub(crate) const DISK_TIMEOUT: Duration = Duration::from_millis(500);

/// The files, from [`publish`](Self::publish) to [`remove`](Self::remove). Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    files: Vec<Arc<Entry>>,
    /// They are to be there no more.
    removed: Arc<AtomicBool>,
    keeper: Sender<KeeperCommand>,
}

#[derive(Debug)]
struct Entry {
    dialect: &'static ClientProfile,
    place: DiscoveryDir,
    pid: u32,
    port: u16,
    name: String,
    /// How it was when its keeper last looked.
    presence: Mutex<Presence>,
}

/// Whether a file is where clients look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// There is to be none, because nobody here uses such a client.
    Unwanted,
    /// It is not there.
    Missing,
    /// It is there.
    InPlace,
}

impl Entry {
    fn new(dialect: &'static ClientProfile, place: DiscoveryDir, pid: u32, port: u16) -> Self {
        let name = dialect.naming.file_name(pid, port);
        let presence = if place.is_optional() { Presence::Unwanted } else { Presence::Missing };
        Self { dialect, place, pid, port, name, presence: Mutex::new(presence) }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join(&self.name)
    }

    /// The process that the file has to tell, if its name does not. Clients remove a file whose
    /// process does not run, so this server stands in for an editor that is not seen to.
    fn published_process(&self) -> Option<u32> {
        let told = matches!(self.dialect.naming, Naming::Port { .. });
        let alive = Some(self.pid).filter(|pid| is_process_alive(*pid));
        told.then(|| alive.unwrap_or_else(std::process::id))
    }

    fn is_in_place(&self) -> bool {
        *self.presence.lock() == Presence::InPlace
    }
}

impl Discovery {
    /// Writes a file for each dialect. `dir` is where its clients look, by default; `pid` is the
    /// editor's. A failure is logged: terminals in the editor still have the server in their
    /// environment.
    pub(crate) fn publish(
        alive: &ThreadGuard,
        dialects: &[&'static ClientProfile],
        dir: Option<&Path>,
        pid: u32,
        content: &DiscoveryFile,
    ) -> Self {
        let place =
            |dialect: &&'static ClientProfile| (*dialect, DiscoveryDir::new(&dialect.folder, dir));
        Self::publish_in(alive, dialects.iter().map(place), pid, content)
    }

    fn publish_in(
        alive: &ThreadGuard,
        places: impl IntoIterator<Item = (&'static ClientProfile, DiscoveryDir)>,
        pid: u32,
        content: &DiscoveryFile,
    ) -> Self {
        let file = |(dialect, place)| Arc::new(Entry::new(dialect, place, pid, content.port));
        let files: Vec<_> = places.into_iter().map(file).collect();
        let removed = Arc::default();
        let (sender, commands) = mpsc::channel();
        let keeper = Keeper {
            kept: files.iter().map(|file| WatchedFile::new(file, content)).collect(),
            removed: Arc::clone(&removed),
            commands,
            sender: sender.clone(),
            alive: alive.clone(),
        };
        let discovery = Self { files, removed, keeper: sender };
        let (written, write) = mpsc::sync_channel(1);
        match alive.spawn("gemini-companion-file", move || keeper.run(&written)) {
            Ok(()) if write.recv_timeout(DISK_TIMEOUT).is_ok() => {}
            Ok(()) => log::warn!("{}; it is not waited for", is_silent(&discovery.files)),
            Err(error) => log::warn!("could not write the discovery files: {error}"),
        }
        discovery
    }

    /// Puts another workspace into the files.
    pub(crate) fn set_workspace_path(&self, workspace_path: String) -> io::Result<()> {
        let (reply, written) = mpsc::sync_channel(1);
        if self.keeper.send(KeeperCommand::Workspace(workspace_path, reply)).is_err() {
            return Ok(()); // they have been removed
        }
        written.recv_timeout(DISK_TIMEOUT).unwrap_or_else(|_| {
            if self.removed.load(SeqCst) {
                return Ok(());
            }
            Err(io::Error::new(io::ErrorKind::TimedOut, is_silent(&self.files)))
        })
    }

    /// The files that are to be there, and whether each is.
    pub(crate) fn files(&self) -> Vec<DiscoveryStatus> {
        let removed = self.removed.load(SeqCst);
        let status = |file: &Arc<Entry>| {
            let presence = *file.presence.lock();
            (presence != Presence::Unwanted).then(|| DiscoveryStatus {
                client: file.dialect,
                path: file.path().to_string_lossy().into_owned(),
                in_place: presence == Presence::InPlace && !removed,
            })
        };
        self.files.iter().filter_map(status).collect()
    }

    /// Has the files removed for good, also one that is just being written.
    pub(crate) fn remove(&self) -> Removal {
        self.removed.store(true, SeqCst);
        let (gone, removal) = oneshot::channel();
        let _ = self.keeper.send(KeeperCommand::Remove(gone)); // or they have been removed
        Removal { files: self.files.clone(), gone: removal }
    }
}

/// Files that are being removed.
pub(crate) struct Removal {
    files: Vec<Arc<Entry>>,
    gone: oneshot::Receiver<()>,
}

impl Removal {
    /// Waits until they are gone, for as long as others can wait for it.
    pub(crate) async fn begin(&mut self) {
        let _ = timeout(DISK_TIMEOUT, &mut self.gone).await; // else the end will tell
    }

    /// Waits until they are gone, or `end`.
    pub(crate) async fn end(self, end: Instant) {
        if !self.gone.is_terminated() && timeout_at(end, self.gone).await.is_err() {
            log::warn!("{}; the file will go once it does", is_silent(&self.files));
        }
    }
}

/// Names the first file that is not as it should be, or the first.
fn is_silent(files: &[Arc<Entry>]) -> String {
    let missing = files.iter().find(|file| *file.presence.lock() == Presence::Missing);
    let path = missing.or(files.first()).map(|file| file.path()).unwrap_or_default();
    format!("the disk of {} does not answer", path.display())
}

fn json(content: &DiscoveryFile) -> Vec<u8> {
    serde_json::to_vec(content).expect("strings and numbers are JSON")
}
