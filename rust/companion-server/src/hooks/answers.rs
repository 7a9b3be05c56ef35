//! Answers each hook, and asks the editor for what the model should know.

use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::{Caller, Connected, FileBefore};
use companion_core::companion::{Companion, Hook, Input};
use companion_core::conversation::Due;
use companion_core::notes::{Note, Reason};
use companion_protocol::diagnostics::Severity;
use companion_protocol::editor::{
    CliAnswered, CliFinished, CliWaiting, CompanionNotification, UnsavedFiles,
};
use companion_protocol::hook::HookEventKind;
use companion_protocol::profile::names_client;
use companion_protocol::tool::Tool;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::Hooks;
use super::changes::FileText;
use super::delivery::Checked;
use super::event::{HookEvent, HookOutput, ToolEffect};
use super::reader::READ_TIMEOUT;
use crate::host::{EditorRequest, UnsavedResponder};
use crate::net::json::Json;

/// The time for the editor to list unsaved files, and to check them. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(750);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The most unsaved files that are reported to the model.
const MAX_UNSAVED: usize = 20;

/// An answer, and the number of the delivery of its notes.
type Answer = (HookOutput, Option<u64>);

impl Hooks {
    /// Answers an event. The answer is empty if the CLI goes on as without a hook.
    pub(crate) async fn answer(self: Arc<Self>, event: HookEvent) -> Json {
        if names_client(&event.name) {
            self.note_sender(event.client);
        }
        let caller = event.caller(&self.sessions);
        if event.shows_answer() {
            self.go_on(&event.session);
        }
        let (answer, ack) = match event.event_kind {
            HookEventKind::BeforeTool => self.before_tool(&event, &caller).await,
            HookEventKind::AfterTool => self.after_tool(&event, &caller).await,
            HookEventKind::BeforeAgent => self.before_agent(&event, &caller).await,
            HookEventKind::AfterAgent => self.after_agent(&event, &caller).await,
            HookEventKind::Notification => {
                if event.is_question {
                    self.asks(&event, &caller);
                }
                Answer::default()
            }
            HookEventKind::SessionStart => {
                let started = Hook::SessionStart { is_new: event.is_new_session };
                self.driver.handle(Input::Hook(&caller, started));
                Answer::default()
            }
            HookEventKind::SessionEnd => {
                self.driver.handle(Input::Hook(&caller, Hook::SessionEnd));
                self.changes.end_calls(&event.session);
                Answer::default()
            }
        };
        answer.into_json(ack)
    }

    /// The user has answered the question of the CLI, if there is one.
    fn go_on(&self, session: &str) {
        if self.state.lock().turns.go_on(session) {
            let answered = CliAnswered { session: session.to_owned() };
            self.host.notify(CompanionNotification::CliAnswered(answered));
        }
    }

    /// The CLI asks its user something in the terminal.
    fn asks(&self, event: &HookEvent, caller: &Caller<'_>) {
        if event.is_about_tool {
            self.driver.handle(Input::Hook(caller, Hook::BeforeTool));
        } else if event.subagent.is_none() {
            self.driver.handle(Input::Hook(caller, Hook::Answers));
        }
        // The editor shows an edit as a proposal.
        let is_shown = |companion: &Companion| match companion.clis().connection(caller) {
            Some(connection) => companion.diffs().count(connection) > 0,
            None => caller.connected != Connected::No && companion.diffs().open_count() > 0,
        };
        if event.is_about_edit && self.driver.ask(is_shown) {
            return;
        }
        self.state.lock().turns.ask(&event.session);
        let (session, message) = (event.session.clone(), event.message.clone());
        let waiting = CliWaiting { session, message };
        self.host.notify(CompanionNotification::CliWaiting(waiting));
    }

