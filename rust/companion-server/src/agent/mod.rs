//! Answers the hooks of CLIs: reasons of rejections, comments, problems after an edit, unsaved files.
//!
//! [`companion_core::conversation`] decides which CLI gets which note. This module carries out the
//! rest: it reads files, asks the editor, and saves the notes for the next process. No hook waits for
//! a person.

mod changes;
mod comments;
mod delivery;
mod event;
mod expiry;
mod original;
mod rejection;
#[cfg(test)]
mod tests;
mod turns;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use companion_core::cli::{Caller, Connected};
use companion_core::companion::{FileBefore, Hook, Input};
use companion_core::conversation::Due;
use companion_core::notes::Reason;
use companion_platform::SuspendedMark;
use companion_protocol::dialect::ClientProfile;
use companion_protocol::editor::{
    AgentFinished, AgentWaiting, CompanionNotification, HookedClients, ReasonArrival, UnsavedFiles,
};
use companion_protocol::hook::{HookSenders, Moment};
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, oneshot};
use tokio::time::timeout;

use crate::host::{EditorRequest, UnsavedResponder};
use crate::mcp::tools;
use crate::net::json::Json;
use crate::session::Session;
use crate::state::ServerState;
use changes::{AgentChanges, FileText};
pub(crate) use changes::{kept, revert_undone, reverted, texts};
pub(crate) use comments::{pending, set};
use companion_core::text::Digest;
pub(crate) use delivery::confirm;
use delivery::{Checked, deliver};
pub(crate) use event::HookRequest;
use event::{HookAnswer, HookEvent, ToolEffect};
pub(crate) use expiry::expire_notes;
pub(crate) use rejection::{look, rejected_with_reason};
use turns::Turns;

/// The time for the disk before an edit, and when a proposal is rejected.
const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// The time for the editor to list unsaved files, and to check them. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(750);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The most unsaved files that the model is told.
const MAX_UNSAVED: usize = 20;

pub(crate) struct Agents {
    changes: Mutex<AgentChanges>,
    /// One change at a time.
    counting: Semaphore,
    turns: Mutex<Turns>,
    /// The user reviews each edit.
    review_all: AtomicBool,
    /// The last report to the editor.
    hooked: Mutex<HookedClients>,
    /// One file at a time: a disk that does not answer blocks one thread.
    reading: Arc<Semaphore>,
    /// The clients whose events have arrived.
    senders: Mutex<Vec<&'static ClientProfile>>,
    /// One mark at a time, as above.
    clearing: Arc<Semaphore>,
    /// Set by hooks while this process is suspended.
    mark: OnceLock<SuspendedMark>,
    /// Notified when a note or a change begins to age.
    ages: Notify,
}

