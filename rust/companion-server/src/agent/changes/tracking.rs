//! Looks at files around the calls of tools, and reports changes to the editor.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use companion_core::companion::Input;
use companion_core::notes::Revert;
use companion_protocol::editor::{ChangedPaths, ChangedText, CompanionNotification};

use super::super::event::{HookEvent, ToolEffect};
use super::super::{READ_TIMEOUT, on_disk};
use super::{Access, FileText, LineCounts, Look, PromptId, Reverted};
use crate::state::ServerState;
use crate::workspace::{OUTSIDE, PRIVATE};
use companion_core::text::Digest;

/// The most files that are looked at around a command.
const MAX_LOOKS: usize = 64;

/// The most bytes of texts that are read before a command.
const MAX_COMMAND_BYTES: usize = 16 << 20;

/// The most reverted files that the model gets by name.
const MAX_NAMED: usize = 50;

/// The user has sent a prompt. `title` is its first line.
pub(crate) fn begin_prompt(state: &Arc<ServerState>, event: &HookEvent) {
    end_calls(state, &event.session);
    let now = state.driver.now().date;
    let (_, gone) =
        state.agents.changes.lock().begin_prompt(&event.session, event.title.clone(), now);
    tell_all(state, gone);
    state.agents.ages.notify_one();
}

/// Drops the prompts that are too old at the time `now`. Returns the time of the oldest one that is
/// left. Both are in milliseconds since 1970.
pub(in crate::agent) fn expire(state: &ServerState, now: u64) -> Option<u64> {
    let (expired, oldest) = {
        let mut changes = state.agents.changes.lock();
        (changes.expire(now), changes.oldest())
    };
    tell_all(state, expired);
    oldest
}

/// Forgets the calls of a CLI that have no end, such as those that the user has cancelled.
pub(crate) fn end_calls(state: &ServerState, agent: &str) {
    let was_command = state.agents.changes.lock().calls.end_all(agent);
    if was_command {
        tell_command(state, agent, false);
    }
}

/// Looks at the files that a tool may change, before its call. Returns the file that it edits.
pub(crate) async fn before_tool(state: &Arc<ServerState>, event: &HookEvent) -> Option<Look> {
    if state.context.is_silent() || !(event.is_command || event.path.is_some()) {
        return None;
    }
    ensure_prompt(state, event);
    if event.is_command {
        let files = files_of_command(state, &event.session);
        let files = look(state, files).await;
        begin_call(state, &event.session, event.command, files);
        tell_command(state, &event.session, true);
        return None;
    }
    let path = event.path.as_deref().filter(|_| event.is_edit)?;
    let file = look_at(state, path).await;
    begin_call(state, &event.session, None, vec![file.clone()]);
    Some(file)
}

fn begin_call(state: &ServerState, session: &str, command: Option<Digest>, files: Vec<Look>) {
    let shrunk = {
        let mut changes = state.agents.changes.lock();
        changes.calls.begin(session, command, files);
        changes.shrink()
    };
    tell_all(state, shrunk);
}

/// Finds what a tool has changed, after its call.
pub(crate) async fn after_tool(state: &Arc<ServerState>, event: &HookEvent) {
    if state.context.is_silent() {
        return end_calls(state, &event.session);
    }
    let prompt = if let Some(command) = event.command {
        let files = state.agents.changes.lock().calls.files_of_command(&event.session, command);
        let left = look(state, files).await;
        let (prompt, is_running) = {
            let mut changes = state.agents.changes.lock();
            let prompt = changes.command_ended(&event.session, command, left);
            (prompt, changes.calls.is_running(&event.session))
        };
        if !is_running {
            tell_command(state, &event.session, false);
        }
        prompt
    } else if let Some(path) = event.path.as_deref().filter(|_| event.is_edit) {
        if event.effect == ToolEffect::Made {
            ensure_prompt(state, event);
            let left = look_at(state, path).await;
            state.agents.changes.lock().edited(&event.session, event.original.clone(), left)
        } else {
            state.agents.changes.lock().calls.forget_edits(&event.session, path);
            None
        }
    } else {
        None
    };
    let Some(prompt) = prompt else { return };
    let shrunk = state.agents.changes.lock().shrink();
    tell_all(state, shrunk);
    // A report has all files of the prompt, so one is enough for all changes up to it.
    if state.agents.changes.lock().begin_report(&prompt) {
        let state = Arc::clone(state);
        tokio::spawn(async move {
            count_lines(&state, &prompt).await;
            tell_all(&state, [prompt]);
        });
    }
}

