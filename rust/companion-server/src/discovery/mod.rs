//! Writes the discovery files, one for each client profile, so that clients find this server.
//!
//! It restores a file that another program removes or changes, removes it at the end, and removes
//! the files of dead processes. Of the files of other companions it uses the processes, ports and folders,
//! never a token.

mod keeper;
mod others;
mod place;
mod sweep;
#[cfg(test)]
mod tests;
mod workspace;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};

use companion_platform::{Platform, Watch, is_process_alive};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::profile::{ClientProfile, Naming};
use companion_protocol::status::DiscoveryStatus;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::DISK_TIMEOUT;
use crate::runtime::ThreadGuard;
use keeper::{Keeper, KeeperCommand, WatchedFile};
pub(crate) use place::DiscoveryDir;
pub(crate) use sweep::{nobody_listens, remove_ended};
pub(crate) use workspace::{texts, workspace_path};

/// The files, from [`publish`](Self::publish) to [`remove`](Self::remove). Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    files: Vec<Arc<Entry>>,
    keeper: Sender<KeeperCommand>,
}

#[derive(Debug)]
struct Entry {
    profile: &'static ClientProfile,
    place: DiscoveryDir,
    pid: u32,
    port: u16,
    name: String,
    state: Mutex<EntryState>,
}

#[derive(Debug)]
struct EntryState {
    /// The result of the keeper's last check.
    presence: Presence,
    /// The file must not exist any more.
    is_removed: bool,
}

/// Whether a file is where clients look for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// The file is not wanted, because no such client is used here.
    Unwanted,
    /// The file is missing.
    Missing,
    /// The file is in place.
    InPlace,
}

impl Entry {
    fn new(profile: &'static ClientProfile, place: DiscoveryDir, pid: u32, port: u16) -> Self {
        let name = profile.naming.file_name(pid, port);
        let presence = if place.is_optional() { Presence::Unwanted } else { Presence::Missing };
        let state = Mutex::new(EntryState { presence, is_removed: false });
        Self { profile, place, pid, port, name, state }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join(&self.name)
    }

    /// The process id for the file's content, if its name does not have it. Clients remove a file
    /// whose process does not run, so the server's own id replaces that of an editor that can't be
    /// seen.
    fn published_process(&self) -> Option<u32> {
        let has_pid = matches!(self.profile.naming, Naming::Port { .. });
        let alive = Some(self.pid).filter(|pid| is_process_alive(*pid));
        has_pid.then(|| alive.unwrap_or_else(std::process::id))
    }

    fn is_in_place(&self) -> bool {
        self.state.lock().presence == Presence::InPlace
    }

    fn is_removed(&self) -> bool {
        self.state.lock().is_removed
    }
}

