//! Records installed items, so that setup can remove them.
//!
//! It writes each entry before the item, so that an interrupted run leaves no unknown files.

use std::collections::BTreeSet;
use std::env::consts::OS;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{PrivateDir, STATE_FOLDER, real_path, state_dir};
use semver::Version;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::Before;
use crate::files::{check_own, create_dir, missing_dirs, ok_if_missing, remove_empty, replace};
use crate::lock::Lock;
use crate::machine::Machine;
use crate::report::Outcome;
use crate::staging::sweep;

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The list of installed items.
#[derive(Debug)]
pub(crate) struct InstallManifest {
    file: PathBuf,
    content: Content,
    /// Keeps other runs away. Only a plan has no lock, because it changes nothing.
    lock: Option<Lock>,
}

/// The content of the manifest's file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Content {
    /// The folders that setup created, for the file and for items. A folder precedes those in it.
    dirs: BTreeSet<PathBuf>,
    /// The items, the oldest first.
    items: Vec<InstalledItem>,
}

/// An installed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledItem {
    /// The name in the report.
    pub(crate) subject: String,
    pub(crate) path: PathBuf,
    pub(crate) what: What,
    /// The version of the program that installed it.
    pub(crate) version: String,
    /// The hashes of the replaced content. After an interrupted run either the old or the new
    /// content is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaces: Vec<String>,
    /// Whether the run that installs it has not ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
}

/// The kind of an item, and the data that identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum What {
    /// The plugin with that id, in the IDE in that folder, with the hash of its files.
    Plugin { home: PathBuf, id: String, hash: String },
    /// The program, with the hash of its content.
    Program { hash: String },
    /// Completions of a shell, or the man page, with the hash of its content.
    Document { hash: String },
    /// The plugin for Neovim, with the hash of its files.
    NeovimPlugin { hash: String },
    /// The extension of a client, with the hash of its files.
    Extension { hash: String },
    /// The IDE mode in the settings of a client.
    Setting { before: Before, backup: Option<PathBuf> },
}

impl InstalledItem {
    /// Returns the hash of the installed item, if it has one.
    fn hash(&self) -> Option<&str> {
        match &self.what {
            What::Plugin { hash, .. }
            | What::Program { hash }
            | What::Document { hash }
            | What::NeovimPlugin { hash }
            | What::Extension { hash } => Some(hash),
            What::Setting { .. } => None,
        }
    }

    /// Returns whether setup installed the content with this hash.
    pub(crate) fn has(&self, hash: &str) -> bool {
        self.hash() == Some(hash) || self.replaces.iter().any(|replaced| replaced == hash)
    }

    /// Returns the item's version, if it is newer than this program's.
    pub(crate) fn newer(&self) -> Option<&str> {
        is_newer(&self.version, VERSION).then_some(&*self.version)
    }
}

/// Returns whether both are versions, and the first is newer.
pub(crate) fn is_newer(version: &str, than: &str) -> bool {
    let both = Version::parse(version).and_then(|version| Ok((version, Version::parse(than)?)));
    both.is_ok_and(|(version, than)| version > than)
}

impl InstallManifest {
    /// Reads the manifest of a machine for a plan.
    pub(crate) fn read(machine: &Machine) -> io::Result<Self> {
        let file = Self::file_of(machine)?;
        Ok(Self { content: read(&file)?, file, lock: None })
    }

    /// Reads the manifest for changes. Waits until other runs have ended.
    pub(crate) fn open(machine: &Machine) -> io::Result<Self> {
        let file = Self::file_of(machine)?;
        let path = file.with_extension("lock");
        let dir = file.parent().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
        let create_dir = || {
            let missing = missing_dirs(&dir);
            // One may be a link to nowhere.
            missing.iter().try_for_each(|dir| check_own(dir))?;
            if let Some(outermost) = missing.first() {
                let dirs = missing.iter().cloned().collect();
                let list = Content { dirs, items: Vec::new() };
                replace(&outermost.with_file_name(LEFT), &serde_json::to_string(&list)?)?;
            }
            create_private(&dir)
        };
        let lock = Lock::take(&path, create_dir).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        let content = read(&file)?;
        let mut manifest = Self { file, content, lock: Some(lock) };
        // This folder is the product's, whatever the manifest says.
        manifest.content.dirs.insert(dir);
        manifest.take_up_left()?;
        let above = manifest.file.ancestors().skip(1);
        above.take_while(|dir| check_own(dir).is_ok()).for_each(sweep);
        Ok(manifest)
    }

