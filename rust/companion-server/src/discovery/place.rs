//! Finds the folder and the name of a discovery file.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{
    Platform, PrivateDir, home_dir, others_can_rename_in, temp_dir, temp_dir_variables,
};
use companion_protocol::profile::{Folder, Surroundings};

/// A folder for discovery files.
#[derive(Clone, Debug)]
pub(crate) struct DiscoveryDir {
    /// Others may own it, unless it is a client's own folder.
    base: PathBuf,
    /// Whether `base` is a client's own folder. It is not created for users without that client.
    optional: bool,
    /// The folders below `base` that must be private to the user.
    names: &'static [&'static str],
}

impl DiscoveryDir {
    /// `dir` itself, or the folder where the client looks.
    pub(crate) fn new(folder: &Folder, dir: Option<&Path>) -> Self {
        if let Some(dir) = dir {
            return Self { base: dir.to_owned(), optional: false, names: &[] };
        }
        let var = |name: &str| std::env::var(name).ok();
        let temp_dir = temp_dir(Platform::CURRENT, var);
        let home = home_dir(Platform::CURRENT, var);
        let around = Surroundings {
            temp_dir: temp_dir.as_ref(),
            home: home.as_deref().map(Path::new),
            cwd: &std::env::current_dir().unwrap_or_default(),
        };
        Self::below(folder, folder.base.path(around, var))
    }

    /// The folder where the client looks, if it is below this one.
    pub(super) fn below(folder: &Folder, base: PathBuf) -> Self {
        Self { base, optional: folder.base.own().is_some(), names: folder.names }
    }

    /// Whether the folder may be missing.
    pub(crate) fn is_optional(&self) -> bool {
        self.optional
    }

    /// Opens or creates the folder. `None` if no file is wanted now.
    pub(crate) fn open(&self) -> io::Result<Option<PrivateDir>> {
        if self.optional {
            return PrivateDir::open_below(&self.base, self.names);
        }
        PrivateDir::open(&self.base, self.names).map(Some).map_err(|error| {
            if self.names.is_empty() || error.kind() != io::ErrorKind::PermissionDenied {
                return error;
            }
            let variable = temp_dir_variables(Platform::CURRENT)[0];
            let fix = "to a folder of your own, for the editor and for the CLI";
            io::Error::new(error.kind(), format!("{error}; set {variable} {fix}"))
        })
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.names.iter().fold(self.base.clone(), |path, name| path.join(name))
    }

    /// The folders to watch now: the existing ones and, if the client has none yet, the one where
    /// its folder would appear. Adds the names to watch there to `names`.
    pub(super) fn watched(&self, names: &mut HashSet<OsString>) -> Vec<PathBuf> {
        let path = self.path();
        names.extend(path.iter().map(ToOwned::to_owned));
        let is_dir = |dir: &Path| dir.symlink_metadata().is_ok_and(|found| found.is_dir());
        let dirs: Vec<_> = if !self.optional {
            path.ancestors().take(self.names.len().max(1)).collect()
        } else if is_dir(&self.base) && is_dir(&path) {
            path.ancestors().take(self.names.len() + 1).collect()
        } else {
            // Links above the client's own folder belong to the system or the user.
            let nearest = self.base.ancestors().skip(1).find(|dir| dir.is_dir());
            Some(&*self.base).filter(|base| is_dir(base)).or(nearest).into_iter().collect()
        };
        dirs.into_iter().map(Path::to_owned).collect()
    }

    /// Others who can rename the folder can hide the file, but can't read it. So the file is
    /// written anyway.
    pub(super) fn warn_if_exposed(&self) {
        if !self.names.is_empty() && others_can_rename_in(&self.base).is_ok_and(|can| can) {
            log::warn!(
                "everybody can rename files in {}, and so hide this editor from the CLI; \
                 `chmod +t` on it prevents that",
                self.base.display()
            );
        }
    }
}
