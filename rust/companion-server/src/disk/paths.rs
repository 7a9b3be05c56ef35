//! Keeps the roots of the workspace, and finds where paths lead on the disk.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

/// The roots of the workspace.
pub(crate) type Roots = Arc<Mutex<Vec<PathBuf>>>;

/// Where an absolute path leads, as if folders that are missing were made on the way. An error if
/// a link leads nowhere: who writes to it makes the file that it names.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
            }
            // Without what follows, a drive's letter is the folder where one is on it.
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

/// The path with each `..` taken for the end of the name before it.
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
