//! Writes the discovery files, one for each client profile, so that clients find this server.
//!
//! It restores a file that another program removes or changes, removes it at the end, and removes
//! the files of dead processes. Of the files of other companions it uses the processes, ports and folders,
//! never a token.

mod keeper;
mod place;
mod sweep;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use companion_platform::{Platform, Watch, is_process_alive, opened_folders, relative_to};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::profile::{ClientProfile, Naming};
use companion_protocol::status::DiscoveryStatus;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use crate::config::DISK_TIMEOUT;
use crate::runtime::ThreadGuard;
use keeper::{Keeper, KeeperCommand, KeptFile};
pub(crate) use place::DiscoveryDir;
use sweep::{MAX_FILE, Owner};
pub(crate) use sweep::{nobody_listens, remove_ended};

/// The most files of other companions that are read.
const MAX_FILES: usize = 64;

/// The files, from [`publish`](Self::publish) to [`remove`](Self::remove). Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    files: Arc<Files>,
    keeper: Sender<KeeperCommand>,
}

/// The files of a server.
#[derive(Debug, Default)]
struct Files {
    entries: Vec<Arc<Entry>>,
    /// The files must not exist any more.
    is_removed: AtomicBool,
}

/// The file for the clients of a profile.
#[derive(Debug)]
struct Entry {
    profile: &'static ClientProfile,
    place: DiscoveryDir,
    pid: u32,
    port: u16,
    name: String,
    /// The result of the keeper's last check.
    presence: Mutex<Presence>,
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
        Self { profile, place, pid, port, name, presence: Mutex::new(presence) }
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
        *self.presence.lock() == Presence::InPlace
    }

    /// The folders that other companions of this user name as open, without links. Blocks for the disk.
    fn opened_by_others(&self) -> Vec<PathBuf> {
        let Ok(Some(dir)) = self.place.open() else { return Vec::new() };
        let names = dir.own_files().unwrap_or_default();
        let mut opened = Vec::new();
        for name in names.iter().filter(|name| **name != self.name).take(MAX_FILES) {
            let Some(owner) = Owner::parse(self.profile.naming, name) else { continue };
            let Ok(Some((content, _))) = dir.read(name, MAX_FILE) else { continue };
            let Ok(content) = serde_json::from_slice::<DiscoveryFile>(&content) else { continue };
            // A companion that was killed has no folder open.
            if owner.pid.or(content.ppid).is_some_and(is_process_alive) {
                opened.extend(opened_folders(&content.workspace_path, &content.worktrees));
            }
        }
        opened
    }
}

impl Files {
    fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::Relaxed)
    }

    /// Says that a disk does not answer: that of the first missing file, or else of the first file.
    fn describe_silence(&self) -> String {
        let is_missing = |file: &&Arc<Entry>| *file.presence.lock() == Presence::Missing;
        let file = self.entries.iter().find(is_missing).or(self.entries.first());
        let path = file.map(|file| file.path()).unwrap_or_default();
        format!("the disk of {} does not answer", path.display())
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
        let entries: Vec<_> = places.into_iter().map(file).collect();
        let kept = entries.iter().map(|entry| KeptFile::new(entry, content)).collect();
        let files = Arc::new(Files { entries, ..Files::default() });
        let keeper = Keeper { kept, files: Arc::clone(&files), lost_port, alive: alive.clone() };
        let (sender, commands) = mpsc::channel();
        let (written, write) = mpsc::sync_channel(1);
        match alive.spawn("gemini-companion-file", move || keeper.run(&commands, &written)) {
            Ok(()) if write.recv_timeout(DISK_TIMEOUT).is_ok() => {}
            Ok(()) => log::warn!("{}; it is not waited for", files.describe_silence()),
            Err(error) => log::warn!("could not write the discovery files: {error}"),
        }
        Self { files, keeper: sender }
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
            if self.files.is_removed() {
                return Ok(());
            }
            Err(io::Error::new(io::ErrorKind::TimedOut, self.files.describe_silence()))
        })
    }

    /// The folders that other companions of this user have open, without links. Blocks for any disk.
    pub(crate) fn opened_by_others(&self) -> Vec<PathBuf> {
        self.files.entries.iter().flat_map(|file| file.opened_by_others()).collect()
    }

    /// Watches the files of all companions.
    pub(crate) fn watch(&self, watch: &mut Watch) {
        for file in self.files.entries.iter().filter(|file| file.is_in_place()) {
            if let Err(error) = watch.add(&file.place.path()) {
                log::debug!("other companions can't be watched: {error}");
            }
        }
    }

    /// The wanted files, and whether each is in place.
    pub(crate) fn files(&self) -> Vec<DiscoveryStatus> {
        let mut files = Vec::new();
        for file in &self.files.entries {
            let presence = *file.presence.lock();
            if presence != Presence::Unwanted {
                files.push(DiscoveryStatus {
                    client: file.profile,
                    path: file.path().to_string_lossy().into_owned(),
                    in_place: presence == Presence::InPlace && !self.files.is_removed(),
                });
            }
        }
        files
    }

    /// Starts to remove the files for good, including one that is just being written.
    pub(crate) fn remove(&self) -> Removal {
        self.files.is_removed.store(true, Ordering::Relaxed);
        let (gone, removal) = oneshot::channel();
        let _ = self.keeper.send(KeeperCommand::Remove(gone)); // or they have been removed
        Removal { files: Arc::clone(&self.files), gone: removal }
    }
}

/// The removal of the files.
pub(crate) struct Removal {
    files: Arc<Files>,
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
            log::warn!("{}; the file will go once it does", self.files.describe_silence());
        }
    }
}

fn json(content: &DiscoveryFile) -> Vec<u8> {
    serde_json::to_vec(content).expect("strings and numbers are JSON")
}

/// The paths as texts for clients.
pub(crate) fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// Joins the roots to one list, the member `workspacePath` of the file. Leaves out duplicates and roots
/// within another root, because the client adds each entry except its own directory to the model's
/// include directories.
pub(crate) fn workspace_path(platform: Platform, roots: &[String]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for (position, root) in roots.iter().enumerate() {
        let within_another = roots.iter().enumerate().any(|(other, ancestor)| {
            let rest = relative_to(platform, root, ancestor);
            // The first of two equal roots stays.
            rest.is_some_and(|rest| !is_only_separators(rest) || other < position)
        });
        if !within_another {
            kept.push(root);
        }
        if root.contains(platform.list_separator()) {
            log::warn!(
                "the CLI cannot distinguish a `{}` in a folder's name from one between two folders",
                platform.list_separator()
            );
        }
    }
    kept.join(&platform.list_separator().to_string())
}

fn is_only_separators(rest: &str) -> bool {
    rest.trim_matches(['/', '\\']).is_empty()
}
