//! Answers the hooks of CLIs: reasons of rejections, comments, problems after an edit, unsaved files.
//!
//! [`model`] decides which CLI gets which note. This module carries out the rest: it reads files,
//! asks the editor, and keeps the notes for the next process. No hook waits for a person.

mod comments;
mod event;
mod model;
mod note;
mod original;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use companion_protocol::dialect::GEMINI;
use companion_protocol::editor::{
    AgentFinished, AgentWaiting, CompanionNotification, ReasonArrival, UnsavedFiles,
};
use companion_protocol::hook::Moment;
use companion_protocol::ide::truncate_utf16;
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::diffs::{DiffId, Record};
use crate::host::{Delivery, EditorRequest, UnsavedResponder};
use crate::mcp::session::{Session, SessionId};
use crate::mcp::tools;
use crate::net::json::Json;
use crate::state::ServerState;
use crate::text::{Digest, Text};
pub(crate) use comments::{pending, remove, set};
pub(crate) use event::HookEvent;
use event::{Effect, HookAnswer};
use model::{AgentModel, Rejection};
use note::Reason;
pub(crate) use note::{Note, NoteId};

/// The time for the disk before an edit, and when a proposal is rejected.
const READ_TIMEOUT: Duration = Duration::from_millis(250);

/// The time for the editor to list unsaved files. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(500);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The most unsaved files that the model is told.
const MAX_UNSAVED: usize = 20;

/// The longest reason, in UTF-16 code units.
const MAX_REASON: usize = 16_384;

/// The most sessions of CLIs whose prompts are timed.
const MAX_TURNS: usize = 64;

#[derive(Default)]
pub(crate) struct Agents {
    model: Mutex<AgentModel>,
    /// When each CLI got its prompt.
    turns: Mutex<HashMap<String, Instant>>,
    /// The user reviews each edit.
    review_all: AtomicBool,
}

impl Agents {
    /// `left` are the notes of the last process.
    pub(crate) fn new(review_all: bool, left: impl IntoIterator<Item = (NoteId, Note)>) -> Self {
        let mut model = AgentModel::default();
        for (id, note) in left {
            model.restore(id, note);
        }
        Self { model: Mutex::new(model), review_all: review_all.into(), ..Self::default() }
    }

    pub(crate) fn review_changed(&self, all: bool) {
        self.review_all.store(all, Ordering::Relaxed);
    }

    pub(crate) fn session_gone(&self, session: SessionId) {
        self.model.lock().session_gone(session);
    }

    /// Notes the begin of a turn.
    fn begin_turn(&self, agent: &str) {
        let mut turns = self.turns.lock();
        if turns.len() >= MAX_TURNS {
            turns.clear();
        }
        turns.insert(agent.to_owned(), Instant::now());
    }

    fn end_turn(&self, agent: &str) -> Option<Duration> {
        self.turns.lock().remove(agent).map(|begun| begun.elapsed())
    }
}

/// Returns when the model would get the reason of a rejection of the diff that a client opens.
pub(crate) async fn reason_arrival(
    state: &ServerState,
    session: &Session,
    path: &str,
) -> ReasonArrival {
    let model = &state.agents.model;
    if state.context.is_silent() || !session.client.replays_edits {
        ReasonArrival::Never
    } else if session.client.empty_is_unchanged {
        model.lock().opened(session.id, path)
    } else if model.lock().knows(session.id) {
        let original = original(state, path).await;
        model.lock().opened_first(session.id, path, original)
    } else {
        ReasonArrival::Never
    }
}

/// Answers an event. The answer is empty if the CLI goes on as without a hook.
pub(crate) async fn answer(state: Arc<ServerState>, event: HookEvent) -> Json {
    let answer = match event.moment {
        Moment::BeforeTool => before_tool(&state, &event).await,
        Moment::AfterTool => after_tool(&state, &event).await,
        Moment::BeforeAgent => before_agent(&state, &event).await,
        Moment::AfterAgent => {
            if let Some(time) = state.agents.end_turn(&event.agent) {
                let finished = AgentFinished { seconds: time.as_secs() };
                state.host.notify(CompanionNotification::AgentFinished(finished));
            }
            let comments = if event.is_continued { Vec::new() } else { comments::take(&state) };
            if comments.is_empty() {
                HookAnswer::default()
            } else {
                state.agents.begin_turn(&event.agent);
                HookAnswer::go_on(comments::text(&comments))
            }
        }
        Moment::Notification => {
            // The editor shows an edit as a proposal.
            if !(event.is_about_edit && state.diffs.open_count() > 0) {
                let waiting = AgentWaiting { message: event.message.clone() };
                state.host.notify(CompanionNotification::AgentWaiting(waiting));
            }
            HookAnswer::default()
        }
    };
    answer.into_json()
}

