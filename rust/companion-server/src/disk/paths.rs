//! Keeps the roots of the workspace, and resolves paths on the disk.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

/// The roots of the workspace.
pub(crate) type Roots = Arc<Mutex<Vec<PathBuf>>>;

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
