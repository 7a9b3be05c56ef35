//! Watches directories for changes of files, with the system's events and without polling.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// A watch on directories, until this value is dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
}

impl Watch {
    /// Whether the system reports that a process has closed a file, by its end at the latest.
    pub const REPORTS_CLOSED_FILES: bool = cfg!(target_os = "linux");

    /// Starts to watch, with a thread that calls `changed`.
    ///
    /// It calls when an entry with one of `names` in a watched directory, or such a directory
    /// itself, may have changed or may be gone. Without names it calls for every entry.
    pub fn start(
        names: HashSet<OsString>,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        Self::start_for(move |name| names.is_empty() || names.contains(name), changed)
    }

    /// Starts to watch the entries whose names `is_watched` accepts.
    pub fn start_for(
        is_watched: impl Fn(&OsStr) -> bool + Send + 'static,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let on_event = move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| !concerns(&is_watched, &event)) {
                return;
            }
            changed();
        };
        let config = Config::default().with_follow_symlinks(false);
        let watcher = RecommendedWatcher::new(on_event, config).map_err(io::Error::other)?;
        Ok(Self { watcher })
    }

    /// Adds a directory, which must exist.
    pub fn add(&mut self, dir: &Path) -> io::Result<()> {
        self.watcher.watch(dir, RecursiveMode::NonRecursive).map_err(io::Error::other)
    }

    /// Adds `dirs`, as far as each can be watched.
    ///
    /// Windows cannot rename a directory while one of its subdirectories is open, and a watch keeps
    /// a directory open. Therefore Windows watches `roots` with all their content, instead of the
    /// directories in them.
    ///
    /// # Errors
    /// With the last failure. The error does not name a directory, so that a log may contain it.
    pub fn add_within(
        &mut self,
        roots: &BTreeSet<PathBuf>,
        dirs: &BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let mut watched: Vec<_> =
            dirs.iter().map(|dir| (dir, RecursiveMode::NonRecursive)).collect();
        if cfg!(windows) {
            watched.retain(|(dir, _)| !roots.iter().any(|root| dir.starts_with(root)));
            watched.extend(roots.iter().map(|root| (root, RecursiveMode::Recursive)));
        }
        let nameless = |error: notify::Error| io::Error::other(notify::Error::new(error.kind));
        let add = |(dir, mode): (&PathBuf, _)| self.watcher.watch(dir, mode).map_err(nameless);
        watched.into_iter().map(add).fold(Ok(()), Result::and)
    }
}

/// Whether an event concerns a watched name. Ignores reads and changes of times or permissions.
fn concerns(is_watched: &impl Fn(&OsStr) -> bool, event: &Event) -> bool {
    let changes = match event.kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    // By name, not by path: macOS reports paths with links resolved.
    let ours = |path: &PathBuf| path.file_name().is_some_and(is_watched);
    event.need_rescan() || (changes && event.paths.iter().any(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_name_its_directory() {
        let mut watch = Watch::start(HashSet::new(), || {}).unwrap();
        let missing = BTreeSet::from([std::env::temp_dir().join("a-secret-name/b")]);
        let error = watch.add_within(&missing, &missing).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
