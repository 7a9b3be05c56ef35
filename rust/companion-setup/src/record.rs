//! What was brought, so that it can be taken away.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::state_dir;
use serde::{Deserialize, Serialize};

use crate::client::Before;
use crate::files::{create_dir, replace};
use crate::machine::{Machine, Os};

/// What was brought.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) plugins: Vec<BroughtPlugin>,
    pub(crate) settings: Vec<BroughtSetting>,
}

/// A plugin.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BroughtPlugin {
    /// The name and version of the IDE.
    pub(crate) ide: String,
    /// The folder of the IDE's program.
    pub(crate) home: PathBuf,
    /// The plugin's.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The folders that were made for it, the outermost first.
    pub(crate) dirs: Vec<PathBuf>,
}

/// A setting of a client.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BroughtSetting {
    pub(crate) client: String,
    pub(crate) file: PathBuf,
    pub(crate) before: Before,
    pub(crate) backup: Option<PathBuf>,
    pub(crate) dirs: Vec<PathBuf>,
}

impl Record {
    /// The file in which it is.
    pub(crate) fn file(machine: &Machine) -> io::Result<PathBuf> {
        let os = match machine.os {
            Os::Linux => "linux",
            Os::MacOs => "macos",
            Os::Windows => "windows",
        };
        let home =
            |name: &str| (name == "HOME").then(|| machine.home.to_string_lossy().into_owned());
        let dir = state_dir(os, |name| machine.var(name).map(str::to_owned).or_else(|| home(name)));
        let dir = dir.ok_or_else(|| io::Error::other("the environment names no home folder"))?;
        Ok(Path::new(&dir).join("gemini-companion").join("setup.json"))
    }

    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        match fs::read_to_string(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            text => Ok(serde_json::from_str(&text?)?),
        }
    }

    /// Writes it; nothing to take away is no file.
    pub(crate) fn write(&self, file: &Path) -> io::Result<()> {
        if *self == Self::default() {
            return match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        create_dir(file.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        replace(file, &(serde_json::to_string_pretty(self)? + "\n"))
    }
}
