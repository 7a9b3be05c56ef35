//! Notice of what happens to files, from the system itself: nothing here looks by the clock.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// Watches directories for as long as this value lives.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
}

impl Watch {
    /// Has `changed` called, on a thread of its own, when something of one of these `names` in a
    /// watched directory may have been changed or removed, or such a directory itself.
    pub fn start(
        names: HashSet<OsString>,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let tell = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !concerns(&names, &event)) {
                return;
            }
            changed();
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(tell, config).map_err(io::Error::other)?;
        Ok(Self { watcher })
    }

    /// Watches a directory, too. It must exist.
    pub fn add(&mut self, dir: &Path) -> io::Result<()> {
        self.watcher.watch(dir, RecursiveMode::NonRecursive).map_err(io::Error::other)
    }

    /// Watches `dirs`, which are within `roots`, as far as each can be.
    ///
    /// On Windows a directory can't be renamed while one within it is open, as it is to be watched. So
    /// there the roots are watched with all that is in them.
    ///
    /// An error names none of them: this may be for a log, which is to name nothing private.
    pub fn add_within(
        &mut self,
        roots: &BTreeSet<PathBuf>,
        dirs: &BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let watched = if cfg!(windows) { roots } else { dirs };
        let mode =
            if cfg!(windows) { RecursiveMode::Recursive } else { RecursiveMode::NonRecursive };
        let nameless = |error: notify::Error| io::Error::other(notify::Error::new(error.kind));
        let add = |dir: &PathBuf| self.watcher.watch(dir, mode).map_err(nameless);
        watched.iter().map(add).fold(Ok(()), Result::and)
    }
}

/// Reading leaves a file as it is, and so does a change of its times or permissions.
fn concerns(names: &HashSet<OsString>, event: &Event) -> bool {
    let changes = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    // By name, not by path: macOS tells paths without the links that led there.
    let ours = |path: &PathBuf| Path::file_name(path).is_some_and(|name| names.contains(name));
    event.need_rescan() || (changes && event.paths.iter().any(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_tell_which_directory_it_is_about() {
        let mut watch = Watch::start(HashSet::new(), || {}).unwrap();
        let missing = BTreeSet::from([std::env::temp_dir().join("a-secret-name/b")]);
        let error = watch.add_within(&missing, &missing).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
