//! The thread that has the discovery files. A disk may take any time, and nobody else is to wait
//! for it: who tells the thread something decides how long to wait for an answer.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use companion_platform::{PrivateDir, Watch};
use companion_protocol::dialect::ClientProfile;
use companion_protocol::ide::DiscoveryFile;
use tokio::sync::oneshot;

use super::{Entry, Presence, sweep};
use crate::runtime::ThreadGuard;

/// After a change the files are left alone for that long, since changes come in bursts.
const SETTLE_TIME: Duration = Duration::from_millis(200);
/// And for that long after one was put back, should another program insist.
const RESTORE_INTERVAL: Duration = Duration::from_secs(1);
/// A file that could not be written is tried again after this, then after twice as long, …
const MIN_RETRY_DELAY: Duration = Duration::from_secs(1);
/// … and at last every so often.
const MAX_RETRY_DELAY: Duration = Duration::from_mins(1);
/// How often to look, in the end, at a file that the system can't watch for us.
const POLL_INTERVAL: Duration = Duration::from_secs(30);

/// What the keeper is told.
pub(super) enum KeeperCommand {
    /// A file may have been changed.
    Changed,
    /// They are to name this workspace, and it is to be told whether they do.
    Workspace(String, SyncSender<io::Result<()>>),
    /// They are to go for good; what comes with it is dropped once they have.
    Remove(oneshot::Sender<()>),
}

pub(super) struct Keeper {
    pub(super) kept: Vec<WatchedFile>,
    pub(super) removed: Arc<AtomicBool>,
    pub(super) commands: Receiver<KeeperCommand>,
    /// For those who watch the files.
    pub(super) sender: Sender<KeeperCommand>,
    pub(super) alive: ThreadGuard,
}

/// One of the files, as its keeper has it.
pub(super) struct WatchedFile {
    file: Arc<Entry>,
    content: DiscoveryFile,
    /// Where it was last written.
    dir: Option<PrivateDir>,
    /// Why it could not be written, as it was logged.
    trouble: Option<String>,
}

/// What a look at the files came to.
struct CheckResult {
    failed: bool,
    /// Somebody else had removed or changed one.
    restored: bool,
    watch: Option<Watch>,
    /// The system watches all of them.
    watched: bool,
}

