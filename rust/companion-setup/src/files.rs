//! What may be written to, and how.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use companion_platform::{current_user, owner};
use tempfile::NamedTempFile;

/// Refuses a path that is a link or somebody else's: who made it decides what is written to there.
/// One that is not there is fine.
pub(crate) fn check_own(path: &Path) -> io::Result<()> {
    let metadata = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    let refused = |why| Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    if metadata.is_symlink() {
        return refused("it is a link, which is not followed");
    }
    if owner(&metadata).is_some() && owner(&metadata) != current_user() {
        return refused("it belongs to another user");
    }
    Ok(())
}

/// Replaces a file as one step. It keeps its permissions.
pub(crate) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let permissions = fs::metadata(path).map(|metadata| metadata.permissions());
    replace_with(path, content.as_bytes(), permissions.ok())
}

/// The same with permissions of its own; without any it is private.
pub(crate) fn replace_with(
    path: &Path,
    content: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    check_own(path)?;
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = NamedTempFile::new_in(dir)?;
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_data()?;
    file.persist(path)?;
    Ok(())
}

/// The folder and those above it that are not there, the outermost first.
pub(crate) fn missing_dirs(dir: &Path) -> Vec<PathBuf> {
    let missing: Vec<_> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    missing.into_iter().rev().map(Path::to_owned).collect()
}

/// Makes a folder and those above it.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    check_own(dir)
}

/// Removes folders that are empty, the innermost first.
pub(crate) fn remove_empty(dirs: &[PathBuf]) {
    for dir in dirs.iter().rev() {
        if fs::remove_dir(dir).is_err() {
            return;
        }
    }
}
