//! Remembers that a companion is suspended, so that only one hook waits for it.

use std::env::consts::OS;
use std::path::PathBuf;
use std::time::Duration;

use companion_platform::{PrivateDir, state_dir};

/// The time for a companion to begin its answer if it did not answer the last hook.
pub(super) const LIMIT: Duration = Duration::from_millis(20);

/// The folders for the marks, in the user's folder for state.
const DIRS: [&str; 2] = ["companion-for-gemini-cli", "suspended"];

/// A file that says that the companion at a port did not answer the last hook.
pub(super) struct Mark {
    /// `None` if the environment names no folder for it.
    state: Option<PathBuf>,
    name: String,
}

impl Mark {
    pub(super) fn of(port: u16) -> Self {
        let state = state_dir(OS, |name| std::env::var(name).ok()).map(PathBuf::from);
        Self { state, name: port.to_string() }
    }

    pub(super) fn is_set(&self) -> bool {
        self.path().is_some_and(|path| path.exists())
    }

    pub(super) fn set(&self) {
        if let Some(state) = &self.state {
            let written = PrivateDir::open(state, &DIRS).and_then(|dir| dir.write(&self.name, b""));
            if let Err(error) = written {
                log::info!("the next hook waits for the companion again: {error}");
            }
        }
    }

    pub(super) fn clear(&self) {
        if self.is_set()
            && let Some(path) = self.path()
        {
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self) -> Option<PathBuf> {
        let state = self.state.as_ref()?;
        Some(DIRS.iter().fold(state.clone(), |path, dir| path.join(dir)).join(&self.name))
    }
}
