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
mod mark;
mod original;
mod reader;
mod rejection;
#[cfg(test)]
mod tests;
mod turns;

use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::{Caller, Connected};
use companion_core::companion::{FileBefore, Hook, Input};
use companion_core::conversation::Due;
use companion_core::notes::Reason;
use companion_platform::SuspendedMark;
use companion_protocol::diagnostics::Severity;
use companion_protocol::dialect::ClientProfile;
use companion_protocol::editor::{
    AgentFinished, AgentWaiting, CompanionNotification, HookedClients, UnsavedFiles,
};
use companion_protocol::hook::{HookSenders, Moment};
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::config::Config;
use crate::context::EditorContext;
use crate::diagnostics::SharedDiagnostics;
use crate::disk::pool::BlockingPool;
use crate::driver::Driver;
use crate::host::{EditorHost, EditorRequest, UnsavedResponder};
use crate::lifecycle::Lifecycle;
use crate::net::json::Json;
use crate::session::Sessions;
use crate::workspace::Workspace;
use changes::{ChangeTracker, FileText};
use comments::Comments;
use delivery::{Checked, Deliveries};
pub(crate) use event::HookRequest;
use event::{HookAnswer, HookEvent, ToolEffect};
use mark::HookMark;
use reader::{FileReader, READ_TIMEOUT};
use rejection::DiskLooks;
pub(crate) use rejection::rejected_with_reason;
use turns::Turns;

/// The time for the editor to list unsaved files, and to check them. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(750);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The most unsaved files that the model is told.
const MAX_UNSAVED: usize = 20;

/// The parts of the server that answers to hooks need.
pub(crate) struct AgentParts {
    pub(crate) config: Arc<Config>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) driver: Arc<Driver>,
    pub(crate) host: Arc<dyn EditorHost>,
    pub(crate) context: Arc<EditorContext>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) diagnostics: Arc<SharedDiagnostics>,
    pub(crate) pool: Arc<BlockingPool>,
    /// Set by hooks while this process is suspended.
    pub(crate) mark: Option<SuspendedMark>,
    pub(crate) lifecycle: Lifecycle,
}

/// The CLIs, as their hooks show them.
pub(crate) struct Agents {
    pub(crate) mark: HookMark,
    pub(crate) comments: Comments,
    pub(crate) changes: Arc<ChangeTracker>,
    pub(crate) deliveries: Deliveries,
    pub(crate) looks: DiskLooks,
    hooks: Mutex<HookState>,
    config: Arc<Config>,
    sessions: Arc<Sessions>,
    driver: Arc<Driver>,
    host: Arc<dyn EditorHost>,
    context: Arc<EditorContext>,
    workspace: Arc<Workspace>,
    diagnostics: Arc<SharedDiagnostics>,
}

/// What the hooks have shown, and what the editor knows of it.
struct HookState {
    /// The user reviews each edit.
    review_all: bool,
    turns: Turns,
    /// The clients whose events have arrived.
    senders: Vec<&'static ClientProfile>,
    /// The last report to the editor.
    reported: HookedClients,
}

impl Agents {
    pub(crate) fn new(parts: AgentParts) -> Self {
        let (workspace, pool) = (Arc::clone(&parts.workspace), Arc::clone(&parts.pool));
        let reader = Arc::new(FileReader::new(workspace, pool));
        let changes = Arc::new(ChangeTracker::new(&parts, Arc::clone(&reader)));
        let AgentParts {
            config,
            sessions,
            driver,
            host,
            context,
            workspace,
            diagnostics,
            pool,
            mark,
            lifecycle,
        } = parts;
        let hooks = HookState {
            review_all: config.settings.review_all,
            turns: Turns::default(),
            senders: Vec::new(),
            reported: HookedClients::default(),
        };
        Self {
            mark: HookMark::new(mark, pool),
            comments: Comments {
                driver: Arc::clone(&driver),
                workspace: Arc::clone(&workspace),
                host: Arc::clone(&host),
            },
            deliveries: Deliveries {
                driver: Arc::clone(&driver),
                workspace: Arc::clone(&workspace),
                changes: Arc::clone(&changes),
            },
            looks: DiskLooks {
                driver: Arc::clone(&driver),
                sessions: Arc::clone(&sessions),
                context: Arc::clone(&context),
                reader,
                lifecycle,
            },
            changes,
            hooks: Mutex::new(hooks),
            config,
            sessions,
            driver,
            host,
            context,
            workspace,
            diagnostics,
        }
    }

    pub(crate) fn review_changed(&self, all: bool) {
        self.hooks.lock().review_all = all;
    }

    fn note_sender(&self, client: &'static ClientProfile) {
        let senders = &mut self.hooks.lock().senders;
        if !senders.contains(&client) {
            senders.push(client);
        }
    }

