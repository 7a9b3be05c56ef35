//! Removes the files that ended servers have left.

use std::env::consts::OS;
use std::io;
use std::path::PathBuf;

use companion_platform::{MARK_DIRS, PrivateDir, state_dir};
use companion_protocol::profile;

use super::{DIRS, slots};
use crate::discovery::{self, DiscoveryDir, nobody_listens};

/// Removes the files of servers that have ended, or only looks for them with `dry_run`: resume files,
/// discovery files and marks of suspended servers. Running servers keep theirs. Returns each folder with
/// such files, and the error if it can't be read or a file can't be removed. Blocks for the disk.
pub fn remove_left(dry_run: bool) -> Vec<(PathBuf, io::Result<()>)> {
    let mut found = Vec::new();
    if let Some(state) = state_dir(OS, |name| std::env::var(name).ok()).map(PathBuf::from) {
        let in_state = |names: &[&str], remove: fn(&PrivateDir, bool) -> io::Result<bool>| {
            let path = names.iter().fold(state.clone(), |path, name| path.join(name));
            if !path.is_dir() {
                return (path, Ok(false));
            }
            let has_files = PrivateDir::open(&state, names).and_then(|dir| remove(&dir, dry_run));
            if !dry_run && has_files.is_ok() {
                // A folder with files of other servers stays.
                let _ = path.ancestors().take(names.len()).try_for_each(std::fs::remove_dir);
            }
            (path, has_files)
        };
        found.push(in_state(&DIRS, slots::remove_ended));
        found.push(in_state(&MARK_DIRS, remove_marks));
    }
    for profile in profile::ALL {
        let place = DiscoveryDir::new(&profile.folder, None);
        // A folder of another user has no files of this one.
        if place.path().is_dir()
            && let Ok(Some(dir)) = place.open()
        {
            found.push((place.path(), discovery::remove_ended(profile.naming, &dir, dry_run)));
            // Nothing else empties the client's own folder.
            if !dry_run && place.is_optional() {
                let _ = std::fs::remove_dir(place.path());
            }
        }
    }
    found.retain(|(_, has_files)| !matches!(has_files, Ok(false)));
    found.into_iter().map(|(path, has_files)| (path, has_files.map(drop))).collect()
}

/// Removes the marks of servers that no longer listen. A suspended server still does. Returns whether
/// there are any.
fn remove_marks(dir: &PrivateDir, dry_run: bool) -> io::Result<bool> {
    let mut names = dir.own_files()?;
    names.retain(|name| name.parse().is_ok_and(nobody_listens));
    if !dry_run {
        names.iter().try_for_each(|name| dir.remove(name))?;
    }
    Ok(!names.is_empty())
}
