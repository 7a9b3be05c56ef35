//! The file: which one is this server's, how it is read, and that no two processes have it.
//!
//! Several companions may serve the same folder, such as two Neovims that were started in it.
//! Each has a slot of its own, and takes the same one again after a restart.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant, SystemTime};

use companion_platform::{PrivateDir, is_process_alive};
use serde::{Deserialize, Serialize};

use super::Answer;
use super::identity::Identity;

/// How many companions of one workspace and editor can be resumed.
const SLOTS: usize = 16;
/// The largest file that is read: it holds the texts of decisions that were not delivered.
const MAX_FILE: u64 = 256 << 20;
/// Changes with the meaning of the file.
const VERSION: u32 = 1;
/// How long to wait for a process of the same editor that is ending. It takes 2 s at most.
const ENDING: Duration = Duration::from_millis(2500);

/// What a file says.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct State {
    version: u32,
    pub(super) secret: Identity,
    pub(super) port: u16,
    /// The editor's process.
    pub(super) ide_pid: u32,
    /// Whether clients have edits reviewed.
    pub(super) diffs: bool,
    /// When the server was stopped, in ms since 1970; nothing if its process just ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<u64>,
    pub(super) answers: Vec<Answer>,
}

impl State {
    /// A server that nobody knows.
    pub(super) fn new(ide_pid: u32, diffs: bool) -> Self {
        Self {
            version: VERSION,
            secret: Identity::new(),
            port: 0,
            ide_pid,
            diffs,
            stopped: None,
            answers: Vec::new(),
        }
    }

    /// What a server of this process continues.
    pub(super) fn continued(self, ide_pid: u32, diffs: bool) -> Self {
        Self { ide_pid, diffs, stopped: None, ..self }
    }
}

/// A slot that is ours for as long as this value lives.
pub(super) struct Store {
    dir: PrivateDir,
    file: String,
    _lock: File,
}

/// A slot, and what the last process left in it, if that is for us.
pub(super) struct Claim {
    pub(super) store: Store,
    pub(super) state: Option<State>,
}

/// How well a slot suits; the least one is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// The server of this very editor ended.
    Same,
    /// Its editor has gone; how long ago it was written.
    Left(Duration),
    /// Nothing is in it, or nothing that can be used.
    Empty,
}

impl Store {
    /// Takes a slot: that of this very editor if there is one, else one whose editor has gone,
    /// else an empty one. An editor that is alive may come back to its own.
    pub(super) fn claim(dir: PrivateDir, key: &str, ide_pid: u32) -> io::Result<Claim> {
        let mut slots = Vec::new();
        for slot in 0..SLOTS {
            let file = format!("{key}-{slot}.json");
            let fit = match read(&dir, &file) {
                Ok(None) => Fit::Empty,
                Ok(Some((state, _))) if state.ide_pid == ide_pid => Fit::Same,
                Ok(Some((state, _))) if is_process_alive(state.ide_pid) => continue,
                Ok(Some((_, written))) => Fit::Left(written.elapsed().unwrap_or_default()),
                Err(error) => {
                    log::warn!("can't use what the last run left: {error}; starting afresh");
                    Fit::Empty
                }
            };
            slots.push((fit, slot, file));
        }
        slots.sort_unstable();
        for (fit, slot, file) in slots {
            let patience = if fit == Fit::Same { ENDING } else { Duration::ZERO };
            let Some(lock) = lock(&dir, &format!("{key}-{slot}.lock"), patience)? else { continue };
            // Now nobody else writes it.
            let state = if fit == Fit::Empty { None } else { read(&dir, &file).ok().flatten() };
            let state = state.map(|(state, _)| state);
            return Ok(Claim { store: Self { dir, file, _lock: lock }, state });
        }
        let message = format!("{SLOTS} companions of this folder run or may come back");
        Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
    }

    pub(super) fn write(&self, state: &State) -> io::Result<()> {
        let json = serde_json::to_vec(state).expect("strings and numbers are JSON");
        self.dir.write(&self.file, &json)
    }
}

fn lock(dir: &PrivateDir, name: &str, patience: Duration) -> io::Result<Option<File>> {
    let begun = Instant::now();
    let mut told = false;
    loop {
        match dir.try_lock(name)? {
            None if begun.elapsed() < patience => {
                if !std::mem::replace(&mut told, true) {
                    log::info!("the last companion of this editor still runs; waiting for its end");
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            lock => return Ok(lock),
        }
    }
}

/// What a file says, and when it was written; nothing if there is none.
fn read(dir: &PrivateDir, file: &str) -> io::Result<Option<(State, SystemTime)>> {
    let Some((json, written)) = dir.read(file, MAX_FILE)? else { return Ok(None) };
    // What serde says of it could quote it.
    let broken = || {
        let message = format!("{} is damaged", dir.path().join(file).display());
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let state: State = serde_json::from_slice(&json).map_err(|_| broken())?;
    if state.version == VERSION { Ok(Some((state, written))) } else { Err(broken()) }
}
