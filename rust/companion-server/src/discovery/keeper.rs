//! Keeps the discovery files in place, on a separate thread.
//!
//! A disk may take any time, and only this thread waits for it. Other threads send it commands, and
//! decide how long they wait for the answer.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use companion_platform::{PrivateDir, Watch};
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::profile::ClientProfile;
use tokio::sync::oneshot;

use super::{Entry, Presence, sweep};
use crate::runtime::ThreadGuard;

/// The pause after a change, because changes come in bursts.
const SETTLE_TIME: Duration = Duration::from_millis(200);
/// The pause after a file was restored, in case another program keeps changing it.
const RESTORE_INTERVAL: Duration = Duration::from_secs(1);
/// The delay before a file is written again after a failure. It doubles with each failure, …
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
/// … up to this delay.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);
/// The longest interval between checks of a file that the system can't watch.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// A command for the keeper.
pub(super) enum KeeperCommand {
    /// Check the files, because one may have changed.
    Changed,
    /// Write this workspace and its worktrees into the files, and answer whether that succeeded.
    Workspace(String, Vec<String>, SyncSender<io::Result<()>>),
    /// Remove the files for good, then drop the sender.
    Remove(oneshot::Sender<()>),
}

pub(super) struct Keeper {
    pub(super) kept: Vec<WatchedFile>,
    /// See [`sweep`](sweep::sweep).
    pub(super) lost_port: Option<u16>,
    pub(super) commands: Receiver<KeeperCommand>,
    /// For the watches of the files.
    pub(super) sender: Sender<KeeperCommand>,
    pub(super) alive: ThreadGuard,
}

/// A file, as its keeper knows it.
pub(super) struct WatchedFile {
    file: Arc<Entry>,
    content: DiscoveryFile,
    /// The folder where the file was last written.
    dir: Option<PrivateDir>,
    /// The logged reason why the file could not be written.
    trouble: Option<String>,
}

/// The result of a check of the files.
struct CheckResult {
    failed: bool,
    /// Another program had removed or changed a file.
    restored: bool,
    watch: Option<Watch>,
    /// The system watches all files.
    watched: bool,
}

impl Keeper {
    /// Writes the files, reports that to `written`, sweeps stale files, and keeps the files in
    /// place until they are removed.
    pub(super) fn run(mut self, written: &SyncSender<()>) {
        for kept in &mut self.kept {
            kept.file.place.warn_if_exposed();
            let _ = kept.write(); // or a warning was logged
        }
        if written.send(()).is_err() {
            for file in self.kept.iter().map(|kept| &kept.file).filter(|file| file.is_in_place()) {
                log::warn!("the discovery file {} is in place now", file.path().display());
            }
        }
        self.sweep();
        let _removed = self.keep();
        for kept in self.kept {
            kept.remove();
        }
    }

    /// Sweeps stale files on another thread, because it probes ports, which may take seconds.
    fn sweep(&self) {
        let files: Vec<_> = self.kept.iter().map(|kept| Arc::clone(&kept.file)).collect();
        let lost_port = self.lost_port;
        let sweep = move || files.iter().for_each(|file| sweep::sweep(file, lost_port));
        if let Err(error) = self.alive.spawn("gemini-companion-sweep", sweep) {
            log::warn!("could not look for stale discovery files: {error}");
        }
    }

    /// Keeps the files in place until their removal. Returns the sender to drop then.
    fn keep(&mut self) -> Option<oneshot::Sender<()>> {
        let mut retry = MIN_RETRY_DELAY;
        let mut _watch;
        loop {
            let later = retry;
            retry = MAX_RETRY_DELAY.min(retry * 2);
            let seen = self.look();
            let limit = match seen {
                CheckResult { failed: true, .. } => Some(later),
                CheckResult { watched: false, .. } => Some(later.min(POLL_INTERVAL)),
                _ => {
                    retry = MIN_RETRY_DELAY;
                    None
                }
            };
            _watch = seen.watch; // only now the old one ends, so that nothing is missed
            if let Err(gone) = self.listen(limit, true) {
                return gone;
            }
            let pause = if seen.restored { RESTORE_INTERVAL } else { SETTLE_TIME };
            if let Err(gone) = self.listen(Some(pause), false) {
                return gone;
            }
        }
    }

    /// Handles commands for up to `limit`. With `for_change`, it returns when a file may have
    /// changed.
    ///
    /// # Errors
    ///
    /// If the files must be removed.
    fn listen(
        &mut self,
        limit: Option<Duration>,
        for_change: bool,
    ) -> Result<(), Option<oneshot::Sender<()>>> {
        let end = limit.map(|limit| Instant::now() + limit);
        loop {
            let command = match end {
                None => self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => {
                    self.commands.recv_timeout(end.saturating_duration_since(Instant::now()))
                }
            };
            match command {
                Ok(KeeperCommand::Changed) if for_change => return Ok(()),
                Ok(KeeperCommand::Changed) => {}
                Ok(KeeperCommand::Workspace(path, worktrees, reply)) => {
                    let written = self.set_workspace(&path, &worktrees);
                    let look = written.is_err() && for_change;
                    let _ = reply.send(written);
                    if look {
                        return Ok(());
                    }
                }
                Ok(KeeperCommand::Remove(gone)) => return Err(Some(gone)),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(None),
            }
        }
    }

