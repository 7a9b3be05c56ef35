//! Where the discovery file goes.

use std::io;
use std::path::{Path, PathBuf};

use companion_platform::{Platform, PrivateDir, others_can_rename_in, temp_dir};
use companion_protocol::dialect::GEMINI;

/// A directory for discovery files.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Others may be its owner.
    parent: PathBuf,
    /// Those below `parent` that are to be for us alone.
    names: &'static [&'static str],
}

impl Place {
    /// `dir` itself, or where the client looks.
    pub(super) fn new(dir: Option<&Path>) -> Self {
        if let Some(dir) = dir {
            return Self { parent: dir.to_owned(), names: &[] };
        }
        let env = |name: &str| std::env::var(name).ok();
        Self::below(temp_dir(Platform::CURRENT, env).as_ref())
    }

    /// Where the client looks if this is the folder for temporary files.
    pub(super) fn below(temp_dir: &Path) -> Self {
        Self { parent: temp_dir.to_owned(), names: GEMINI.folders }
    }

    /// The directory, which is made if need be.
    pub(super) fn open(&self) -> io::Result<PrivateDir> {
        PrivateDir::open(&self.parent, self.names)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dirs().pop().expect("there is at least one")
    }

    /// All directories that are ours, the innermost last.
    pub(super) fn dirs(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.parent.clone()];
        for name in self.names {
            dirs.push(dirs[dirs.len() - 1].join(name));
        }
        if dirs.len() > 1 {
            dirs.remove(0);
        }
        dirs
    }

    /// Others who can rename our directory can hide the file, but neither read it nor put one
    /// of their own in its place, since the client looks at a file's owner. So this is no reason
    /// to do without.
    pub(super) fn warn_if_exposed(&self) {
        if !self.names.is_empty() && others_can_rename_in(&self.parent).is_ok_and(|can| can) {
            log::warn!(
                "everybody can rename what is in {}, and so hide this editor from the CLI; \
                 `chmod +t` on it prevents that",
                self.parent.display()
            );
        }
    }
}
