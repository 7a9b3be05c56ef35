//! Keeps what each CLI has changed, by prompt, with the texts from before. Does no IO.

mod described;
mod file_text;
mod hunks;
mod patch;
mod revert;
mod reverted;
#[cfg(test)]
mod tests;
mod tool_calls;
mod tracking;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::CliSessionId;
use companion_protocol::editor::ChangedText;

use companion_core::text::Digest;
use file_text::as_on_disk;
pub(crate) use file_text::{Access, FileSnapshot, FileText};
pub(crate) use hunks::LineCounts;
use reverted::RevertedHunk;
pub(crate) use tool_calls::Agent;
use tool_calls::{ToolCall, ToolCalls};

/// The most bytes of texts. Above it the oldest changes can't be reverted any more. With the copies of
/// files and events that are being read, it takes 64 MB of memory.
const MAX_BYTES: usize = 32 << 20;

/// The most prompts. Above it the oldest leaves the list.
const MAX_PROMPTS: usize = 200;

/// The most files of a prompt. A further one is not listed.
const MAX_FILES: usize = 2000;

/// The most subagents of a prompt. The changes of a further one belong to the newest prompt.
const MAX_SUBAGENTS: usize = 64;

/// The most bytes of paths. Above it the oldest prompts leave the list.
const MAX_PATH_BYTES: usize = 8 << 20;

/// The time that changes are kept.
pub(super) const MAX_AGE: Duration = Duration::from_hours(24);

/// Names a prompt: the session of its CLI, and its number.
pub(crate) type PromptId = (CliSessionId, u64);

#[derive(Debug, Default)]
pub(crate) struct CliChanges {
    /// The oldest is first.
    prompts: Vec<Prompt>,
    last_number: u64,
    last_edit: u64,
    calls: ToolCalls,
    /// The CLIs and files with reverts that an edit has found undone.
    undone: Vec<(CliSessionId, Arc<str>)>,
    /// The prompts that will be reported once their lines are counted.
    reports: Vec<PromptId>,
}

#[derive(Debug, Default)]
struct Prompt {
    id: PromptId,
    /// Its first line.
    title: String,
    /// Milliseconds since 1970.
    time: u64,
    /// In the order of their first edits.
    files: Vec<Change>,
    /// The editor may list files that a command has changed, which are not in `files`.
    has_command: bool,
    /// The subagents that have begun during the prompt. They may go on after the next one.
    subagents: Vec<Arc<str>>,
}

/// The change of a file since a prompt.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each fact is independent of the others")]
struct Change {
    path: Arc<str>,
    /// The number of its first edit, which orders the changes of all CLIs.
    first_edit: u64,
    before: FileText,
    /// The file as the CLI left it.
    after: FileText,
    counts: Option<LineCounts>,
    is_private: bool,
    /// Something else may have changed the file during the prompt.
    is_mixed: bool,
    /// The prompt of the change whose revert has reverted this one: this one itself, or an earlier one of
    /// the file.
    reverted_with: Option<PromptId>,
    /// The user has kept a hunk, so `before` is no longer the text before the prompt.
    has_kept: bool,
    /// The user has kept the rest, so the change is not in the list. It stays here until the model
    /// gets the notice of its reverts, because the user may still undo them.
    is_kept: bool,
    /// The hunks that the user has taken out of `after`, in this order.
    reverted_hunks: Vec<RevertedHunk>,
}

impl Prompt {
    fn has_subagent(&self, id: &str) -> bool {
        self.subagents.iter().any(|of| **of == *id)
    }

    /// Whether the list has files of the prompt, or may get some after the next prompt.
    fn is_needed(&self) -> bool {
        self.has_command || !self.files.is_empty() || !self.subagents.is_empty()
    }
}

impl Change {
    fn size(&self) -> usize {
        let earlier: usize = self.reverted_hunks.iter().map(|of| of.after.size()).sum();
        self.before.size() + self.after.size() + earlier
    }

    fn forget_texts(&mut self) {
        self.before.forget();
        self.after.forget();
        for reverted in &mut self.reverted_hunks {
            reverted.after.forget();
        }
    }

    fn is_revertible(&self) -> bool {
        let is_unkept = |text| matches!(text, &FileText::Unkept(_));
        !self.is_private && !is_unkept(&self.before) && !is_unkept(&self.after)
    }

    fn texts(&self) -> ChangedText {
        let (before, after) = (self.before.text().cloned(), self.after.text().cloned());
        ChangedText { before, after }
    }
}

