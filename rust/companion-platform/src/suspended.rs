//! Marks a companion whose process is suspended or hangs, so that only one hook waits for its answer.

use std::env::consts::OS;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::{PrivateDir, STATE_FOLDER, state_dir};

/// The folders for the marks, in the user's folder for state.
pub const MARK_DIRS: [&str; 2] = [STATE_FOLDER, "suspended"];

/// A file that says that the companion at a port did not answer. The process that has waited for it
/// sets the mark. The companion clears the mark when it runs again.
#[derive(Clone, Debug)]
pub struct SuspendedMark {
    state: PathBuf,
    name: String,
}

impl SuspendedMark {
    /// The mark of the companion at `port`. `None` if the environment names no folder for it.
    pub fn of(port: u16) -> Option<Self> {
        let state = state_dir(OS, |name| std::env::var(name).ok())?;
        Some(Self { state: state.into(), name: port.to_string() })
    }

    /// The time since the mark was set; `None` if it is not set. Blocks on the disk.
    pub fn age(&self) -> Option<Duration> {
        let time = self.path().metadata().ok()?.modified().ok()?;
        // A time in the future is one of a clock that was set.
        time.elapsed().ok()
    }

    /// Sets the mark, or renews its time. Blocks on the disk.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set(&self) -> io::Result<()> {
        PrivateDir::open(&self.state, &MARK_DIRS)?.write(&self.name, b"")
    }

    /// Clears the mark. Blocks on the disk.
    pub fn clear(&self) {
        // If the file stays, its time ends.
        let _ = std::fs::remove_file(self.path());
    }

    fn path(&self) -> PathBuf {
        MARK_DIRS.iter().fold(self.state.clone(), |path, dir| path.join(dir)).join(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_set_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str| SuspendedMark { state: dir.path().into(), name: name.to_owned() };
        let mark = of("1");
        assert_eq!(mark.age(), None);
        mark.clear();
        mark.set().unwrap();
        mark.set().unwrap();
        assert!(mark.age().is_some_and(|age| age < Duration::from_mins(1)));
        assert_eq!(of("2").age(), None);
        mark.clear();
        assert_eq!(mark.age(), None);
    }
}
