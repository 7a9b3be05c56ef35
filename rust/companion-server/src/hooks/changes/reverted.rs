//! Keeps which changes the user has reverted, whole or by hunks, until the model got a report of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use companion_core::text::Digest;
use companion_protocol::editor::Hunk;

use super::{Change, CliChanges, FileText, LineCounts, Prompt, PromptId, hunks};

/// A hunk that the user has reverted.
#[derive(Debug)]
pub(super) struct RevertedHunk {
    hunk: Digest,
    counts: LineCounts,
    /// The text before the revert. If it is not kept any more, the user can still undo the revert in the
    /// editor.
    pub(super) after: FileText,
}

impl Change {
    /// The user has reverted all of it, and the model has no notice of that yet.
    pub(super) fn is_reverted(&self) -> bool {
        self.reverted_with.is_some()
    }

    /// The user has reverted some of it, and the model has no notice of that yet.
    pub(super) fn has_unreported_revert(&self) -> bool {
        self.is_reverted() || self.is_partly_reverted()
    }

    fn is_partly_reverted(&self) -> bool {
        !self.is_reverted() && !self.reverted_hunks.is_empty()
    }

    /// The revert that the model has no notice of: whether other changes of the CLI in the file stay.
    fn notice(&self) -> Option<bool> {
        self.has_unreported_revert().then_some(!self.is_reverted() || self.has_kept)
    }

    /// The file as the CLI left it, before the user reverted hunks.
    fn left(&self) -> &FileText {
        self.reverted_hunks.first().map_or(&self.after, |of| &of.after)
    }

    /// A file that was created or deleted has no single hunk.
    fn is_one_hunk(&self) -> bool {
        self.before == FileText::Absent || self.after == FileText::Absent
    }

    /// Takes the numbers of a hunk's lines out of the counts.
    fn uncount(&mut self, hunk: &Hunk) {
        let Some(counts) = &mut self.counts else { return };
        let of_hunk = count_lines(hunk);
        counts.added = counts.added.saturating_sub(of_hunk.added);
        counts.removed = counts.removed.saturating_sub(of_hunk.removed);
    }

    /// Takes a hunk out of the text of the change in the prompt `id`. Returns false if the text has no such
    /// hunk.
    fn revert_hunk(&mut self, id: &PromptId, hunk: &Hunk) -> bool {
        let (FileText::Text(before), FileText::Text(after)) = (&self.before, &self.after) else {
            return false;
        };
        let Some(text) = hunks::revert(after, hunk) else { return false };
        if **before == *text {
            self.reverted_with = Some(id.clone());
            return true;
        }
        let after = std::mem::replace(&mut self.after, FileText::Text(text.into()));
        self.uncount(hunk);
        let (hunk, counts) = (digest(hunk), count_lines(hunk));
        self.reverted_hunks.push(RevertedHunk { hunk, counts, after });
        true
    }

    /// The revert of a hunk is undone.
    fn restore(&mut self, undone: RevertedHunk) {
        self.after = undone.after;
        let Some(counts) = &mut self.counts else { return };
        counts.added += undone.counts.added;
        counts.removed += undone.counts.removed;
    }

    /// The reverts of all hunks are undone.
    fn restore_all(&mut self) {
        while let Some(last) = self.reverted_hunks.pop() {
            self.restore(last);
        }
    }

    /// Lists the change again if the undone revert has left something to review.
    fn relist(&mut self) {
        self.is_kept &= self.before == self.after;
    }
}

fn digest(hunk: &Hunk) -> Digest {
    Digest::of(&format!("{} {}\n{}", hunk.before, hunk.after, hunk.lines.concat()))
}

fn count_lines(hunk: &Hunk) -> LineCounts {
    let count = |mark| hunk.lines.iter().filter(|line| line.starts_with(mark)).count();
    LineCounts { added: count('+'), removed: count('-') }
}

