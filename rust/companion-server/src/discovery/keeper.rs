//! Keeps the discovery files in place, on a separate thread.
//!
//! A disk may take any time, and only this thread waits for it. Other threads send it commands, and
//! decide how long they wait for the answer.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use companion_platform::PrivateDir;
use companion_protocol::ide::DiscoveryFile;
use companion_protocol::profile::ClientProfile;
use tokio::sync::oneshot;

use super::{Entry, Files, Presence, sweep};
use crate::runtime::ThreadGuard;

/// The interval of looks at the files: another program may remove or change one, and a client's own folder
/// may appear.
const LOOK_INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 20 } else { 10_000 });

/// A command for the keeper.
pub(super) enum KeeperCommand {
    /// Write this workspace and its worktrees into the files, and answer whether that succeeded.
    Workspace(String, Vec<String>, SyncSender<io::Result<()>>),
    /// Remove the files for good, then drop the sender.
    Remove(oneshot::Sender<()>),
}

pub(super) struct Keeper {
    pub(super) kept: Vec<KeptFile>,
    pub(super) files: Arc<Files>,
    /// See [`sweep`](sweep::sweep).
    pub(super) lost_port: Option<u16>,
    pub(super) alive: ThreadGuard,
}

/// A file, as its keeper knows it.
pub(super) struct KeptFile {
    entry: Arc<Entry>,
    content: DiscoveryFile,
    /// The folder where the file was last written.
    dir: Option<PrivateDir>,
    /// The logged reason why the file could not be written.
    trouble: Option<String>,
}

impl Keeper {
    /// Writes the files, reports that to `written`, sweeps stale files, and keeps the files in
    /// place until they are removed.
    pub(super) fn run(mut self, commands: &Receiver<KeeperCommand>, written: &SyncSender<()>) {
        for kept in &mut self.kept {
            kept.entry.place.warn_if_exposed();
            let _ = kept.write(); // or a warning was logged
        }
        if written.send(()).is_err() {
            for entry in self.files.entries.iter().filter(|entry| entry.is_in_place()) {
                log::warn!("the discovery file {} is in place now", entry.path().display());
            }
        }
        self.sweep();
        let _removed = self.keep(commands);
        for kept in self.kept {
            kept.remove();
        }
    }

    /// Sweeps stale files on another thread, because it probes ports, which may take seconds.
    fn sweep(&self) {
        let (files, lost_port) = (Arc::clone(&self.files), self.lost_port);
        let sweep = move || {
            for entry in &files.entries {
                sweep::sweep(entry, &files, lost_port);
            }
        };
        if let Err(error) = self.alive.spawn("gemini-companion-sweep", sweep) {
            log::warn!("could not look for stale discovery files: {error}");
        }
    }

    /// Handles commands, and looks at the files, until their removal. Returns the sender to drop then.
    fn keep(&mut self, commands: &Receiver<KeeperCommand>) -> Option<oneshot::Sender<()>> {
        let mut next_look = Instant::now() + LOOK_INTERVAL;
        loop {
            match commands.recv_timeout(next_look.saturating_duration_since(Instant::now())) {
                Ok(KeeperCommand::Workspace(path, worktrees, reply)) => {
                    let _ = reply.send(self.set_workspace(&path, &worktrees)); // or it is not waited for
                }
                Ok(KeeperCommand::Remove(gone)) => return Some(gone),
                Err(RecvTimeoutError::Timeout) => {
                    for kept in &mut self.kept {
                        kept.look(&self.files);
                    }
                    next_look = Instant::now() + LOOK_INTERVAL;
                }
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    /// Writes all files.
    ///
    /// # Errors
    ///
    /// If no file could be written.
    fn set_workspace(&mut self, path: &str, worktrees: &[String]) -> io::Result<()> {
        if self.files.is_removed() {
            return Ok(());
        }
        let mut all = Ok(());
        for kept in &mut self.kept {
            path.clone_into(&mut kept.content.workspace_path);
            worktrees.clone_into(&mut kept.content.worktrees);
            all = all.and(kept.write());
        }
        if self.kept.iter().any(|kept| kept.entry.is_in_place()) { Ok(()) } else { all }
    }
}

impl KeptFile {
    /// The file with its content, not written yet.
    pub(super) fn new(entry: &Arc<Entry>, content: &DiscoveryFile) -> Self {
        let content = DiscoveryFile { ppid: entry.published_process(), ..content.clone() };
        Self { entry: Arc::clone(entry), content, dir: None, trouble: None }
    }

    /// Restores the file if another program has removed or changed it.
    fn look(&mut self, files: &Files) {
        let was_in_place = self.entry.is_in_place();
        if files.is_removed() || self.is_as_written() || self.write().is_err() {
            return;
        }
        if was_in_place && self.entry.is_in_place() {
            log::warn!("{} was removed or changed, and put back", self.entry.path().display());
        }
    }

    /// Whether the file has the wanted content. A file that can't be read is not the one that was written.
    fn is_as_written(&self) -> bool {
        let Ok(Some(dir)) = self.entry.place.open() else { return false };
        let wanted = super::json(&self.content);
        let found = dir.read(&self.entry.name, wanted.len() as u64);
        matches!(found, Ok(Some((found, _))) if found == wanted)
    }

    /// Writes the file, unless it is not wanted.
    fn write(&mut self) -> io::Result<()> {
        let written = self.entry.place.open().and_then(|dir| {
            if let Some(dir) = &dir {
                dir.write(&self.entry.name, &super::json(&self.content))?;
            }
            self.dir = dir;
            Ok(())
        });
        written.map_err(|error| self.failed(error))?;
        let presence = if self.dir.is_some() { Presence::InPlace } else { Presence::Unwanted };
        *self.entry.presence.lock() = presence;
        if self.trouble.take().is_some() && self.dir.is_some() {
            log::warn!("the discovery file {} is in place now", self.entry.path().display());
        }
        Ok(())
    }

    /// Logs the reason why there is no file, once per reason.
    fn failed(&mut self, error: io::Error) -> io::Error {
        *self.entry.presence.lock() = Presence::Missing;
        let reason = error.to_string();
        if self.trouble.as_ref() != Some(&reason) {
            let ClientProfile { name, variables, .. } = self.entry.profile;
            let finds = match variables.auth_token {
                Some(_) => "finds this editor only from a terminal that has its environment",
                None => "does not find this editor",
            };
            log::warn!(
                "could not write the discovery file {}: {reason}; until it can be, {name} {finds}",
                self.entry.path().display()
            );
            self.trouble = Some(reason);
        }
        error
    }

    fn remove(self) {
        let presence = std::mem::replace(&mut *self.entry.presence.lock(), Presence::Missing);
        if let Some(Err(error)) = self.dir.map(|dir| dir.remove(&self.entry.name))
            && presence == Presence::InPlace
        {
            log::warn!("could not remove {}: {error}", self.entry.path().display());
        }
    }
}
