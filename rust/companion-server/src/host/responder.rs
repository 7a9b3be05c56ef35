//! Answers the server's requests, from any thread of the editor.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::mem;
use std::sync::Weak;

use companion_core::calls::CallId;
use companion_core::companion::Input;
use companion_core::diffs::Accepted;
use companion_core::text::Text;
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
pub struct Responder(pub(crate) Asker);

/// The part of the server that waits for an answer.
#[derive(Debug)]
pub(crate) enum Asker {
    /// A call about a diff.
    Diff(Weak<dyn TakeAnswer>, CallId),
    Diagnostics(oneshot::Sender<Result<Diagnostics, String>>),
    Unsaved(oneshot::Sender<UnsavedFiles>),
    /// The request was answered, or no call waits for it.
    Nobody,
}

/// Sends requests about diffs, and takes their answers.
pub(crate) trait TakeAnswer: Send + Sync {
    /// Counts the bytes of a text until its clients have got it.
    fn hold(&self, text: String) -> Text;

    /// Takes an answer.
    fn take_answer(&self, answer: Input<'_>);
}

impl Responder {
    /// Completes the request. `text` is the final text of a proposal that was closed, or the JSON
    /// of [`Diagnostics`] or [`UnsavedFiles`]; other requests have none.
    pub fn complete(mut self, text: Option<String>) {
        match mem::replace(&mut self.0, Asker::Nobody) {
            Asker::Diff(owner, call) => {
                let Some(owner) = owner.upgrade() else { return };
                let closed = text.map(|text| Accepted { content: owner.hold(text) });
                owner.take_answer(Input::EditorDid(call, closed));
            }
            asker => Self(asker).complete_json(&text.unwrap_or_default()),
        }
    }

    /// Completes the request with a result in the editor's protocol.
    pub fn complete_json(mut self, result: &str) {
        match mem::replace(&mut self.0, Asker::Nobody) {
            asker @ Asker::Diff(..) => match serde_json::from_str::<Option<DiffResult>>(result) {
                Ok(of) => Self(asker).complete(of.and_then(|DiffResult { content }| content)),
                Err(error) => {
                    let why = format!("The editor's answer is not valid: {}.", describe(&error));
                    log::warn!("{why}");
                    Self(asker).unreadable(&why);
                }
            },
            Asker::Diagnostics(answer) => match serde_json::from_str(result) {
                // The call may have ended.
                Ok(diagnostics) => drop(answer.send(Ok(diagnostics))),
                Err(error) => {
                    // Not the message, which may contain text of a file.
                    log::warn!("the editor's problems are not valid: column {}", error.column());
                    Self(Asker::Diagnostics(answer)).fail("The editor's answer is not valid.");
                }
            },
            Asker::Unsaved(answer) => match serde_json::from_str(result) {
                // The prompt may not wait any more.
                Ok(files) => drop(answer.send(files)),
                Err(error) => log::warn!("the editor's answer is not valid: {}", describe(&error)),
            },
            Asker::Nobody => {}
        }
    }

    /// Fails the request. The user or the model reads `message`.
    pub fn fail(mut self, message: &str) {
        let message = one_line(message, MAX_MESSAGE);
        match mem::replace(&mut self.0, Asker::Nobody) {
            Asker::Diff(owner, call) => answer(&owner, Input::EditorFailed(call, &message)),
            Asker::Diagnostics(answer) => drop(answer.send(Err(message))),
            // The model gets nothing.
            Asker::Unsaved(_) | Asker::Nobody => {}
        }
    }

    /// Fails the request with an error in the editor's protocol.
    pub fn fail_with(self, error: &ErrorObject) {
        match self.0 {
            Asker::Diagnostics(_) if error.code == code::METHOD_NOT_FOUND => {
                self.fail("This editor does not report problems.");
            }
            _ => self.fail(&error.message),
        }
    }

    /// Fails the request because the answer is invalid. The state of a view is unknown: the editor may
    /// have closed it, and its text may be lost.
    pub fn unreadable(mut self, message: &str) {
        match mem::replace(&mut self.0, Asker::Nobody) {
            Asker::Diff(owner, call) => {
                let message = one_line(message, MAX_MESSAGE);
                answer(&owner, Input::EditorUnreadable(call, &message));
            }
            asker => Self(asker).fail(message),
        }
    }
}

/// Gives an answer about a diff to the server, if that still runs.
fn answer(owner: &Weak<dyn TakeAnswer>, answer: Input<'_>) {
    if let Some(owner) = owner.upgrade() {
        owner.take_answer(answer);
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Asker::Diff(owner, call) = &self.0 {
            let message = "The editor could not carry out the request.";
            answer(owner, Input::EditorFailed(*call, message));
        }
    }
}

/// Keeps responders by number, for an editor that gets its requests as messages.
#[derive(Debug, Default)]
pub struct Responders(Mutex<(u64, HashMap<u64, Responder>)>);

impl Responders {
    /// Keeps a responder, and returns its number, which is never used again.
    pub fn add(&self, responder: Responder) -> u64 {
        let mut kept = self.0.lock();
        let (last, responders) = &mut *kept;
        *last += 1;
        responders.insert(*last, responder);
        *last
    }

    /// Takes the responder of that number, once.
    pub fn take(&self, number: u64) -> Option<Responder> {
        self.0.lock().1.remove(&number)
    }
}