impl Agents {
    pub(crate) fn new(review_all: bool) -> Self {
        Self {
            changes: Mutex::default(),
            counting: Semaphore::new(1),
            turns: Mutex::default(),
            review_all: review_all.into(),
            hooked: Mutex::default(),
            reading: Arc::new(Semaphore::new(1)),
            senders: Mutex::default(),
            clearing: Arc::new(Semaphore::new(1)),
            mark: OnceLock::new(),
            ages: Notify::new(),
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
}

/// Returns when the model would get the reason of a rejection of the diff that a client opens.
pub(crate) async fn reason_arrival(
    state: &ServerState,
    session: &Session,
    path: &str,
) -> ReasonArrival {
    let (driver, now) = (&state.driver, state.driver.now().elapsed);
    if state.context.is_silent() || !session.client.replays_edits {
        return ReasonArrival::Never;
    }
    if session.client.empty_is_unchanged {
        let expected = state.sessions.expected_with(|_| true);
        let opened = driver.ask(|companion| {
            companion.clis().expect_only(&expected);
            companion.clis().opened(session.id, path, now)
        });
        if !opened.needs_look {
            return opened.arrival;
        }
        let original = original(state, path).await;
        return driver.ask(|companion| companion.clis().looked_at(session.id, path, original));
    }
    if !driver.ask(|companion| companion.clis().knows(session.id)) {
        return ReasonArrival::Never;
    }
    let original = original(state, path).await;
    driver.ask(|companion| companion.clis().opened_without_hook(session.id, path, original, now))
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
    let turn = Arc::clone(&state.agents.clearing).try_acquire_owned();
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

/// Reports to the editor how many of the connected CLIs run hooks, if that has changed. The others
/// can't be asked to show each edit.
pub(crate) fn report_hooked(state: &ServerState) {
    let report = hooked(state);
    let last = std::mem::replace(&mut *state.agents.hooked.lock(), report.clone());
    if last != report {
        state.host.notify(CompanionNotification::HookedClients(report));
    }
}

/// The number of connected CLIs that have not run a hook.
pub(crate) fn unhooked(state: &ServerState) -> usize {
    let HookedClients { connected, hooked } = hooked(state);
    connected - hooked
}

fn hooked(state: &ServerState) -> HookedClients {
    let connected = state.sessions.connected_with(|client| client.replays_edits);
    let hooked = state.driver.ask(|companion| {
        let clis = companion.clis();
        connected.iter().filter(|session| clis.knows(**session)).count()
    });
    HookedClients { connected: connected.len(), hooked }
}

/// Answers an event. The answer is empty if the CLI goes on as without a hook.
pub(crate) async fn answer(state: Arc<ServerState>, event: HookEvent) -> Json {
    state.agents.note_sender(event.client);
    let caller = event.caller(&state.sessions);
    let (answer, ack) = match event.moment {
        Moment::BeforeTool => before_tool(&state, &event, &caller).await,
        Moment::AfterTool => after_tool(&state, &event, &caller).await,
        Moment::BeforeAgent => before_agent(&state, &event, &caller).await,
        Moment::AfterAgent => after_agent(&state, &event, &caller).await,
        Moment::Notification => {
            // The editor shows an edit as a proposal.
            let open = || state.driver.ask(|companion| companion.diffs().open_count());
            if !(event.is_about_edit && open() > 0) {
                let (session, message) = (event.session.clone(), event.message.clone());
                let waiting = AgentWaiting { session, message };
                state.host.notify(CompanionNotification::AgentWaiting(waiting));
            }
            Answer::default()
        }
        Moment::SessionStart => {
            state.driver.handle(Input::Hook(&caller, Hook::SessionStart));
            Answer::default()
        }
        Moment::SessionEnd => {
            state.driver.handle(Input::Hook(&caller, Hook::SessionEnd));
            changes::end_calls(&state, &event.session);
            Answer::default()
        }
    };
    report_hooked(&state);
    answer.into_json(ack)
}

/// An answer, and the number of the delivery of its notes.
type Answer = (HookAnswer, Option<u64>);

async fn before_tool(state: &Arc<ServerState>, event: &HookEvent, caller: &Caller<'_>) -> Answer {
    let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
        changes::before_tool(state, event).await;
        return Answer::default();
    };
    let (file, ()) = tokio::join!(changes::before_tool(state, event), known_problems(state, path));
    if event.client.hooks.confirms_after_hook {
        // A model that corrects edits would make an edit that was rejected.
        let before = match file.filter(|_| !event.corrects_edits) {
            Some(file) if file.text == FileText::Absent => FileBefore::Absent,
            Some(file) => {
                file.original(event.is_write).map_or(FileBefore::Unknown, FileBefore::Text)
            }
            None => FileBefore::Unknown,
        };
        state.driver.handle(Input::Hook(caller, Hook::BeforeEdit(path, before)));
        let is_asked = is_reviewed(state, caller);
        return (if is_asked { HookAnswer::ask() } else { HookAnswer::default() }, None);
    }
    let input = event.input.filter(|_| !state.context.is_silent());
    let due = state.driver.handle(Input::Hook(caller, Hook::BeforeWrite(path, input))).due;
    let Some(Checked { delivery, .. }) = deliver(state, due).await else {
        return Answer::default();
    };
    let answer = HookAnswer::deny(rejected(event, path, delivery.reasons()));
    (answer, Some(delivery.number))
}

/// Whether the CLI has to show an edit that it would make without asking. A CLI that is not connected
/// could only ask in its terminal, which may not exist.
fn is_reviewed(state: &ServerState, caller: &Caller<'_>) -> bool {
    if !state.agents.review_all.load(Ordering::Relaxed) || !state.config.settings.diffs {
        return false;
    }
    let expected = state.sessions.expected_with(|client| client.replays_edits);
    let mut caller = caller.clone();
    if state.sessions.awaits_any() {
        // Until a client of the last process has come back, it has no connection.
        caller.connected = Connected::Unknown;
    }
    state.driver.ask(|companion| companion.clis().is_connected(&caller, &expected))
}

async fn after_tool(state: &Arc<ServerState>, event: &HookEvent, caller: &Caller<'_>) -> Answer {
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
    let due = due(state, caller, Hook::AfterTool(path));
    let Some(Checked { delivery, .. }) = deliver(state, due).await else {
        return (HookAnswer::context(event, &texts), None);
    };
    texts.extend(comments::text(state, delivery.comments()));
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let answer = if delivery.reasons().next().is_none() {
        HookAnswer::context(event, &texts)
    } else if event.effect == ToolEffect::Made {
        // The user has accepted the edit in the terminal at the same time.
        for Reason { text, .. } in delivery.reasons() {
            texts.push(format!("The user has a remark about this edit of {shown}: {}", &**text));
        }
        HookAnswer::context(event, &texts)
    } else {
        texts.insert(0, rejected(event, path, delivery.reasons()));
        HookAnswer::deny(texts.join("\n\n"))
    };
    (answer, Some(delivery.number))
}

/// The notes that are due, unless the project shares nothing.
fn due(state: &ServerState, caller: &Caller<'_>, hook: Hook<'_>) -> Due {
    let due = state.driver.handle(Input::Hook(caller, hook)).due;
    if state.context.is_silent() { Vec::new() } else { due }
}

/// The text for the model in place of the tool's result.
fn rejected<'a>(
    event: &HookEvent,
    path: &str,
    reasons: impl Iterator<Item = &'a Reason>,
) -> String {
    let shown = event.shown_path.as_deref().unwrap_or(path);
    let reasons: Vec<_> = reasons.map(|reason| &*reason.text).collect();
    format!(
        "The user rejected this edit of {shown}, and the file was not changed. The user's reason: {}",
        reasons.join("\n")
    )
}

async fn before_agent(state: &Arc<ServerState>, event: &HookEvent, caller: &Caller<'_>) -> Answer {
    if event.is_new_prompt {
        state.agents.turns.lock().begin(&event.session);
    }
    if state.context.is_silent() {
        return Answer::default();
    }
    let unsaved = timeout(UNSAVED_TIMEOUT, unsaved(state));
    let (unsaved, ()) = tokio::join!(unsaved, changes::drop_undone(state, &event.session));
    let unsaved = unsaved.unwrap_or_default();
    if event.is_new_prompt {
        changes::begin_prompt(state, event);
    }
    let due = due(state, caller, Hook::BeforeAgent);
    let mut texts = Vec::new();
    let mut ack = None;
    if let Some(Checked { delivery, shared }) = deliver(state, due).await {
        for Reason { path, text, .. } in delivery.reasons() {
            let path = state.workspace.relative(path);
            texts.push(format!(
                "The user rejected your last edit of {path}, and the file was not changed. The \
                 user's reason: {}",
                &**text
            ));
        }
        texts.extend(comments::text(state, delivery.comments()));
        texts.extend(changes::text(state, delivery.reverts(), &shared));
        ack = Some(delivery.number);
    }
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
async fn after_agent(state: &Arc<ServerState>, event: &HookEvent, caller: &Caller<'_>) -> Answer {
    changes::end_calls(state, &event.session);
    let ended = state.agents.turns.lock().end(&event.session);
    if let Some(time) = ended {
        let finished = AgentFinished { session: event.session.clone(), seconds: time.as_secs() };
        state.host.notify(CompanionNotification::AgentFinished(finished));
    }
    let due = due(state, caller, Hook::AfterAgent);
    if event.is_continued {
        return Answer::default();
    }
    let Some(Checked { delivery, .. }) = deliver(state, due).await else {
        return Answer::default();
    };
    let Some(text) = comments::text(state, delivery.comments()) else { return Answer::default() };
    state.agents.turns.lock().begin(&event.session);
    (HookAnswer::go_on(text), Some(delivery.number))
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