    /// Lists the clients whose hooks have reached this server, as the body of a reply.
    pub(crate) fn hook_senders(&self) -> Json {
        let senders = &self.hooks.lock().senders;
        Json::new(&HookSenders { clients: senders.iter().map(|client| client.id.into()).collect() })
    }

    /// Reports to the editor how many of the connected CLIs run hooks, if that has changed. The others
    /// can't be asked to show each edit.
    pub(crate) fn report_hooked(&self) {
        let report = self.hooked();
        let last = std::mem::replace(&mut self.hooks.lock().reported, report.clone());
        if last != report {
            self.host.notify(CompanionNotification::HookedClients(report));
        }
    }

    /// The number of connected CLIs that have not run a hook.
    pub(crate) fn unhooked(&self) -> usize {
        let HookedClients { connected, hooked } = self.hooked();
        connected - hooked
    }

    fn hooked(&self) -> HookedClients {
        let known = self.driver.ask(|companion| companion.clis().connections());
        let mut clients = HookedClients { connected: 0, hooked: 0 };
        self.sessions.for_each_connected(|session| {
            if session.client.replays_edits {
                clients.connected += 1;
                clients.hooked += usize::from(known.contains(&session.id));
            }
        });
        clients
    }

    /// Answers an event. The answer is empty if the CLI goes on as without a hook.
    pub(crate) async fn answer(self: Arc<Self>, event: HookEvent) -> Json {
        self.note_sender(event.client);
        let caller = event.caller(&self.sessions);
        let (answer, ack) = match event.moment {
            Moment::BeforeTool => self.before_tool(&event, &caller).await,
            Moment::AfterTool => self.after_tool(&event, &caller).await,
            Moment::BeforeAgent => self.before_agent(&event, &caller).await,
            Moment::AfterAgent => self.after_agent(&event, &caller).await,
            Moment::Notification => {
                // The editor shows an edit as a proposal.
                let open = || self.driver.ask(|companion| companion.diffs().open_count());
                if !(event.is_about_edit && open() > 0) {
                    let (session, message) = (event.session.clone(), event.message.clone());
                    let waiting = AgentWaiting { session, message };
                    self.host.notify(CompanionNotification::AgentWaiting(waiting));
                }
                Answer::default()
            }
            Moment::SessionStart => {
                self.driver.handle(Input::Hook(&caller, Hook::SessionStart));
                Answer::default()
            }
            Moment::SessionEnd => {
                self.driver.handle(Input::Hook(&caller, Hook::SessionEnd));
                self.changes.end_calls(&event.session);
                Answer::default()
            }
        };
        self.report_hooked();
        answer.into_json(ack)
    }