/// A CLI may have begun its turn before this companion.
fn ensure_prompt(state: &Arc<ServerState>, event: &HookEvent) {
    let is_known = state.agents.changes.lock().current(&event.session).is_some();
    if !is_known {
        begin_prompt(state, event);
    }
}

/// The files that a command may change and that the user sees: the open ones, and those that the CLI
/// has changed before.
fn files_of_command(state: &ServerState, agent: &str) -> Vec<Arc<str>> {
    let open = state.context.open_files().into_iter().map(Arc::from);
    let changes = state.agents.changes.lock();
    let mut seen = HashSet::new();
    let all = open.chain(changes.paths_of(agent).cloned());
    all.filter(|path: &Arc<str>| seen.insert(Arc::clone(path))).take(MAX_LOOKS).collect()
}

async fn look_at(state: &Arc<ServerState>, path: &str) -> Look {
    let unknown =
        || Look { path: path.into(), text: FileText::Unkept(None), access: Access::Unknown };
    look(state, vec![path.into()]).await.pop().unwrap_or_else(unknown)
}

/// Looks at files. The result is empty if the disk does not answer in time.
async fn look(state: &Arc<ServerState>, paths: Vec<Arc<str>>) -> Vec<Look> {
    let checked = state.workspace.check_all_shared(&paths, READ_TIMEOUT).await;
    let read = move || {
        let mut bytes = 0;
        let look = |(path, checked): (Arc<str>, Result<(), &str>)| {
            let access = match checked {
                Ok(()) => Access::Shared,
                Err(PRIVATE) => Access::Private,
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
            Look { path, text, access }
        };
        paths.into_iter().zip(checked).map(look).collect()
    };
    on_disk(state, read).await.unwrap_or_default()
}

async fn count_lines(state: &ServerState, prompt: &PromptId) {
    let Ok(_turn) = state.agents.counting.acquire().await else { return };
    let uncounted = {
        let mut changes = state.agents.changes.lock();
        changes.reports.retain(|of| of != prompt);
        changes.uncounted(prompt)
    };
    for (path, before, left) in uncounted {
        let of = left.clone();
        let Ok(counts) = state.pool.run(move || LineCounts::of(&before, &of)).await else { return };
        state.agents.changes.lock().counted(prompt, &path, &left, counts);
    }
}

/// Tells the editor the changes of these prompts, the newest last.
fn tell_all(state: &ServerState, prompts: impl IntoIterator<Item = PromptId>) {
    let changes = state.agents.changes.lock();
    for prompt in prompts {
        let of_prompt = changes.to_editor(&prompt);
        state.host.notify(CompanionNotification::AgentChanged(of_prompt));
    }
}

fn tell_command(state: &ServerState, agent: &str, running: bool) {
    let command = state.agents.changes.lock().command_to_editor(agent, running);
    let Some(command) = command else { return };
    state.host.notify(CompanionNotification::AgentCommand(command));
}

/// The texts of a change; `None` if they are not kept.
pub(crate) fn texts(
    state: &ServerState,
    session: &str,
    prompt: u64,
    path: &str,
) -> Option<ChangedText> {
    state.agents.changes.lock().texts(&(session.into(), prompt), path)
}

/// The user keeps these changes, so they leave the list.
pub(crate) fn kept(state: &ServerState, kept: &ChangedPaths) {
    let prompt = (kept.session.as_str().into(), kept.prompt);
    state.agents.changes.lock().remove(&prompt, &kept.paths);
    tell_all(state, [prompt]);
}

/// The user has reverted these changes. The model hears it with the next prompt.
pub(crate) fn reverted(state: &ServerState, reverted: &ChangedPaths) {
    let prompt: PromptId = (reverted.session.as_str().into(), reverted.prompt);
    let paths = state.agents.changes.lock().reverted(&prompt, &reverted.paths);
    if paths.is_empty() {
        return;
    }
    state.driver.post(Input::Reverted(Arc::clone(&prompt.0), paths));
    state.agents.ages.notify_one();
    tell_all(state, [prompt]);
}

/// The user has undone the revert of these changes, so the model does not hear of it.
pub(crate) fn revert_undone(state: &ServerState, undone: &ChangedPaths) {
    let mut reverts = state.agents.changes.lock().unheard_reverts(&undone.session);
    reverts.retain(|of| {
        of.prompt.1 == undone.prompt && undone.paths.iter().any(|path| **path == *of.path)
    });
    forget_reverts(state, &undone.session, &reverts);
}

/// Finds the reverts that the user has undone without the editor's knowledge.
pub(crate) async fn drop_undone(state: &Arc<ServerState>, session: &str) {
    let sessions = state.driver.ask(|companion| companion.clis().sessions_of(session));
    for session in sessions {
        drop_undone_of(state, &session).await;
    }
}

async fn drop_undone_of(state: &Arc<ServerState>, agent: &str) {
    let reverts = state.agents.changes.lock().unheard_reverts(agent);
    if reverts.is_empty() {
        return;
    }
    let now = look(state, reverts.iter().map(|of| Arc::clone(&of.path)).collect()).await;
    let is_undone =
        |of: &Reverted| now.iter().any(|look| look.path == of.path && of.is_undone(&look.text));
    let undone: Vec<_> = reverts.into_iter().filter(is_undone).collect();
    forget_reverts(state, agent, &undone);
}

/// The user has undone these reverts, so the model does not hear of them.
fn forget_reverts(state: &ServerState, agent: &str, undone: &[Reverted]) {
    let standing = {
        let mut changes = state.agents.changes.lock();
        for Reverted { prompt, path, .. } in undone {
            changes.revert_undone(prompt, path);
        }
        changes.unheard_reverts(agent)
    };
    // Another prompt's revert of the file may stand.
    let standing: HashSet<_> = standing.iter().map(|of| &of.path).collect();
    for Reverted { path, .. } in undone.iter().filter(|of| !standing.contains(&of.path)) {
        state.driver.post(Input::RevertUndone(agent, path));
    }
    tell_all(state, undone.iter().map(|of| of.prompt.clone()).collect::<HashSet<_>>());
}

/// The model has heard of these reverts, so they leave the list.
pub(in crate::agent) fn reverts_delivered<'a>(
    state: &ServerState,
    reverts: impl Iterator<Item = &'a Revert>,
) {
    for Revert { cli: agent, paths, .. } in reverts {
        let unheard = state.agents.changes.lock().unheard_reverts(agent);
        let told: Vec<_> = unheard.into_iter().filter(|of| paths.contains(&of.path)).collect();
        for of in &told {
            state.agents.changes.lock().remove(&of.prompt, std::slice::from_ref(&of.path));
        }
        tell_all(state, told.into_iter().map(|of| of.prompt).collect::<HashSet<_>>());
    }
}

/// The reverts as a text for the model; `None` if there are none. Names only the files in `shared`.
pub(in crate::agent) fn text<'a>(
    state: &ServerState,
    reverts: impl Iterator<Item = &'a Revert>,
    shared: &HashSet<Arc<str>>,
) -> Option<String> {
    let mut seen = HashSet::new();
    let mut paths = Vec::new();
    for path in reverts.flat_map(|revert| &revert.paths) {
        if shared.contains(path) && seen.insert(Arc::clone(path)) {
            paths.push(state.workspace.relative(path));
        }
    }
    if paths.is_empty() {
        return None;
    }
    let others = paths.len().saturating_sub(MAX_NAMED);
    paths.truncate(MAX_NAMED);
    let mut text = format!("The user reverted your changes to {}", paths.join(", "));
    if others > 0 {
        let _ = write!(text, " and {others} other files");
    }
    text.push_str(". Read a file again before you edit it.");
    Some(text)
}
