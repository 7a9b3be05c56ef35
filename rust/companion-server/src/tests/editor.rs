//! Stands for an editor: passes its requests to the test, and records its notifications.

use std::sync::Arc;

use companion_protocol::diagnostics::DiagnosticsRequest;
use companion_protocol::editor::{CliChanged, CompanionNotification};
use companion_protocol::jsonrpc::{ErrorObject, code};
use parking_lot::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use crate::host::{EditorHost, EditorRequest, Proposal, Responder};

/// A request to the editor.
#[derive(Debug)]
pub(crate) enum EditorCall {
    Open(Responder, Proposal),
    Close(Responder, String),
    Accept(Responder, String),
    Reject(Responder, String),
    Diagnostics(Responder, DiagnosticsRequest),
    Unsaved(Responder),
}

/// Answers a request that the editor does not know.
pub(crate) fn unsupported(responder: Responder) {
    responder.fail_with(&ErrorObject::new(code::METHOD_NOT_FOUND, "Method not found"));
}

/// The notifications that the editor has received.
#[derive(Default)]
pub(crate) struct Received {
    /// The numbers of connected clients.
    pub(crate) counts: Vec<usize>,
    /// The last private files.
    pub(crate) private: Vec<String>,
    /// The questions and ends of CLIs, and the outcomes of comments and reasons.
    pub(crate) notices: Vec<String>,
    /// The changes of CLIs.
    pub(crate) changes: Vec<CliChanged>,
}

/// An editor that only records its requests and notifications.
pub(super) struct RecordingEditor {
    pub(super) asked: UnboundedSender<EditorCall>,
    pub(super) received: Arc<Mutex<Received>>,
}

impl EditorHost for RecordingEditor {
    fn request(&self, request: EditorRequest, responder: Responder) {
        let call = match request {
            EditorRequest::OpenDiff(proposal) => EditorCall::Open(responder, proposal),
            EditorRequest::CloseDiff(close) => EditorCall::Close(responder, close.file_path),
            EditorRequest::AcceptDiff(path) => EditorCall::Accept(responder, path.file_path),
            EditorRequest::RejectDiff(path) => EditorCall::Reject(responder, path.file_path),
            EditorRequest::Diagnostics(request) => EditorCall::Diagnostics(responder, request),
            EditorRequest::UnsavedFiles => EditorCall::Unsaved(responder),
        };
        let _ = self.asked.send(call);
    }

    fn notify(&self, notification: CompanionNotification) {
        let mut received = self.received.lock();
        let Received { counts, private, notices, changes } = &mut *received;
        match notification {
            CompanionNotification::Clients(clients) => counts.push(clients.count),
            CompanionNotification::PrivateFiles(files) => *private = files.paths,
            CompanionNotification::CliChanged(of) => changes.push(of),
            CompanionNotification::CliWaiting(of) => notices.push(of.message),
            CompanionNotification::CliAnswered(_) => notices.push("answered".to_owned()),
            CompanionNotification::CliFinished(_) => notices.push("finished".to_owned()),
            CompanionNotification::Written(of) => notices.push(format!("written {}", of.file_path)),
            CompanionNotification::Unwritten(of) => {
                notices.push(format!("unwritten {}", of.file_path));
            }
            CompanionNotification::ReasonLost(of) => {
                notices.push(format!("lost {}: {}", of.reason, of.why));
            }
            CompanionNotification::CliCommand(of) => {
                let words = match (of.running, of.lost) {
                    (true, _) => "command begins",
                    (false, false) => "command ends",
                    (false, true) => "command lost",
                };
                notices.push(words.to_owned());
            }
            CompanionNotification::CommentsPending(of) => {
                let texts = of.comments.iter().map(|comment| format!("pending {}", comment.text));
                notices.extend(texts);
            }
            CompanionNotification::CommentsDelivered(of) => {
                notices.extend(of.ids.iter().map(|id| format!("delivered {id}")));
            }
            CompanionNotification::CommentRefused(of) => {
                notices.push(format!("refused {}: {}", of.id, of.reason));
            }
        }
    }
}