    async fn before_tool(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
            if event.client.hooks.confirms_after_hook {
                self.driver.handle(Input::Hook(caller, Hook::BeforeTool));
            }
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
            return (if is_asked { HookOutput::ask() } else { HookOutput::default() }, None);
        }
        let input = event.input.filter(|_| self.context.is_shared());
        let due = self.driver.handle(Input::Hook(caller, Hook::BeforeWrite(path, input))).due;
        let Some(Checked { delivery, .. }) = self.deliver(caller.session, due).await else {
            return Answer::default();
        };
        let answer = HookOutput::deny(rejected(event, path, delivery.reasons()));
        (answer, Some(delivery.number))
    }

    /// Whether the CLI has to show an edit that it would make without asking. A CLI that is not connected
    /// could only ask in its terminal, which may not exist.
    fn is_reviewed(&self, caller: &Caller<'_>) -> bool {
        if !self.state.lock().review_all || !self.config.settings.review {
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
        if event.is_unread {
            return Answer::default();
        }
        if let Some(text) = event.written {
            self.driver.handle(Input::Wrote(path, text));
        }
        let problems = async {
            if event.is_edit && event.effect == ToolEffect::Made {
                self.new_problems(event, path).await
            } else {
                None
            }
        };
        let (problems, ()) = tokio::join!(problems, self.changes.after_tool(event));
        let mut texts = Vec::from_iter(problems);
        // Qwen Code runs this hook for all its models, and then that of a prompt for its main one.
        let hook = if event.client.hooks.prompts_after_tool {
            if event.subagent.is_none() {
                self.driver.handle(Input::Hook(caller, Hook::Answers));
            }
            Hook::ToolEnded(path)
        } else {
            Hook::AfterTool(path)
        };
        let mut due = self.due(caller, hook);
        if event.effect == ToolEffect::Failed {
            // The model gets only the error of the tool; of Gemini CLI a reason in its place.
            due.retain(|(_, note)| {
                matches!(note, Note::Reason(_)) && event.client.hooks.confirms_after_hook
            });
        }
        let Some(Checked { delivery, .. }) = self.deliver(caller.session, due).await else {
            return (HookOutput::context(event, &texts), None);
        };
        texts.extend(self.comments_text(event.folder(), delivery.comments()));
        let shown = event.shown_path.as_deref().unwrap_or(path);
        let answer = if delivery.reasons().next().is_none() {
            HookOutput::context(event, &texts)
        } else if event.effect == ToolEffect::Made {
            // The user has accepted the edit in the terminal at the same time.
            for Reason { text, .. } in delivery.reasons() {
                texts
                    .push(format!("The user has a remark about this edit of {shown}: {}", &**text));
            }
            HookOutput::context(event, &texts)
        } else {
            texts.insert(0, rejected(event, path, delivery.reasons()));
            HookOutput::deny(texts.join("\n\n"))
        };
        (answer, Some(delivery.number))
    }

    /// The notes that are due, unless the project shares nothing.
    fn due(&self, caller: &Caller<'_>, hook: Hook<'_>) -> Due {
        let due = self.driver.handle(Input::Hook(caller, hook)).due;
        if self.context.is_shared() { due } else { Vec::new() }
    }

    async fn before_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        let is_of_user = event.is_new_prompt && !event.is_going_on;
        if is_of_user {
            self.state.lock().turns.begin(&event.session);
        }
        if !self.context.is_shared() {
            if is_of_user {
                // Its edits are listed if the user shares again meanwhile, its text is not.
                self.changes.begin_prompt(event, "");
            }
            return Answer::default();
        }
        let unsaved = async {
            if !event.is_new_prompt {
                return Vec::new();
            }
            timeout(UNSAVED_TIMEOUT, self.unsaved(event.folder())).await.unwrap_or_default()
        };
        let (unsaved, ()) = tokio::join!(unsaved, self.changes.drop_undone(event));
        if is_of_user {
            self.changes.begin_prompt(event, &event.title);
        }
        let ends_cancelled_turns = event.client.hooks.ends_cancelled_turns;
        let hook = if event.is_new_prompt {
            Hook::BeforeAgent { ends_cancelled_turns }
        } else {
            Hook::BeforeResults
        };
        let due = self.due(caller, hook);
        let mut texts = Vec::new();
        let mut ack = None;
        if let Some(Checked { delivery, shared }) = self.deliver(caller.session, due).await {
            for Reason { path, text, .. } in delivery.reasons() {
                let path = self.workspace.name_for(event.folder(), path);
                texts.push(format!(
                    "The user rejected your last edit of {path}, and the file was not changed. \
                     The user's reason: {}",
                    &**text
                ));
            }
            texts.extend(self.comments_text(event.folder(), delivery.comments()));
            texts.extend(self.changes.text(event.folder(), delivery.reverts(), &shared));
            ack = Some(delivery.number);
        }
        if !unsaved.is_empty() {
            texts.push(format!(
                "These files have changes in the user's editor that are not saved, so the disk has \
                 an older text: {}",
                unsaved.join(", ")
            ));
        }
        (HookOutput::context(event, &texts), ack)
    }

    /// A turn that ends goes on with the user's comments, once.
    async fn after_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> Answer {
        self.changes.end_turn(event);
        // A comment that the user writes after that waits for the next prompt.
        let due = self.due(caller, Hook::AfterAgent(event.answer));
        if !event.is_continued
            && let Some(Checked { delivery, .. }) = self.deliver(caller.session, due).await
            && let Some(text) = self.comments_text(event.folder(), delivery.comments())
        {
            return (HookOutput::go_on(text), Some(delivery.number));
        }
        if let Some(time) = self.state.lock().turns.end(&event.session) {
            let finished = CliFinished { session: event.session.clone(), seconds: time.as_secs() };
            self.host.notify(CompanionNotification::CliFinished(finished));
        }
        Answer::default()
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
    async fn unsaved(&self, folder: Option<&str>) -> Vec<String> {
        let (answer, answered) = oneshot::channel();
        let responder = UnsavedResponder::new(answer);
        self.host.request(EditorRequest::UnsavedFiles, responder.into());
        let Ok(UnsavedFiles { paths }) = answered.await else { return Vec::new() };
        let mut shared = Vec::new();
        for path in paths.into_iter().take(MAX_UNSAVED) {
            if self.workspace.check_shared(&path, READ_TIMEOUT).await.is_ok() {
                shared.push(self.workspace.name_for(folder, &path));
            }
        }
        shared
    }
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
