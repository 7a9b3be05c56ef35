//! Checks paths, keeps the roots of the workspace, and resolves paths on the disk.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use companion_platform::{Platform, is_absolute};
use companion_protocol::ide::truncate_utf16;
use parking_lot::Mutex;

/// The longest path of any system (Windows), in UTF-16 code units.
const MAX_PATH: usize = 32_767;

/// The most closed folders that are remembered.
pub(crate) const MAX_CLOSED: usize = 256;

/// The folders of the workspace, for all that look at them.
pub(crate) type SharedFolders = Arc<Mutex<Folders>>;

/// The folders of the workspace.
#[derive(Default)]
pub(crate) struct Folders {
    /// The folders that the editor has open.
    pub(crate) open: Vec<PathBuf>,
    /// Other worktrees of their repositories, as the last look found them.
    pub(crate) worktrees: Worktrees,
    /// No look has found the worktrees of `open` yet.
    pub(crate) awaits_worktrees: bool,
    /// Folders that were among these. Files in them may still be open, so their ignore files count.
    pub(crate) closed: BTreeSet<PathBuf>,
}

/// Other worktrees of the open folders' repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Worktrees {
    /// Those that belong to the workspace.
    pub(crate) free: Vec<PathBuf>,
    /// Those that the editor of another companion has open. Only their ignore files count here.
    pub(crate) taken: Vec<PathBuf>,
}

impl Folders {
    /// The roots of the workspace.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.open.iter().chain(&self.worktrees.free)
    }

    /// The present folders whose ignore files count.
    pub(crate) fn with_ignore_files(&self) -> impl Iterator<Item = &PathBuf> {
        self.roots().chain(&self.worktrees.taken)
    }

    /// Remembers the present folders before others replace them. If there are too many, the ignore files
    /// of all folders above a file count from then on.
    pub(crate) fn remember(&mut self) {
        let present: Vec<_> = self.with_ignore_files().cloned().collect();
        self.closed.extend(present);
        if self.closed.len() > MAX_CLOSED {
            let tops = self.closed.iter().filter_map(|folder| folder.ancestors().last());
            self.closed = tops.map(PathBuf::from).collect();
        }
    }
}

/// Whether a file can have this path.
pub(crate) fn check_path(path: &str) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("filePath is empty");
    }
    if !is_absolute(Platform::CURRENT, path) {
        return Err("filePath must be an absolute path");
    }
    if path.contains('\0') {
        return Err("filePath contains a NUL character");
    }
    if truncate_utf16(path, MAX_PATH).len() < path.len() {
        return Err("filePath is too long for a path");
    }
    Ok(())
}

/// Resolves the links of an absolute path, as if missing folders existed.
///
/// # Errors
///
/// If a link has no target: a write to it would create the file that the link names.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            // Without the next component, a drive letter means the current folder on that drive.
            Component::Prefix(drive) => resolved.push(drive.as_os_str()),
            name => {
                resolved.push(name);
                match resolved.symlink_metadata() {
                    Ok(_) => resolved = resolved.canonicalize()?,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(resolved)
}

/// Removes each `..` together with the name before it.
pub(crate) fn without_parents(path: &Path) -> PathBuf {
    let mut short = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                short.pop();
            }
            component => short.push(component),
        }
    }
    short
}
