//! The discovery file, by which the CLI finds this server.
//!
//! Owns the file from its first byte to its removal, puts it back if somebody else removes or
//! changes it, and clears away those that dead processes left. It never takes anything from a
//! file, least of all a token: what it wrote is what it knows.

mod keeper;
mod place;
mod sweep;
#[cfg(test)]
mod tests;
mod workspace;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use companion_protocol::dialect::GEMINI;
use companion_protocol::ide::DiscoveryFile;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout, timeout_at};

use crate::runtime::Alive;
use keeper::{Keeper, Told};
use place::Place;
pub(crate) use workspace::workspace_path;

/// How long a server waits for a disk, when it starts and when it stops.
pub(crate) const DISK: Duration = Duration::from_millis(500);

/// The file, from [`publish`](Self::publish) to [`remove`](Self::remove). Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct Discovery {
    file: Arc<File>,
    keeper: Sender<Told>,
}

#[derive(Debug)]
struct File {
    place: Place,
    pid: u32,
    port: u16,
    name: String,
    /// It was there when its keeper last looked.
    in_place: AtomicBool,
    /// It is to be there no more.
    removed: AtomicBool,
}

impl File {
    fn new(place: Place, pid: u32, port: u16) -> Self {
        let name = GEMINI.file_name(pid, port);
        let [in_place, removed] = [false, false].map(AtomicBool::new);
        Self { place, pid, port, name, in_place, removed }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join(&self.name)
    }

    fn is_silent(&self) -> String {
        format!("the disk of {} does not answer", self.path().display())
    }
}

impl Discovery {
    /// Writes the file. `dir` is where the client looks, by default; `pid` is the editor's. A
    /// failure is logged: terminals in the editor still have the server in their environment.
    pub(crate) fn publish(
        alive: &Alive,
        dir: Option<&Path>,
        pid: u32,
        content: DiscoveryFile,
    ) -> Self {
        Self::publish_in(alive, Place::new(dir), pid, content)
    }

    fn publish_in(alive: &Alive, place: Place, pid: u32, content: DiscoveryFile) -> Self {
        let file = Arc::new(File::new(place, pid, content.port));
        let (tell, told) = mpsc::channel();
        let keeper = Keeper {
            file: Arc::clone(&file),
            content,
            told,
            tell: tell.clone(),
            alive: alive.clone(),
            dir: None,
            trouble: None,
        };
        let (written, write) = mpsc::sync_channel(1);
        match alive.spawn("gemini-companion-file", move || keeper.run(&written)) {
            Ok(()) if write.recv_timeout(DISK).is_ok() => {}
            Ok(()) => log::warn!("{}; it is not waited for", file.is_silent()),
            Err(error) => log::warn!("could not write {}: {error}", file.path().display()),
        }
        Self { file, keeper: tell }
    }

    /// Puts another workspace into the file.
    pub(crate) fn set_workspace_path(&self, workspace_path: String) -> io::Result<()> {
        let (told, tell) = mpsc::sync_channel(1);
        if self.keeper.send(Told::Workspace(workspace_path, told)).is_err() {
            return Ok(()); // it has been removed
        }
        tell.recv_timeout(DISK).unwrap_or_else(|_| {
            if self.file.removed.load(SeqCst) {
                return Ok(());
            }
            Err(io::Error::new(io::ErrorKind::TimedOut, self.file.is_silent()))
        })
    }

    /// Where the file is, if it is.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let is_there = self.file.in_place.load(Relaxed) && !self.file.removed.load(SeqCst);
        is_there.then(|| self.file.path())
    }

    /// Has the file removed for good, also one that is just being written.
    pub(crate) fn remove(&self) -> Removal {
        self.file.removed.store(true, SeqCst);
        let (gone, removal) = oneshot::channel();
        let _ = self.keeper.send(Told::Remove(gone)); // or it has been removed
        Removal { file: Arc::clone(&self.file), gone: removal }
    }
}

/// A file that is being removed.
pub(crate) struct Removal {
    file: Arc<File>,
    gone: oneshot::Receiver<()>,
}

impl Removal {
    /// Waits until it is gone, for as long as others can wait for it.
    pub(crate) async fn begin(&mut self) {
        let _ = timeout(DISK, &mut self.gone).await; // else the end will tell
    }

    /// Waits until it is gone, or `end`.
    pub(crate) async fn end(self, end: Instant) {
        if !self.gone.is_terminated() && timeout_at(end, self.gone).await.is_err() {
            log::warn!("{}; the file will go once it does", self.file.is_silent());
        }
    }
}

fn json(content: &DiscoveryFile) -> Vec<u8> {
    serde_json::to_vec(content).expect("strings and numbers are JSON")
}
