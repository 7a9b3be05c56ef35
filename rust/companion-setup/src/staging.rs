//! Replaces files by way of a staging folder on the same disk.
//!
//! The folder holds the new files until they are moved, and the old ones until the new ones are in
//! place.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::files::{PREFIX, behind_link};

#[derive(Debug)]
pub(crate) struct Staging {
    dir: TempDir,
    /// Replaced items, and their paths in the staging folder.
    taken: Vec<(PathBuf, PathBuf)>,
}

impl Staging {
    /// Creates a staging folder in `dir`.
    pub(crate) fn in_dir(dir: &Path) -> io::Result<Self> {
        let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(dir)?;
        Ok(Self { dir, taken: Vec::new() })
    }

    /// Returns a path in the staging folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Moves all these files or folders into the staging folder, or none.
    pub(crate) fn take_away(&mut self, copies: &[PathBuf]) -> io::Result<()> {
        for (number, copy) in copies.iter().enumerate() {
            let away = self.path(&format!("old-{number}"));
            // On Windows this fails if a library in the folder is loaded.
            fs::rename(copy, &away).or_else(|error| self.roll_back(&error))?;
            self.taken.push((copy.clone(), away));
        }
        Ok(())
    }

    /// Moves the replaced items back after an error. An item that can't be moved stays in the
    /// staging folder, and the returned error names it.
    pub(crate) fn roll_back(&mut self, error: &io::Error) -> io::Result<()> {
        let mut why = vec![error.to_string()];
        for (copy, away) in self.taken.drain(..) {
            if let Err(error) = fs::rename(&away, &copy) {
                self.dir.disable_cleanup(true);
                let (copy, away) = (copy.display(), away.display());
                why.push(format!("{copy} is now {away}, as it could not be moved back: {error}"));
            }
        }
        Err(io::Error::new(error.kind(), why.join("; ")))
    }
}

/// Deletes the temporary files and folders in `dir` that killed runs left. They may contain replaced
/// items, so call this only when the new items are in place. The lock keeps other runs away.
pub(crate) fn sweep(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_dir { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if let Err(error) = removed {
            log::warn!("{}: {error}", path.display());
        }
    }
}

/// Does the same in all folders where an installation of `item` has temporary files.
pub(crate) fn sweep_around(item: &Path) {
    let Some(parent) = item.parent() else { return };
    let real = behind_link(item).ok();
    let above = behind_link(parent).ok();
    let dirs = [
        Some(parent),
        real.as_deref().and_then(Path::parent),
        above.as_deref().and_then(Path::parent),
    ];
    dirs.into_iter().flatten().for_each(sweep);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_moved_back_is_kept_and_named() {
        let dir = tempfile::tempdir().expect("there is space");
        let copies = ["gone/plugin", "there/plugin"].map(|name| dir.path().join(name));
        for copy in &copies {
            fs::create_dir_all(copy).expect("there is space");
            fs::write(copy.join("file"), "of the user").expect("there is space");
        }
        let mut staging = Staging::in_dir(dir.path()).expect("there is space");
        staging.take_away(&copies).expect("they are ours");
        fs::remove_dir(dir.path().join("gone")).expect("it is empty");
        let error = staging.roll_back(&io::Error::other("full")).expect_err("there was one");
        let kept = staging.path("old-0");
        drop(staging);
        assert!(error.to_string().starts_with("full; "), "{error}");
        assert!(error.to_string().contains(&kept.display().to_string()), "{error}");
        for plugin in [&kept, &copies[1]] {
            let text = fs::read_to_string(plugin.join("file")).expect("it is kept");
            assert_eq!(text, "of the user");
        }
    }
}