    /// Adds the folders of lists above the manifest, also of runs that were killed.
    fn take_up_left(&mut self) -> io::Result<()> {
        let above = self.file.ancestors().skip(2).map(|dir| dir.join(LEFT));
        let lists: Vec<_> = above.filter(|list| list.exists() && check_own(list).is_ok()).collect();
        for list in &lists {
            self.content.dirs.extend(read(list)?.dirs);
        }
        if !lists.is_empty() {
            self.write()?;
        }
        lists.iter().try_for_each(|list| fs::remove_file(list).or_else(ok_if_missing))
    }

    fn file_of(machine: &Machine) -> io::Result<PathBuf> {
        let is_home = |name: &str| ["HOME", "USERPROFILE"].contains(&name);
        let home = |name: &str| is_home(name).then(|| machine.home.to_string_lossy().into_owned());
        let var = |name: &str| machine.var(name).map(str::to_owned).or_else(|| home(name));
        let dir = state_dir(OS, var);
        let dir = dir.ok_or_else(|| io::Error::other("the environment names no home folder"))?;
        Ok(Path::new(&dir).join(STATE_FOLDER).join("setup.json"))
    }

    /// Returns whether this run only plans, and changes nothing.
    pub(crate) fn is_plan(&self) -> bool {
        self.lock.is_none()
    }

    /// Returns the manifest's file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the installed items, the oldest first.
    pub(crate) fn items(&self) -> &[InstalledItem] {
        &self.content.items
    }

    /// Returns the item that setup installed at this path, which may name the folder by a link.
    pub(crate) fn known(&self, path: &Path) -> Option<&InstalledItem> {
        let dir = |path: &Path| path.parent().and_then(|dir| dir.canonicalize().ok());
        self.items().iter().find(|InstalledItem { path: known, .. }| {
            let has_same_name = || known.file_name() == path.file_name();
            known == path || (has_same_name() && dir(known).is_some() && dir(known) == dir(path))
        })
    }

    /// Returns whether setup installed an item at this path, which the user may have removed since.
    pub(crate) fn is_installed(&self, path: &Path) -> bool {
        self.known(path).is_some_and(|known| !known.pending)
    }

