//! Which files exist, from a disk that may not answer.
//!
//! It is asked on a thread of its own, one question at a time. While it does not answer, as a dead
//! network drive may, what it said last still holds, so that the context goes on.

use std::future::pending;
use std::path::Path;
use std::time::Duration;

use companion_protocol::ide;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::threads::Threads;

/// How long a context waits for the disk.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct Disk {
    /// Whether a file is there; a device or a FIFO is none. Opens nothing.
    is_file: fn(&str) -> bool,
    /// A question that was not answered in time.
    asking: Option<JoinHandle<Vec<String>>>,
    /// What it said last.
    existing: Vec<String>,
}

impl Default for Disk {
    fn default() -> Self {
        Self::new(|path| Path::new(path).is_file())
    }
}

impl Disk {
    pub(super) fn new(is_file: fn(&str) -> bool) -> Self {
        Self { is_file, asking: None, existing: Vec::new() }
    }

    /// The first of `paths` that exist, as many as are sent, at `due` or a little later.
    pub(super) async fn existing(
        &mut self,
        threads: &Threads,
        paths: Vec<String>,
        due: Instant,
    ) -> &[String] {
        if self.asking.is_some() {
            sleep_until(due).await;
            return &self.existing;
        }
        let is_file = self.is_file;
        let mut asking = threads.run(move || {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            let files = paths.into_iter().filter(|path| is_file(path));
            files.take(ide::MAX_OPEN_FILES).collect()
        });
        if let Ok(existing) = timeout(PATIENCE, &mut asking).await {
            self.existing = existing.unwrap_or_default();
        } else {
            log::warn!("the disk does not say which files exist; files that were just opened wait");
            self.asking = Some(asking);
        }
        &self.existing
    }

    /// Waits until the disk has answered a question that it did not answer in time.
    pub(super) async fn has_answered(&mut self) {
        match &mut self.asking {
            Some(asking) => drop(asking.await),
            None => pending().await,
        }
        self.asking = None;
    }
}
