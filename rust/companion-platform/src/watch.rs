//! Notice of what happens to a file, from the system itself: nothing here looks by the clock.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Watches a file for as long as this value lives.
#[derive(Debug)]
pub struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Has `changed` called, on a thread of its own, when the file `name` in the last of `dirs`
    /// may have been changed or removed, or one of `dirs` moved or removed. They must exist.
    pub fn start(
        dirs: &[PathBuf],
        name: &str,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        // By name, not by path: macOS tells paths without the links that led there.
        let names = dirs.iter().filter_map(|dir| dir.file_name());
        let names: HashSet<_> =
            names.map(ToOwned::to_owned).chain([OsString::from(name)]).collect();
        let tell = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !concerns(&names, &event)) {
                return;
            }
            changed();
        };
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(tell, config).map_err(io::Error::other)?;
        for dir in dirs {
            watcher.watch(dir, RecursiveMode::NonRecursive).map_err(io::Error::other)?;
        }
        Ok(Self { _watcher: watcher })
    }
}

/// Reading leaves a file as it is, and so does a change of its times or permissions.
fn concerns(names: &HashSet<OsString>, event: &Event) -> bool {
    let changes = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    let ours = |path: &PathBuf| Path::file_name(path).is_some_and(|name| names.contains(name));
    event.need_rescan() || (changes && event.paths.iter().any(ours))
}
