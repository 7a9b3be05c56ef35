//! What a server needs to come back after its process has ended, so that its clients do not
//! notice: the same port and token, session ids that it recognises, and the answers that clients
//! still wait for.
//!
//! Owns one private file per workspace in the user's state directory. Nothing of it is ever
//! logged. A file that can't be used, or that another process uses, costs the clients of the last
//! run their connection, and nothing else.

mod identity;
mod journal;
mod store;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion_platform::{PrivateDir, state_dir};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::config::Config;
use crate::context::now_ms;
use crate::listen::{ListenAddress, Listeners};
pub(crate) use identity::Identity;
pub(crate) use journal::{Journal, Waiting, keep};
use store::{Claim, State, Store};

/// The directories below the user's state directory.
const DIRS: [&str; 2] = ["companion-for-gemini-cli", "resume"];

/// What an earlier process left for this one. As long as this value lives, or the server that
/// takes it, no other process has it.
pub struct Resume {
    store: Store,
    /// Its port is 0 if no clients are to be met again.
    state: State,
}

/// What a client is to be told of a diff that it asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) session: Uuid,
    /// As the client wrote it in `openDiff`.
    pub(crate) path: String,
    /// The text that the user accepted; nothing if the diff is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
}

impl Resume {
    /// Takes what the last server left that had the same first root and the same editor. `dir`
    /// is where programs keep their state; `None`: where they do on this system.
    ///
    /// Nothing, and a warning in the log, if that can't be had: the server then starts as one
    /// that nobody knows. Waits a little if the last process of this very editor is just ending.
    pub fn claim(dir: Option<PathBuf>, config: &Config) -> Option<Self> {
        Self::try_claim(dir, config)
            .inspect_err(|error| log::warn!("a restart will disconnect the CLIs: {error}"))
            .ok()
    }

    fn try_claim(dir: Option<PathBuf>, config: &Config) -> io::Result<Self> {
        let dir = match dir {
            Some(dir) => dir,
            None => default_dir()?,
        };
        let root = config.workspace.first().map(PathBuf::as_path);
        let dir = PrivateDir::open(&dir, &DIRS)?;
        let Claim { store, state } =
            Store::claim(dir, &key(&config.ide.name, root), config.ide_pid)?;
        let state = state.filter(|state| {
            let why = if state.stopped.is_some_and(|at| is_over(at, config.limits.session_idle)) {
                "its clients have gone"
            } else if state.diffs && !config.diffs {
                // They asked once, and would have their edits fail.
                "its clients believe that edits are reviewed here"
            } else {
                log::info!("resuming the last run; clients wait for {}", state.answers.len());
                return true;
            };
            log::info!("not resuming the last run: {why}");
            false
        });
        let state = match state {
            Some(state) => state.continued(config.ide_pid, config.diffs),
            None => State::new(config.ide_pid, config.diffs),
        };
        Ok(Self { store, state })
    }

    /// Does as [`Listeners::bind`], at the port that the clients of the last run know, or at
    /// `port` if that is not 0.
    ///
    /// If the clients' port is taken on any of the addresses, the system picks another one. The
    /// clients have then shown their token to whoever took it, so it is not used again.
    pub fn bind(&mut self, port: u16, more: &[ListenAddress]) -> io::Result<Listeners> {
        let known = self.state.port;
        if port != 0 || known == 0 {
            return Listeners::bind(port, more);
        }
        let why = match Listeners::bind(known, more) {
            Ok(listeners) => match listeners.taken() {
                None => return Ok(listeners),
                Some(address) => format!("it is taken on {address}"),
            },
            Err(error) => error.to_string(),
        };
        log::warn!(
            "can't listen on port {known} again: {why}. CLIs that were connected to it have to \
             reconnect (/ide enable); the server takes another port"
        );
        self.state = State::new(self.state.ide_pid, self.state.diffs);
        Listeners::bind(0, more)
    }

    /// What a server keeps for as long as it runs: who it is, what it has to tell, and the means
    /// to save that. Saves that it now listens on `port`.
    pub(crate) fn begin(self, port: u16) -> (Identity, Vec<Answer>, Saving) {
        let Self { store, mut state } = self;
        let identity = state.secret.clone();
        state.port = port;
        let answers = state.answers.clone();
        let mut saving = Saving { store, state, failed: false };
        saving.save();
        (identity, answers, saving)
    }
}

/// The file of a server that runs.
pub(crate) struct Saving {
    store: Store,
    state: State,
    failed: bool,
}

impl Saving {
    /// Puts the file in place. Whether that is possible is said when it changes.
    fn save(&mut self) {
        let saved = self.store.write(&self.state);
        // Texts that nobody waits for any more take no memory.
        self.state.answers = Vec::new();
        match &saved {
            Err(error) if !self.failed => {
                log::warn!("could not save what a restart needs; CLIs may lose it: {error}");
            }
            Ok(()) if self.failed => log::info!("what a restart needs is saved again"),
            _ => {}
        }
        self.failed = saved.is_err();
    }
}

fn is_over(at: u64, stay: Duration) -> bool {
    // A clock that was set back says nothing.
    Duration::from_millis(now_ms().saturating_sub(at)) > stay
}

fn default_dir() -> io::Result<PathBuf> {
    let dir = state_dir(std::env::consts::OS, |name| std::env::var(name).ok());
    dir.map(PathBuf::from).ok_or_else(|| {
        let message = "the environment does not say where programs keep their state; set HOME";
        io::Error::new(io::ErrorKind::NotFound, message)
    })
}

/// Names the files of a workspace. Further roots may come and go while it is the same one.
fn key(ide: &str, root: Option<&Path>) -> String {
    let root = root.map(|root| root.to_string_lossy()).unwrap_or_default();
    identity::hash(&[ide, "\0", &root].concat())
}
