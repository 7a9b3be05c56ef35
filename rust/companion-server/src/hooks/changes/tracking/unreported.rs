//! Finds reverts that the user has undone, and those that a model has got.

use std::collections::HashSet;
use std::sync::Arc;

use companion_core::companion::Input;
use companion_core::notes::Revert;
use tokio::time::timeout;

use super::super::{FileSnapshot, Reverted};
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
            for session in &sessions {
                let reverts = self.changes().unreported_reverts(session);
                let reverts = distinct(reverts.into_iter().map(|of| of.path), usize::MAX);
                if !reverts.is_empty() {
                    let now = self.snapshots(reverts).await;
                    let undone = self.undone_reverts(session, &now);
                    self.forget_reverts(session, &undone);
                }
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

    /// The unreported reverts of files that have the text of the CLI `now`.
    pub(super) fn undone_reverts(&self, cli: &str, now: &[FileSnapshot]) -> Vec<Reverted> {
        let mut reverts = self.changes().unreported_reverts(cli);
        reverts
            .retain(|of| now.iter().any(|file| file.path == of.path && of.is_undone(&file.text)));
        reverts
    }

    /// The user has undone these reverts, so they are not reported to the model.
    pub(super) fn forget_reverts(&self, cli: &str, undone: &[Reverted]) {
        let standing = {
            let mut changes = self.changes();
            for Reverted { prompt, path, .. } in undone {
                changes.reverts_undone(prompt, path);
            }
            changes.unreported_reverts(cli)
        };
        // Another prompt's revert of the file may stand.
        let standing: HashSet<_> = standing.iter().map(|of| &of.path).collect();
        for Reverted { path, .. } in undone.iter().filter(|of| !standing.contains(&of.path)) {
            self.driver.post(Input::RevertUndone(cli, path));
        }
        self.report_all(undone.iter().map(|of| of.prompt.clone()).collect::<HashSet<_>>());
    }

    /// These reverts were reported to the model, so they leave the list.
    pub(in crate::hooks) fn reverts_delivered<'a>(
        &self,
        reverts: impl Iterator<Item = &'a Revert>,
    ) {
        for Revert { cli, paths, .. } in reverts {
            let unreported = self.changes().unreported_reverts(cli);
            let undone: Vec<_> =
                unreported.into_iter().filter(|of| paths.contains(&of.path)).collect();
            for of in &undone {
                self.changes().revert_reported(of);
            }
            self.report_all(undone.into_iter().map(|of| of.prompt).collect::<HashSet<_>>());
        }
    }
}
