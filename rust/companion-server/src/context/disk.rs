//! Finds the first files that exist and are not private, as many as a context has, on a disk that
//! may not answer.
//!
//! A separate thread asks the disk one question at a time. While the disk does not answer, as with
//! a dead network drive, the last answer stays in force, so that contexts still flow.

use std::collections::HashSet;
use std::future::pending;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use companion_platform::real_path;
use companion_protocol::editor::PrivateFiles;
use companion_protocol::ide;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use crate::disk::pool::BlockingPool;
use crate::privacy::{Privacy, PrivacyScan, Watched};

/// The longest wait of a context for the disk.
const SCAN_TIMEOUT: Duration = Duration::from_secs(1);

pub(crate) struct FileScan {
    /// Whether a file exists. Devices and FIFOs do not count. Opens nothing.
    is_file: fn(&str) -> bool,
    privacy: Arc<Privacy>,
    changes: watch::Receiver<()>,
    /// Empty while a question is being answered.
    watched: Watched,
    /// The last answer was given for older rules.
    stale: bool,
    /// A question that was not answered in time.
    asking: Option<JoinHandle<(ScanResult, Watched)>>,
    /// The last answer.
    seen: ScanResult,
}

/// The files that the disk knows.
#[derive(Debug, Default)]
pub(super) struct ScanResult {
    /// The files that exist and may be shared.
    pub(super) shared: Vec<String>,
    /// The files that exist and are private, among the checked ones.
    pub(super) private: PrivateFiles,
    /// The time of the next question, even if nothing happens.
    again: Option<Instant>,
}

impl FileScan {
    pub(crate) fn new(privacy: Arc<Privacy>) -> Self {
        Self::with(|path| Path::new(path).is_file(), privacy)
    }

    pub(super) fn with(is_file: fn(&str) -> bool, privacy: Arc<Privacy>) -> Self {
        let (watched, seen) = (Watched::default(), ScanResult::default());
        let changes = privacy.changes();
        Self { is_file, privacy, changes, watched, stale: false, asking: None, seen }
    }

    /// The first of `paths` that exist and are not private, as many as a context has. Returns at
    /// `due` or a little later.
    pub(super) async fn check(
        &mut self,
        pool: &BlockingPool,
        paths: Vec<String>,
        due: Instant,
    ) -> &ScanResult {
        if self.asking.is_some() {
            sleep_until(due).await;
            return self.still();
        }
        let (is_file, privacy) = (self.is_file, Arc::clone(&self.privacy));
        let mut watched = std::mem::take(&mut self.watched);
        let (stale, alive) = (self.stale, pool.alive());
        let mut asking = pool.run(move || {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if stale {
                watched.renew();
                privacy.invalidate();
            }
            let mut scan = privacy.scan();
            let mut seen = ScanResult::of(&paths, is_file, &mut scan);
            if watched.follow(&privacy, &scan, alive.as_ref()) {
                seen = ScanResult::of(&paths, is_file, &mut privacy.scan());
            }
            seen.again = seen.again.into_iter().chain(watched.again()).min();
            (seen, watched)
        });
        match timeout(SCAN_TIMEOUT, &mut asking).await {
            Ok(answer) => {
                (self.seen, self.watched) = answer.unwrap_or_default();
                self.stale = false;
                &self.seen
            }
            Err(_elapsed) => {
                log::warn!(
                    "the disk does not say which files exist; files that were just opened wait"
                );
                self.asking = Some(asking);
                self.still()
            }
        }
    }

    /// The last answer, without files that may be private by now.
    fn still(&mut self) -> &ScanResult {
        if self.stale {
            self.seen.shared.clear();
        }
        &self.seen
    }

    /// Waits for a reason to ask again: the disk has answered a late question, the set of private
    /// files may have changed, or a replaced rule is no longer in force.
    pub(super) async fn has_news(&mut self) {
        let Self { asking, changes, watched, stale, seen, .. } = self;
        let answered = async {
            match asking {
                Some(asking) => (_, *watched) = asking.await.unwrap_or_default(),
                None => pending().await,
            }
            *asking = None;
        };
        let settled = async {
            match seen.again {
                Some(again) => sleep_until(again).await,
                None => pending().await,
            }
            seen.again = None;
        };
        tokio::select! {
            () = answered => {}
            () = settled => {}
            Ok(()) = changes.changed() => *stale = true,
        }
    }
}

impl ScanResult {
    fn of(paths: &[String], is_file: fn(&str) -> bool, scan: &mut PrivacyScan<'_>) -> Self {
        let mut seen = Self::default();
        // An editor may name one file by a link and by its own path.
        let mut targets = HashSet::new();
        for path in paths {
            if seen.shared.len() == ide::MAX_OPEN_FILES {
                break;
            }
            if !is_file(path) {
                continue;
            }
            let target = real_path(Path::new(path));
            let why = match scan.why_private(path) {
                Ok(why) => why.map(|why| why.to_string()),
                Err(error) => Some(format!("Its path can't be followed: {error}.")),
            };
            if let Some(why) = why {
                seen.private.paths.push(path.clone());
                seen.private.reasons.insert(path.clone(), why);
            } else if targets.insert(target) {
                seen.shared.push(path.clone());
            }
        }
        seen.again = scan.again();
        seen
    }
}
