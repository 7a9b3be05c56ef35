//! Resumes a server after its process has ended, so that its clients do not notice.
//!
//! It keeps the port, the token, the sessions, the open diffs, and the decisions and notes that clients
//! and models have not received, in one private file per companion in the user's state directory. It
//! never logs any of it. If the file can't be used, or another process uses it, the clients of the last
//! run lose their connection and what waits for them.

mod file;
mod lines;
mod peers;
mod removal;
mod slots;
#[cfg(test)]
mod tests;
mod token;

use std::env::consts::OS;
use std::future::poll_fn;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use companion_core::companion::Input;
use companion_core::record::Left;
use companion_platform::{PrivateDir, STATE_FOLDER, real_path, state_dir};
use companion_protocol::settings::{ListenAddress, Settings};
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::clock::now_ms;
use crate::config::{Config, DISK_TIMEOUT};
use crate::disk::pool::BlockingPool;
use crate::driver::Driver;
use crate::net::listen::Listeners;
use crate::runtime::Runtime;
use file::ResumeFile;
pub(crate) use lines::{Address, Head, SharedHead};
pub(crate) use peers::{Legacy, Peers, Sight, real_folders};
pub use removal::remove_left;
use slots::{Claim, Slot};
pub(crate) use token::Token;

/// The directories below the user's state directory.
const DIRS: [&str; 2] = [STATE_FOLDER, "resume"];

/// The longest wait for the disk, and for a process that is ending.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(3);

/// The longest wait for a server that is ending. It takes up to 2 s.
const END_TIMEOUT: Duration = Duration::from_millis(2500);

/// The state that an earlier process left. No other process can take it while this value lives, or
/// the server that uses it.
pub(crate) struct Resume {
    slot: Slot,
    folder_key: String,
    running: std::fs::File,
    /// The port is 0 if no clients are expected.
    head: Head,
    left: Left,
}

impl Resume {
    /// Takes the state of the last server with the same first root and the same editor. `dir` is
    /// the folder for the state of programs; `None` means the system's usual one. Waits briefly if
    /// the last process is ending.
    ///
    /// Returns `None` and logs a warning if that fails. The server then starts afresh.
    pub(crate) fn claim(runtime: &Runtime, dir: Option<PathBuf>, config: &Config) -> Option<Self> {
        let config = config.clone();
        on_disk(runtime, move || Self::try_claim(dir, &config))
    }

    pub(crate) fn try_claim(dir: Option<PathBuf>, config: &Config) -> io::Result<Self> {
        let usual = || state_dir(OS, |name| std::env::var(name).ok());
        let dir = dir.or_else(|| usual().map(PathBuf::from)).ok_or_else(|| {
            let message = "the environment does not say where programs keep their state; set HOME";
            io::Error::new(io::ErrorKind::NotFound, message)
        })?;
        let Settings { workspace, ide_name, ide_pid, review, port, .. } = &config.settings;
        let dir = PrivateDir::open(&dir, &DIRS)?;
        let first = workspace.first().map(|root| real_path(root));
        let folder_key = slots::folder_key(first.as_deref());
        let key = slots::key(ide_name, &folder_key);
        let Claim { slot, running, last, adopted } =
            slots::claim(dir, &key, *ide_pid, END_TIMEOUT)?;
        let afresh = Head::new(*ide_pid, *review);
        let had_clients = last.as_ref().is_some_and(|(_, left, _)| !left.sessions.is_empty());
        let (mut head, mut left, why) = match last {
            None => (afresh, Left::default(), None),
            Some((_, left, age)) if slots::is_over(age) => {
                (afresh, left.without_clients(), Some("its clients have gone"))
            }
            Some((head, left, _)) if head.review && !review => {
                // The user asked for this once, and the edits of such clients would fail.
                let why = "its clients believe that edits are reviewed here";
                (afresh, left.without_clients(), Some(why))
            }
            Some((head, left, _)) => (head.continued(*ide_pid, *review), left, None),
        };
        // Something else may lead clients to a port that the user has chosen, and its own editor must
        // get it again.
        head.workspace = if *port == 0 { real_folders(workspace) } else { Vec::new() };
        left.drop_old_notes(now_ms());
        let is_changed = why.is_some() || !adopted.is_empty();
        left.adopt_notes(&adopted.left);
        match why {
            Some(why) if had_clients => log::info!("not resuming the last run: {why}"),
            None if head.port != 0 => {
                log::info!("resuming the last run; clients wait for {}", left.diffs.len());
            }
            _ => {}
        }
        let claimed = Self { slot, folder_key, running, head, left };
        if !is_changed {
            return Ok(claimed);
        }
        let (claimed, is_saved) = claimed.saved()?;
        if is_saved {
            adopted.remove(&claimed.slot)?;
        }
        Ok(claimed)
    }

    /// Replaces the file of the last run: if this start fails, a later one must not resume its
    /// clients either. The notes stay. Returns false if only the old file was removed.
    fn saved(self) -> io::Result<(Self, bool)> {
        let written = self.slot.write(&lines::write(&self.head, &self.left));
        if let Err(error) = &written {
            log::warn!("cannot save the notes of the last run: {error}");
            self.slot.clear()?;
        }
        let is_saved = written.is_ok();
        Ok((self, is_saved))
    }

