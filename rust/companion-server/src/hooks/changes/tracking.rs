//! Looks at files around the calls of tools, and reports changes to the editor.

mod access;
mod listing;
mod unreported;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use companion_core::companion::Input;
use companion_protocol::editor::{
    ChangedPaths, ChangedText, CompanionNotification, Hunks, PlanRevert, RevertPlan,
};
use parking_lot::{MappedMutexGuard, MutexGuard};

use super::described::CommandState;
use super::{
    Access, CliChanges, FileSnapshot, FileText, LineCounts, PromptId, ToolCall, hunks, revert,
};
use crate::config::DISK_TIMEOUT;
use crate::disk::paths::resolve;
use crate::hooks::Hooks;
use crate::hooks::event::{HookEvent, ToolEffect};
use crate::workspace::{OUTSIDE, PRIVATE, UNSETTLED};
use companion_core::cli::CliSessionId;
use companion_core::text::Digest;

/// The most files that are looked at around a command.
const MAX_LOOKS: usize = 64;

/// The most bytes of texts that are read before a command.
const MAX_COMMAND_BYTES: usize = 16 << 20;

impl Hooks {
    fn changes(&self) -> MappedMutexGuard<'_, CliChanges> {
        MutexGuard::map(self.state.lock(), |state| &mut state.changes)
    }

    /// The user has sent a prompt. `title` is its first line.
    pub(in crate::hooks) fn begin_prompt(&self, event: &HookEvent, title: &str) {
        // A subagent may go on.
        self.end_calls_except(&event.session, |_| true);
        let now = self.driver.now().date;
        let (_, gone) = self.changes().begin_prompt(&event.session, title.to_owned(), now);
        self.report_all(gone);
    }

    /// Drops the prompts that are too old at the time `now`. Returns the time of the oldest one that is
    /// left. Both are in milliseconds since 1970.
    pub(in crate::hooks) fn expire_changes(&self, now: u64) -> Option<u64> {
        let (expired, oldest) = {
            let mut changes = self.changes();
            (changes.expire(now), changes.oldest())
        };
        self.report_all(expired);
        oldest
    }

    /// A turn has ended. Subagents may go on.
    pub(in crate::hooks) fn end_turn_calls(&self, event: &HookEvent) {
        let runs = |subagent: &str| event.running_subagents.iter().any(|id| id == subagent);
        self.end_calls_except(&event.session, runs);
    }

    /// Forgets the calls of a CLI.
    pub(in crate::hooks) fn end_calls(&self, cli: &str) {
        self.end_calls_except(cli, |_| false);
    }

    /// Forgets the calls of a CLI that have no end, such as those that the user has cancelled. Keeps those of
    /// the subagents that `runs` accepts.
    fn end_calls_except(&self, cli: &str, runs: impl Fn(&str) -> bool) {
        let commands = self.changes().calls.end_all(cli, runs);
        self.report_lost(&commands);
    }

    /// Looks at the files that a tool may change, before its call. Returns the file that it edits.
    pub(in crate::hooks) async fn look_before_tool(
        &self,
        event: &HookEvent,
    ) -> Option<FileSnapshot> {
        if !self.context.is_shared() || !(event.is_command || event.path.is_some()) {
            return None;
        }
        self.ensure_prompt(event);
        if event.is_command {
            let files = self.files_of_command(&event.session).await;
            let files = self.shared_snapshots(files).await?;
            if let Some(prompt) = self.begin_call(event, event.command, files) {
                self.report_command(&prompt, CommandState::Begins);
            }
            return None;
        }
        let path = event.path.as_deref().filter(|_| event.is_edit)?;
        let file = self.shared_snapshot(path).await?;
        self.begin_call(event, None, vec![file.clone()]);
        Some(file)
    }

    fn begin_call(
        &self,
        event: &HookEvent,
        command: Option<Digest>,
        files: Vec<FileSnapshot>,
    ) -> Option<PromptId> {
        let (begun, shrunk) = {
            let mut changes = self.changes();
            let begun = changes.begin_call(event.agent(), command, files);
            (begun, changes.shrink())
        };
        self.report_all(shrunk);
        let (prompt, forgotten) = begun?;
        self.report_lost(&forgotten);
        Some(prompt)
    }

    /// Finds what a tool has changed, after its call.
    pub(in crate::hooks) async fn look_after_tool(self: &Arc<Self>, event: &HookEvent) {
        if !self.context.is_shared() {
            return self.end_calls(&event.session);
        }
        let prompts = if let Some(command) = event.command {
            let files = self.changes().calls.files_of_command(event.agent(), command);
            let Some(after) = self.shared_snapshots(files).await else {
                return self.end_calls(&event.session);
            };
            let undone = self.undone_reverts(&after);
            let (prompts, ended) = {
                let mut changes = self.changes();
                let caller = event.agent();
                let ended = changes.calls.end_command(caller, command);
                let prompts =
                    ended.as_ref().map(|ended| changes.command_ended(caller, ended, after));
                (prompts.unwrap_or_default(), ended)
            };
            self.forget_reverts(&undone);
            if let Some(ended) = ended {
                self.report_command(&ended.prompt, CommandState::HasEnded);
            }
            prompts
        } else if let Some(path) = event.path.as_deref().filter(|_| event.is_edit) {
            if event.effect == ToolEffect::Made {
                self.ensure_prompt(event);
                let Some(after) = self.shared_snapshot(path).await else {
                    return self.end_calls(&event.session);
                };
                let undone = self.undone_reverts(std::slice::from_ref(&after));
                let original = event.original.clone();
                let prompts = self.changes().edited(event.agent(), original, after);
                self.forget_reverts(&undone);
                prompts
            } else {
                self.changes().calls.forget_edits(event.agent(), path);
                return;
            }
        } else {
            return;
        };
        let undone = std::mem::take(&mut self.changes().undone);
        for (cli, path) in undone {
            self.renew_notice(&cli, &path);
        }
        let shrunk = self.changes().shrink();
        self.report_all(shrunk);
        for prompt in prompts {
            // A report has all files of the prompt, so one is enough for all changes up to it.
            if self.changes().begin_report(&prompt) {
                let hooks = Arc::clone(self);
                tokio::spawn(async move {
                    hooks.count_lines(&prompt).await;
                    hooks.report_all([prompt]);
                });
            }
        }
    }

    /// A CLI may have begun its turn before this companion.
    fn ensure_prompt(&self, event: &HookEvent) {
        let is_known = self.changes().current(&event.session).is_some();
        if !is_known {
            self.begin_prompt(event, &event.title);
        }
    }

    /// The files that a command may change and that the user sees: the open ones, and those that the CLI
    /// has changed before.
    async fn files_of_command(&self, cli: &str) -> Vec<Arc<str>> {
        let open = self.context.all_open_paths();
        // A hook names a file by its path without links.
        let resolve = move || {
            let paths = open.iter().filter_map(|path| resolve(Path::new(path)).ok());
            paths.filter_map(|path| path.to_str().map(Arc::from)).collect()
        };
        let open: Vec<Arc<str>> = self.on_disk(resolve).await.unwrap_or_default();
        let changes = self.changes();
        distinct(open.into_iter().chain(changes.paths_of(cli).cloned()), MAX_LOOKS)
    }

    /// Looks at a file. `None` if the user has stopped sharing meanwhile.
    async fn shared_snapshot(&self, path: &str) -> Option<FileSnapshot> {
        let unknown = || FileSnapshot {
            path: path.into(),
            text: FileText::Unkept(None),
            access: Access::Unknown,
        };
        let mut files = self.shared_snapshots(vec![path.into()]).await?;
        Some(files.pop().unwrap_or_else(unknown))
    }

    /// Looks at files like [`Self::snapshots`]. `None` if the user has stopped sharing meanwhile.
    async fn shared_snapshots(&self, paths: Vec<Arc<str>>) -> Option<Vec<FileSnapshot>> {
        let files = self.snapshots(paths).await;
        self.context.is_shared().then_some(files)
    }

    /// Looks at files. The result is empty if the disk does not answer in time.
    async fn snapshots(&self, paths: Vec<Arc<str>>) -> Vec<FileSnapshot> {
        let checked = self.workspace.check_all_shared(&paths, DISK_TIMEOUT).await;
        let read = move || {
            let mut bytes = 0;
            let snapshot = |(path, checked): (Arc<str>, Result<(), &str>)| {
                let access = match checked {
                    Ok(()) => Access::Shared,
                    Err(PRIVATE | UNSETTLED) => Access::Private,
                    Err(OUTSIDE) => Access::Outside,
                    Err(_) => Access::Unknown,
                };
                let text = match access {
                    Access::Shared => FileText::read(Path::new(&*path), bytes < MAX_COMMAND_BYTES),
                    Access::Private => FileText::read(Path::new(&*path), false),
                    // A disk that did not answer is not asked again.
                    Access::Outside | Access::Unknown => FileText::Unkept(None),
                };
                bytes += text.size();
                FileSnapshot { path, text, access }
            };
            paths.into_iter().zip(checked).map(snapshot).collect()
        };
        self.on_disk(read).await.unwrap_or_default()
    }

    async fn count_lines(&self, prompt: &PromptId) {
        let turn = self.counting.turn().await;
        let uncounted = {
            let mut changes = self.changes();
            changes.reports.retain(|of| of != prompt);
            changes.uncounted(prompt)
        };
        for (path, before, after) in uncounted {
            let of = after.clone();
            let Ok(counts) = turn.run(move || LineCounts::of(&before, &of)).await else {
                return;
            };
            self.changes().counted(prompt, &path, &after, counts);
        }
    }

    /// Sends the editor the changes of these prompts.
    fn report_all(&self, prompts: impl IntoIterator<Item = PromptId>) {
        let changes = self.changes();
        for prompt in prompts {
            let of_prompt = changes.to_editor(&prompt);
            self.host.notify(CompanionNotification::CliChanged(of_prompt));
        }
    }

    /// No hook has reported the end of these commands.
    fn report_lost(&self, commands: &[ToolCall]) {
        for command in commands {
            self.report_command(&command.prompt, CommandState::Lost);
        }
    }

    fn report_command(&self, prompt: &PromptId, state: CommandState) {
        let command = self.changes().command_to_editor(prompt, state);
        self.host.notify(CompanionNotification::CliCommand(command));
    }

    /// The texts of a change; `None` if they are not kept.
    pub(crate) fn changed_texts(
        &self,
        session: &str,
        prompt: u64,
        path: &str,
    ) -> Option<ChangedText> {
        self.changes().texts(&(session.into(), prompt), path)
    }

    /// The hunks of a change; `None` if its texts are not kept. Takes about 200 ms at most.
    pub(crate) fn changed_hunks(&self, session: &str, prompt: u64, path: &str) -> Option<Hunks> {
        let ChangedText { before, after } = self.changed_texts(session, prompt, path)?;
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let hunks = hunks::hunks(&before, &after);
        Some(Hunks { hunks: hunks.into_iter().map(Into::into).collect() })
    }

    /// Decides how the editor reverts files. `may_show` is the result of [`Self::check_now`].
    pub(crate) fn revert_plan(&self, wanted: &PlanRevert, may_show: &[bool]) -> RevertPlan {
        let mut reversals = Vec::new();
        for (file, may_show) in wanted.files.iter().zip(may_show) {
            let reversal = if *may_show { self.changes().reversal(file) } else { None };
            reversals.push(reversal);
        }
        revert::plan(wanted, &reversals, |path| self.workspace.relative(path))
    }

    /// The user keeps these changes, so they leave the list.
    pub(crate) fn changes_kept(&self, kept: &ChangedPaths) {
        let prompt = (kept.session.as_str().into(), kept.prompt);
        match (&kept.hunk, &kept.paths[..]) {
            (Some(hunk), [path]) => self.changes().hunk_kept(&prompt, path, hunk),
            _ => self.changes().kept(&prompt, &kept.paths),
        }
        self.report_all([prompt]);
    }

    /// The user has reverted these changes. The next prompt reports it to the model.
    pub(crate) fn changes_reverted(&self, reverted: &ChangedPaths) {
        let prompt: PromptId = (reverted.session.as_str().into(), reverted.prompt);
        let hunk = reverted.hunk.as_ref().filter(|_| reverted.paths.len() == 1);
        let mut prompts = BTreeSet::new();
        // One report to the model covers all reverted parts of a file.
        let mut notices = BTreeMap::<_, BTreeSet<Arc<str>>>::new();
        {
            let mut changes = self.changes();
            for path in &reverted.paths {
                for (of, notice) in changes.reverted(&prompt, path, hunk) {
                    if let Some(is_partial) = notice {
                        let of_cli = notices.entry((Arc::clone(&of.0), is_partial)).or_default();
                        of_cli.insert(path.as_str().into());
                    }
                    prompts.insert(of);
                }
            }
            // The text before the revert of a hunk takes memory, too.
            prompts.extend(changes.shrink());
        }
        for ((cli, is_partial), paths) in notices {
            let paths = paths.into_iter().collect();
            self.driver.post(Input::Reverted { cli, paths, is_partial });
        }
        self.report_all(prompts);
    }

    /// The user has undone the revert of these changes, so it is not reported to the model.
    pub(crate) fn revert_undone(&self, undone: &ChangedPaths) {
        let prompt: PromptId = (undone.session.as_str().into(), undone.prompt);
        let mut prompts = BTreeSet::from([prompt.clone()]);
        for path in &undone.paths {
            let of_path = self.changes().revert_undone(&prompt, path, undone.hunk.as_ref());
            let clis: BTreeSet<_> = of_path.iter().map(|id| &id.0).collect();
            for cli in clis {
                self.renew_notice(cli, path);
            }
            prompts.extend(of_path);
        }
        self.report_all(prompts);
    }

    /// A revert of a file is undone. The model of a CLI gets only the reverts that stand.
    fn renew_notice(&self, cli: &CliSessionId, path: &str) {
        let notice = self.changes().notice_of(cli, path);
        self.driver.post(Input::RevertUndone(cli, path));
        if let Some(is_partial) = notice {
            let (cli, paths) = (Arc::clone(cli), vec![path.into()]);
            self.driver.post(Input::Reverted { cli, paths, is_partial });
        }
    }
}

/// Returns the first paths, each once.
fn distinct(paths: impl Iterator<Item = Arc<str>>, most: usize) -> Vec<Arc<str>> {
    let mut seen = HashSet::new();
    paths.filter(|path| seen.insert(Arc::clone(path))).take(most).collect()
}
