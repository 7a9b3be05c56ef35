//! The plugin in the folder of an IDE's plugins. It is replaced as one step: whatever fails, what
//! was there is there afterwards.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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

/// Puts the plugin there in place of `copies`.
pub(crate) fn install(
    plugins: &Path,
    package: &Package,
    copies: &[PathBuf],
) -> io::Result<PathBuf> {
    let target = plugins.join(&package.root);
    for path in copies.iter().map(PathBuf::as_path).chain([plugins, &*target]) {
        check_own(path)?;
    }
    if target.exists() && !copies.contains(&target) {
        let why = format!("{} is there already, and is another plugin", target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    // An IDE that starts now sees no plugin in it, since it has no `lib`.
    let staging = tempfile::Builder::new().prefix(".companion-setup").tempdir_in(plugins)?;
    let new = staging.path().join("new");
    package.unpack(&new)?;
    let taken = take_away(copies, &staging.path().join("old"))?;
    if let Err(error) = fs::rename(new.join(&package.root), &target) {
        put_back(&taken);
        return Err(error);
    }
    Ok(target)
}

/// Takes the plugin away.
pub(crate) fn uninstall(plugins: &Path, copies: &[PathBuf]) -> io::Result<()> {
    copies.iter().try_for_each(|copy| check_own(copy))?;
    let staging = tempfile::Builder::new().prefix(".companion-setup").tempdir_in(plugins)?;
    take_away(copies, &staging.path().join("old")).map(drop)
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