    /// The port that the clients of the last run know.
    pub(crate) fn port(&self) -> Option<u16> {
        Some(self.head.port).filter(|port| *port != 0)
    }

    /// Binds like [`Listeners::bind`], at the port that the clients of the last run know, or at
    /// `port` if it is not 0. Returns the state to continue with, too.
    ///
    /// If the port is another one, or is taken at any address, the clients show their token to the
    /// program that has the port they know. So the token is not used again, not even by a later
    /// start if this one fails.
    pub(crate) fn bind(
        self,
        runtime: &Runtime,
        port: u16,
        more: &[ListenAddress],
    ) -> (io::Result<Listeners>, Option<Self>) {
        let known = self.head.port;
        if known == 0 {
            return (Listeners::bind(port, more), Some(self));
        }
        let why = if port != 0 && port != known {
            format!("port {port} is wanted")
        } else {
            match Listeners::bind(known, more) {
                Ok(listeners) => match listeners.taken() {
                    None => return (Ok(listeners), Some(self)),
                    Some(address) => format!("it is taken on {address}"),
                },
                Err(error) => error.to_string(),
            }
        };
        log::warn!(
            "not listening on port {known} again: {why}. CLIs that were connected to it have to \
             reconnect (/ide enable)"
        );
        let (head, left) = (self.head.without_clients(), self.left.without_clients());
        let afresh = Self { head, left, ..self };
        let afresh = on_disk(runtime, move || Ok(afresh.saved()?.0));
        (Listeners::bind(port, more), afresh)
    }

    /// Saves that the server now listens on `port`, and returns the state to continue with.
    pub(crate) fn begin(self, port: u16, pool: &BlockingPool) -> Resumed {
        let Self { slot, folder_key, running, mut head, left } = self;
        head.port = port;
        let token = head.token.clone();
        let head = Arc::new(Mutex::new(head));
        let peers = Peers::new(&slot, folder_key, Arc::clone(&head));
        let mut saving = Saving { file: ResumeFile::new(slot, head, left.clone()), failed: false };
        let (done, written) = mpsc::sync_channel(1);
        let saving = pool.run(move || {
            saving.attempt(ResumeFile::write);
            let _ = done.send(());
            saving
        });
        if written.recv_timeout(DISK_TIMEOUT).is_err() {
            log::warn!("resume disk timed out");
        }
        Resumed { token, left, running, saving, peers }
    }
}

/// The state that a server continues with.
pub(crate) struct Resumed {
    pub(crate) token: Token,
    pub(crate) left: Left,
    /// Locked until the server begins to end. The next process waits for that.
    pub(crate) running: std::fs::File,
    pub(crate) saving: JoinHandle<Saving>,
    pub(crate) peers: Peers,
}

/// Runs a function before the server runs. Returns `None` and logs a warning if that fails, or if
/// the disk does not answer.
fn on_disk<T: Send + 'static>(
    runtime: &Runtime,
    job: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Option<T> {
    let (done, wait) = mpsc::sync_channel(1);
    // A late result is dropped.
    let doing = runtime.alive().spawn("gemini-companion-disk", move || {
        let _ = done.send(job());
    });
    let silent = |_| io::Error::new(io::ErrorKind::TimedOut, "the disk does not answer");
    doing
        .and_then(|()| wait.recv_timeout(CLAIM_TIMEOUT).map_err(silent)?)
        .inspect_err(|error| log::warn!("a restart will disconnect the CLIs: {error}"))
        .ok()
}

/// The resume file of a running server.
pub(crate) struct Saving {
    file: ResumeFile,
    failed: bool,
}

impl Saving {
    /// Accesses the file. Logs when the access begins to fail or succeeds again.
    fn attempt(&mut self, save: impl FnOnce(&mut ResumeFile) -> io::Result<()>) -> bool {
        let saved = save(&mut self.file);
        match &saved {
            Err(error) if !self.failed => {
                log::warn!("cannot save resume data, so a restart may disconnect CLIs: {error}");
            }
            Ok(()) if self.failed => log::info!("resume data is saved again"),
            _ => {}
        }
        self.failed = saved.is_err();
        !self.failed
    }
}

/// Saves the server's records off its thread, one write at a time, until the end.
pub(crate) async fn keep(driver: Arc<Driver>, pool: Arc<BlockingPool>, saving: JoinHandle<Saving>) {
    let _ended = Ended(&driver);
    let Ok(mut saving) = saving.await else { return };
    loop {
        let batch = poll_fn(|cx| driver.journal().poll_next(cx)).await;
        let (count, ends) = (batch.count, batch.ends);
        let written = pool.run(move || {
            let saved = saving.attempt(|file| file.take(batch));
            (saving, saved)
        });
        let saved;
        (saving, saved) = match written.await {
            Ok(back) => back,
            Err(error) => return log::warn!("cannot save resume data: {error}"),
        };
        let records = driver.saved.add(count);
        driver.handle(if saved { Input::Saved(records) } else { Input::NotSaved(records) });
        if ends {
            return;
        }
    }
}

/// The file is not kept any more.
struct Ended<'a>(&'a Driver);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.saved.set_ended();
    }
}
