//! Remembers that a companion is suspended, so that only one hook waits for it.

use std::env::consts::OS;
use std::path::PathBuf;
use std::time::Duration;

use companion_platform::{PrivateDir, state_dir};

/// The time for a companion to begin its answer if it did not answer the last hook.
pub(super) const LIMIT: Duration = Duration::from_millis(50);

/// The time that a mark counts. After that a hook waits as long as the first one.
const MARK_TIME: Duration = Duration::from_secs(10);

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
        let written = self.path().and_then(|path| path.metadata().ok()?.modified().ok());
        // A time in the future is one of a clock that was set.
        written.is_some_and(|time| time.elapsed().is_ok_and(|age| age < MARK_TIME))
    }

    /// Sets the mark when the value is dropped, also because the time is over.
    pub(super) fn set_on_drop(&self) -> SetOnDrop<'_> {
        SetOnDrop(Some(self))
    }

    /// A mark that counts keeps its time, so that a hook soon waits longer again.
    fn set(&self) {
        if let Some(state) = self.state.as_ref().filter(|_| !self.is_set()) {
            let written = PrivateDir::open(state, &DIRS).and_then(|dir| dir.write(&self.name, b""));
            if let Err(error) = written {
                log::info!("the next hook waits for the companion again: {error}");
            }
        }
    }

    fn clear(&self) {
        if let Some(path) = self.path().filter(|path| path.exists()) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self) -> Option<PathBuf> {
        let state = self.state.as_ref()?;
        Some(DIRS.iter().fold(state.clone(), |path, dir| path.join(dir)).join(&self.name))
    }
}

/// Sets a mark when it is dropped.
pub(super) struct SetOnDrop<'a>(Option<&'a Mark>);

impl SetOnDrop<'_> {
    /// Clears the mark: the companion has answered.
    pub(super) fn clear(mut self) {
        if let Some(mark) = self.0.take() {
            mark.clear();
        }
    }
}

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(mark) = self.0 {
            mark.set();
        }
    }
}