async fn before_tool(state: &Arc<ServerState>, event: &HookEvent) -> HookAnswer {
    let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
        return HookAnswer::default();
    };
    // Qwen Code runs this hook after the user has confirmed the edit.
    let is_before_diff = event.client == &GEMINI;
    if is_before_diff {
        let (original, ()) = tokio::join!(original(state, path), known_problems(state, path));
        state.agents.model.lock().before_edit(&event.agent, path, original);
        let is_reviewed = state.agents.review_all.load(Ordering::Relaxed);
        if is_reviewed && state.config.settings.diffs && state.sessions.connected() > 0 {
            return HookAnswer::ask();
        }
        return HookAnswer::default();
    }
    known_problems(state, path).await;
    if let Some(session) = state.diffs.just_accepted(path) {
        state.agents.model.lock().accepted(&event.agent, session);
    }
    let reasons = state.agents.model.lock().after_edit(&event.agent, path);
    let reasons = told(state, reasons);
    if reasons.is_empty() {
        HookAnswer::default()
    } else {
        HookAnswer::deny(rejected(event, path, &reasons))
    }
}

async fn after_tool(state: &Arc<ServerState>, event: &HookEvent) -> HookAnswer {
    let path = event.path.as_deref().filter(|_| event.is_edit).unwrap_or_default();
    let mut texts = Vec::new();
    if event.is_edit && event.effect == Effect::Made {
        texts.extend(new_problems(state, event, path).await);
    }
    // As late as possible: if the hook gives up before, the notes stay.
    let reasons = state.agents.model.lock().after_edit(&event.agent, path);
    let reasons = told(state, reasons);
    let comments = comments::take(state);
    texts.extend((!comments.is_empty()).then(|| comments::text(&comments)));
    if reasons.is_empty() {
        return HookAnswer::context(event, &texts);
    }
    let shown = event.shown_path.as_deref().unwrap_or(path);
    if event.effect == Effect::Made {
        // The user has accepted the edit in the terminal at the same time.
        texts.extend(reasons.iter().map(|reason| {
            format!("The user has a remark about this edit of {shown}: {}", &*reason.text)
        }));
        return HookAnswer::context(event, &texts);
    }
    texts.insert(0, rejected(event, path, &reasons));
    HookAnswer::deny(texts.join("\n\n"))
}

/// What the model hears in place of the tool's result.
fn rejected(event: &HookEvent, path: &str, reasons: &[Reason]) -> String {
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let reasons: Vec<_> = reasons.iter().map(|reason| &*reason.text).collect();
    format!(
        "The user rejected this edit of {shown}, and the file was not changed. The user's reason: {}",
        reasons.join("\n")
    )
}

async fn before_agent(state: &Arc<ServerState>, event: &HookEvent) -> HookAnswer {
    state.agents.begin_turn(&event.agent);
    if state.context.is_silent() {
        return HookAnswer::default();
    }
    let unsaved = unsaved(state).await;
    let reasons = state.agents.model.lock().before_agent(&event.agent);
    let mut texts: Vec<_> = told(state, reasons)
        .iter()
        .map(|Reason { path, text, .. }| {
            let path = state.workspace.relative(path);
            format!(
                "The user rejected your last edit of {path}, and the file was not changed. The \
                 user's reason: {}",
                &**text
            )
        })
        .collect();
    let comments = comments::take(state);
    texts.extend((!comments.is_empty()).then(|| comments::text(&comments)));
    if !unsaved.is_empty() {
        texts.push(format!(
            "These files have changes in the user's editor that are not saved, so the disk has an \
             older text: {}",
            unsaved.join(", ")
        ));
    }
    HookAnswer::context(event, &texts)
}

