//! Answers each hook, and asks the editor for what the model should know.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use companion_core::cli::{Caller, FileBefore};
use companion_core::companion::{Hook, Input};
use companion_core::conversation::Due;
use companion_core::notes::Reason;
use companion_core::text::Digest;
use companion_protocol::diagnostics::Severity;
use companion_protocol::editor::{CliAnswered, CliFinished, CompanionNotification, UnsavedFiles};
use companion_protocol::hook::HookEventKind;
use companion_protocol::profile::names_client;
use companion_protocol::tool::Tool;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::changes::FileText;
use super::event::{HookEvent, ToolEffect};
use super::note_delivery::Checked;
use super::output::HookOutput;
use super::{Hooks, texts};
use crate::config::DISK_TIMEOUT;
use crate::driver::Reply;
use crate::host::{Asker, EditorRequest, Responder};
use crate::net::json::Json;

/// The time for the editor to list unsaved files, and to check them. The user's prompt waits for it.
const UNSAVED_TIMEOUT: Duration = Duration::from_millis(750);

/// The time before an edit to learn the problems that are there already.
const KNOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The most unsaved files that are reported to the model.
const MAX_UNSAVED: usize = 20;

impl Hooks {
    /// Answers an event. The answer is empty if the CLI goes on as without a hook.
    pub(crate) async fn answer(self: Arc<Self>, event: HookEvent) -> Json {
        if names_client(&event.name) {
            let senders = &mut self.state.lock().senders;
            if !senders.contains(&event.client) {
                senders.push(event.client);
            }
        }
        let caller = event.caller(&self.sessions);
        if event.shows_answer() {
            self.go_on(&event.session);
        }
        let output = match event.event_kind {
            HookEventKind::BeforeTool => self.before_tool(&event, &caller).await,
            HookEventKind::AfterTool => self.after_tool(&event, &caller).await,
            HookEventKind::BeforeAgent => self.before_agent(&event, &caller).await,
            HookEventKind::AfterAgent => self.after_agent(&event, &caller).await,
            HookEventKind::Notification => {
                self.notified(event);
                HookOutput::default()
            }
            HookEventKind::SessionStart => {
                let started = Hook::SessionStart { is_new: event.is_new_session };
                self.driver.handle(Input::Hook(&caller, started));
                HookOutput::default()
            }
            HookEventKind::SessionEnd => {
                self.driver.handle(Input::Hook(&caller, Hook::SessionEnd));
                self.end_calls(&event.session);
                HookOutput::default()
            }
        };
        output.into_json()
    }

    /// The question of the CLI, if there is one, does not wait for its user any more.
    pub(super) fn go_on(&self, session: &str) {
        if self.state.lock().turns.go_on(session) {
            self.notify_answered(session);
        }
    }

    /// Notifies the editor that the CLI does not wait for its user any more.
    pub(super) fn notify_answered(&self, session: &str) {
        let answered = CliAnswered { session: session.to_owned() };
        self.host.notify(CompanionNotification::CliAnswered(answered));
    }

    async fn before_tool(&self, event: &HookEvent, caller: &Caller<'_>) -> HookOutput {
        let Some(path) = event.path.as_deref().filter(|_| event.is_edit) else {
            if event.client.hooks.confirms_after_hook {
                self.driver.handle(Input::Hook(caller, Hook::BeforeTool));
            }
            self.look_before_tool(event).await;
            return HookOutput::default();
        };
        let (file, ()) = tokio::join!(self.look_before_tool(event), self.known_problems(path));
        if event.client.hooks.confirms_after_hook {
            // A model that corrects edits would make an edit that was rejected.
            let before = match file.filter(|_| !event.corrects_edits) {
                Some(file) if file.text == FileText::Absent => FileBefore::Absent,
                Some(file) => file
                    .text
                    .original(Path::new(path), event.is_write)
                    .map_or(FileBefore::Unknown, |text| FileBefore::Text(Digest::of(text))),
                None => FileBefore::Unknown,
            };
            self.driver.handle(Input::Hook(caller, Hook::BeforeEdit(path, before)));
            let is_asked = self.is_reviewed(caller);
            return if is_asked { HookOutput::ask() } else { HookOutput::default() };
        }
        let write = Hook::BeforeWrite(path, event.input);
        let Reply { is_rejected, due, .. } = self.driver.handle(Input::Hook(caller, write));
        if is_rejected { self.deny(event, caller, path, due).await } else { HookOutput::default() }
    }

    /// Answers the hook of an edit that the user has rejected. The client has got the file's text in place of
    /// the rejection, so its model has to learn of that also if the reason may not leave.
    async fn deny(
        &self,
        event: &HookEvent,
        caller: &Caller<'_>,
        path: &str,
        due: Due,
    ) -> HookOutput {
        match self.deliver(caller, due).await {
            Some(Checked { delivery, .. }) => {
                let reasons = delivery.reasons().map(|reason| &*reason.text);
                HookOutput::deny(texts::rejected(event, path, reasons)).with(&delivery)
            }
            None => HookOutput::deny(texts::rejected(event, path, [])),
        }
    }

    /// Whether the CLI has to show an edit that it would make without asking. A CLI that is not connected
    /// could only ask in its terminal, which may not exist.
    fn is_reviewed(&self, caller: &Caller<'_>) -> bool {
        if !self.state.lock().review_all || !self.config.settings.review {
            return false;
        }
        self.driver.ask(|companion| companion.may_review(caller))
    }

