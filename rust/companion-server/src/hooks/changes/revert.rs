//! Plans the revert of files: decides what to write, and what the user is asked first.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use companion_protocol::editor::{
    FileToRevert, Hunk, PlanRevert, PlannedFile, RevertAction, RevertPlan,
};

use super::{CliChanges, LineCounts, PromptId, hunks};

/// The most files that a question names.
const MAX_NAMED: usize = 10;

/// The kept facts about a file to revert.
pub(super) struct Reversal {
    /// The text before the first of the prompts; `None` if there was no file.
    before: Option<Arc<str>>,
    /// The text as the CLI left it in the last of the prompts; `None` if it deleted the file.
    after: Option<Arc<str>>,
    /// Something else may have changed the file between the first prompt and the last.
    is_mixed: bool,
    /// A later prompt has changed the file, too.
    is_later: bool,
}

impl CliChanges {
    /// The facts about a file to revert; `None` if a text is not kept.
    pub(super) fn reversal(&self, file: &FileToRevert) -> Option<Reversal> {
        let is_wanted =
            |id: &PromptId| file.prompts.iter().any(|of| of.prompt == id.1 && *of.session == *id.0);
        let mut reversal: Option<Reversal> = None;
        let mut found = 0;
        let changes = self.all_changes().filter(|(_, of)| *of.path == *file.path);
        // Prompts of several CLIs may have another order than their edits.
        let mut changes: Vec<_> = changes.collect();
        changes.sort_by_key(|(_, of)| of.first_edit);
        for (id, change) in changes {
            if !is_wanted(id) {
                let is_later = !change.is_reverted() && !change.is_kept;
                if let Some(reversal) = reversal.as_mut().filter(|_| is_later) {
                    reversal.is_later = true;
                }
                continue;
            }
            if !change.is_revertible() {
                return None;
            }
            found += 1;
            let texts = change.texts();
            let older = reversal.take();
            // The text before the older prompt does not have the hunk that the user keeps.
            if change.has_kept && older.is_some() {
                return None;
            }
            let is_gap = older.as_ref().is_some_and(|older| older.after != texts.before);
            let was_mixed = older.as_ref().is_some_and(|older| older.is_mixed);
            let is_later = older.as_ref().is_some_and(|older| older.is_later);
            reversal = Some(Reversal {
                before: older.map_or(texts.before, |older| older.before),
                after: texts.after,
                is_mixed: was_mixed || is_gap || change.is_mixed,
                is_later,
            });
        }
        reversal.filter(|_| found == file.prompts.len())
    }
}

impl Reversal {
    /// With `is_sized`, a warning has the number of changed lines.
    fn plan(&self, file: &FileToRevert, undoes_deletions: bool, is_sized: bool) -> PlannedFile {
        if let (Some(hunk), Some(_), Some(after)) = (&file.hunk, &self.before, &self.after) {
            return self.plan_hunk(file, after, hunk);
        }
        let before = self.before.as_deref();
        let is_reverted = file.disk.as_deref() == before
            && file.unsaved.as_deref().is_none_or(|text| Some(text) == before);
        let action = match &self.before {
            _ if is_reverted => RevertAction::Nothing,
            Some(text) => RevertAction::Write { text: Arc::clone(text) },
            None => RevertAction::Delete,
        };
        let deletion = || {
            let is_asked = before.is_none() && !undoes_deletions;
            is_asked.then(|| "was created by the CLI".to_owned())
        };
        let warning = if is_reverted { None } else { self.loss(file, is_sized).or_else(deletion) };
        let now = file.unsaved.as_deref().or(file.disk.as_deref());
        let differs = self.after.is_some() && now.is_some() && now != self.after.as_deref();
        PlannedFile { path: file.path.clone(), action, warning, differs }
    }

