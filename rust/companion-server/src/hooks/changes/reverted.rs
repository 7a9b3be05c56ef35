//! Keeps which changes the user has reverted, whole or by hunks, until the model got a report of it.

use std::sync::Arc;

use companion_core::text::Digest;
use companion_protocol::editor::Hunk;

use super::{Change, CliChanges, FileText, LineCounts, PromptId, hunks};

/// A revert that was not reported to the model.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reverted {
    pub(crate) prompt: PromptId,
    pub(crate) path: Arc<str>,
    /// Other changes in the file stay.
    pub(crate) is_partial: bool,
    after: FileText,
}

impl Reverted {
    /// Whether the user has undone the revert, so that the file is as the CLI left it.
    pub(crate) fn is_undone(&self, now: &FileText) -> bool {
        *now == self.after && *now != FileText::Unkept(None)
    }
}

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
    /// The user has reverted some of it, and the model has no notice of that yet.
    pub(super) fn has_unreported_revert(&self) -> bool {
        self.is_reverted || self.is_partly_reverted()
    }

    fn is_partly_reverted(&self) -> bool {
        !self.is_reverted && !self.reverted_hunks.is_empty()
    }

    /// Takes the numbers of a hunk's lines out of the counts.
    fn uncount(&mut self, hunk: &Hunk) {
        let Some(counts) = &mut self.counts else { return };
        let of_hunk = count_lines(hunk);
        counts.added = counts.added.saturating_sub(of_hunk.added);
        counts.removed = counts.removed.saturating_sub(of_hunk.removed);
    }

    /// Takes a hunk out of the text. Returns false if the text has no such hunk.
    fn revert_hunk(&mut self, hunk: &Hunk) -> bool {
        let (FileText::Text(before), FileText::Text(after)) = (&self.before, &self.after) else {
            // A file that was created or deleted has no single hunk.
            self.is_reverted = self.is_revertible();
            return self.is_reverted;
        };
        let Some(text) = hunks::revert(after, hunk) else { return false };
        if **before == *text {
            self.is_reverted = true;
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
    /// The user has reverted a change, or one hunk of it. Returns false if that is known already, or if the
    /// change has no such hunk.
    pub(crate) fn reverted(&mut self, id: &PromptId, path: &str, hunk: Option<&Hunk>) -> bool {
        let Some(change) = self.change(id, path).filter(|change| !change.is_reverted) else {
            return false;
        };
        change.is_reverted = hunk.is_none();
        let is_new = hunk.is_none_or(|hunk| change.revert_hunk(hunk));
        self.calls.forget_in_commands(path);
        is_new
    }

    /// The revert of a change that the model has no notice of: whether other changes of the CLI in the file
    /// stay.
    pub(crate) fn revert_of(&mut self, id: &PromptId, path: &str) -> Option<bool> {
        let change = self.change(id, path).filter(|change| change.has_unreported_revert())?;
        Some(!change.is_reverted || change.has_kept)
    }

    /// The user has undone the latest revert of a change: of a hunk, or without one of the file. Returns
    /// whether hunks of the change stay reverted; `None` if that was not the latest revert.
    pub(crate) fn revert_undone(
        &mut self,
        id: &PromptId,
        path: &str,
        hunk: Option<&Hunk>,
    ) -> Option<bool> {
        // The model may have got the report, and have forgotten it, or the CLI has changed the file since.
        let Some(change) = self.change(id, path) else { return Some(false) };
        if change.is_reverted {
            change.is_reverted = false;
        } else if let (Some(hunk), false) = (hunk, change.reverted_hunks.is_empty()) {
            let last = change.reverted_hunks.pop_if(|last| last.hunk == digest(hunk))?;
            change.restore(last);
        } else {
            change.restore_all();
        }
        change.relist();
        let is_partly_reverted = change.is_partly_reverted();
        self.calls.forget_in_commands(path);
        self.drop_kept(id);
        Some(is_partly_reverted)
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
            if !change.is_reverted {
                change.before = change.after.clone();
                change.counts = Some(LineCounts::default());
                change.has_kept = true;
            }
        }
        self.drop_kept(id);
    }

    /// Drops the kept changes that have no revert to report to the model.
    fn drop_kept(&mut self, id: &PromptId) {
        if let Some(prompt) = self.prompts.iter_mut().find(|prompt| prompt.id == *id) {
            prompt.files.retain(|change| {
                !change.is_kept || change.is_reverted || change.is_partly_reverted()
            });
        }
    }

    /// The reverts that were not reported to the model of a CLI.
    pub(crate) fn unreported_reverts(&self, cli: &str) -> Vec<Reverted> {
        let mut reverts = Vec::new();
        for (id, change) in self.all_changes() {
            if *id.0 == *cli && change.has_unreported_revert() {
                let after = change.reverted_hunks.first().map_or(&change.after, |of| &of.after);
                let (path, after) = (Arc::clone(&change.path), after.clone());
                let is_partial = change.is_partly_reverted();
                reverts.push(Reverted { prompt: id.clone(), path, is_partial, after });
            }
        }
        reverts
    }

    /// The file has the text of the CLI again, so all reverts of the change are undone.
    pub(crate) fn reverts_undone(&mut self, id: &PromptId, path: &str) {
        let Some(change) = self.change(id, path) else { return };
        change.is_reverted = false;
        change.restore_all();
        change.relist();
        self.drop_kept(id);
    }

    /// A revert was reported to the model. The rest of the change stays in the list.
    pub(crate) fn revert_reported(&mut self, of: &Reverted) {
        match self.change(&of.prompt, &of.path) {
            Some(change) if of.is_partial => {
                change.reverted_hunks.clear();
                self.drop_kept(&of.prompt);
            }
            _ => self.remove(&of.prompt, std::slice::from_ref(&of.path)),
        }
    }
}