impl CliChanges {
    /// The user has sent a prompt. Returns its id, and the prompts that have left the list.
    pub(crate) fn begin_prompt(
        &mut self,
        cli: &str,
        title: String,
        time: u64,
    ) -> (PromptId, Vec<PromptId>) {
        self.prompts.retain(|of| &*of.id.0 != cli || of.is_needed());
        self.last_number += 1;
        let id: PromptId = (cli.into(), self.last_number);
        self.prompts.push(Prompt { id: id.clone(), title, time, ..Prompt::default() });
        let mut gone = Vec::new();
        while self.prompts.len() > MAX_PROMPTS {
            let index = self.dispensable();
            gone.push(self.prompts.remove(index).id);
        }
        (id, gone)
    }

    /// The first prompt to leave a full list: one without files, if possible an earlier one of its CLI, or
    /// else the oldest.
    fn dispensable(&self) -> usize {
        let is_over = |of: &Prompt| self.current(&of.id.0) != Some(&of.id);
        let over = self.prompts.iter().position(|of| of.files.is_empty() && is_over(of));
        let empty = self.prompts.iter().position(|of| of.files.is_empty());
        let empty = empty.filter(|index| index + 1 < self.prompts.len());
        over.or(empty).unwrap_or(0)
    }

    /// A tool is about to edit a file, or to run a command, which may change any of `files` and others that
    /// the editor may list. Returns the prompt of the call, and the commands that are forgotten, because
    /// there are too many calls.
    fn begin_call(
        &mut self,
        caller: Agent<'_>,
        command: Option<Digest>,
        files: Vec<FileSnapshot>,
    ) -> Option<(PromptId, Vec<ToolCall>)> {
        let index = self.index_of(caller)?;
        let prompt = &mut self.prompts[index];
        prompt.has_command |= command.is_some();
        if let Some(subagent) = caller.subagent
            && !prompt.has_subagent(subagent)
            && prompt.subagents.len() < MAX_SUBAGENTS
        {
            prompt.subagents.push(subagent.into());
        }
        let id = prompt.id.clone();
        let forgotten = self.calls.begin(id.clone(), caller.subagent, command, files);
        Some((id, forgotten))
    }

    /// The current prompt of a CLI.
    pub(crate) fn current(&self, cli: &str) -> Option<&PromptId> {
        self.current_index(cli).map(|index| &self.prompts[index].id)
    }

    fn current_index(&self, cli: &str) -> Option<usize> {
        self.prompts.iter().rposition(|prompt| &*prompt.id.0 == cli)
    }

    /// The prompt that a model works for. That of a subagent may be an earlier one.
    fn index_of(&self, Agent { cli, subagent }: Agent<'_>) -> Option<usize> {
        let began = self.prompts.iter().rposition(|prompt| {
            &*prompt.id.0 == cli && subagent.is_some_and(|id| prompt.has_subagent(id))
        });
        began.or_else(|| self.current_index(cli))
    }

    /// The changes with their prompts, the oldest prompts first.
    fn all_changes(&self) -> impl DoubleEndedIterator<Item = (&PromptId, &Change)> {
        let prompts = self.prompts.iter();
        prompts.flat_map(|prompt| prompt.files.iter().map(|change| (&prompt.id, change)))
    }

    /// The files that a CLI has changed, the newest prompts first.
    pub(crate) fn paths_of(&self, cli: &str) -> impl Iterator<Item = &Arc<str>> {
        let prompts = self.prompts.iter().rev().filter(move |prompt| &*prompt.id.0 == cli);
        prompts.flat_map(|prompt| &prompt.files).map(|change| &change.path)
    }

    /// A tool has edited a file, which is `after` by now. With `original` the file before the edit
    /// is known from the CLI, too. Returns the prompts whose lists change.
    pub(crate) fn edited(
        &mut self,
        caller: Agent<'_>,
        original: Option<FileText>,
        after: FileSnapshot,
    ) -> BTreeSet<PromptId> {
        if after.access == Access::Outside {
            return BTreeSet::new();
        }
        let before = self.calls.end_edit(caller, &after.path);
        // The CLI reports the text of any file. A revert must not write it where there is no file.
        let is_there = matches!(after.text, FileText::Text(_));
        let original = original.filter(|_| after.access == Access::Shared && is_there);
        if before.is_none() && original.is_none() && after.text == FileText::Absent {
            return BTreeSet::new();
        }
        let (before, is_mixed) = match (before, original) {
            (Some(file), Some(FileText::Text(of_cli))) if file.text.differs_from(&of_cli) => {
                // The user has changed the file between the snapshot and the edit.
                (FileText::Text(as_on_disk(&of_cli, &after.text)), true)
            }
            (Some(file), _) => (file.text, false),
            // Only the CLI says what the file was, so the user is asked before a revert.
            (None, Some(FileText::Text(of_cli))) => {
                (FileText::Text(as_on_disk(&of_cli, &after.text)), true)
            }
            (None, Some(original)) => (original, true),
            (None, None) => (FileText::Unkept(None), false),
        };
        self.record(caller, before, after, is_mixed)
    }

