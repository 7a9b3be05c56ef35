//! Checks whether a proposal changes or creates its file, and whether the file is private.

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use companion_protocol::editor::ProposalKind;

use crate::config::DISK_TIMEOUT;
use crate::disk::pool::BlockingPool;
use crate::privacy::Privacy;

pub(crate) struct TargetProbe {
    exists: fn(&Path) -> bool,
    privacy: Arc<Privacy>,
    /// The disk has not answered an earlier question.
    asking: Arc<AtomicBool>,
    pool: Arc<BlockingPool>,
}

impl TargetProbe {
    pub(crate) fn new(privacy: Arc<Privacy>, pool: Arc<BlockingPool>) -> Self {
        // A file that can't be examined counts as existing.
        let exists = |path: &Path| path.try_exists().unwrap_or(true);
        Self { exists, privacy, asking: Arc::default(), pool }
    }

    /// The kind of a proposal for `path`, and whether the file is private. Blocks for up to 0.5 s,
    /// so don't call it on the server's thread.
    ///
    /// If the disk does not answer in time, the file counts as existing and not private. The probe
    /// asks again only after the disk has answered.
    pub(crate) fn of(&self, path: &str) -> (ProposalKind, bool) {
        let unknown = (ProposalKind::Change, false);
        if self.asking.swap(true, Ordering::Relaxed) {
            return unknown;
        }
        let (path, exists, asking) = (path.to_owned(), self.exists, Arc::clone(&self.asking));
        let privacy = Arc::clone(&self.privacy);
        let (sender, answer) = mpsc::sync_channel(1);
        self.pool.run(move || {
            let exists = exists(Path::new(&path));
            let kind = if exists { ProposalKind::Change } else { ProposalKind::Create };
            let is_private = privacy.scan().is_private(&path).unwrap_or(false);
            asking.store(false, Ordering::Relaxed);
            let _ = sender.send((kind, is_private)); // or it is not waited for
        });
        answer.recv_timeout(DISK_TIMEOUT).unwrap_or(unknown)
    }
}
