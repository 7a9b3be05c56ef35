//! Finds the folder and the name of a discovery file.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{Platform, PrivateDir, home_dir, others_can_rename_in, temp_dir};
use companion_protocol::dialect::{Base, Folder, Surroundings};

/// A directory for discovery files.
#[derive(Clone, Debug)]
pub(super) struct DiscoveryDir {
    /// Others may be its owner, unless it is a client's own.
    base: PathBuf,
    /// Whether `base` is a folder of the client's own, which is not made for those who do not use
    /// that client.
    optional: bool,
    /// Those below `base` that are to be for us alone.
    names: &'static [&'static str],
}

impl DiscoveryDir {
    /// `dir` itself, or where the client looks.
    pub(super) fn new(folder: &Folder, dir: Option<&Path>) -> Self {
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

    /// Where the client looks if the folder begins there.
    pub(super) fn below(folder: &Folder, base: PathBuf) -> Self {
        Self { base, optional: folder.base != Base::Temp, names: folder.names }
    }

    /// Whether there may be none.
    pub(super) fn is_optional(&self) -> bool {
        self.optional
    }

    /// The directory, which is made if need be; nothing if no file is to be there now.
    pub(super) fn open(&self) -> io::Result<Option<PrivateDir>> {
        if self.optional {
            PrivateDir::open_below(&self.base, self.names)
        } else {
            PrivateDir::open(&self.base, self.names).map(Some)
        }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.names.iter().fold(self.base.clone(), |path, name| path.join(name))
    }

    /// What is to be watched as things are: the directories that are ours and, where the client has
    /// none, the one in which that would begin to appear. All names that matter there go to `names`.
    pub(super) fn watched(&self, names: &mut HashSet<OsString>) -> Vec<PathBuf> {
        let path = self.path();
        names.extend(path.iter().map(ToOwned::to_owned));
        let is_dir = |dir: &Path| dir.symlink_metadata().is_ok_and(|found| found.is_dir());
        let dirs: Vec<_> = if !self.optional {
            path.ancestors().take(self.names.len().max(1)).collect()
        } else if is_dir(&self.base) && is_dir(&path) {
            path.ancestors().take(self.names.len() + 1).collect()
        } else {
            // Links above the client's own folder are the system's or the user's.
            let nearest = self.base.ancestors().skip(1).find(|dir| dir.is_dir());
            Some(&*self.base).filter(|base| is_dir(base)).or(nearest).into_iter().collect()
        };
        dirs.into_iter().map(Path::to_owned).collect()
    }

    /// Others who can rename our directory can hide the file, but not read it. So this is no reason
    /// to do without.
    pub(super) fn warn_if_exposed(&self) {
        if !self.names.is_empty() && others_can_rename_in(&self.base).is_ok_and(|can| can) {
            log::warn!(
                "everybody can rename what is in {}, and so hide this editor from the CLI; \
                 `chmod +t` on it prevents that",
                self.base.display()
            );
        }
    }
}
