//! Whether a proposal changes a file or creates one, from a disk that may not answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use companion_protocol::editor::ProposalKind;

use crate::threads::Threads;

/// How long the disk has to say it. Most files lie on disks that need microseconds.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) struct Kinds {
    exists: fn(&Path) -> bool,
    /// The disk has been asked and has not answered.
    asking: Arc<AtomicBool>,
    threads: Arc<Threads>,
}

impl Kinds {
    pub(crate) fn new(threads: Arc<Threads>) -> Self {
        // What can't be looked at is there.
        Self { exists: |path| path.try_exists().unwrap_or(true), asking: Arc::default(), threads }
    }

    /// Of a proposal for `path`. A disk that does not answer in time may well have the file, and is
    /// not asked again before it has answered. Not for the server's thread: it waits.
    pub(crate) fn of(&self, path: &str) -> ProposalKind {
        if self.asking.swap(true, Ordering::Relaxed) {
            return ProposalKind::Change;
        }
        let (path, exists, asking) = (path.to_owned(), self.exists, Arc::clone(&self.asking));
        let (told, answer) = mpsc::sync_channel(1);
        self.threads.run(move || {
            let exists = exists(Path::new(&path));
            asking.store(false, Ordering::Relaxed);
            let _ = told.send(exists);
        });
        match answer.recv_timeout(PATIENCE) {
            Ok(false) => ProposalKind::Create,
            Ok(true) | Err(_) => ProposalKind::Change,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex, MutexGuard};

    use companion_protocol::editor::ProposalKind::{Change, Create};

    use super::Kinds;
    use crate::runtime::Runtime;
    use crate::threads::Threads;

    fn kinds(runtime: &Runtime) -> Kinds {
        Kinds::new(Arc::new(Threads::new(runtime.alive().clone()).unwrap()))
    }

    #[test]
    fn a_file_that_is_not_there_is_created() {
        let runtime = Runtime::start().unwrap();
        let kinds = kinds(&runtime);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let path = path.to_str().unwrap();
        assert_eq!(kinds.of(path), Create);
        std::fs::write(path, "").unwrap();
        assert_eq!(kinds.of(path), Change);
        assert_eq!(kinds.of(dir.path().to_str().unwrap()), Change, "the editor refuses a folder");
        assert_eq!(kinds.of(&format!("{path}/b")), Change, "no folder can be where a file is");
        assert_eq!(kinds.of("/no/such/folder/a.txt"), Create);
    }

    #[test]
    fn a_dead_disk_is_waited_for_once_and_asked_again_when_it_lives() {
        static DEAD: Mutex<()> = Mutex::new(());
        fn exists(_: &Path) -> bool {
            drop(DEAD.lock().unwrap());
            false
        }
        let runtime = Runtime::start().unwrap();
        let kinds = Kinds { exists, ..kinds(&runtime) };
        let dead: MutexGuard<'_, ()> = DEAD.lock().unwrap();
        assert_eq!(kinds.of("/a"), Change);
        // Without another thread: all of them would wait for it in the end.
        for _ in 0..100 {
            assert_eq!(kinds.of("/b"), Change);
        }
        drop(dead);
        while kinds.of("/c") != Create {
            std::thread::yield_now();
        }
    }
}
