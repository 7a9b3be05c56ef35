//! Installs plugins in separate folders. If a replacement fails, the earlier plugin stays.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::content::{Files, hash_dir, hash_files};
use crate::files::{behind_link, check_no_link, check_own, check_place};
use crate::package::Plugin;
use crate::record::{InstallManifest, InstalledItem, What, is_newer};
use crate::report::Outcome;
use crate::staging::Staging;

/// Message for files that have changed since setup installed them.
pub(crate) const CHANGED: &str = "you changed it, so it stays";

/// Returns the folders of the plugin with that id, and the newest of their versions.
pub(crate) fn copies(plugins: &Path, id: &str) -> (Vec<PathBuf>, Option<String>) {
    let mut copies = Vec::new();
    let mut version: Option<String> = None;
    for entry in fs::read_dir(plugins).into_iter().flatten().flatten() {
        let found = Plugin::installed(&entry.path());
        if let Some(found) = found.filter(|found| found.id == id) {
            let older = version.filter(|known| !is_newer(&found.version, known));
            version = Some(older.unwrap_or(found.version));
            copies.push(entry.path());
        }
    }
    (copies, version)
}

/// Writes the files to `target`, in place of `copies`, after a `check`. Before that they are in
/// `staging`, on the same disk.
pub(crate) fn place(
    target: &Path,
    copies: &[PathBuf],
    staging: &Path,
    files: &Files,
) -> io::Result<()> {
    let mut staged = Staging::in_dir(staging)?;
    let new = staged.path("new");
    write_files(&new, files)?;
    staged.take_away(copies)?;
    fs::rename(new, target).or_else(|error| staged.roll_back(&error))?;
    Ok(())
}

/// Checks whether `place` can succeed. Changes nothing.
pub(crate) fn check(target: &Path, copies: &[PathBuf], staging: &Path) -> io::Result<()> {
    for path in copies.iter().map(PathBuf::as_path).chain([target]) {
        check_no_link(path)?;
    }
    check_own(staging)?;
    if target.exists() && !copies.iter().any(|copy| copy == target) {
        let why = format!("{} exists and is another plugin", target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    check_place(target)
}

/// Files that the program contains, and their target folder.
pub(crate) struct Bundle<'a> {
    /// The name in the report.
    pub(crate) subject: &'a str,
    /// The content of the bundle, in the report.
    pub(crate) content: &'a str,
    pub(crate) target: &'a Path,
    pub(crate) files: Files,
    /// Creates the manifest's entry from the hash of the files.
    pub(crate) what: fn(String) -> What,
    /// A note for the report if the files are installed, now or earlier.
    pub(crate) note: &'a str,
    /// The commands that install the files again after the user has moved them away.
    pub(crate) again: &'a str,
}

impl Bundle<'_> {
    /// Installs the files, unless the existing ones are the user's or newer. With `is_installed`,
    /// setup installed the existing ones.
    pub(crate) fn install(
        self,
        is_installed: bool,
        record: &mut InstallManifest,
    ) -> (Outcome, String) {
        let Self { subject, content, target, files, what, note, again } = self;
        let hash = hash_files(&files);
        let mut copies = Vec::new();
        if let Some(item) = record.known(target).filter(|_| is_installed) {
            let changed = format!("{CHANGED}; to get this version, move it away and run {again}");
            match hash_dir(target).map(|there| stays(item, &there, &hash, changed)) {
                Ok(Some((Outcome::Unchanged, text))) => {
                    return (Outcome::Unchanged, format!("{text}{note}"));
                }
                Ok(Some(stays)) => return stays,
                Ok(None) => copies.push(target.to_owned()),
                Err(error) => return not_installed(&error),
            }
        }
        let installed = above(target).and_then(|staging| {
            check(target, &copies, &staging)?;
            let place = || place(target, &copies, &staging, &files);
            record.install(subject, target, what(hash), place)
        });
        match installed {
            Ok(outcome) => {
                (outcome, format!("{} {content}{note}", outcome.of("install", "installed")))
            }
            Err(error) => not_installed(&error),
        }
    }
}

/// Reports an item that could not be installed.
pub(crate) fn not_installed(error: &io::Error) -> (Outcome, String) {
    (Outcome::Failed, format!("it could not be installed: {error}"))
}

/// Returns the outcome if an installed item with the hash `there` stays in place of the one with the
/// hash `new`. `changed` is the message if the user has changed it.
pub(crate) fn stays(
    item: &InstalledItem,
    there: &str,
    new: &str,
    changed: String,
) -> Option<(Outcome, String)> {
    if there == new {
        Some((Outcome::Unchanged, "it is installed".to_owned()))
    } else if !item.has(there) {
        Some((Outcome::Skipped, changed))
    } else {
        let newer = item.newer()?;
        Some((Outcome::Skipped, format!("{newer} is installed, which is newer")))
    }
}

/// Removes the files of a bundle, if they are there and unchanged since setup installed them. `name` is
/// that of the bundle in the report.
pub(crate) fn uninstall_files(
    item: &InstalledItem,
    is_there: bool,
    name: &str,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let target = &item.path;
    if !is_there {
        return Ok((Outcome::Unchanged, "it is gone already".to_owned()));
    }
    if !item.has(&hash_dir(target)?) {
        return Ok((Outcome::Unchanged, CHANGED.to_owned()));
    }
    if dry_run {
        return Ok((Outcome::Planned, format!("remove {name}")));
    }
    uninstall(target, &above(target)?)?;
    Ok((Outcome::Done, format!("removed {name}")))
}

/// Returns the folder above the one that editors and clients search, so that they load nothing from
/// it. Resolves a link, because both folders must be on one disk.
fn above(target: &Path) -> io::Result<PathBuf> {
    let dir = target.parent().ok_or(io::ErrorKind::InvalidInput)?;
    check_own(dir)?;
    let dir = behind_link(dir)?;
    Ok(dir.parent().ok_or(io::ErrorKind::InvalidInput)?.to_owned())
}

/// Writes files into a new folder.
fn write_files(dir: &Path, files: &Files) -> io::Result<()> {
    for (name, content) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut file = File::create_new(path)?;
        file.write_all(content)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Removes a plugin, by way of `staging`.
pub(crate) fn uninstall(path: &Path, staging: &Path) -> io::Result<()> {
    check_no_link(path)?;
    Staging::in_dir(staging)?.take_away(&[path.to_owned()])?;
    Ok(())
}
