//! The folders whose ignore files are watched, so that a change counts without an event of the editor's.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::read_link;
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
    // A link's rules change with the file that it leads to, whose folder and name may be others.
    let files = folders.iter().flat_map(|folder| NAMES.map(|name| folder.join(name)));
    let linked: Vec<_> =
        files.filter_map(|file| Some(file.with_file_name(read_link(&file).ok()?))).collect();
    let of_linked = linked.iter().filter_map(|file| file.parent()).map(PathBuf::from);
    let folders: BTreeSet<_> = folders.iter().cloned().chain(of_linked).collect();
    // Folders come and go, too.
    let of_paths = folders.iter().chain(&linked).filter_map(|path| path.file_name());
    let names = NAMES.map(OsString::from).into_iter().chain(of_paths.map(OsString::from)).collect();
    let (changed, alive) = (Arc::clone(privacy.changed()), alive.cloned());
    let tell = move || {
        let _held_by_its_thread = &alive;
        changed.notify_one();
    };
    let unwatched = |error: &std::io::Error| log::debug!("ignore files can't be watched: {error}");
    let mut watch = Watch::start(names, tell).inspect_err(unwatched).ok()?;
    let roots = look.roots.iter().flat_map(Root::places).cloned().collect();
    let _ = watch.add_within(&roots, &folders).inspect_err(unwatched);
    Some(watch)
}