    /// Writes all files.
    ///
    /// # Errors
    ///
    /// If no file could be written.
    fn set_workspace(&mut self, path: &str, worktrees: &[String]) -> io::Result<()> {
        let mut all = Ok(());
        for kept in &mut self.kept {
            path.clone_into(&mut kept.content.workspace_path);
            worktrees.clone_into(&mut kept.content.worktrees);
            all = all.and(kept.write());
        }
        if self.kept.iter().any(|kept| kept.file.is_in_place()) { Ok(()) } else { all }
    }

    /// Restores missing files, and watches all files from now on.
    fn look(&mut self) -> CheckResult {
        for kept in &self.kept {
            let _ = kept.file.place.open(); // makes the folders that are to be watched
        }
        let (dirs, names) = self.to_watch();
        // Before the check, so that no change is missed.
        let mut watch = self.watch(names);
        let watched = watch.as_mut().is_some_and(|watch| add(watch, &dirs));
        let (mut failed, mut restored) = (false, false);
        for kept in &mut self.kept {
            match kept.look() {
                Ok(put_back) => restored |= put_back,
                Err(_) => failed = true, // which was logged
            }
        }
        if self.to_watch().0 != dirs {
            let _ = self.sender.send(KeeperCommand::Changed); // a folder has appeared or gone meanwhile
        }
        CheckResult { failed, restored, watch, watched }
    }

    /// Folders, and the names to watch in them.
    fn to_watch(&self) -> (Vec<PathBuf>, HashSet<OsString>) {
        let mut names = HashSet::new();
        let mut dirs = Vec::new();
        for WatchedFile { file, .. } in &self.kept {
            dirs.extend(file.place.watched(&mut names));
            names.insert(file.name.clone().into());
        }
        (dirs, names)
    }

    fn watch(&self, names: HashSet<OsString>) -> Option<Watch> {
        let (sender, alive) = (self.sender.clone(), self.alive.clone());
        let changed = move || {
            let _held_by_its_thread = &alive;
            let _ = sender.send(KeeperCommand::Changed);
        };
        Watch::start(names, changed)
            .inspect_err(|error| log::debug!("discovery files can't be watched: {error}"))
            .ok()
    }
}

/// Whether all folders are watched. A folder that can't be watched does not affect the others.
fn add(watch: &mut Watch, dirs: &[PathBuf]) -> bool {
    let mut all = true;
    for dir in dirs {
        if let Err(error) = watch.add(dir) {
            log::debug!("{} can't be watched: {error}", dir.display());
            all = false;
        }
    }
    all
}

impl WatchedFile {
    /// The file with its content, not written yet.
    pub(super) fn new(file: &Arc<Entry>, content: &DiscoveryFile) -> Self {
        let content = DiscoveryFile { ppid: file.published_process(), ..content.clone() };
        Self { file: Arc::clone(file), content, dir: None, trouble: None }
    }

    /// Restores the file if needed. Returns whether another program had removed or changed it.
    fn look(&mut self) -> io::Result<bool> {
        let was_in_place = self.file.is_in_place();
        let found = match self.file.place.open() {
            Ok(Some(dir)) => {
                let wanted = super::json(&self.content);
                // A file that can't be read is not the one that was written.
                let found = dir.read(&self.file.name, wanted.len() as u64).ok().flatten();
                found.is_some_and(|(found, _)| found == wanted)
            }
            _ => false,
        };
        if found {
            return Ok(false);
        }
        self.write()?;
        let restored = was_in_place && self.file.is_in_place();
        if restored {
            log::warn!("{} was removed or changed, and put back", self.file.path().display());
        }
        Ok(restored)
    }

    /// Writes the file, unless it must be removed or is not wanted.
    fn write(&mut self) -> io::Result<()> {
        if self.file.is_removed() {
            return Ok(());
        }
        let written = self.file.place.open().and_then(|dir| {
            if let Some(dir) = &dir {
                dir.write(&self.file.name, &super::json(&self.content))?;
            }
            self.dir = dir;
            Ok(())
        });
        written.map_err(|error| self.failed(error))?;
        let presence = if self.dir.is_some() { Presence::InPlace } else { Presence::Unwanted };
        self.file.state.lock().presence = presence;
        if self.trouble.take().is_some() && self.dir.is_some() {
            log::warn!("the discovery file {} is in place now", self.file.path().display());
        }
        Ok(())
    }

    /// Logs the reason why there is no file, once per reason.
    fn failed(&mut self, error: io::Error) -> io::Error {
        self.file.state.lock().presence = Presence::Missing;
        let reason = error.to_string();
        if self.trouble.as_ref() != Some(&reason) {
            let ClientProfile { name, variables, terminal: (mark, value), .. } = self.file.profile;
            let finds = match variables.auth_token {
                Some(_) => &format!(
                    "finds this editor only from a terminal that has its environment and \
                     {mark}={value}"
                ),
                None => "does not find this editor",
            };
            log::warn!(
                "could not write the discovery file {}: {reason}; until it can be, {name} {finds}",
                self.file.path().display()
            );
            self.trouble = Some(reason);
        }
        error
    }

    fn remove(self) {
        let presence = std::mem::replace(&mut self.file.state.lock().presence, Presence::Missing);
        if let Some(Err(error)) = self.dir.map(|dir| dir.remove(&self.file.name))
            && presence == Presence::InPlace
        {
            log::warn!("could not remove {}: {error}", self.file.path().display());
        }
    }
}
