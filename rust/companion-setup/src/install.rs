//! Plugins in folders of their own. One is replaced as one step: whatever fails, what was there is
//! there afterwards.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::files::check_own;
use crate::package::{Package, Plugin};

/// What is in a folder of plugins.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Where the plugin is, under whatever name. More than one are a mistake.
    pub(crate) copies: Vec<PathBuf>,
    /// The version of the first.
    pub(crate) version: Option<String>,
    /// It is there once, and just as it would be installed.
    pub(crate) is_same: bool,
}

/// Looks for the plugin.
pub(crate) fn installed(plugins: &Path, package: &Package) -> Installed {
    let mut copies = Vec::new();
    let mut version = None;
    for entry in fs::read_dir(plugins).into_iter().flatten().flatten() {
        let found = Plugin::installed(&entry.path());
        if let Some(found) = found.filter(|found| found.id == package.plugin.id) {
            version.get_or_insert(found.version);
            copies.push(entry.path());
        }
    }
    let target = plugins.join(&package.root);
    let is_same = copies == [target.clone()] && package.is_at(&target).unwrap_or(false);
    Installed { copies, version, is_same }
}

/// Puts the plugin into the IDE's folder `plugins`, in place of `copies`.
pub(crate) fn install(plugins: &Path, package: &Package, copies: &[PathBuf]) -> io::Result<()> {
    let target = plugins.join(&package.root);
    // An IDE that starts now sees no plugin in what is unpacked there, since it has no `lib`.
    put(&target, copies, plugins, |dir| {
        package.unpack(dir)?;
        Ok(dir.join(&package.root))
    })
}

/// Puts what `unpack` makes in a folder to `target`, in place of `copies`. Until then it is in
/// `staging`, which is on the same disk.
pub(crate) fn put(
    target: &Path,
    copies: &[PathBuf],
    staging: &Path,
    unpack: impl FnOnce(&Path) -> io::Result<PathBuf>,
) -> io::Result<()> {
    for path in copies.iter().map(PathBuf::as_path).chain([staging, target]) {
        check_own(path)?;
    }
    if target.exists() && !copies.iter().any(|copy| copy == target) {
        let why = format!("{} is there already, and is another plugin", target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let staging = stage(staging)?;
    let new = unpack(&staging.path().join("new"))?;
    let taken = take_away(copies, &staging.path().join("old"))?;
    fs::rename(new, target).inspect_err(|_| put_back(&taken))
}

/// Puts files that the program has in it to `target`, in place of those that it has brought there.
pub(crate) fn put_files(
    target: &Path,
    is_brought: bool,
    files: impl Iterator<Item = (&'static str, String)>,
) -> io::Result<()> {
    let old = if is_brought { vec![target.to_owned()] } else { Vec::new() };
    put(target, &old, above(target)?, |dir| write_files(dir, files))
}

/// Takes such files away.
pub(crate) fn take_files(target: &Path) -> io::Result<()> {
    uninstall(target, above(target)?)
}

/// The folder above the one from which editors and clients load: what is there is not loaded.
fn above(target: &Path) -> io::Result<&Path> {
    Ok(target.parent().and_then(Path::parent).ok_or(io::ErrorKind::InvalidInput)?)
}

/// Writes files into the folder, which is new.
fn write_files(
    dir: &Path,
    files: impl Iterator<Item = (&'static str, String)>,
) -> io::Result<PathBuf> {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
    }
    Ok(dir.to_owned())
}

/// Whether the folder has those files, just as they are.
pub(crate) fn has_files(
    dir: &Path,
    mut files: impl Iterator<Item = (&'static str, String)>,
) -> bool {
    files.all(|(name, text)| fs::read_to_string(dir.join(name)).is_ok_and(|it| it == text))
}

/// Takes a plugin away, by way of `staging`.
pub(crate) fn uninstall(path: &Path, staging: &Path) -> io::Result<()> {
    check_own(path)?;
    take_away(&[path.to_owned()], &stage(staging)?.path().join("old")).map(drop)
}

fn stage(dir: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix(".companion-setup").tempdir_in(dir)
}

/// Moves `copies` into `dir`; all of them, or else none.
fn take_away(copies: &[PathBuf], dir: &Path) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    fs::create_dir(dir)?;
    let mut taken = Vec::new();
    for (number, copy) in copies.iter().enumerate() {
        let away = dir.join(number.to_string());
        // On Windows this fails if a library of it is loaded.
        if let Err(error) = fs::rename(copy, &away) {
            put_back(&taken);
            return Err(error);
        }
        taken.push((copy.clone(), away));
    }
    Ok(taken)
}

fn put_back(taken: &[(PathBuf, PathBuf)]) {
    for (copy, away) in taken {
        if let Err(error) = fs::rename(away, copy) {
            log::error!("{} could not be put back: {error}", copy.display());
        }
    }
}
