//! Reads which folders the editors of other companions have open.

use std::path::PathBuf;

use companion_platform::{is_process_alive, opened_folders};
use companion_protocol::ide::DiscoveryFile;

use super::Entry;
use super::sweep::{MAX_FILE, Owner};

/// The most files of other companions that are read.
const MAX_FILES: usize = 64;

impl Entry {
    /// The folders that other companions of this user name as open, without links. Blocks for the disk.
    pub(super) fn opened_by_others(&self) -> Vec<PathBuf> {
        let Ok(Some(dir)) = self.place.open() else { return Vec::new() };
        let names = dir.own_files().unwrap_or_default();
        let mut opened = Vec::new();
        for name in names.iter().filter(|name| **name != self.name).take(MAX_FILES) {
            let Some(owner) = Owner::parse(self.profile.naming, name) else { continue };
            let Ok(Some((content, _))) = dir.read(name, MAX_FILE) else { continue };
            let Ok(content) = serde_json::from_slice::<DiscoveryFile>(&content) else { continue };
            // A companion that was killed has no folder open.
            if !owner.pid.or(content.ppid).is_some_and(is_process_alive) {
                continue;
            }
            opened.extend(opened_folders(&content.workspace_path, &content.worktrees));
        }
        opened
    }
}