    /// Records an item, and installs it by `install` into a folder that is created if needed. Only
    /// plans that, if this is a plan.
    pub(crate) fn install(
        &mut self,
        subject: &str,
        path: &Path,
        what: What,
        install: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<Outcome> {
        if path.is_relative() {
            let path = path.display();
            let why = format!("{path} is a relative path; write absolute ones into your variables");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        if self.is_plan() {
            return Ok(Outcome::Planned);
        }
        let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let made = missing_dirs(dir);
        let before = self.content.clone();
        let known = self.items().iter().position(|known| known.path == path);
        let known = known.map(|at| self.content.items.remove(at));
        let hash = known.as_ref().and_then(InstalledItem::hash).map(str::to_owned);
        let mut replaces = known.map(|known| known.replaces).unwrap_or_default();
        replaces.extend(hash);
        self.content.dirs.extend(made.iter().cloned());
        let (subject, path, version) = (subject.to_owned(), path.to_owned(), VERSION.to_owned());
        let item = InstalledItem { subject, path, what, version, replaces, pending: true };
        self.content.items.push(item);
        let done = self.write().and_then(|()| create_dir(dir)).and_then(|()| install());
        if done.is_err() {
            remove_empty(&made);
            self.content = before;
        } else if let Some(last) = self.content.items.last_mut() {
            last.pending = false;
            last.replaces.clear();
        }
        // If this write fails, the list has one entry or one hash too many. Later runs detect that.
        if let Err(error) = self.save() {
            log::warn!("{}: {error}", self.file.display());
        }
        done.map(|()| Outcome::Done)
    }

    /// Removes all items by `uninstall`, newest first. The manifest keeps the items for which it returns
    /// false.
    pub(crate) fn uninstall(
        &mut self,
        mut uninstall: impl FnMut(&InstalledItem) -> bool,
    ) -> io::Result<()> {
        let before = self.items().len();
        for at in (0..before).rev() {
            if uninstall(&self.content.items[at]) {
                let item = self.content.items.remove(at);
                remove_empty(&self.dirs_above(&item.path));
                self.content.dirs.retain(|dir| dir.exists());
            }
        }
        if self.items().len() == before { Ok(()) } else { self.save() }
    }

    /// Returns the folders above a path that setup created, the outermost first. An earlier run may have
    /// named the home folder by a link.
    fn dirs_above(&self, path: &Path) -> Vec<PathBuf> {
        let real = path.parent().map(real_path).unwrap_or_default();
        let mut above = BTreeSet::new();
        for dir in &self.content.dirs {
            let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else { continue };
            // The folder itself may be a link of the user by now, which stays with its target.
            let real_dir = real_path(parent).join(name);
            if path.starts_with(dir) || real.starts_with(&real_dir) {
                above.insert(real_dir);
            }
        }
        let mut above: Vec<_> = above.into_iter().collect();
        above.sort_by_key(|dir| dir.components().count());
        above
    }

    /// Writes the manifest, unless it is empty: then its file is removed at the end of the run.
    fn save(&self) -> io::Result<()> {
        if self.items().is_empty() { Ok(()) } else { self.write() }
    }

    fn write(&self) -> io::Result<()> {
        create_private(self.file.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        replace(&self.file, &(serde_json::to_string_pretty(&self.content)? + "\n"))
    }
}

impl Drop for InstallManifest {
    /// Removes an empty manifest with its folders. Servers may be creating files in them, so they must
    /// not move. Until the folders are gone, the manifest is above them. So if this run is killed, the
    /// next one knows them.
    fn drop(&mut self) {
        let Some(mut lock) = self.lock.take() else { return };
        if !self.content.items.is_empty() {
            return;
        }
        lock.dirs = self.dirs_above(&self.file);
        let outermost = lock.dirs.first().map_or(&*self.file, PathBuf::as_path);
        let left = outermost.with_file_name(LEFT);
        // A link may lead to another disk.
        let moved = fs::rename(&self.file, &left).or_else(|_| fs::remove_file(&self.file));
        drop(lock);
        let removed = moved.and_then(|()| fs::remove_file(&left));
        if let Err(error) = removed.or_else(ok_if_missing) {
            log::warn!("{}: {error}", self.file.display());
        }
    }
}

/// The name of a list, above folders that are being created or removed. It begins as that of each
/// temporary file.
const LEFT: &str = ".companion-setup-left.json";

/// Creates the folder of the manifest as servers do, which keep their files in it.
fn create_private(dir: &Path) -> io::Result<()> {
    if !dir.exists() {
        let above = dir.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let name = dir.file_name().and_then(OsStr::to_str).ok_or(io::ErrorKind::InvalidInput)?;
        create_dir(above)?;
        PrivateDir::open(above, &[name])?;
    }
    check_own(dir)
}

/// Reads the manifest's file, if there is one. The error names the file and the way out.
fn read(file: &Path) -> io::Result<Content> {
    let failed = |error: io::Error, fix: &str| {
        io::Error::new(error.kind(), format!("{}: {error}{fix}", file.display()))
    };
    let text = match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(failed(error, DAMAGED));
        }
        text => text.map_err(|error| failed(error, ""))?,
    };
    let value = serde_json::from_str(&text).map_err(|error| failed(error.into(), DAMAGED))?;
    let fix = match newest_version(&value) {
        Some(newer) => {
            format!(". gemini-companion {newer} wrote this file. Run that version, or a newer one")
        }
        None => DAMAGED.to_owned(),
    };
    serde_json::from_value(value).map_err(|error| failed(error.into(), &fix))
}

/// The way out if the manifest is damaged.
const DAMAGED: &str = ". The list of installed items is damaged. Move the file away and run setup again. \
    Setup then no longer removes the items that it installed before";

/// Returns the version of the newest program that wrote the manifest, if it is newer than this one.
fn newest_version(manifest: &Value) -> Option<Version> {
    let items = manifest["items"].as_array().into_iter().flatten();
    let versions = items.filter_map(|item| Version::parse(item["version"].as_str()?).ok());
    versions.max().filter(|newest| is_newer(&newest.to_string(), VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_there_is_known_however_many_runs_were_killed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, path) = (dir.path().join("setup.json"), dir.path().join("program"));
        let read = || super::read(&file).unwrap().items;
        for hash in ["first", "second", "third"] {
            let content = super::read(&file).unwrap();
            let lock = Some(Lock::take(&file.with_extension("lock"), || Ok(())).unwrap());
            let mut record = InstallManifest { file: file.clone(), content, lock };
            let mut killed = Vec::new();
            let what = What::Program { hash: hash.to_owned() };
            let install = || {
                killed = fs::read(&file)?;
                Ok(())
            };
            record.install("the program", &path, what, install).unwrap();
            assert!(!read()[0].has("first") || hash == "first", "what is done is done");
            fs::write(&file, killed).unwrap();
            assert!(read()[0].has("first") && read()[0].has(hash));
        }
    }
}