/// Notes that a model gets these reasons now.
fn told(state: &ServerState, reasons: Vec<(NoteId, Reason)>) -> Vec<Reason> {
    let told = reasons.into_iter().map(|(id, reason)| {
        state.diffs.record(Record::NoteTold(id));
        reason
    });
    told.collect()
}

/// The file before an edit, if a client may write its text again without changing it.
async fn original(state: &ServerState, path: &str) -> Option<Digest> {
    let file = PathBuf::from(path);
    let read = async {
        state.workspace.check_shared(path, READ_TIMEOUT).await.ok()?;
        state.pool.run(move || original::digest(&file)).await.ok()?
    };
    timeout(READ_TIMEOUT, read).await.ok()?
}

/// Asks for the problems of a file, so that only new ones are reported after the edit.
async fn known_problems(state: &ServerState, path: &str) {
    if Tool::GetDiagnostics.is_offered(&state.config.settings) {
        let known = tools::diagnostics_of(state, Some(path.to_owned()), false);
        let _ = timeout(KNOWN_TIMEOUT, known).await;
    }
}

/// The problems that the edit has caused, as a text for the model.
async fn new_problems(state: &ServerState, event: &HookEvent, path: &str) -> Option<String> {
    if !Tool::GetDiagnostics.is_offered(&state.config.settings) {
        return None;
    }
    let mut report = tools::diagnostics_of(state, Some(path.to_owned()), true).await.ok()??;
    if report.files.iter().all(|file| file.found.diagnostics.is_empty()) {
        return None;
    }
    if let Some(shown) = &event.shown_path {
        for file in &mut report.files {
            file.found.path.clone_from(shown);
        }
    }
    Some(format!("The user's editor shows these problems after the edit:\n{}", report.text()))
}

/// The files whose text in the editor is not on the disk, and that may be named to a model.
async fn unsaved(state: &ServerState) -> Vec<String> {
    let (answer, answered) = oneshot::channel();
    let responder = UnsavedResponder::new(answer);
    state.host.request(EditorRequest::UnsavedFiles, responder.into());
    let Ok(Ok(UnsavedFiles { paths })) = timeout(UNSAVED_TIMEOUT, answered).await else {
        return Vec::new();
    };
    let mut shared = Vec::new();
    for path in paths.into_iter().take(MAX_UNSAVED) {
        if state.workspace.check_shared(&path, READ_TIMEOUT).await.is_ok() {
            shared.push(state.workspace.relative(&path));
        }
    }
    shared
}

/// Carries out the user's rejection of a diff, with a reason for the model.
///
/// The client gets the file's present text as an acceptance if that changes nothing: then its turn
/// goes on, and the hook after the edit tells the reason. Otherwise the client gets the rejection.
pub(crate) fn reject(
    state: &Arc<ServerState>,
    runtime: &tokio::runtime::Handle,
    path: &str,
    reason: &str,
) -> Delivery {
    let Some((diff, session)) = state.diffs.shown(path) else { return Delivery::Unknown };
    let reason = truncate_utf16(reason, MAX_REASON).to_owned();
    let delivery = state.diffs.delivery_to(session);
    let (state, path) = (Arc::clone(state), path.to_owned());
    runtime.spawn(async move { reject_diff(&state, diff, session, &path, reason).await });
    delivery
}

async fn reject_diff(
    state: &ServerState,
    diff: DiffId,
    session: SessionId,
    path: &str,
    reason: String,
) {
    let (file, name) = (PathBuf::from(path), path.to_owned());
    let privacy = Arc::clone(state.workspace.privacy());
    let read = state.pool.run(move || {
        // In doubt a file is private.
        let is_private = privacy.look().is_private(&name).unwrap_or(true);
        (!is_private).then(|| original::read(&file).ok().flatten())
    });
    let read = timeout(READ_TIMEOUT, read).await.ok().and_then(Result::ok).flatten();
    let Some(present) = read.filter(|_| !state.context.is_silent()) else {
        return state.diffs.reject(diff);
    };
    let text = Text::from(reason);
    let (rejection, reason) = state.agents.model.lock().rejected(session, path, text);
    if let Some((id, reason)) = reason {
        state.diffs.record(Record::Note(id, Note::Reason(reason)));
    }
    match (rejection, present) {
        (Rejection::KeepText(original), Some(present)) if Digest::of(&present) == original => {
            state.diffs.decline(diff, present);
        }
        _ => state.diffs.reject(diff),
    }
}
