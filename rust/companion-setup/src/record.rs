//! Records installed items, so that setup can remove them.
//!
//! It writes each entry before the item, so that an interrupted run leaves no unknown files.

use std::env::consts::OS;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::state_dir;
use semver::Version;
use serde::{Deserialize, Serialize};

use crate::client::Before;
use crate::files::{create_dir, missing_dirs, remove_empty, replace};
use crate::lock::Lock;
use crate::machine::Machine;

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The installed items, oldest first.
#[derive(Debug)]
pub(crate) struct InstallManifest {
    file: PathBuf,
    brought: Vec<InstalledItem>,
}

/// An installed item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstalledItem {
    /// The name in the report.
    pub(crate) subject: String,
    pub(crate) path: PathBuf,
    pub(crate) what: What,
    /// The version of the program that installed it.
    #[serde(default)]
    pub(crate) version: String,
    /// The hashes of the replaced content. After an interrupted run either the old or the new
    /// content is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    replaces: Vec<String>,
    /// Whether the run that installs it has not ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) pending: bool,
    /// The folders that were created for it, the outermost first.
    #[serde(default)]
    pub(crate) dirs: Vec<PathBuf>,
}

/// The kind of an item, and the data that identifies it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum What {
    /// The plugin with that id, in the IDE in that folder.
    Plugin { home: PathBuf, id: String },
    /// The program, with the hash of its content.
    Program { hash: String },
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
            What::Program { hash } | What::NeovimPlugin { hash } | What::Extension { hash } => {
                Some(hash)
            }
            What::Plugin { .. } | What::Setting { .. } => None,
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
    /// Locks the manifest. A run that changes it locks it before reading.
    pub(crate) fn lock(machine: &Machine) -> io::Result<Lock> {
        let path = Self::file_of(machine)?.with_extension("lock");
        Lock::take(&path)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Reads the manifest of a machine.
    pub(crate) fn read(machine: &Machine) -> io::Result<Self> {
        let file = Self::file_of(machine)?;
        let brought = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            text => serde_json::from_str(&text?)?,
        };
        Ok(Self { file, brought })
    }

    fn file_of(machine: &Machine) -> io::Result<PathBuf> {
        let is_home = |name: &str| ["HOME", "USERPROFILE"].contains(&name);
        let home = |name: &str| is_home(name).then(|| machine.home.to_string_lossy().into_owned());
        let var = |name: &str| machine.var(name).map(str::to_owned).or_else(|| home(name));
        let dir = state_dir(OS, var);
        let dir = dir.ok_or_else(|| io::Error::other("the environment names no home folder"))?;
        Ok(Path::new(&dir).join("gemini-companion").join("setup.json"))
    }

    /// Returns the manifest's file.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the item that `setup` installed at this path.
    pub(crate) fn known(&self, path: &Path) -> Option<&InstalledItem> {
        self.brought.iter().find(|known| known.path == path)
    }

    /// Records an item, and installs it by `bring` into a folder that is created if needed.
    pub(crate) fn bring(
        &mut self,
        subject: &str,
        path: &Path,
        what: What,
        bring: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let dir = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let made = missing_dirs(dir);
        let before = self.brought.clone();
        let known = self.brought.iter().position(|known| known.path == path);
        let known = known.map(|at| self.brought.remove(at));
        let hash = known.as_ref().and_then(InstalledItem::hash).map(str::to_owned);
        let (mut replaces, mut dirs) =
            known.map(|known| (known.replaces, known.dirs)).unwrap_or_default();
        replaces.extend(hash);
        dirs.extend_from_slice(&made);
        let (subject, path, version) = (subject.to_owned(), path.to_owned(), VERSION.to_owned());
        let pending = true;
        self.brought.push(InstalledItem { subject, path, what, version, replaces, pending, dirs });
        let done = self.write().and_then(|()| create_dir(dir)).and_then(|()| bring());
        if done.is_err() {
            remove_empty(&made);
            self.brought = before;
        } else if let Some(last) = self.brought.last_mut() {
            last.pending = false;
            last.replaces.clear();
        }
        // If this write fails, the list has one entry or one hash too many. Later runs detect that.
        if let Err(error) = self.write() {
            log::warn!("{}: {error}", self.file.display());
        }
        done
    }

    /// Removes all items by `take`, newest first. The manifest keeps the items that `take` refuses.
    pub(crate) fn take(&mut self, mut take: impl FnMut(&InstalledItem) -> bool) -> io::Result<()> {
        let before = self.brought.len();
        for at in (0..before).rev() {
            if take(&self.brought[at]) {
                self.brought.remove(at);
            }
        }
        if self.brought.len() == before { Ok(()) } else { self.write() }
    }

    /// Writes the manifest, or removes its file if there are no items.
    fn write(&self) -> io::Result<()> {
        if self.brought.is_empty() {
            return match fs::remove_file(&self.file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        create_dir(self.file.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        replace(&self.file, &(serde_json::to_string_pretty(&self.brought)? + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_there_is_known_however_many_runs_were_killed() {
        let dir = tempfile::tempdir().unwrap();
        let (file, path) = (dir.path().join("setup.json"), dir.path().join("program"));
        let read = || -> Vec<InstalledItem> {
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap()
        };
        for hash in ["first", "second", "third"] {
            let brought = if file.exists() { read() } else { Vec::new() };
            let mut record = InstallManifest { file: file.clone(), brought };
            let mut killed = Vec::new();
            let what = What::Program { hash: hash.to_owned() };
            let bring = || {
                killed = fs::read(&file)?;
                Ok(())
            };
            record.bring("the program", &path, what, bring).unwrap();
            assert!(!read()[0].has("first") || hash == "first", "what is done is done");
            fs::write(&file, killed).unwrap();
            assert!(read()[0].has("first") && read()[0].has(hash));
        }
    }
}
