//! Installs plugins in separate folders. If a replacement fails, the earlier plugin stays.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::content::{Files, hash_dir, hash_files};
use crate::files::{behind_link, check_no_link, check_own, check_place};
use crate::package::{Package, Plugin};
use crate::record::{InstallManifest, InstalledItem, What, is_newer};
use crate::report::Outcome;
use crate::staging::Staging;

/// Message for files that have changed since setup installed them.
pub(crate) const CHANGED: &str = "you changed it, so it stays";

/// The content of a folder for plugins.
#[derive(Debug)]
pub(crate) struct PluginCopies {
    /// The plugin's folders, of any name. More than one is a mistake.
    pub(crate) copies: Vec<PathBuf>,
    /// The newest version of them.
    pub(crate) version: Option<String>,
    /// Exactly one copy exists, and it equals the new one.
    pub(crate) is_same: bool,
}

/// Finds installed copies of the plugin. `hash` is that of the package, if it can be read.
pub(crate) fn installed(plugins: &Path, package: &Package, hash: Option<&str>) -> PluginCopies {
    let (copies, version) = copies(plugins, &package.plugin.id);
    let target = plugins.join(&package.root);
    let has = |hash: &str| hash_dir(&target).is_ok_and(|there| there == hash);
    let is_same = copies == [target.clone()] && hash.is_some_and(has);
    PluginCopies { copies, version, is_same }
}

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

/// Installs the plugin into the IDE's folder `plugins`, in place of `copies`.
pub(crate) fn install(plugins: &Path, package: &Package, copies: &[PathBuf]) -> io::Result<()> {
    let target = plugins.join(&package.root);
    // An IDE that starts now does not load the unpacked files, because they have no `lib`.
    place(&target, copies, plugins, |dir| {
        package.unpack(dir)?;
        Ok(dir.join(&package.root))
    })
}

/// Moves the files that `unpack` writes to `target`, in place of `copies`. Before that they are in
/// `staging`, on the same disk.
pub(crate) fn place(
    target: &Path,
    copies: &[PathBuf],
    staging: &Path,
    unpack: impl FnOnce(&Path) -> io::Result<PathBuf>,
) -> io::Result<()> {
    check(target, copies, staging)?;
    let mut staged = Staging::in_dir(staging)?;
    let new = unpack(&staged.path("new"))?;
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
        dry_run: bool,
    ) -> (Outcome, String) {
        let Self { subject, content, target, files, what, note, again } = self;
        let hash = hash_files(&files);
        let item = record.known(target).filter(|_| is_installed);
        let done = match item.map(|item| stays(target, item, &hash, again)).transpose() {
            Err(error) => Err(error),
            Ok(Some(ReplaceDecision::Same)) => {
                return (Outcome::Unchanged, format!("it is installed{note}"));
            }
            Ok(Some(ReplaceDecision::Because(why))) => return (Outcome::Skipped, why),
            Ok(_) => {
                let copies = if is_installed { vec![target.to_owned()] } else { Vec::new() };
                let checked = above(target).and_then(|staging| check(target, &copies, &staging));
                if dry_run && checked.is_ok() {
                    return (Outcome::Planned, format!("install {content}{note}"));
                }
                checked.and_then(|()| {
                    let place = || place_files(target, &copies, &files);
                    record.install(subject, target, what(hash), place)
                })
            }
        };
        match done {
            Ok(()) => (Outcome::Done, format!("installed {content}{note}")),
            Err(error) => (Outcome::Failed, format!("it could not be installed: {error}")),
        }
    }
}

/// Whether installed files stay although other files are available.
enum ReplaceDecision {
    /// They are the same.
    Same,
    /// They stay for this reason.
    Because(String),
    No,
}

/// Decides whether the item at `target` stays although files with this hash are available.
fn stays(
    target: &Path,
    item: &InstalledItem,
    hash: &str,
    again: &str,
) -> io::Result<ReplaceDecision> {
    let there = hash_dir(target)?;
    Ok(if there == hash {
        ReplaceDecision::Same
    } else if !item.has(&there) {
        let why = format!("{CHANGED}; to get this version, move it away and run {again}");
        ReplaceDecision::Because(why)
    } else if let Some(newer) = item.newer() {
        ReplaceDecision::Because(format!("{newer} is installed, which is newer"))
    } else {
        ReplaceDecision::No
    })
}

/// Writes the program's files to `target`, in place of the copies that it installed earlier.
fn place_files(target: &Path, copies: &[PathBuf], files: &Files) -> io::Result<()> {
    place(target, copies, &above(target)?, |dir| write_files(dir, files))
}

/// Removes the files of a bundle if they are unchanged since setup installed them. `name` is that of the
/// bundle in the report.
pub(crate) fn uninstall_files(
    item: &InstalledItem,
    name: &str,
    dry_run: bool,
) -> io::Result<(Outcome, String)> {
    let target = &item.path;
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
    let dir = behind_link(dir)?;
    Ok(dir.parent().ok_or(io::ErrorKind::InvalidInput)?.to_owned())
}

/// Writes files into a new folder.
fn write_files(dir: &Path, files: &Files) -> io::Result<PathBuf> {
    for (name, content) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut file = File::create_new(path)?;
        file.write_all(content)?;
        file.sync_data()?;
    }
    Ok(dir.to_owned())
}

/// Removes a plugin, by way of `staging`.
pub(crate) fn uninstall(path: &Path, staging: &Path) -> io::Result<()> {
    check_no_link(path)?;
    Staging::in_dir(staging)?.take_away(&[path.to_owned()])?;
    Ok(())
}