impl Keeper {
    /// Writes the files, which `written` hears, clears away what is stale, and keeps the files in
    /// place until they are to go.
    pub(super) fn run(mut self, written: &SyncSender<()>) {
        for kept in &mut self.kept {
            kept.file.place.warn_if_exposed();
            let _ = kept.write(&self.removed); // or a warning was logged
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

    /// Clears away what is stale, on a thread of its own, since that asks ports, which may take
    /// seconds.
    fn sweep(&self) {
        let files: Vec<_> = self.kept.iter().map(|kept| Arc::clone(&kept.file)).collect();
        let removed = Arc::clone(&self.removed);
        let sweep = move || files.iter().for_each(|file| sweep::sweep(file, &removed));
        if let Err(error) = self.alive.spawn("gemini-companion-sweep", sweep) {
            log::warn!("could not look for stale discovery files: {error}");
        }
    }

    /// Keeps the files in place. Returns who wants to hear of their end.
    fn keep(&mut self) -> Option<oneshot::Sender<()>> {
        let mut retry = MIN_RETRY_DELAY;
        let mut _watch;
        loop {
            let later = retry;
            retry = MAX_RETRY_DELAY.min(retry * 2);
            let seen = self.look();
            let patience = match seen {
                CheckResult { failed: true, .. } => Some(later),
                CheckResult { watched: false, .. } => Some(later.min(POLL_INTERVAL)),
                _ => {
                    retry = MIN_RETRY_DELAY;
                    None
                }
            };
            _watch = seen.watch; // only now the old one ends, so that nothing is missed
            if let Err(gone) = self.listen(patience, true) {
                return gone;
            }
            let pause = if seen.restored { RESTORE_INTERVAL } else { SETTLE_TIME };
            if let Err(gone) = self.listen(Some(pause), false) {
                return gone;
            }
        }
    }

    /// Does what it is told, for that long, or else until a file may have been changed if it is to
    /// look then. An error if the files are to go.
    fn listen(
        &mut self,
        patience: Option<Duration>,
        for_change: bool,
    ) -> Result<(), Option<oneshot::Sender<()>>> {
        let end = patience.map(|patience| Instant::now() + patience);
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
                Ok(KeeperCommand::Workspace(path, reply)) => {
                    let written = self.set_workspace_path(&path);
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

    /// Writes all files anew; an error if that leaves none by which to be found.
    fn set_workspace_path(&mut self, path: &str) -> io::Result<()> {
        let mut all = Ok(());
        for kept in &mut self.kept {
            path.clone_into(&mut kept.content.workspace_path);
            all = all.and(kept.write(&self.removed));
        }
        if self.kept.iter().any(|kept| kept.file.is_in_place()) { Ok(()) } else { all }
    }

    /// Puts files in place that aren't, and watches all from then on.
    fn look(&mut self) -> CheckResult {
        for kept in &self.kept {
            let _ = kept.file.place.open(); // makes the folders that are to be watched
        }
        let (dirs, names) = self.to_watch();
        // Before the look, so that nothing happens in between.
        let mut watch = self.watch(names);
        let watched = watch.as_mut().is_some_and(|watch| add(watch, &dirs));
        let (mut failed, mut restored) = (false, false);
        for kept in &mut self.kept {
            match kept.look(&self.removed) {
                Ok(put_back) => restored |= put_back,
                Err(_) => failed = true, // which was logged
            }
        }
        if self.to_watch().0 != dirs {
            let _ = self.sender.send(KeeperCommand::Changed); // a folder has appeared or gone meanwhile
        }
        CheckResult { failed, restored, watch, watched }
    }

    /// Folders, and the names that matter in them.
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

/// Whether all of them are watched; one that can't be does not keep the others from it.
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

    /// Puts the file in place if it isn't. Whether somebody else had removed or changed it.
    fn look(&mut self, removed: &AtomicBool) -> io::Result<bool> {
        let was_in_place = self.file.is_in_place();
        let found = match self.file.place.open() {
            Ok(Some(dir)) => {
                let wanted = super::json(&self.content);
                // What can't be read is not what we have written.
                let found = dir.read(&self.file.name, wanted.len() as u64).ok().flatten();
                found.is_some_and(|(found, _)| found == wanted)
            }
            _ => false,
        };
        if found {
            return Ok(false);
        }
        self.write(removed)?;
        let restored = was_in_place && self.file.is_in_place();
        if restored {
            log::warn!("{} was removed or changed, and put back", self.file.path().display());
        }
        Ok(restored)
    }

    /// Writes the file, unless it is to go or is not wanted.
    fn write(&mut self, removed: &AtomicBool) -> io::Result<()> {
        if removed.load(SeqCst) {
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
        *self.file.presence.lock() = presence;
        if self.trouble.take().is_some() && self.dir.is_some() {
            log::warn!("the discovery file {} is in place now", self.file.path().display());
        }
        Ok(())
    }

    /// Logs why there is no file, once per reason.
    fn failed(&mut self, error: io::Error) -> io::Error {
        *self.file.presence.lock() = Presence::Missing;
        let reason = error.to_string();
        if self.trouble.as_ref() != Some(&reason) {
            let ClientProfile { name, variables, .. } = self.file.dialect;
            let finds = match variables.auth_token {
                Some(_) => "finds this editor only from a terminal that has its environment",
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
        let presence = std::mem::replace(&mut *self.file.presence.lock(), Presence::Missing);
        if let Some(Err(error)) = self.dir.map(|dir| dir.remove(&self.file.name))
            && presence == Presence::InPlace
        {
            log::warn!("could not remove {}: {error}", self.file.path().display());
        }
    }
}