impl CliChanges {
    /// The changes of a file, with their prompts.
    fn changes_of(&mut self, path: &str) -> impl Iterator<Item = (&PromptId, &mut Change)> {
        self.prompts.iter_mut().flat_map(move |prompt| {
            let of_file = prompt.files.iter_mut().filter(move |change| *change.path == *path);
            of_file.map(|change| (&prompt.id, change))
        })
    }

    /// The user has reverted a change, or one hunk of it. Without a hunk, the file is as it was before the
    /// change, so the later changes of the file are reverted with it. Returns the prompts of all these, each
    /// with its notice for the model if that is another one than before.
    pub(crate) fn reverted(
        &mut self,
        id: &PromptId,
        path: &str,
        hunk: Option<&Hunk>,
    ) -> Vec<(PromptId, Option<bool>)> {
        let Some(change) = self.change(id, path) else { return Vec::new() };
        let first_edit = change.first_edit;
        let hunk = hunk.filter(|_| !change.is_one_hunk());
        let mut reverted = Vec::new();
        for (of, change) in self.changes_of(path) {
            let before = change.notice();
            let is_new = match hunk {
                Some(hunk) => of == id && !change.is_reverted() && change.revert_hunk(id, hunk),
                None if of == id || change.first_edit > first_edit && !change.is_reverted() => {
                    change.reverted_with.replace(id.clone()).as_ref() != Some(id)
                }
                None => false,
            };
            if is_new {
                let notice = change.notice();
                reverted.push((of.clone(), notice.filter(|_| notice != before)));
            }
        }
        self.calls.forget_in_commands(path);
        reverted
    }

    /// The revert of a CLI's changes in a file that its model has no notice of: whether other changes of the
    /// CLI in the file stay.
    pub(crate) fn notice_of(&self, cli: &str, path: &str) -> Option<bool> {
        let changes = self.all_changes().filter(|(id, of)| *id.0 == *cli && *of.path == *path);
        changes.filter_map(|(_, of)| of.notice()).min()
    }

    /// The user has undone the latest revert of a change: of a hunk, or without one of the file. Returns the
    /// prompts of the changes that this may concern; none if that was not the latest revert.
    pub(crate) fn revert_undone(
        &mut self,
        id: &PromptId,
        path: &str,
        hunk: Option<&Hunk>,
    ) -> BTreeSet<PromptId> {
        self.calls.forget_in_commands(path);
        let mut undone = BTreeSet::new();
        for (of, change) in self.changes_of(path) {
            if change.reverted_with.take_if(|with| *with == *id).is_some() {
                change.relist();
                undone.insert(of.clone());
            }
        }
        // The model may have got the report, and have forgotten it, or a CLI has changed the file since.
        let change = self.change(id, path).filter(|change| !change.is_reverted());
        if let Some(change) = change.filter(|_| undone.is_empty()) {
            if let (Some(hunk), false) = (hunk, change.reverted_hunks.is_empty()) {
                let last = change.reverted_hunks.pop_if(|last| last.hunk == digest(hunk));
                let Some(last) = last else { return undone };
                change.restore(last);
            } else {
                change.restore_all();
            }
            change.relist();
        }
        self.drop_kept();
        undone.insert(id.clone());
        undone
    }

    /// The user keeps one hunk, so it leaves the list.
    pub(crate) fn hunk_kept(&mut self, id: &PromptId, path: &str, hunk: &Hunk) {
        let Some(change) = self.change(id, path) else { return };
        let (FileText::Text(before), FileText::Text(_)) = (&change.before, &change.after) else {
            // A file that was created or deleted is one change.
            return self.kept(id, &[path]);
        };
        let Some(text) = hunks::apply(before, hunk) else { return };
        change.before = FileText::Text(text.into());
        change.has_kept = true;
        change.uncount(hunk);
        if change.before == change.after {
            self.kept(id, &[path]);
        }
    }