    async fn before_tool(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
            self.changes.before_tool(event).await;
            return Answer::default();
        };
        let (file, ()) = tokio::join!(self.changes.before_tool(event), self.known_problems(path));
        if event.client.hooks.confirms_after_hook {
            // A model that corrects edits would make an edit that was rejected.
            let before = match file.filter(|_| !event.corrects_edits) {
                Some(file) if file.text == FileText::Absent => FileBefore::Absent,
                Some(file) => {
                    file.original(event.is_write).map_or(FileBefore::Unknown, FileBefore::Text)
                }
                None => FileBefore::Unknown,
            };
            self.driver.handle(Input::Hook(caller, Hook::BeforeEdit(path, before)));
            let is_asked = self.is_reviewed(caller);
            return (if is_asked { HookAnswer::ask() } else { HookAnswer::default() }, None);
        }
        let input = event.input.filter(|_| !self.context.is_silent());
        let due = self.driver.handle(Input::Hook(caller, Hook::BeforeWrite(path, input))).due;
        let Some(Checked { delivery, .. }) = self.deliveries.deliver(due).await else {
            return Answer::default();
        };
        let answer = HookAnswer::deny(rejected(event, path, delivery.reasons()));
        (answer, Some(delivery.number))
    }

    /// Whether the CLI has to show an edit that it would make without asking. A CLI that is not connected
    /// could only ask in its terminal, which may not exist.
    fn is_reviewed(&self, caller: &Caller<'_>) -> bool {
        if !self.hooks.lock().review_all || !self.config.settings.diffs {
            return false;
        }
        let expected = self.sessions.expected_with(|client| client.replays_edits);
        let mut caller = caller.clone();
        if self.sessions.awaits_any() {
            // Until a client of the last process has come back, it has no connection.
            caller.connected = Connected::Unknown;
        }
        self.driver.ask(|companion| companion.clis().is_connected(&caller, &expected))
    }

    async fn after_tool(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        let path = event.path.as_deref().filter(|_| event.is_edit).unwrap_or_default();
        let problems = async {
            if event.is_edit && event.effect == ToolEffect::Made {
                self.new_problems(event, path).await
            } else {
                None
            }
        };
        let (problems, ()) = tokio::join!(problems, self.changes.after_tool(event));
        let mut texts = Vec::from_iter(problems);
        let due = self.due(caller, Hook::AfterTool(path));
        let Some(Checked { delivery, .. }) = self.deliveries.deliver(due).await else {
            return (HookAnswer::context(event, &texts), None);
        };
        texts.extend(self.comments.text(delivery.comments()));
        let shown = event.shown_path.as_deref().unwrap_or(path);
        let answer = if delivery.reasons().next().is_none() {
            HookAnswer::context(event, &texts)
        } else if event.effect == ToolEffect::Made {
            // The user has accepted the edit in the terminal at the same time.
            for Reason { text, .. } in delivery.reasons() {
                texts
                    .push(format!("The user has a remark about this edit of {shown}: {}", &**text));
            }
            HookAnswer::context(event, &texts)
        } else {
            texts.insert(0, rejected(event, path, delivery.reasons()));
            HookAnswer::deny(texts.join("\n\n"))
        };
        (answer, Some(delivery.number))
    }

    /// The notes that are due, unless the project shares nothing.
    fn due(&self, caller: &Caller<'_>, hook: Hook<'_>) -> Due {
        let due = self.driver.handle(Input::Hook(caller, hook)).due;
        if self.context.is_silent() { Vec::new() } else { due }
    }

    async fn before_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        if event.is_new_prompt {
            self.hooks.lock().turns.begin(&event.session);
        }
        if self.context.is_silent() {
            return Answer::default();
        }
        let unsaved = timeout(UNSAVED_TIMEOUT, self.unsaved());
        let (unsaved, ()) = tokio::join!(unsaved, self.changes.drop_undone(&event.session));
        let unsaved = unsaved.unwrap_or_default();
        if event.is_new_prompt {
            self.changes.begin_prompt(event);
        }
        let due = self.due(caller, Hook::BeforeAgent);
        let mut texts = Vec::new();
        let mut ack = None;
        if let Some(Checked { delivery, shared }) = self.deliveries.deliver(due).await {
            for Reason { path, text, .. } in delivery.reasons() {
                let path = self.workspace.relative(path);
                texts.push(format!(
                    "The user rejected your last edit of {path}, and the file was not changed. The \
                 user's reason: {}",
                    &**text
                ));
            }
            texts.extend(self.comments.text(delivery.comments()));
            texts.extend(self.changes.text(delivery.reverts(), &shared));
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
    async fn after_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        self.changes.end_calls(&event.session);
        let ended = self.hooks.lock().turns.end(&event.session);
        if let Some(time) = ended {
            let finished =
                AgentFinished { session: event.session.clone(), seconds: time.as_secs() };
            self.host.notify(CompanionNotification::AgentFinished(finished));
        }
        let due = self.due(caller, Hook::AfterAgent);
        if event.is_continued {
            return Answer::default();
        }
        let Some(Checked { delivery, .. }) = self.deliveries.deliver(due).await else {
            return Answer::default();
        };
        let Some(text) = self.comments.text(delivery.comments()) else { return Answer::default() };
        self.hooks.lock().turns.begin(&event.session);
        (HookAnswer::go_on(text), Some(delivery.number))
    }

    /// Asks for the problems of a file, so that only new ones are reported after the edit.
    async fn known_problems(&self, path: &str) {
        if Tool::GetDiagnostics.is_offered(&self.config.settings) {
            let known = self.diagnostics.report(Some(path.to_owned()), Severity::default(), false);
            let _ = timeout(KNOWN_TIMEOUT, known).await;
        }
    }

    /// The problems that the edit has caused, as a text for the model.
    async fn new_problems(&self, event: &HookEvent, path: &str) -> Option<String> {
        if !Tool::GetDiagnostics.is_offered(&self.config.settings) {
            return None;
        }
        let mut report = self
            .diagnostics
            .report(Some(path.to_owned()), Severity::default(), true)
            .await
            .ok()??;
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
    async fn unsaved(&self) -> Vec<String> {
        let (answer, answered) = oneshot::channel();
        let responder = UnsavedResponder::new(answer);
        self.host.request(EditorRequest::UnsavedFiles, responder.into());
        let Ok(UnsavedFiles { paths }) = answered.await else { return Vec::new() };
        let mut shared = Vec::new();
        for path in paths.into_iter().take(MAX_UNSAVED) {
            if self.workspace.check_shared(&path, READ_TIMEOUT).await.is_ok() {
                shared.push(self.workspace.relative(&path));
            }
        }
        shared
    }
}

/// An answer, and the number of the delivery of its notes.
type Answer = (HookAnswer, Option<u64>);

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
