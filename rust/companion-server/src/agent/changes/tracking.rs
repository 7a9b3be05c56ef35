//! Looks at files around the calls of tools, and reports changes to the editor.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use companion_protocol::editor::{ChangedPaths, ChangedText, CompanionNotification};
use tokio::time::sleep;

use super::super::event::{HookEvent, ToolEffect};
use super::super::note::{NoteId, Revert};
use super::super::{READ_TIMEOUT, on_disk};
use super::{FileText, LineCounts, Look, PromptId, Reverted};
use crate::agent::Note;
use crate::context::now_ms;
use crate::diffs::Record;
use crate::disk::workspace::PRIVATE;
use crate::state::ServerState;

/// The most files that are looked at around a command.
const MAX_LOOKS: usize = 64;

/// The most bytes of texts that are read before a command.
const MAX_COMMAND_BYTES: usize = 16 << 20;

/// The most reverted files that the model gets by name.
const MAX_NAMED: usize = 50;

/// The time that changes are kept.
const KEPT: Duration = Duration::from_hours(24);

/// The user has sent a prompt. `title` is its first line.
pub(crate) fn begin_prompt(state: &Arc<ServerState>, event: &HookEvent) {
    end_calls(state, &event.agent);
    let (prompt, gone) =
        state.agents.changes.lock().begin_prompt(&event.agent, event.title.clone(), now_ms());
    tell_all(state, gone);
    let weak: Weak<ServerState> = Arc::downgrade(state);
    tokio::spawn(async move {
        sleep(KEPT).await;
        let Some(state) = weak.upgrade() else { return };
        state.agents.changes.lock().expire(&prompt);
        tell_all(&state, [prompt]);
    });
}

/// Forgets the calls of a CLI that have no end, such as those that the user has cancelled.
pub(crate) fn end_calls(state: &ServerState, agent: &str) {
    let was_command = state.agents.changes.lock().end_calls(agent);
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
        let files = files_of_command(state, &event.agent);
        let files = look(state, files).await;
        state.agents.changes.lock().begin_call(&event.agent, true, files);
        tell_command(state, &event.agent, true);
        return None;
    }
    let path = event.path.as_deref().filter(|_| event.is_edit)?;
    let file = look_at(state, path).await;
    state.agents.changes.lock().begin_call(&event.agent, false, vec![file.clone()]);
    Some(file)
}

/// Finds what a tool has changed, after its call.
pub(crate) async fn after_tool(state: &Arc<ServerState>, event: &HookEvent) {
    if state.context.is_silent() {
        return end_calls(state, &event.agent);
    }
    let prompt = if event.is_command {
        tell_command(state, &event.agent, false);
        let files = state.agents.changes.lock().files_of_command(&event.agent);
        let left = look(state, files).await;
        state.agents.changes.lock().command_ended(&event.agent, left)
    } else if let Some(path) = event.path.as_deref().filter(|_| event.is_edit) {
        if event.effect == ToolEffect::Made {
            ensure_prompt(state, event);
            let left = look_at(state, path).await;
            state.agents.changes.lock().edited(&event.agent, event.original.clone(), left)
        } else {
            state.agents.changes.lock().not_edited(&event.agent, path);
            None
        }
    } else {
        None
    };
    let Some(prompt) = prompt else { return };
    let shrunk = state.agents.changes.lock().shrink();
    tell_all(state, shrunk);
    let state = Arc::clone(state);
    tokio::spawn(async move {
        count_lines(&state, &prompt).await;
        tell_all(&state, [prompt]);
    });
}

/// A CLI may have begun its turn before this companion.
fn ensure_prompt(state: &Arc<ServerState>, event: &HookEvent) {
    let is_known = state.agents.changes.lock().current(&event.agent).is_some();
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
    let unknown = || Look { path: path.into(), text: FileText::Unkept(None), is_private: false };
    look(state, vec![path.into()]).await.pop().unwrap_or_else(unknown)
}

/// Looks at files. The result is empty if the disk does not answer in time.
async fn look(state: &Arc<ServerState>, paths: Vec<Arc<str>>) -> Vec<Look> {
    let checked = state.workspace.check_all_shared(&paths, READ_TIMEOUT).await;
    let read = move || {
        let mut bytes = 0;
        let look = |(path, checked): (Arc<str>, Result<(), &str>)| {
            let is_kept = checked.is_ok() && bytes < MAX_COMMAND_BYTES;
            let text = FileText::read(Path::new(&*path), is_kept);
            bytes += text.size();
            Look { path, text, is_private: checked == Err(PRIVATE) }
        };
        paths.into_iter().zip(checked).map(look).collect()
    };
    on_disk(state, read).await.unwrap_or_default()
}

async fn count_lines(state: &ServerState, prompt: &PromptId) {
    let Ok(_turn) = state.agents.counting.acquire().await else { return };
    let uncounted = state.agents.changes.lock().uncounted(prompt);
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
    let revert = Revert { agent: Arc::clone(&prompt.0), paths };
    let (note, forgotten) = state.agents.model.lock().add_revert(revert.clone());
    if let Some(forgotten) = forgotten {
        state.diffs.record(Record::NoteTold(forgotten));
    }
    state.diffs.record(Record::Note(note, Note::Revert(revert)));
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
pub(crate) async fn drop_undone(state: &Arc<ServerState>, agent: &str) {
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
        let emptied = state.agents.model.lock().drop_revert(agent, path);
        for note in emptied {
            state.diffs.record(Record::NoteTold(note));
        }
    }
    tell_all(state, undone.iter().map(|of| of.prompt.clone()).collect::<HashSet<_>>());
}

/// The model has heard of these reverts, so they leave the list.
pub(in crate::agent) fn reverts_told<'a>(
    state: &ServerState,
    reverts: impl Iterator<Item = &'a Revert>,
) {
    for Revert { agent, paths } in reverts {
        let unheard = state.agents.changes.lock().unheard_reverts(agent);
        let told: Vec<_> = unheard.into_iter().filter(|of| paths.contains(&of.path)).collect();
        for of in &told {
            state.agents.changes.lock().remove(&of.prompt, std::slice::from_ref(&of.path));
        }
        tell_all(state, told.into_iter().map(|of| of.prompt).collect::<HashSet<_>>());
    }
}

/// The reverts as a text for the model; `None` if there are none.
pub(in crate::agent) fn text(state: &ServerState, reverts: &[(NoteId, Revert)]) -> Option<String> {
    let mut seen = HashSet::new();
    let paths = reverts.iter().flat_map(|(_, revert)| &revert.paths);
    let paths = paths.filter(|path| seen.insert(Arc::clone(path)));
    let mut paths: Vec<_> = paths.map(|path| state.workspace.relative(path)).collect();
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
