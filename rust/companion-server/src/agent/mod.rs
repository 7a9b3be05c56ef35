//! Answers the hooks of CLIs: reasons of rejections, comments, problems after an edit, unsaved files.
//!
//! [`model`] decides which CLI gets which note. This module carries out the rest: it reads files,
//! asks the editor, and keeps the notes for the next process. No hook waits for a person.

mod changes;
mod comments;
mod event;
mod expiry;
mod model;
mod note;
mod original;
mod rejection;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use companion_platform::SuspendedMark;
use companion_protocol::dialect::ClientProfile;
use companion_protocol::editor::{
    AgentFinished, AgentWaiting, CompanionNotification, ReasonArrival, UnsavedFiles,
};
use companion_protocol::hook::{HookSenders, Moment};
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{Instant, sleep, timeout};

use crate::diffs::Record;
use crate::host::{EditorRequest, UnsavedResponder};
use crate::mcp::session::{Session, SessionId};
use crate::mcp::tools;
use crate::net::json::Json;
use crate::state::ServerState;
use crate::text::Digest;
use changes::AgentChanges;
pub(crate) use changes::{kept, revert_undone, reverted, texts};
pub(crate) use comments::{pending, remove, set};
pub(crate) use event::HookRequest;
use event::{HookAnswer, HookEvent, ToolEffect};
use expiry::Expiry;
pub(crate) use expiry::expire_reasons;
use model::{AgentModel, NotesForModel};
use note::Reason;
pub(crate) use note::{Note, NoteId};
pub(crate) use rejection::reject;

/// The time for the disk before an edit, and when a proposal is rejected.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// The time for the editor to list unsaved files, and to check them. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(750);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The time for the hook to confirm an answer with notes.
const ACK_TIMEOUT: Duration = Duration::from_secs(3);

/// The most unsaved files that the model is told.
const MAX_UNSAVED: usize = 20;

/// The most CLI sessions whose prompts are timed.
const MAX_TURNS: usize = 64;

pub(crate) struct Agents {
    model: Mutex<AgentModel>,
    changes: Mutex<AgentChanges>,
    /// One change at a time.
    counting: Semaphore,
    /// When each CLI got its prompt.
    turns: Mutex<HashMap<String, Instant>>,
    /// The user reviews each edit.
    review_all: AtomicBool,
    /// One file at a time: a disk that does not answer blocks one thread.
    reading: Arc<Semaphore>,
    /// The clients whose events have arrived.
    senders: Mutex<Vec<&'static ClientProfile>>,
    /// Set by hooks while this process is suspended.
    mark: OnceLock<SuspendedMark>,
    expiry: Expiry,
}

impl Agents {
    /// `left` are the notes of the last process.
    pub(crate) fn new(review_all: bool, left: impl IntoIterator<Item = (NoteId, Note)>) -> Self {
        let mut model = AgentModel::default();
        for (id, note) in left {
            model.restore(id, note);
        }
        Self {
            model: Mutex::new(model),
            changes: Mutex::default(),
            counting: Semaphore::new(1),
            turns: Mutex::default(),
            review_all: review_all.into(),
            reading: Arc::new(Semaphore::new(1)),
            senders: Mutex::default(),
            mark: OnceLock::new(),
            expiry: Expiry::new(),
        }
    }

    pub(crate) fn review_changed(&self, all: bool) {
        self.review_all.store(all, Ordering::Relaxed);
    }

    fn note_sender(&self, client: &'static ClientProfile) {
        let mut senders = self.senders.lock();
        if !senders.contains(&client) {
            senders.push(client);
        }
    }

