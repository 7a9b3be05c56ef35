//! Checks the owner of files before writing them, and replaces files atomically.

use std::fs::{self, Metadata, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use companion_platform::{check_writable, current_user, owner};

/// The beginning of the names of all temporary files and folders. [`crate::staging::sweep`] finds those
/// of killed runs by it.
pub(crate) const PREFIX: &str = ".companion-setup";

/// Refuses a path of another user, who could redirect the write. The target of a user's link must
/// belong to the user, too. A missing path is fine.
pub(crate) fn check_own(path: &Path) -> io::Result<()> {
    let Some(metadata) = existing(path)? else { return Ok(()) };
    check_owner(path, &metadata)?;
    if metadata.is_symlink() {
        let target = fs::metadata(path);
        return match target {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(leads_nowhere(path)),
            target => check_owner(path, &target?),
        };
    }
    Ok(())
}

/// Returns the path as users must know it to change the file: with its target, if it is a link.
fn with_target(path: &Path) -> String {
    match path.canonicalize() {
        Ok(target) if path.is_symlink() => {
            format!("{} is a link to {}, which", path.display(), target.display())
        }
        _ => path.display().to_string(),
    }
}

/// Refuses a link, and a path of another user.
pub(crate) fn check_no_link(path: &Path) -> io::Result<()> {
    match existing(path)? {
        Some(metadata) if metadata.is_symlink() => {
            Err(refused(format!("{} is a link, which setup does not replace", path.display())))
        }
        Some(metadata) => check_owner(path, &metadata),
        None => Ok(()),
    }
}

/// Refuses a path where setup can't create or replace a file. Changes nothing.
pub(crate) fn check_place(path: &Path) -> io::Result<()> {
    check_own(path)?;
    let path = &behind_link(path)?;
    for dir in path.ancestors().skip(1) {
        let Some(metadata) = existing(dir)? else { continue };
        if metadata.is_symlink() && !dir.exists() {
            return Err(leads_nowhere(dir));
        }
        if !dir.is_dir() {
            let why = format!("{} is not a folder", dir.display());
            return Err(io::Error::new(io::ErrorKind::NotADirectory, why));
        }
        if path.parent() == Some(dir) {
            check_own(dir)?;
        }
        return check_writable(dir);
    }
    Ok(())
}

/// Refuses a file that its user made read-only.
pub(crate) fn check_changeable(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(refused(format!("{} is read-only", with_target(file))))
        }
        _ => Ok(()),
    }
}

/// Reads the metadata of a path or of a link, if there is one.
fn existing(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        metadata => metadata.map(Some),
    }
}

fn check_owner(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if owner(metadata).is_some() && owner(metadata) != current_user() {
        return Err(refused(format!("{} belongs to another user", with_target(path))));
    }
    Ok(())
}

fn leads_nowhere(link: &Path) -> io::Error {
    let target = fs::read_link(link).unwrap_or_default();
    let (link, target) = (link.display(), target.display());
    refused(format!("{link} is a link to {target}, which does not exist"))
}

fn refused(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Returns the target of a link, or else the path itself.
pub(crate) fn behind_link(path: &Path) -> io::Result<PathBuf> {
    if path.is_symlink() { path.canonicalize() } else { Ok(path.to_owned()) }
}

/// Replaces a file atomically, also behind a link. Keeps its permissions.
pub(crate) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let permissions = fs::metadata(path).map(|metadata| metadata.permissions());
    replace_with(path, content.as_bytes(), permissions.ok())
}

/// Does the same with these permissions. Without permissions the file is private.
pub(crate) fn replace_with(
    path: &Path,
    content: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    check_own(path)?;
    let path = behind_link(path)?;
    let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut file = tempfile::Builder::new().prefix(PREFIX).tempfile_in(dir)?;
    file.write_all(content)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_data()?;
    match file.persist(&path) {
        // Containers mount single files, which can be written but not replaced.
        Err(error) if error.error.kind() == io::ErrorKind::ResourceBusy => {
            Err(refused(format!("{} is a mount of its own", path.display())))
        }
        persisted => Ok(persisted.map(drop)?),
    }
}

/// Returns the missing folders of the path, the outermost first.
pub(crate) fn missing_dirs(dir: &Path) -> Vec<PathBuf> {
    let missing: Vec<_> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    missing.into_iter().rev().map(Path::to_owned).collect()
}

/// Creates a folder and the missing ones above it.
pub(crate) fn create_dir(dir: &Path) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    check_own(dir)
}

/// Removes empty folders, the innermost first. Another run may have removed some.
pub(crate) fn remove_empty(dirs: &[PathBuf]) {
    for dir in dirs.iter().rev() {
        // One with other files stays.
        let _ = fs::remove_dir(dir);
    }
}

/// Takes a missing file for success.
pub(crate) fn ok_if_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
