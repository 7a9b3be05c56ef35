//! Finds reverts that the user has undone, and reports the others to a model.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use companion_core::companion::Input;
use companion_core::notes::Revert;
use tokio::time::timeout;

use super::super::{FileSnapshot, Reverted};
use super::{ChangeTracker, MAX_LOOKS, distinct};
use crate::hooks::event::HookEvent;
use crate::hooks::reader::READ_TIMEOUT;

/// The most reverted files that the model gets by name.
const MAX_NAMED: usize = 50;

impl ChangeTracker {
    /// Finds the reverts that the user has undone without the editor's knowledge, and at a new prompt the
    /// changes that somebody else has taken back.
    pub(crate) async fn drop_undone(&self, event: &HookEvent) {
        let sessions = self.driver.ask(|companion| companion.clis().sessions_of(&event.session));
        let look = async {
            for session in sessions {
                self.drop_undone_of(&session, event.is_new_prompt).await;
            }
        };
        // The CLI waits.
        let _ = timeout(READ_TIMEOUT, look).await;
    }

    async fn drop_undone_of(&self, cli: &str, is_new_prompt: bool) {
        let (reverts, left) = {
            let changes = self.changes.lock();
            let reverts = changes.unreported_reverts(cli).into_iter().map(|of| of.path);
            let left = if is_new_prompt { changes.left_by(cli) } else { Vec::new() };
            (distinct(reverts, usize::MAX), left)
        };
        if !reverts.is_empty() {
            let now = self.snapshots(reverts).await;
            let undone = self.undone_reverts(cli, &now);
            self.forget_reverts(cli, &undone);
        }
        for part in left.chunks(MAX_LOOKS) {
            let files = part.iter().map(|(path, _)| Arc::clone(path)).collect();
            let now = self.snapshots(files).await;
            let prompts = self.changes.lock().drop_taken_back(cli, part, &now);
            self.report_all(prompts);
        }
    }

    /// The unreported reverts of files that have the text of the CLI `now`.
    pub(super) fn undone_reverts(&self, cli: &str, now: &[FileSnapshot]) -> Vec<Reverted> {
        let mut reverts = self.changes.lock().unreported_reverts(cli);
        reverts
            .retain(|of| now.iter().any(|file| file.path == of.path && of.is_undone(&file.text)));
        reverts
    }

    /// The user has undone these reverts, so they are not reported to the model.
    pub(super) fn forget_reverts(&self, cli: &str, undone: &[Reverted]) {
        let standing = {
            let mut changes = self.changes.lock();
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
            let unreported = self.changes.lock().unreported_reverts(cli);
            let undone: Vec<_> =
                unreported.into_iter().filter(|of| paths.contains(&of.path)).collect();
            for of in &undone {
                self.changes.lock().revert_reported(of);
            }
            self.report_all(undone.into_iter().map(|of| of.prompt).collect::<HashSet<_>>());
        }
    }

    /// The reverts as a text for the model of a CLI that runs in `folder`; `None` if there are none. Names
    /// only the files in `shared`.
    pub(in crate::hooks) fn text<'a>(
        &self,
        folder: Option<&str>,
        reverts: impl Iterator<Item = &'a Revert>,
        shared: &HashSet<Arc<str>>,
    ) -> Option<String> {
        let mut seen = HashSet::new();
        let (mut whole, mut partial) = (Vec::new(), Vec::new());
        let mut reverts: Vec<_> = reverts.collect();
        // A file that is reverted as a whole is not named a second time for a part.
        reverts.sort_by_key(|revert| revert.is_partial);
        for Revert { paths, is_partial, .. } in reverts {
            for path in paths {
                if shared.contains(path) && seen.insert(Arc::clone(path)) {
                    let list = if *is_partial { &mut partial } else { &mut whole };
                    list.push(self.workspace.name_for(folder, path));
                }
            }
        }
        let mut text = String::new();
        for (paths, amount) in [(whole, ""), (partial, "some of ")] {
            if !paths.is_empty() {
                let _ =
                    write!(text, "The user reverted {amount}your changes to {}. ", named(paths));
            }
        }
        if text.is_empty() {
            return None;
        }
        text.push_str("Read a file again before you edit it.");
        Some(text)
    }
}

/// Lists paths; of many only the first ones.
fn named(mut paths: Vec<String>) -> String {
    let others = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    let mut text = paths.join(", ");
    if others > 0 {
        let _ = write!(text, " and {others} other files");
    }
    text
}
