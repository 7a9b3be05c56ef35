//! Answers the server's requests, from any thread of the editor.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use companion_core::calls::CallId;
use companion_protocol::diagnostics::Diagnostics;
use companion_protocol::editor::{DiffResult, UnsavedFiles};
use companion_protocol::ide::one_line;
use companion_protocol::jsonrpc::{ErrorObject, code, describe};
use parking_lot::Mutex;
use tokio::sync::oneshot;

/// The longest message of a failed request, in UTF-16 code units. A user or a model reads it.
const MAX_MESSAGE: usize = 500;

/// Answers one request, once and from any thread. The request fails if this is dropped.
#[derive(Debug)]
pub enum Responder {
    /// Of a request about a diff.
    Diff(DiffResponder),
    /// Of a request for diagnostics.
    Diagnostics(DiagnosticsResponder),
    /// Of a request for the unsaved files.
    Unsaved(UnsavedResponder),
}

impl Responder {
    /// Completes the request. `text` is the final text of a proposal that was closed, or the JSON
    /// of [`Diagnostics`] or [`UnsavedFiles`]; other requests have none.
    pub fn complete(self, text: Option<String>) {
        match self {
            Self::Diff(responder) => responder.complete(text),
            Self::Diagnostics(responder) => responder.complete_json(&text.unwrap_or_default()),
            Self::Unsaved(responder) => responder.complete_json(&text.unwrap_or_default()),
        }
    }

    /// Completes the request with a result in the editor's protocol.
    pub fn complete_json(self, result: &str) {
        match self {
            Self::Diff(responder) => responder.complete_json(result),
            Self::Diagnostics(responder) => responder.complete_json(result),
            Self::Unsaved(responder) => responder.complete_json(result),
        }
    }

    /// Fails the request. The user or the model reads `message`.
    pub fn fail(self, message: &str) {
        match self {
            Self::Diff(responder) => responder.fail(message),
            Self::Diagnostics(responder) => responder.fail(message),
            // The model gets nothing.
            Self::Unsaved(_) => {}
        }
    }

    /// Fails the request with an error in the editor's protocol.
    pub fn fail_with(self, error: &ErrorObject) {
        match self {
            Self::Diagnostics(responder) if error.code == code::METHOD_NOT_FOUND => {
                responder.unsupported();
            }
            responder => responder.fail(&error.message),
        }
    }
}

impl From<DiffResponder> for Responder {
    fn from(responder: DiffResponder) -> Self {
        Self::Diff(responder)
    }
}

impl From<DiagnosticsResponder> for Responder {
    fn from(responder: DiagnosticsResponder) -> Self {
        Self::Diagnostics(responder)
    }
}

impl From<UnsavedResponder> for Responder {
    fn from(responder: UnsavedResponder) -> Self {
        Self::Unsaved(responder)
    }
}

/// Answers a request about a diff.
#[derive(Debug)]
pub struct DiffResponder {
    owner: Weak<dyn RequestOwner>,
    call: Option<CallId>,
}

/// Sends requests about diffs, and receives their results.
pub(crate) trait RequestOwner: Send + Sync {
    /// The editor has carried out the request.
    fn completed(&self, call: CallId, content: Option<String>);

    /// The editor could not carry out the request.
    fn failed(&self, call: CallId, message: &str);

    /// The editor has sent an invalid answer.
    fn unreadable(&self, call: CallId, message: &str);
}

impl DiffResponder {
    pub(crate) fn new(owner: Weak<dyn RequestOwner>, call: Option<CallId>) -> Self {
        Self { owner, call }
    }

    /// Completes the request. `content` is the final text of a proposal that was closed.
    pub fn complete(mut self, content: Option<String>) {
        if let Some((owner, call)) = self.take() {
            owner.completed(call, content);
        }
    }

    /// Completes the request with a result in the editor's protocol.
    fn complete_json(self, result: &str) {
        match serde_json::from_str::<Option<DiffResult>>(result) {
            Ok(result) => self.complete(result.and_then(|result| result.content)),
            Err(error) => {
                let why = format!("The editor's answer is not valid: {}.", describe(&error));
                log::warn!("{why}");
                self.unreadable(&why);
            }
        }
    }

    /// Fails the request. The client shows `message` to the user.
    pub fn fail(mut self, message: &str) {
        self.failed(&one_line(message, MAX_MESSAGE));
    }

    /// Fails the request because the answer is invalid. The state of the view is unknown: the
    /// editor may have closed it, and its text may be lost.
    pub fn unreadable(mut self, message: &str) {
        if let Some((owner, call)) = self.take() {
            owner.unreadable(call, &one_line(message, MAX_MESSAGE));
        }
    }

    fn failed(&mut self, message: &str) {
        if let Some((owner, call)) = self.take() {
            owner.failed(call, message);
        }
    }

    /// Takes the call, once.
    fn take(&mut self) -> Option<(Arc<dyn RequestOwner>, CallId)> {
        Some((self.owner.upgrade()?, self.call.take()?))
    }
}

impl Drop for DiffResponder {
    fn drop(&mut self) {
        self.failed("The editor could not carry out the request.");
    }
}

/// Answers a request for diagnostics.
#[derive(Debug)]
pub struct DiagnosticsResponder(oneshot::Sender<Result<Diagnostics, String>>);

impl DiagnosticsResponder {
    pub(crate) fn new(answer: oneshot::Sender<Result<Diagnostics, String>>) -> Self {
        Self(answer)
    }

    /// Completes the request.
    pub fn complete(self, diagnostics: Diagnostics) {
        // The call may have ended.
        let _ = self.0.send(Ok(diagnostics));
    }

    /// Completes the request with the JSON of [`Diagnostics`].
    pub(crate) fn complete_json(self, json: &str) {
        match serde_json::from_str(json) {
            Ok(diagnostics) => self.complete(diagnostics),
            Err(error) => {
                // Not the message, which may contain text of a file.
                log::warn!("the editor's problems are not valid: column {}", error.column());
                self.fail("The editor's answer is not valid.");
            }
        }
    }

    /// Fails the request. The model reads `message`.
    pub fn fail(self, message: &str) {
        let _ = self.0.send(Err(one_line(message, MAX_MESSAGE)));
    }

    /// Fails the request because the editor does not know it.
    pub fn unsupported(self) {
        self.fail("This editor does not report problems.");
    }
}

/// Answers a request for the unsaved files. Dropped, it fails the request.
#[derive(Debug)]
pub struct UnsavedResponder(oneshot::Sender<UnsavedFiles>);

impl UnsavedResponder {
    pub(crate) fn new(answer: oneshot::Sender<UnsavedFiles>) -> Self {
        Self(answer)
    }

    fn complete_json(self, json: &str) {
        match serde_json::from_str(json) {
            // The prompt may not wait any more.
            Ok(files) => drop(self.0.send(files)),
            Err(error) => log::warn!("the editor's answer is not valid: {}", describe(&error)),
        }
    }
}

/// Keeps responders by number, for an editor that gets its requests as messages.
#[derive(Debug, Default)]
pub struct Responders(Mutex<(u64, HashMap<u64, Responder>)>);

impl Responders {
    /// Keeps a responder, and returns its number, which is never used again.
    pub fn add(&self, responder: impl Into<Responder>) -> u64 {
        let mut kept = self.0.lock();
        let (last, responders) = &mut *kept;
        *last += 1;
        responders.insert(*last, responder.into());
        *last
    }

    /// Takes the responder of that number, once.
    pub fn take(&self, number: u64) -> Option<Responder> {
        self.0.lock().1.remove(&number)
    }
}