    async fn after_tool(self: &Arc<Self>, event: &HookEvent, caller: &Caller<'_>) -> HookOutput {
        let path = event.path.as_deref().filter(|_| event.is_edit).unwrap_or_default();
        if event.is_unread {
            return HookOutput::default();
        }
        if let Some(text) = event.written {
            self.driver.handle(Input::Wrote(path, text));
        }
        // Qwen Code runs this hook for all its models, and then that of a prompt for its main one.
        let hook = if event.client.hooks.prompts_after_tool {
            if event.subagent.is_none() {
                self.driver.handle(Input::Hook(caller, Hook::Answers));
            }
            Hook::ToolEnded(path)
        } else {
            Hook::AfterTool(path)
        };
        // First, because the user may decide about another edit of the file meanwhile.
        let Reply { is_rejected, mut due, .. } = self.driver.handle(Input::Hook(caller, hook));
        let problems = async {
            if event.is_edit && event.effect == ToolEffect::Made {
                self.new_problems(event, path).await
            } else {
                None
            }
        };
        let (problems, ()) = tokio::join!(problems, self.look_after_tool(event));
        let has_failed = event.effect == ToolEffect::Failed;
        // Of a tool that has failed, Qwen Code gives its model only the error, also if the hook denies it.
        let is_denied = is_rejected && (!has_failed || event.client.hooks.confirms_after_hook);
        if event.effect != ToolEffect::Made && is_denied {
            return self.deny(event, caller, path, due).await;
        }
        if has_failed {
            // So does Gemini CLI if the hook does not deny it.
            due.clear();
        }
        let notes = self.deliver(caller, due).await;
        let mut texts = Vec::from_iter(problems.filter(|_| self.context.is_shared()));
        let Some(notes) = notes else { return HookOutput::context(event, &texts) };
        let remark = |reason: &Reason| texts::remark(event, path, reason);
        texts.extend(texts::of_notes(&self.workspace, event, &notes, remark));
        HookOutput::context(event, &texts).with(&notes.delivery)
    }

    async fn before_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> HookOutput {
        let is_of_user = event.is_new_prompt && !event.is_going_on;
        if is_of_user {
            self.state.lock().turns.begin(&event.session);
        }
        let listed = async {
            if !event.is_new_prompt {
                return Vec::new();
            }
            timeout(UNSAVED_TIMEOUT, self.unsaved(event.folder.as_deref()))
                .await
                .unwrap_or_default()
        };
        let mut unsaved = Vec::new();
        if self.context.is_shared() {
            (unsaved, ()) = tokio::join!(listed, self.drop_undone_reverts(event));
        }
        // The user may have changed this setting in the meantime.
        let is_shared = self.context.is_shared();
        if is_of_user {
            // Its edits are listed if the user shares again meanwhile, its text is not.
            self.begin_prompt(event, if is_shared { &event.title } else { "" });
        }
        let ends_cancelled_turns = event.client.hooks.ends_cancelled_turns;
        let hook = if event.is_new_prompt {
            Hook::BeforeAgent { ends_cancelled_turns }
        } else {
            Hook::BeforeResults
        };
        let due = self.driver.handle(Input::Hook(caller, hook)).due;
        let notes = self.deliver(caller, due).await;
        let mut texts = Vec::new();
        if let Some(notes) = &notes {
            let rejected = |of: &Reason| texts::rejected_before(&self.workspace, event, of);
            texts = texts::of_notes(&self.workspace, event, notes, rejected);
        }
        if self.context.is_shared() && !unsaved.is_empty() {
            texts.push(texts::unsaved(&unsaved));
        }
        let output = HookOutput::context(event, &texts);
        match notes {
            Some(Checked { delivery, .. }) => output.with(&delivery),
            None => output,
        }
    }

    /// A turn that ends goes on with the user's comments, once.
    async fn after_agent(&self, event: &HookEvent, caller: &Caller<'_>) -> HookOutput {
        self.end_turn_calls(event);
        // A comment that the user writes after that waits for the next prompt.
        let ended = Hook::AfterAgent(event.answer);
        let due = self.driver.handle(Input::Hook(caller, ended)).due;
        if !event.is_continued
            && let Some(notes) = self.deliver(caller, due).await
        {
            let rejected = |of: &Reason| texts::rejected_before(&self.workspace, event, of);
            let texts = texts::of_notes(&self.workspace, event, &notes, rejected);
            return HookOutput::go_on(texts.join("\n\n")).with(&notes.delivery);
        }
        if let Some(time) = self.state.lock().turns.end(&event.session) {
            let finished = CliFinished { session: event.session.clone(), seconds: time.as_secs() };
            self.host.notify(CompanionNotification::CliFinished(finished));
        }
        HookOutput::default()
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
        let report = self.diagnostics.report(Some(path.to_owned()), Severity::default(), true);
        let mut report = report.await.ok()??;
        if report.files.iter().all(|file| file.found.diagnostics.is_empty()) {
            return None;
        }
        if let Some(shown) = &event.shown_path {
            for file in &mut report.files {
                file.found.path.clone_from(shown);
            }
        }
        Some(texts::problems(&report))
    }

    /// The files whose text in the editor is not on the disk, and that may be named to a model.
    async fn unsaved(&self, folder: Option<&str>) -> Vec<String> {
        let (answer, answered) = oneshot::channel();
        self.host.request(EditorRequest::UnsavedFiles, Responder(Asker::Unsaved(answer)));
        let Ok(UnsavedFiles { paths }) = answered.await else { return Vec::new() };
        let mut shared = Vec::new();
        for path in paths.into_iter().take(MAX_UNSAVED) {
            if self.workspace.check_shared(&path, DISK_TIMEOUT).await.is_ok() {
                shared.push(self.workspace.name_for(folder, &path));
            }
        }
        shared
    }
}