    /// The user keeps these changes, so they leave the list.
    pub(crate) fn kept(&mut self, id: &PromptId, paths: &[impl AsRef<str>]) {
        for path in paths {
            let Some(change) = self.change(id, path.as_ref()) else { continue };
            change.is_kept = true;
            // An undo of a file's revert lists the CLI's change again.
            if !change.is_reverted() {
                change.before = change.after.clone();
                change.counts = Some(LineCounts::default());
                change.has_kept = true;
            }
        }
        self.drop_kept();
    }

    /// Drops the kept changes that have no revert to report to the model.
    fn drop_kept(&mut self) {
        for prompt in &mut self.prompts {
            prompt.files.retain(|change| !change.is_kept || change.has_unreported_revert());
        }
    }

    /// An edit of a file, which was `before` until then, ends its reverts: changes that are reverted leave
    /// the list, and the edit begins a new one. Returns the prompts whose lists change.
    pub(super) fn end_reverts(&mut self, path: &Arc<str>, before: &FileText) -> BTreeSet<PromptId> {
        let undone = self.undone_reverts(path, before);
        for id in &undone {
            self.reverts_undone(id, path, before);
            self.undone.push((Arc::clone(&id.0), Arc::clone(path)));
        }
        let mut changed: BTreeSet<_> = undone.into_iter().collect();
        for Prompt { id, files, .. } in &mut self.prompts {
            let is_ended = |change: &mut Change| change.path == *path && change.is_reverted();
            if files.extract_if(.., is_ended).count() > 0 {
                changed.insert(id.clone());
            }
        }
        changed
    }

    /// The files with reverts that the model of a CLI has no notice of.
    pub(crate) fn reverted_paths(&self, cli: &str) -> impl Iterator<Item = &Arc<str>> {
        let reverted =
            self.all_changes().filter(move |(id, of)| *id.0 == *cli && of.has_unreported_revert());
        reverted.map(|(_, of)| &of.path)
    }

    /// The changes whose reverts the user has undone, if a file is `now`: it has the text of the CLI again.
    pub(crate) fn undone_reverts(&self, path: &str, now: &FileText) -> Vec<PromptId> {
        if *now == FileText::Unkept(None) {
            return Vec::new();
        }
        let of_file = self.all_changes().filter(|(_, of)| *of.path == *path);
        let reverted = of_file.filter(|(_, of)| of.has_unreported_revert());
        let (mut whole, mut undone): (Vec<_>, Vec<_>) =
            reverted.partition(|(_, of)| of.is_reverted());
        undone.retain(|(_, of)| of.left() == now);
        whole.sort_by_key(|(_, of)| of.first_edit);
        // The CLI may have left the text that the reverts have written, too.
        let stand = whole.first().is_some_and(|(_, of)| of.before == *now);
        let last = whole.iter().position(|(_, of)| of.left() == now || of.after == *now);
        if let Some(last) = last.filter(|_| !stand) {
            // The file has the earlier changes, too.
            undone.extend(&whole[..=last]);
        }
        undone.into_iter().map(|(id, _)| id.clone()).collect()
    }

    /// The reverts of a change are undone: the file is `now`.
    pub(crate) fn reverts_undone(&mut self, id: &PromptId, path: &str, now: &FileText) {
        let Some(change) = self.change(id, path) else { return };
        change.reverted_with = None;
        if change.left() == now {
            change.restore_all();
        }
        change.relist();
        self.drop_kept();
    }

    /// The reverts of a CLI's changes in these files were reported to its model. The rest of a change stays
    /// in the list. Returns the prompts of the changes.
    pub(crate) fn reverts_reported(&mut self, cli: &str, paths: &[Arc<str>]) -> BTreeSet<PromptId> {
        let mut reported = BTreeSet::new();
        for Prompt { id, files, .. } in self.prompts.iter_mut().filter(|of| *of.id.0 == *cli) {
            files.retain_mut(|change| {
                if !paths.contains(&change.path) || !change.has_unreported_revert() {
                    return true;
                }
                reported.insert(id.clone());
                change.reverted_hunks.clear();
                !change.is_reverted()
            });
        }
        self.drop_kept();
        reported
    }
}
