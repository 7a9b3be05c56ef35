//! Locks a file, so that only one run changes the machine. The lock ends with the run, even after a
//! crash.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::files::{check_own, remove_empty};

/// The longest wait for the lock, longer than a run takes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    file: File,
    /// Folders of which the end of the run removes the empty ones, the outermost first.
    pub(crate) dirs: Vec<PathBuf>,
}

impl Lock {
    /// Locks the file in the folder that `create_dir` creates. Waits while another run holds the lock.
    pub(crate) fn take(path: &Path, create_dir: impl Fn() -> io::Result<()>) -> io::Result<Self> {
        Self::take_within(LOCK_TIMEOUT, path, create_dir)
    }

    fn take_within(
        limit: Duration,
        path: &Path,
        create_dir: impl Fn() -> io::Result<()>,
    ) -> io::Result<Self> {
        let begin = Instant::now();
        loop {
            let is_late = begin.elapsed() >= limit;
            match create_dir().and_then(|()| attempt(path)) {
                Ok(Some(file)) => {
                    return Ok(Self { path: path.to_owned(), file, dirs: Vec::new() });
                }
                Ok(None) => {}
                // Another run has created or removed a folder meanwhile.
                Err(error)
                    if !is_late
                        && matches!(
                            error.kind(),
                            ErrorKind::NotFound | ErrorKind::AlreadyExists
                        ) => {}
                Err(error) => return Err(error),
            }
            if is_late {
                let why = "another setup is running; run this again when it has ended";
                return Err(io::Error::new(ErrorKind::WouldBlock, why));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Locks the file. Returns `None` if another run holds the lock, or has removed the file.
fn attempt(path: &Path) -> io::Result<Option<File>> {
    check_own(path)?;
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Some network disks have no locks.
        Err(TryLockError::Error(error)) => log::warn!("{}: {error}", path.display()),
    }
    Ok((file.metadata()?.len() == 0).then_some(file))
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A run that has already opened the file sees by its length that the file was removed.
        let removed = fs::remove_file(&self.path).and_then(|()| self.file.set_len(1));
        if let Err(error) = removed {
            log::warn!("{}: {error}", self.path.display());
        }
        remove_empty(&self.dirs);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn one_that_another_run_has_is_waited_for_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        let path = made.join("setup.lock");
        let create_dir = || fs::create_dir_all(&made);
        let mut lock = Lock::take(&path, create_dir).unwrap();
        lock.dirs.push(made.clone());
        let error = Lock::take_within(Duration::ZERO, &path, create_dir).unwrap_err();
        assert!(error.to_string().starts_with("another setup is running"), "{error}");
        drop(lock);
        assert!(!made.exists());
        Lock::take_within(Duration::ZERO, &path, create_dir).unwrap();
    }

    #[test]
    fn a_folder_that_another_run_removes_meanwhile_is_created_again() {
        let dir = tempfile::tempdir().unwrap();
        let made = dir.path().join("made");
        let path = made.join("setup.lock");
        let runs = Cell::new(0);
        let create_dir = || match runs.replace(runs.get() + 1) {
            // The other run removes a folder above, then the folder itself, and then creates it.
            0 => fs::create_dir(made.join("in/it")),
            1 => Ok(()),
            2 => fs::create_dir(dir.path()),
            _ => fs::create_dir_all(&made),
        };
        Lock::take(&path, create_dir).unwrap();
        let gone = || fs::create_dir(made.join("in/it"));
        let error = Lock::take_within(Duration::ZERO, &path, gone).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn one_that_was_removed_is_no_lock() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("setup.lock");
        let lock = Lock::take(&path, || Ok(())).unwrap();
        // Stands for a run that has already opened the file.
        let opened = File::open(&path).unwrap();
        drop(lock);
        assert!(!path.exists());
        opened.try_lock().unwrap();
        assert_ne!(opened.metadata().unwrap().len(), 0);
    }
}