impl Discovery {
    /// Writes a file for each client profile. `dir` replaces the folder where clients look; `pid`
    /// is the editor's. Another program has the `lost_port` of the last process. Logs a failure: the
    /// editor's terminals still have the server in their environment.
    pub(crate) fn publish(
        alive: &ThreadGuard,
        profiles: &[&'static ClientProfile],
        dir: Option<&Path>,
        pid: u32,
        lost_port: Option<u16>,
        content: &DiscoveryFile,
    ) -> Self {
        let place =
            |profile: &&'static ClientProfile| (*profile, DiscoveryDir::new(&profile.folder, dir));
        Self::publish_in(alive, profiles.iter().map(place), pid, lost_port, content)
    }

    fn publish_in(
        alive: &ThreadGuard,
        places: impl IntoIterator<Item = (&'static ClientProfile, DiscoveryDir)>,
        pid: u32,
        lost_port: Option<u16>,
        content: &DiscoveryFile,
    ) -> Self {
        let file = |(profile, place)| Arc::new(Entry::new(profile, place, pid, content.port));
        let files: Vec<_> = places.into_iter().map(file).collect();
        let (sender, commands) = mpsc::channel();
        let keeper = Keeper {
            kept: files.iter().map(|file| WatchedFile::new(file, content)).collect(),
            lost_port,
            commands,
            sender: sender.clone(),
            alive: alive.clone(),
        };
        let discovery = Self { files, keeper: sender };
        let (written, write) = mpsc::sync_channel(1);
        match alive.spawn("gemini-companion-file", move || keeper.run(&written)) {
            Ok(()) if write.recv_timeout(DISK_TIMEOUT).is_ok() => {}
            Ok(()) => log::warn!("{}; it is not waited for", is_silent(&discovery.files)),
            Err(error) => log::warn!("could not write the discovery files: {error}"),
        }
        discovery
    }

    /// Replaces the workspace in the files: the roots, and the other worktrees of their repositories.
    pub(crate) fn set_workspace(&self, roots: &[String], worktrees: Vec<String>) -> io::Result<()> {
        let all: Vec<_> = roots.iter().chain(&worktrees).cloned().collect();
        let path = workspace_path(Platform::CURRENT, &all);
        let (reply, written) = mpsc::sync_channel(1);
        if self.keeper.send(KeeperCommand::Workspace(path, worktrees, reply)).is_err() {
            return Ok(()); // they have been removed
        }
        written.recv_timeout(DISK_TIMEOUT).unwrap_or_else(|_| {
            if self.files.iter().any(|file| file.is_removed()) {
                return Ok(());
            }
            Err(io::Error::new(io::ErrorKind::TimedOut, is_silent(&self.files)))
        })
    }

    /// The folders that other companions of this user have open, without links. Blocks for any disk.
    pub(crate) fn opened_by_others(&self) -> Vec<PathBuf> {
        self.files.iter().flat_map(|file| file.opened_by_others()).collect()
    }

    /// Watches the files of all companions.
    pub(crate) fn watch(&self, watch: &mut Watch) {
        for file in self.files.iter().filter(|file| file.is_in_place()) {
            if let Err(error) = watch.add(&file.place.path()) {
                log::debug!("other companions can't be watched: {error}");
            }
        }
    }

    /// The wanted files, and whether each is in place.
    pub(crate) fn files(&self) -> Vec<DiscoveryStatus> {
        let mut files = Vec::new();
        for file in &self.files {
            let EntryState { presence, is_removed } = *file.state.lock();
            if presence != Presence::Unwanted {
                files.push(DiscoveryStatus {
                    client: file.profile,
                    path: file.path().to_string_lossy().into_owned(),
                    in_place: presence == Presence::InPlace && !is_removed,
                });
            }
        }
        files
    }

    /// Starts to remove the files for good, including one that is just being written.
    pub(crate) fn remove(&self) -> Removal {
        for file in &self.files {
            file.state.lock().is_removed = true;
        }
        let (gone, removal) = oneshot::channel();
        let _ = self.keeper.send(KeeperCommand::Remove(gone)); // or they have been removed
        Removal { files: self.files.clone(), gone: removal }
    }
}

/// The removal of the files.
pub(crate) struct Removal {
    files: Vec<Arc<Entry>>,
    gone: oneshot::Receiver<()>,
}

impl Removal {
    /// Waits for the removal, but not longer than a disk may take.
    pub(crate) async fn begin(&mut self) {
        let _ = timeout(DISK_TIMEOUT, &mut self.gone).await; // else the end will show
    }

    /// Waits for the removal, until `end`.
    pub(crate) async fn end(self, end: Instant) {
        if !self.gone.is_terminated() && timeout_at(end, self.gone).await.is_err() {
            log::warn!("{}; the file will go once it does", is_silent(&self.files));
        }
    }
}

/// Names the first file that is not in place, or else the first file.
fn is_silent(files: &[Arc<Entry>]) -> String {
    let missing = files.iter().find(|file| file.state.lock().presence == Presence::Missing);
    let path = missing.or(files.first()).map(|file| file.path()).unwrap_or_default();
    format!("the disk of {} does not answer", path.display())
}

fn json(content: &DiscoveryFile) -> Vec<u8> {
    serde_json::to_vec(content).expect("strings and numbers are JSON")
}