    /// Plans the revert of one hunk. A file that was created or deleted has no single hunk.
    fn plan_hunk(&self, file: &FileToRevert, after: &str, hunk: &Hunk) -> PlannedFile {
        let now = file.unsaved.as_deref().or(file.disk.as_deref());
        let text = now.map(|now| hunks::revert_in(now, after, hunk));
        let refuse = |reason: &str| RevertAction::Refuse { reason: reason.to_owned() };
        let action = match text {
            None => refuse("the file was deleted since"),
            Some(None) => refuse("these lines have changed since; compare the whole file"),
            Some(Some(text)) => RevertAction::Write { text: text.into() },
        };
        let is_written = matches!(action, RevertAction::Write { .. });
        let warning = if file.unsaved.is_some() && file.unsaved != file.disk {
            Some("has unsaved changes, which the revert also saves")
        } else if self.is_mixed {
            Some("may have been changed by something else during the prompt")
        } else {
            None
        };
        let warning = warning.filter(|_| is_written).map(str::to_owned);
        let differs = now.is_some_and(|now| now != after);
        PlannedFile { path: file.path.clone(), action, warning, differs }
    }

    /// What a revert would lose beside the edits of the CLI.
    fn loss(&self, file: &FileToRevert, is_sized: bool) -> Option<String> {
        let (before, after) = (self.before.as_deref(), self.after.as_deref());
        let is_kept = |text: Option<&str>| text == after || text == before;
        let size = |now: &str| {
            if !is_sized {
                return String::new();
            }
            let LineCounts { added, removed } = LineCounts::of_texts(after, Some(now));
            format!(" (+{added} −{removed})")
        };
        let by = if self.is_later { ", by a later prompt as well" } else { "" };
        match (file.disk.as_deref(), file.unsaved.as_deref()) {
            (_, Some(unsaved)) if !is_kept(Some(unsaved)) => {
                Some(format!("has other, unsaved changes{}", size(unsaved)))
            }
            (None, _) if !is_kept(None) => Some("was deleted since".to_owned()),
            (disk @ Some(_), _) if !is_kept(disk) && after.is_none() => {
                Some("exists again".to_owned())
            }
            (Some(disk), _) if !is_kept(Some(disk)) => {
                Some(format!("has changed since{by}{}", size(disk)))
            }
            _ if self.is_later => Some("was changed by a later prompt as well".to_owned()),
            _ if self.is_mixed => {
                Some("may have been changed by something else during the prompt".to_owned())
            }
            _ => None,
        }
    }
}

/// Decides how to revert files. `reversals` are in the order of the files. `name` returns the name of a
/// path for the user. Takes 200 ms at most for each file that the question names.
pub(super) fn plan(
    wanted: &PlanRevert,
    reversals: &[Option<Reversal>],
    name: impl Fn(&str) -> String,
) -> RevertPlan {
    let mut files = Vec::new();
    let mut warned = 0;
    for (file, reversal) in wanted.files.iter().zip(reversals) {
        let planned = match reversal {
            Some(reversal) => reversal.plan(file, wanted.undoes_deletions, warned < MAX_NAMED),
            None => PlannedFile {
                path: file.path.clone(),
                action: RevertAction::Refuse {
                    reason: "the earlier text is no longer available".to_owned(),
                },
                warning: None,
                differs: false,
            },
        };
        warned += usize::from(planned.warning.is_some());
        files.push(planned);
    }
    let question = question(&files, name);
    RevertPlan { files, question }
}

fn question(files: &[PlannedFile], name: impl Fn(&str) -> String) -> Option<String> {
    let is_possible = |file: &&PlannedFile| !matches!(file.action, RevertAction::Refuse { .. });
    let count = files.iter().filter(is_possible).count();
    let mut lines = Vec::new();
    let mut others: usize = 0;
    for file in files {
        let Some(warning) = &file.warning else { continue };
        let (name, is_deleted) = (name(&file.path), file.action == RevertAction::Delete);
        if count == 1 {
            let verb = if is_deleted { "Delete" } else { "Revert" };
            return Some(format!("{name} {warning}. {verb} it?"));
        } else if lines.len() == MAX_NAMED {
            others += 1;
        } else {
            let ending = if is_deleted { ", and will be deleted" } else { "" };
            lines.push(format!("{name} {warning}{ending}"));
        }
    }
    if lines.is_empty() {
        return None;
    }
    if others > 0 {
        lines.push(format!("… and {others} more"));
    }
    lines.push(format!("Revert all {count} files?"));
    Some(lines.join("\n"))
}
