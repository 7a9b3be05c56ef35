//! The folders whose ignore files are watched, so that a change counts without an event of the editor's.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use companion_platform::Watch;

use super::rules::NAMES;
use super::{Look, Privacy, Root};
use crate::runtime::Alive;

/// The most folders that are watched.
const FOLDERS: usize = 256;

/// The folders that were looked at last, and the watch for them, if it can be had.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    folders: BTreeSet<PathBuf>,
    watch: Option<Watch>,
}

impl Watched {
    /// Has the folders watched anew: one of them may be another one now, of the same name.
    pub(crate) fn renew(&mut self) {
        self.folders.clear();
    }

    /// Watches what `look` has looked at. Whether that is new: what has happened since may have been
    /// missed.
    pub(crate) fn follow(
        &mut self,
        privacy: &Privacy,
        look: &Look<'_>,
        alive: Option<&Alive>,
    ) -> bool {
        let folders: BTreeSet<_> = look.folders().into_iter().take(FOLDERS).collect();
        if folders == self.folders {
            return false;
        }
        self.watch = if folders.is_empty() { None } else { watch(privacy, look, &folders, alive) };
        self.folders = folders;
        true
    }
}

fn watch(
    privacy: &Privacy,
    look: &Look<'_>,
    folders: &BTreeSet<PathBuf>,
    alive: Option<&Alive>,
) -> Option<Watch> {
    // Folders come and go, too.
    let of_folders = folders.iter().filter_map(|folder| folder.file_name()).map(OsString::from);
    let names: HashSet<_> = NAMES.map(OsString::from).into_iter().chain(of_folders).collect();
    let (changed, alive) = (Arc::clone(privacy.changed()), alive.cloned());
    let tell = move || {
        let _held_by_its_thread = &alive;
        changed.notify_one();
    };
    let unwatched = |error: &std::io::Error| log::debug!("ignore files can't be watched: {error}");
    let mut watch = Watch::start(names, tell).inspect_err(unwatched).ok()?;
    let roots = look.roots.iter().flat_map(Root::places).cloned().collect();
    let _ = watch.add_within(&roots, folders).inspect_err(unwatched);
    Some(watch)
}
