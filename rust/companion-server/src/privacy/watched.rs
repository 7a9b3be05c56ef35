//! Watches the folders with ignore files, so that a change counts without an editor event.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::read_link;
use std::io;
use std::iter::successors;
use std::path::{Path, PathBuf};
use std::time::Duration;

use companion_platform::Watch;
use tokio::time::Instant;

use super::{Privacy, PrivacyScan, Root};
use crate::runtime::ThreadGuard;

/// The most watched folders.
const MAX_FOLDERS: usize = 256;

/// The most links that are followed from one to the next, as on Linux.
const MAX_CHAINED_LINKS: usize = 40;

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
        let paths = scan.watched_paths();
        let folders: BTreeSet<_> = paths.iter().filter_map(|path| path.parent()).collect();
        let are_all = folders.len() <= MAX_FOLDERS;
        let folders: BTreeSet<_> =
            folders.into_iter().take(MAX_FOLDERS).map(PathBuf::from).collect();
        let now = Instant::now();
        if folders == self.folders && self.again.is_none_or(|again| now < again) {
            return false;
        }
        self.again = (!are_all).then(|| now + POLL_INTERVAL);
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
        // If an ignore file is a link, its rules change with each target, in other folders.
        let is_in = |file: &&PathBuf| file.parent().is_some_and(|folder| folders.contains(folder));
        let linked: Vec<_> = scan
            .files()
            .filter(is_in)
            .flat_map(|file| successors(target(file), target).take(MAX_CHAINED_LINKS))
            .collect();
        let of_linked = linked.iter().filter_map(|file| file.parent()).map(PathBuf::from);
        let folders: BTreeSet<_> = folders.iter().cloned().chain(of_linked).collect();
        // Folders may appear and disappear, too, and so may repositories.
        let paths = scan.watched_paths().into_iter().chain(linked.iter().map(PathBuf::as_path));
        let names = paths.chain(folders.iter().map(PathBuf::as_path)).filter_map(Path::file_name);
        let names = names.chain([OsStr::new(".git")]).map(OsString::from).collect();
        let (changed, alive) = (privacy.changed.clone(), alive.cloned());
        let on_change = move || {
            let _held_by_its_thread = &alive;
            changed.send_replace(());
        };
        // Windows watches a root as a whole, which would hold a folder that has been left.
        let roots = scan.roots.iter().filter(|root| root.is_present);
        let roots = roots.flat_map(Root::places).cloned().collect();
        self.watch.insert(Watch::start(names, on_change)?).add_within(&roots, &folders)
    }
}

/// The path that a link names.
fn target(link: &PathBuf) -> Option<PathBuf> {
    Some(link.with_file_name(read_link(link).ok()?))
}