    /// A command has ended. `after` are the files by now. Returns the prompts whose lists change.
    fn command_ended(
        &mut self,
        caller: Agent<'_>,
        command: &ToolCall,
        after: Vec<FileSnapshot>,
    ) -> BTreeSet<PromptId> {
        let mut before: BTreeMap<_, _> =
            command.files.iter().map(|file| (&file.path, &file.text)).collect();
        let mut prompts = BTreeSet::new();
        for file in after {
            let Some(before) = before.remove(&file.path) else { continue };
            // The user may have saved the file during the command.
            prompts.extend(self.record(caller, before.clone(), file, true));
        }
        prompts
    }

    fn record(
        &mut self,
        caller: Agent<'_>,
        mut before: FileText,
        after: FileSnapshot,
        is_mixed: bool,
    ) -> BTreeSet<PromptId> {
        let FileSnapshot { path, text: after, access } = after;
        // A command of another CLI may have made a change that is seen after this one.
        let cli = is_mixed.then_some(caller.cli);
        self.calls.file_changed(cli, &path, &before, &after);
        let is_private = access == Access::Private;
        if is_private {
            before.forget();
            let all = self.prompts.iter_mut().flat_map(|prompt| &mut prompt.files);
            for change in all.filter(|change| change.path == path) {
                change.forget_texts();
            }
        }
        if before == after && before != FileText::Unkept(None) {
            return BTreeSet::new();
        }
        let mut prompts = self.end_reverts(&path, &before);
        // The prompts have the changes of a file in their order, by which a revert finds the text from
        // before. So a subagent's change can't belong to an earlier prompt than the last one of the file.
        let last = self.prompts.iter().rposition(|prompt| {
            &*prompt.id.0 == caller.cli && prompt.files.iter().any(|change| change.path == path)
        });
        let Some(index) = self.index_of(caller) else { return prompts };
        let index = index.max(last.unwrap_or(0));
        self.last_edit += 1;
        let prompt = &mut self.prompts[index];
        prompt.files.retain(|change| !change.is_kept || change.path != path);
        match prompt.files.iter().position(|change| change.path == path) {
            Some(index) => {
                let change = &mut prompt.files[index];
                change.is_mixed |= is_mixed || before != change.after;
                change.reverted_hunks.clear();
                change.after = after;
                change.is_private |= is_private;
                change.counts = None;
            }
            None if prompt.files.len() == MAX_FILES => return prompts,
            None => prompt.files.push(Change {
                path,
                first_edit: self.last_edit,
                before,
                after,
                counts: None,
                is_private,
                is_mixed,
                reverted_with: None,
                has_kept: false,
                is_kept: false,
                reverted_hunks: Vec::new(),
            }),
        }
        // The CLI may have reverted its edit.
        prompt.files.retain(|change| {
            change.before != change.after || !change.is_revertible() || change.is_kept
        });
        prompts.insert(prompt.id.clone());
        prompts
    }

    /// Drops the oldest prompts, and the texts of the oldest changes, until the others fit. Returns
    /// the prompts that have changed.
    pub(crate) fn shrink(&mut self) -> Vec<PromptId> {
        let mut shrunk = self.drop_oldest_prompts();
        let mut bytes = self.calls.bytes()
            + self.prompts.iter().flat_map(|prompt| &prompt.files).map(Change::size).sum::<usize>();
        for prompt in &mut self.prompts {
            for change in &mut prompt.files {
                if bytes <= MAX_BYTES {
                    return shrunk;
                }
                if change.size() > 0 {
                    bytes -= change.size();
                    change.forget_texts();
                    if shrunk.last() != Some(&prompt.id) {
                        shrunk.push(prompt.id.clone());
                    }
                }
            }
        }
        shrunk
    }

    /// Notes that a prompt has to be reported. False if that is noted already.
    fn begin_report(&mut self, id: &PromptId) -> bool {
        let is_new = !self.reports.contains(id);
        if is_new {
            self.reports.push(id.clone());
        }
        is_new
    }

    fn drop_oldest_prompts(&mut self) -> Vec<PromptId> {
        let paths_of = |prompt: &Prompt| -> usize {
            prompt.files.iter().map(|change| change.path.len()).sum()
        };
        let mut bytes: usize = self.prompts.iter().map(paths_of).sum();
        let mut dropped = Vec::new();
        while bytes > MAX_PATH_BYTES && self.prompts.len() > 1 {
            let prompt = self.prompts.remove(0);
            bytes -= paths_of(&prompt);
            dropped.push(prompt.id);
        }
        dropped
    }

