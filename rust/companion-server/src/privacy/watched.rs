//! Watches the folders with ignore files, so that a change counts without an editor event.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::read_link;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use companion_platform::Watch;
use tokio::time::Instant;

use super::rules::NAMES;
use super::{Privacy, PrivacyScan, Root};
use crate::runtime::ThreadGuard;

/// The most watched folders.
const MAX_FOLDERS: usize = 256;

/// The interval of scans if the system can't watch all folders. Other programs may have used up all
/// watches, and a folder may appear or disappear.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The folders of the last scan, and their watch if the system has one.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    folders: BTreeSet<PathBuf>,
    watch: Option<Watch>,
    /// The time of the next scan, if not all folders are watched.
    again: Option<Instant>,
}

impl Watched {
    /// Requests a new watch: a folder may be another one of the same name now.
    pub(crate) fn renew(&mut self) {
        self.folders.clear();
    }

    /// The time of the next scan, even without a change.
    pub(crate) fn again(&self) -> Option<Instant> {
        self.again
    }

    /// Watches the folders of `scan`. Returns whether the watch is new: changes before it may have
    /// been missed.
    pub(crate) fn follow(
        &mut self,
        privacy: &Privacy,
        scan: &PrivacyScan<'_>,
        alive: Option<&ThreadGuard>,
    ) -> bool {
        let folders: BTreeSet<_> = scan.folders().into_iter().take(MAX_FOLDERS).collect();
        let now = Instant::now();
        if folders == self.folders && self.again.is_none_or(|again| now < again) {
            return false;
        }
        self.again = None;
        if folders.is_empty() {
            self.watch = None;
        } else if let Err(error) = self.watch(privacy, scan, &folders, alive) {
            log::debug!("ignore files can't be watched: {error}");
            self.again = Some(now + POLL_INTERVAL);
        }
        self.folders = folders;
        true
    }

    /// Watches these folders, as far as possible.
    fn watch(
        &mut self,
        privacy: &Privacy,
        scan: &PrivacyScan<'_>,
        folders: &BTreeSet<PathBuf>,
        alive: Option<&ThreadGuard>,
    ) -> io::Result<()> {
        // If an ignore file is a link, its rules change with the target, in another folder.
        let files = folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let linked: Vec<_> =
            files.filter_map(|file| Some(file.with_file_name(read_link(&file).ok()?))).collect();
        let of_linked = linked.iter().filter_map(|file| file.parent()).map(PathBuf::from);
        let folders: BTreeSet<_> = folders.iter().cloned().chain(of_linked).collect();
        // Folders may appear and disappear, too.
        let of_paths = folders.iter().chain(&linked).filter_map(|path| path.file_name());
        let names =
            NAMES.map(OsString::from).into_iter().chain(of_paths.map(OsString::from)).collect();
        let (changed, alive) = (Arc::clone(privacy.changed()), alive.cloned());
        let on_change = move || {
            let _held_by_its_thread = &alive;
            changed.notify_one();
        };
        let roots = scan.roots.iter().flat_map(Root::places).cloned().collect();
        self.watch.insert(Watch::start(names, on_change)?).add_within(&roots, &folders)
    }
}
