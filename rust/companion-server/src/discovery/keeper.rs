//! The thread that has the discovery file. A disk may take any time, and nobody else is to wait
//! for it: who tells the thread something decides how long to wait for an answer.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use companion_platform::{PrivateDir, Watch};
use companion_protocol::ide::DiscoveryFile;
use tokio::sync::oneshot;

use super::{File, sweep};
use crate::runtime::Alive;

/// After a change the file is left alone for that long, since changes come in bursts.
const SETTLE: Duration = Duration::from_millis(200);
/// And for that long after it was put back, should another program insist.
const TRUCE: Duration = Duration::from_secs(1);
/// A file that could not be written is tried again after this, then after twice as long, …
const FIRST_RETRY: Duration = Duration::from_secs(1);
/// … and at last every so often.
const LAST_RETRY: Duration = Duration::from_mins(1);
/// How often to look, in the end, at a file that the system can't watch for us.
const UNWATCHED: Duration = Duration::from_secs(30);

/// What the keeper is told.
pub(super) enum Told {
    /// The file may have been changed.
    Changed,
    /// It is to name this workspace, and it is to be told whether it does.
    Workspace(String, SyncSender<io::Result<()>>),
    /// It is to go for good; what comes with it is dropped once it has.
    Remove(oneshot::Sender<()>),
}

pub(super) struct Keeper {
    pub(super) file: Arc<File>,
    pub(super) content: DiscoveryFile,
    pub(super) told: Receiver<Told>,
    /// For those who watch the file.
    pub(super) tell: Sender<Told>,
    pub(super) alive: Alive,
    /// Where it was last written.
    pub(super) dir: Option<PrivateDir>,
    /// Why it could not be written, as it was logged.
    pub(super) trouble: Option<String>,
}

/// What a look at the file came to.
struct Seen {
    /// Somebody else had removed or changed it.
    restored: bool,
    /// `None` if the system can't watch it.
    watch: Option<Watch>,
}

impl Keeper {
    /// Writes the file, which `written` hears, clears away what is stale, and keeps the file in
    /// place until it is to go.
    pub(super) fn run(mut self, written: &SyncSender<()>) {
        self.file.place.warn_if_exposed();
        let in_place = self.write().is_ok(); // or an error was logged
        if written.send(()).is_err() && in_place {
            log::warn!("the discovery file is in place now");
        }
        // It has a thread to itself, since it asks ports, which may take seconds.
        let file = Arc::clone(&self.file);
        if let Err(error) = self.alive.spawn("gemini-companion-sweep", move || sweep::sweep(&file))
        {
            log::warn!("could not look for stale discovery files: {error}");
        }
        let _removed = self.keep();
        let in_place = self.file.in_place.swap(false, Relaxed);
        if let Some(Err(error)) = self.dir.map(|dir| dir.remove(&self.file.name))
            && in_place
        {
            log::warn!("could not remove {}: {error}", self.file.path().display());
        }
    }

    /// Keeps the file in place. Returns who wants to hear of its end.
    fn keep(&mut self) -> Option<oneshot::Sender<()>> {
        let mut retry = FIRST_RETRY;
        let mut _watch;
        loop {
            let later = retry;
            retry = LAST_RETRY.min(retry * 2);
            let (patience, pause) = match self.look() {
                Ok(Seen { restored, watch }) => {
                    let patience = if watch.is_some() {
                        retry = FIRST_RETRY;
                        None
                    } else {
                        Some(later.min(UNWATCHED))
                    };
                    _watch = watch; // only now the old one ends, so that nothing is missed
                    (patience, if restored { TRUCE } else { SETTLE })
                }
                Err(_) => (Some(later), Duration::ZERO), // which was logged
            };
            if let Err(gone) = self.listen(patience, true) {
                return gone;
            }
            if let Err(gone) = self.listen(Some(pause), false) {
                return gone;
            }
        }
    }

    /// Does what it is told, for that long, or else until the file may have been changed if it is
    /// to look then. An error if the file is to go.
    fn listen(
        &mut self,
        patience: Option<Duration>,
        for_change: bool,
    ) -> Result<(), Option<oneshot::Sender<()>>> {
        let end = patience.map(|patience| Instant::now() + patience);
        loop {
            let told = match end {
                None => self.told.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(end) => self.told.recv_timeout(end.saturating_duration_since(Instant::now())),
            };
            match told {
                Ok(Told::Changed) if for_change => return Ok(()),
                Ok(Told::Changed) => {}
                Ok(Told::Workspace(path, told)) => {
                    self.content.workspace_path = path;
                    let written = self.write();
                    let look = written.is_err() && for_change;
                    let _ = told.send(written);
                    if look {
                        return Ok(());
                    }
                }
                Ok(Told::Remove(gone)) => return Err(Some(gone)),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => return Err(None),
            }
        }
    }

    /// Puts the file in place if it isn't, and watches it from then on.
    fn look(&mut self) -> io::Result<Seen> {
        let was_in_place = self.file.in_place.load(Relaxed);
        let open = |this: &mut Self| this.file.place.open().map_err(|error| this.failed(error));
        open(self)?; // which makes the folders that are to be watched
        let watch = self.watch(); // before the look, so that nothing happens in between
        let dir = open(self)?;
        let wanted = super::json(&self.content);
        // What can't be read is not what we have written.
        let found = dir.read(&self.file.name, wanted.len() as u64).ok().flatten();
        if found.is_some_and(|(found, _)| found == wanted) {
            return Ok(Seen { restored: false, watch });
        }
        self.write()?;
        if was_in_place {
            let path = self.file.path();
            log::warn!("{} was removed or changed, and put back", path.display());
        }
        Ok(Seen { restored: was_in_place, watch })
    }

    fn watch(&self) -> Option<Watch> {
        let (tell, alive) = (self.tell.clone(), self.alive.clone());
        let changed = move || {
            let _held_by_its_thread = &alive;
            let _ = tell.send(Told::Changed);
        };
        Watch::start(&self.file.place.dirs(), &self.file.name, changed)
            .inspect_err(|error| log::debug!("the discovery file can't be watched: {error}"))
            .ok()
    }

    /// Writes the file, unless it is to go.
    fn write(&mut self) -> io::Result<()> {
        if self.file.removed.load(SeqCst) {
            return Ok(());
        }
        let written = self.file.place.open().and_then(|dir| {
            dir.write(&self.file.name, &super::json(&self.content))?;
            self.dir = Some(dir);
            Ok(())
        });
        written.map_err(|error| self.failed(error))?;
        self.file.in_place.store(true, Relaxed);
        if self.trouble.take().is_some() {
            log::warn!("the discovery file is in place now");
        }
        Ok(())
    }

    /// Logs why there is no file, once per reason.
    fn failed(&mut self, error: io::Error) -> io::Error {
        self.file.in_place.store(false, Relaxed);
        let reason = error.to_string();
        if self.trouble.as_ref() != Some(&reason) {
            log::warn!(
                "could not write the discovery file {}: {reason}; until it can be, a CLI finds \
                 this editor only from a terminal that has its environment",
                self.file.path().display()
            );
            self.trouble = Some(reason);
        }
        error
    }
}
