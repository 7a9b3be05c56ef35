//! Checks which files of the list may be shared by now.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use super::super::{CliChanges, PromptId};
use super::{MAX_LOOKS, OUTSIDE, PRIVATE, UNSETTLED};
use crate::config::DISK_TIMEOUT;
use crate::hooks::Hooks;
use crate::workspace::{DISK_TIMED_OUT, LEADS_NOWHERE, NO_FOLDER};

/// The longest wait for the disk for 64 files, while only the editor waits.
const EDITOR_TIMEOUT: Duration = Duration::from_secs(2);

impl Hooks {
    /// Hides the texts of files that have become private, and shows those of files that are not private any
    /// more. Returns whether ignore files are changing.
    pub(in crate::hooks) async fn follow_access(&self) -> bool {
        let paths = self.changes().paths();
        let checked = self.check_in_parts(&paths, DISK_TIMEOUT).await;
        let is_unsettled = checked.contains(&Err(UNSETTLED));
        let mut changed = HashSet::new();
        for (path, access) in paths.iter().zip(checked) {
            let is_private = match access {
                Ok(()) => false,
                Err(PRIVATE | UNSETTLED) => true,
                Err(_) => continue,
            };
            changed.extend(self.changes().set_private(path, is_private));
        }
        self.report_all(changed);
        is_unsettled
    }

    /// Whether the editor may get the kept texts of these files by now.
    pub(crate) async fn check_now(&self, paths: &[Arc<str>]) -> Vec<bool> {
        let checked = self.check_in_parts(paths, EDITOR_TIMEOUT).await;
        if checked.iter().any(|access| matches!(access, Err(PRIVATE | UNSETTLED))) {
            // The list follows, unless it shows that already.
            self.workspace.privacy().note_change();
        }
        // The folder of a file may have been closed or removed since the change.
        let may_show = |access: &Result<(), &str>| {
            matches!(access, Ok(()) | Err(OUTSIDE | NO_FOLDER | LEADS_NOWHERE))
        };
        checked.iter().map(may_show).collect()
    }

    /// Checks whether files may be shared. Hooks get their turn between two parts, and the disk `limit` for
    /// each.
    pub(super) async fn check_in_parts(
        &self,
        paths: &[Arc<str>],
        limit: Duration,
    ) -> Vec<Result<(), &'static str>> {
        let mut checked = Vec::new();
        for part in paths.chunks(MAX_LOOKS) {
            if checked.contains(&Err(DISK_TIMED_OUT)) {
                checked.extend(vec![Err(DISK_TIMED_OUT); part.len()]);
            } else {
                checked.extend(self.workspace.check_all_shared(part, limit).await);
            }
        }
        checked
    }
}

impl CliChanges {
    /// The changed files.
    fn paths(&self) -> Vec<Arc<str>> {
        let files = self.prompts.iter().flat_map(|prompt| &prompt.files);
        let paths: HashSet<_> = files.map(|change| Arc::clone(&change.path)).collect();
        paths.into_iter().collect()
    }

    /// Notes whether a file is private by now. Returns the prompts with a change for which that is new.
    fn set_private(&mut self, path: &str, is_private: bool) -> Vec<PromptId> {
        let mut changed = Vec::new();
        for prompt in &mut self.prompts {
            for change in prompt.files.iter_mut().filter(|change| &*change.path == path) {
                if change.is_private != is_private {
                    change.is_private = is_private;
                    changed.push(prompt.id.clone());
                }
            }
        }
        changed
    }
}
