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

/// The most folders that are watched.
const MAX_FOLDERS: usize = 256;

/// How often to look where the system does not watch for us. It may have no more watches, be it that
/// other programs have them all, and a folder may come or go meanwhile.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(10);

/// The folders that were looked at last, and the watch for them, if it can be had.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    folders: BTreeSet<PathBuf>,
    watch: Option<Watch>,
    /// When it is to be looked again, if not all of them are watched.
    again: Option<Instant>,
}

impl Watched {
    /// Has the folders watched anew: one of them may be another one now, of the same name.
    pub(crate) fn renew(&mut self) {
        self.folders.clear();
    }

    /// When it is to be looked again, even if nothing is heard.
    pub(crate) fn again(&self) -> Option<Instant> {
        self.again
    }

    /// Watches what `look` has looked at. Whether that is new: what has happened since may have been
    /// missed.
    pub(crate) fn follow(
        &mut self,
        privacy: &Privacy,
        look: &PrivacyScan<'_>,
        alive: Option<&ThreadGuard>,
    ) -> bool {
        let folders: BTreeSet<_> = look.folders().into_iter().take(MAX_FOLDERS).collect();
        let now = Instant::now();
        if folders == self.folders && self.again.is_none_or(|again| now < again) {
            return false;
        }
        self.again = None;
        if folders.is_empty() {
            self.watch = None;
        } else if let Err(error) = self.watch(privacy, look, &folders, alive) {
            log::debug!("ignore files can't be watched: {error}");
            self.again = Some(now + POLL_INTERVAL);
        }
        self.folders = folders;
        true
    }

    /// Watches these folders, as far as each can be.
    fn watch(
        &mut self,
        privacy: &Privacy,
        look: &PrivacyScan<'_>,
        folders: &BTreeSet<PathBuf>,
        alive: Option<&ThreadGuard>,
    ) -> io::Result<()> {
        // A link's rules change with the file that it leads to, whose folder and name may be others.
        let files = folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let linked: Vec<_> =
            files.filter_map(|file| Some(file.with_file_name(read_link(&file).ok()?))).collect();
        let of_linked = linked.iter().filter_map(|file| file.parent()).map(PathBuf::from);
        let folders: BTreeSet<_> = folders.iter().cloned().chain(of_linked).collect();
        // Folders come and go, too.
        let of_paths = folders.iter().chain(&linked).filter_map(|path| path.file_name());
        let names =
            NAMES.map(OsString::from).into_iter().chain(of_paths.map(OsString::from)).collect();
        let (changed, alive) = (Arc::clone(privacy.changed()), alive.cloned());
        let tell = move || {
            let _held_by_its_thread = &alive;
            changed.notify_one();
        };
        let roots = look.roots.iter().flat_map(Root::places).cloned().collect();
        self.watch.insert(Watch::start(names, tell)?).add_within(&roots, &folders)
    }
}