    pub(crate) fn mcp_session_gone(&self, session: SessionId) {
        self.model.lock().mcp_session_gone(session);
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

/// Hooks may reach the server at `port`.
pub(crate) fn begin(state: &ServerState, port: u16) {
    if let Some(mark) = SuspendedMark::of(port) {
        let _ = state.agents.mark.set(mark);
        clear_mark(state);
    }
}

/// Shows hooks that this process is not suspended any more.
pub(crate) fn clear_mark(state: &ServerState) {
    let turn = Arc::clone(&state.agents.reading).try_acquire_owned();
    let (Some(mark), Ok(turn)) = (state.agents.mark.get().cloned(), turn) else { return };
    state.pool.run(move || {
        let _turn = turn;
        mark.clear();
    });
}

/// Lists the clients whose hooks have reached this server, as the body of a reply.
pub(crate) fn hook_senders(state: &ServerState) -> Json {
    let senders = state.agents.senders.lock();
    Json::new(&HookSenders { clients: senders.iter().map(|client| client.id.into()).collect() })
}

/// Answers an event. The answer is empty if the CLI goes on as without a hook.
pub(crate) async fn answer(state: Arc<ServerState>, event: HookEvent) -> Json {
    state.agents.note_sender(event.client);
    let (answer, ack) = match event.moment {
        Moment::BeforeTool => before_tool(&state, &event).await,
        Moment::AfterTool => after_tool(&state, &event).await,
        Moment::BeforeAgent => before_agent(&state, &event).await,
        Moment::AfterAgent => after_agent(&state, &event),
        Moment::Notification => {
            // The editor shows an edit as a proposal.
            if !(event.is_about_edit && state.diffs.open_count() > 0) {
                let waiting = AgentWaiting { message: event.message.clone() };
                state.host.notify(CompanionNotification::AgentWaiting(waiting));
            }
            Default::default()
        }
    };
    if let Some(ack) = ack {
        let state = Arc::clone(&state);
        tokio::spawn(async move {
            sleep(ACK_TIMEOUT).await;
            state.agents.model.lock().give_back(ack);
            state.agents.expiry.waits.notify_one();
        });
    }
    answer.into_json(ack)
}

/// A hook has received the answer of this number.
pub(crate) fn confirm(state: &ServerState, ack: u64) {
    let confirmed = state.agents.model.lock().confirm(ack);
    let Some(delivery) = confirmed else { return };
    for note in delivery.notes() {
        state.diffs.record(Record::NoteTold(note));
    }
    let ids: Vec<_> = delivery.comments.iter().map(|(_, of)| of.id.to_string()).collect();
    if !ids.is_empty() {
        comments::delivered(state, ids);
    }
    changes::reverts_told(state, delivery.reverts.iter().map(|(_, revert)| revert));
}

/// An answer, and the number of the delivery of its notes.
type Answer = (HookAnswer, Option<u64>);

async fn before_tool(state: &Arc<ServerState>, event: &HookEvent) -> Answer {
    let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
        changes::before_tool(state, event).await;
        return Answer::default();
    };
    let (file, ()) = tokio::join!(changes::before_tool(state, event), known_problems(state, path));
    if event.client.hooks.confirms_after_hook {
        // A model that corrects edits would make an edit that was rejected.
        let file = file.filter(|_| !event.corrects_edits);
        let original = file.and_then(|file| file.original(event.is_write));
        state.agents.model.lock().before_edit(&event.agent, path, original);
        let answer = if is_reviewed(state, &event.agent) {
            HookAnswer::ask()
        } else {
            HookAnswer::default()
        };
        return (answer, None);
    }
    if let Some(session) = state.diffs.just_accepted(path) {
        state.agents.model.lock().accepted(&event.agent, session);
    }
    let Some(input) = event.input.filter(|_| !state.context.is_silent()) else {
        return Answer::default();
    };
    let NotesForModel { ack, reasons, .. } =
        state.agents.model.lock().before_write(&event.agent, path, input);
    if reasons.is_empty() {
        return Answer::default();
    }
    (HookAnswer::deny(rejected(event, path, &reasons)), ack)
}

/// Whether the CLI has to show an edit that it would make without asking. A CLI that is not connected
/// could only ask in its terminal, which may not exist.
fn is_reviewed(state: &ServerState, agent: &str) -> bool {
    if !state.agents.review_all.load(Ordering::Relaxed) || !state.config.settings.diffs {
        return false;
    }
    let connected = state.sessions.connected_with(|client| client.replays_edits);
    let model = state.agents.model.lock();
    connected.into_iter().any(|session| model.may_belong(session, agent))
}

async fn after_tool(state: &Arc<ServerState>, event: &HookEvent) -> Answer {
    let path = event.path.as_deref().filter(|_| event.is_edit).unwrap_or_default();
    let problems = async {
        if event.is_edit && event.effect == ToolEffect::Made {
            new_problems(state, event, path).await
        } else {
            None
        }
    };
    let (problems, ()) = tokio::join!(problems, changes::after_tool(state, event));
    let mut texts = Vec::from_iter(problems);
    if state.context.is_silent() {
        return (HookAnswer::context(event, &texts), None);
    }
    let NotesForModel { ack, reasons, comments, .. } =
        state.agents.model.lock().after_tool(&event.agent, path);
    texts.extend(comments::text(state, &comments));
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let answer = if reasons.is_empty() {
        HookAnswer::context(event, &texts)
    } else if event.effect == ToolEffect::Made {
        // The user has accepted the edit in the terminal at the same time.
        texts.extend(reasons.iter().map(|(_, reason)| {
            format!("The user has a remark about this edit of {shown}: {}", &*reason.text)
        }));
        HookAnswer::context(event, &texts)
    } else {
        texts.insert(0, rejected(event, path, &reasons));
        HookAnswer::deny(texts.join("\n\n"))
    };
    (answer, ack)
}

/// The text for the model in place of the tool's result.
fn rejected(event: &HookEvent, path: &str, reasons: &[(NoteId, Reason)]) -> String {
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let reasons: Vec<_> = reasons.iter().map(|(_, reason)| &*reason.text).collect();
    format!(
        "The user rejected this edit of {shown}, and the file was not changed. The user's reason: {}",
        reasons.join("\n")
    )
}

async fn before_agent(state: &Arc<ServerState>, event: &HookEvent) -> Answer {
    if event.is_new_prompt {
        state.agents.begin_turn(&event.agent);
    }
    if state.context.is_silent() {
        return Answer::default();
    }
    let unsaved = timeout(UNSAVED_TIMEOUT, unsaved(state));
    let (unsaved, ()) = tokio::join!(unsaved, changes::drop_undone(state, &event.agent));
    let unsaved = unsaved.unwrap_or_default();
    if event.is_new_prompt {
        changes::begin_prompt(state, event);
    }
    let NotesForModel { ack, reasons, comments, reverts } =
        state.agents.model.lock().before_agent(&event.agent);
    let mut texts: Vec<_> = reasons
        .iter()
        .map(|(_, Reason { path, text, .. })| {
            let path = state.workspace.relative(path);
            format!(
                "The user rejected your last edit of {path}, and the file was not changed. The \
                 user's reason: {}",
                &**text
            )
        })
        .collect();
    texts.extend(comments::text(state, &comments));
    texts.extend(changes::text(state, &reverts));
    if !unsaved.is_empty() {
        texts.push(format!(
            "These files have changes in the user's editor that are not saved, so the disk has an \
             older text: {}",
            unsaved.join(", ")
        ));
    }
    (HookAnswer::context(event, &texts), ack)
}

/// A turn that ends goes on with the user's comments, once.
fn after_agent(state: &Arc<ServerState>, event: &HookEvent) -> Answer {
    changes::end_calls(state, &event.agent);
    if let Some(time) = state.agents.end_turn(&event.agent) {
        let finished = AgentFinished { seconds: time.as_secs() };
        state.host.notify(CompanionNotification::AgentFinished(finished));
    }
    if event.is_continued || state.context.is_silent() {
        return Answer::default();
    }
    let NotesForModel { ack, comments, .. } = state.agents.model.lock().after_turn();
    match comments::text(state, &comments) {
        Some(text) => {
            state.agents.begin_turn(&event.agent);
            (HookAnswer::go_on(text), ack)
        }
        None => Answer::default(),
    }
}

/// The file before an edit, if a client may write its text again without changing it.
async fn original(state: &ServerState, path: &str) -> Option<Digest> {
    let file = PathBuf::from(path);
    let read = async {
        state.workspace.check_shared(path, READ_TIMEOUT).await.ok()?;
        on_disk(state, move || original::digest(&file)).await?
    };
    timeout(READ_TIMEOUT, read).await.ok()?
}

/// The result of a look at the disk; `None` if the disk does not answer in time.
async fn on_disk<T: Send + 'static>(
    state: &ServerState,
    look: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let looking = async {
        let turn = Arc::clone(&state.agents.reading).acquire_owned().await.ok()?;
        let look = state.pool.run(move || {
            let _turn = turn;
            look()
        });
        look.await.ok()
    };
    timeout(READ_TIMEOUT, looking).await.ok()?
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
    let Ok(UnsavedFiles { paths }) = answered.await else { return Vec::new() };
    let mut shared = Vec::new();
    for path in paths.into_iter().take(MAX_UNSAVED) {
        if state.workspace.check_shared(&path, READ_TIMEOUT).await.is_ok() {
            shared.push(state.workspace.relative(&path));
        }
    }
    shared
}
