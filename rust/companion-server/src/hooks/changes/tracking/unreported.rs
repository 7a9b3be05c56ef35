//! Finds reverts that the user has undone, and those that a model has got.

use std::collections::BTreeSet;
use std::sync::Arc;

use companion_core::notes::Revert;
use tokio::time::timeout;

use super::super::{FileSnapshot, PromptId};
use super::{MAX_LOOKS, distinct};
use crate::config::DISK_TIMEOUT;
use crate::hooks::Hooks;
use crate::hooks::event::HookEvent;

impl Hooks {
    /// Finds the reverts that the user has undone without the editor's knowledge, and at a new prompt the
    /// changes that somebody else has reverted.
    pub(in crate::hooks) async fn drop_undone_reverts(&self, event: &HookEvent) {
        let sessions = self.driver.ask(|companion| companion.clis().sessions_of(&event.session));
        let look = async {
            let reverts = {
                let changes = self.changes();
                let reverts = sessions.iter().flat_map(|of| changes.reverted_paths(of));
                distinct(reverts.cloned(), usize::MAX)
            };
            if !reverts.is_empty() {
                let now = self.snapshots(reverts).await;
                self.forget_reverts(&self.undone_reverts(&now));
            }
            if !event.is_new_prompt {
                return;
            }
            let left = self.changes().left_by(&sessions);
            for part in left.chunks(MAX_LOOKS) {
                let files = part.iter().map(|(path, _)| Arc::clone(path)).collect();
                let now = self.snapshots(files).await;
                let prompts = self.changes().drop_reverted_by_others(&sessions, part, &now);
                self.report_all(prompts);
            }
        };
        // The CLI waits.
        let _ = timeout(DISK_TIMEOUT, look).await;
    }

    /// The changes whose reverts the user has undone, if these files are as they are `now`. Each with its
    /// file.
    pub(super) fn undone_reverts(&self, now: &[FileSnapshot]) -> Vec<(PromptId, FileSnapshot)> {
        let changes = self.changes();
        let mut undone = Vec::new();
        for file in now {
            let prompts = changes.undone_reverts(&file.path, &file.text);
            undone.extend(prompts.into_iter().map(|prompt| (prompt, file.clone())));
        }
        undone
    }

    /// The user has undone these reverts, so they are not reported to the model.
    pub(super) fn forget_reverts(&self, undone: &[(PromptId, FileSnapshot)]) {
        for (prompt, FileSnapshot { path, text, .. }) in undone {
            self.changes().reverts_undone(prompt, path, text);
            self.renew_notice(&prompt.0, path);
        }
        self.report_all(undone.iter().map(|(prompt, _)| prompt.clone()).collect::<BTreeSet<_>>());
    }

    /// These reverts were reported to the model, so they leave the list.
    pub(in crate::hooks) fn reverts_delivered<'a>(
        &self,
        reverts: impl Iterator<Item = &'a Revert>,
    ) {
        for Revert { cli, paths, .. } in reverts {
            let prompts = self.changes().reverts_reported(cli, paths);
            self.report_all(prompts);
        }
    }
}