    /// The texts whose lines are not counted yet.
    pub(crate) fn uncounted(&self, id: &PromptId) -> Vec<(Arc<str>, FileText, FileText)> {
        let files = self.prompt(id).map_or(&[][..], |prompt| &prompt.files);
        let uncounted =
            files.iter().filter(|change| change.counts.is_none() && change.is_revertible());
        uncounted
            .map(|change| (Arc::clone(&change.path), change.before.clone(), change.after.clone()))
            .collect()
    }

    /// Keeps the counts of a change, if its text is still `after`.
    pub(crate) fn counted(
        &mut self,
        id: &PromptId,
        path: &str,
        after: &FileText,
        counts: LineCounts,
    ) {
        if let Some(change) = self.change(id, path).filter(|change| change.after == *after) {
            change.counts = Some(counts);
        }
    }

    /// The texts of a change; `None` if they are not kept.
    pub(crate) fn texts(&self, id: &PromptId, path: &str) -> Option<ChangedText> {
        let change = self.prompt(id)?.files.iter().find(|change| &*change.path == path)?;
        change.is_revertible().then(|| change.texts())
    }

    /// The files that a CLI has changed in these sessions, the newest first, with their texts as it left them.
    pub(crate) fn left_by(&self, sessions: &[CliSessionId]) -> Vec<(Arc<str>, FileText)> {
        let mut seen = HashSet::new();
        let mut left = Vec::new();
        for (id, change) in self.all_changes().rev() {
            if sessions.contains(&id.0) && seen.insert(&change.path) {
                left.push((Arc::clone(&change.path), change.after.clone()));
            }
        }
        left
    }

    /// Drops the changes of files that are `now` as before them, although the CLI left them as in `left`:
    /// somebody else has reverted them, as `/rewind` of Gemini CLI does. Returns their prompts.
    pub(crate) fn drop_reverted_by_others(
        &mut self,
        sessions: &[CliSessionId],
        left: &[(Arc<str>, FileText)],
        now: &[FileSnapshot],
    ) -> BTreeSet<PromptId> {
        let mut dropped = BTreeSet::new();
        for (path, left) in left {
            let Some(FileSnapshot { text: now, .. }) = now.iter().find(|file| file.path == *path)
            else {
                continue;
            };
            if now == left || matches!(now, FileText::Unkept(_)) {
                continue;
            }
            let is_of_file = |(id, change): &(&PromptId, &Change)| {
                sessions.contains(&id.0) && change.path == *path
            };
            let changes: Vec<_> = self.all_changes().filter(is_of_file).collect();
            let is_left_so = changes.last().is_some_and(|(_, change)| change.after == *left);
            let has_revert = changes.iter().any(|(_, change)| change.has_unreported_revert());
            if !is_left_so || has_revert {
                continue;
            }
            let reverted = changes.iter().skip_while(|(_, change)| change.before != *now);
            let prompts: Vec<_> = reverted.map(|(id, _)| PromptId::clone(id)).collect();
            for id in &prompts {
                self.remove(id, std::slice::from_ref(path));
            }
            dropped.extend(prompts);
        }
        dropped
    }

    /// These changes leave the list.
    pub(crate) fn remove(&mut self, id: &PromptId, paths: &[impl AsRef<str>]) {
        if let Some(prompt) = self.prompts.iter_mut().find(|prompt| prompt.id == *id) {
            prompt.files.retain(|change| !paths.iter().any(|path| path.as_ref() == &*change.path));
        }
    }

    /// Drops the prompts that are too old at the time `now`, in milliseconds since 1970. Returns them.
    pub(crate) fn expire(&mut self, now: u64) -> Vec<PromptId> {
        let is_old =
            |prompt: &mut Prompt| Duration::from_millis(now.saturating_sub(prompt.time)) >= MAX_AGE;
        self.prompts.extract_if(.., is_old).map(|prompt| prompt.id).collect()
    }

    /// The time of the oldest prompt, in milliseconds since 1970.
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.prompts.iter().map(|prompt| prompt.time).min()
    }

    fn prompt(&self, id: &PromptId) -> Option<&Prompt> {
        self.prompts.iter().find(|prompt| prompt.id == *id)
    }

    fn change(&mut self, id: &PromptId, path: &str) -> Option<&mut Change> {
        let prompt = self.prompts.iter_mut().find(|prompt| prompt.id == *id)?;
        prompt.files.iter_mut().find(|change| &*change.path == path)
    }
}
