//! Declares the editor as the server sees it.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use companion_protocol::diagnostics::{Diagnostics, DiagnosticsRequest};
use companion_protocol::editor::OpenDiff;
use companion_protocol::ide::one_line;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::disk::probe::TargetProbe;
use crate::mcp::session::ClientTraits;

/// What the server asks of the editor.
///
/// All calls come from the server's one thread, in the order in which things happened, and
/// must return at once. The answer to a request is given later, from any thread, by its
/// [`Responder`]. A request that is not answered within
/// [`host_timeout`](crate::Limits::host_timeout) has failed, and its answer is ignored.
pub trait EditorHost: Send + Sync + 'static {
    /// Show a proposal and complete the request once it shows, before any decision about it is
    /// told. A view that is open for the same path is replaced, without a decision.
    fn open_diff(&self, proposal: Proposal, responder: Responder);

    /// Close the view for `file_path`, without a decision, and complete the request with the text
    /// that the proposal had in the end. Fail it if there is no such view. If the diff is `abandoned`,
    /// nobody takes the text: keep what the user has changed within his reach.
    fn close_diff(&self, file_path: &str, abandoned: bool, responder: Responder);

    /// Accept the proposal for `file_path` as the user would, by
    /// [`Server::diff_accepted`](crate::Server::diff_accepted), then complete the request. Before,
    /// write its text to the file, unless the proposal
    /// [says](companion_protocol::editor::OpenDiff::replays_edits) that its client does: the edit
    /// would be made twice.
    fn accept_diff(&self, file_path: &str, responder: Responder);

    /// Reject the proposal for `file_path` as the user would, and tell
    /// [`Server::diff_rejected`](crate::Server::diff_rejected); then complete the request.
    fn reject_diff(&self, file_path: &str, responder: Responder);

    /// Tell the problems of files, for the texts that are on the disk: after 2.5 s at most what is
    /// known by then. A request that is not answered within
    /// [`diagnostics_timeout`](crate::Limits::diagnostics_timeout) has failed.
    fn diagnostics(&self, request: DiagnosticsRequest, responder: DiagnosticsResponder) {
        let _ = request;
        responder.unsupported();
    }

    /// The number of connected CLIs is now `count`.
    fn sessions_changed(&self, count: usize);

    /// Of the open files these are not told, because they are private.
    fn private_files_changed(&self, _paths: &[String]) {}
}

/// A proposed edit. Until it is dropped and the call is answered the editor has not taken it, and further
/// proposals are refused if there are too many bytes of such.
pub struct Proposal {
    /// The file, absolute and as the client wrote it; it may not exist yet.
    pub file_path: String,
    /// The whole proposed text.
    pub new_content: String,
    /// The number of the client, from 1.
    pub(crate) cli: u32,
    pub(crate) client: ClientTraits,
    pub(crate) probe: Arc<TargetProbe>,
    /// What it takes of the bytes that the editor may leave untaken.
    pub(crate) untaken: Option<Arc<OwnedSemaphorePermit>>,
}

impl Proposal {
    /// The proposal as the editor is to show it. Asks the disk, for half a second at most, so it
    /// is not for the calls of [`EditorHost`].
    pub fn to_show(&self) -> OpenDiff<'_> {
        let Self { file_path, new_content, cli, client, probe, .. } = self;
        let (kind, private) = probe.of(file_path);
        let replays_edits = client.replays_edits;
        OpenDiff { file_path, kind, private, cli: *cli, replays_edits, new_content }
    }
}

impl fmt::Debug for Proposal {
    /// Without the text, which is nothing for a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal").field("file_path", &self.file_path).finish_non_exhaustive()
    }
}

/// The longest sentence of an editor's on why it failed, in UTF-16 code units: a user or a model reads it.
const MAX_REASON: usize = 500;

/// The way to answer a request, once and from any thread. Dropped, the request has failed.
#[derive(Debug)]
pub struct Responder {
    asker: Weak<dyn Asker>,
    call: Option<CallId>,
}

/// Names a call; never used twice by one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CallId(pub(crate) u64);

/// Who asks the editor, and hears what comes of it.
pub(crate) trait Asker: Send + Sync {
    /// The editor has done what it was asked.
    fn completed(&self, call: CallId, content: Option<String>);

    /// The editor could not do what it was asked.
    fn failed(&self, call: CallId, message: &str);

    /// The editor has answered what can't be read.
    fn unreadable(&self, call: CallId, message: &str);

    /// Whether anybody waits for what comes of it.
    fn is_awaited(&self, call: CallId) -> bool;
}

impl Responder {
    pub(crate) fn new(asker: Weak<dyn Asker>, call: Option<CallId>) -> Self {
        Self { asker, call }
    }

    /// The editor has done what it was asked. `content` is the proposal's final text, which only
    /// [`close_diff`](EditorHost::close_diff) asks for.
    pub fn complete(mut self, content: Option<String>) {
        if let Some((asker, call)) = self.take() {
            asker.completed(call, content);
        }
    }

    /// The editor could not do what it was asked; the client shows `message` to the user.
    pub fn fail(mut self, message: &str) {
        self.failed(&one_line(message, MAX_REASON));
    }

    /// The editor has answered, but not what can be read: nobody knows what it has done. Unlike one that
    /// fails, it may have closed a view whose text is lost.
    pub fn unreadable(mut self, message: &str) {
        if let Some((asker, call)) = self.take() {
            asker.unreadable(call, &one_line(message, MAX_REASON));
        }
    }

    fn failed(&mut self, message: &str) {
        if let Some((asker, call)) = self.take() {
            asker.failed(call, message);
        }
    }

    /// The call, once, and who hears of it.
    fn take(&mut self) -> Option<(Arc<dyn Asker>, CallId)> {
        Some((self.asker.upgrade()?, self.call.take()?))
    }

    /// Whether anybody waits for the answer.
    fn is_awaited(&self) -> bool {
        let asker = self.asker.upgrade();
        asker.is_some_and(|asker| self.call.is_some_and(|call| asker.is_awaited(call)))
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.failed("The editor could not carry out the request.");
    }
}

/// The way to tell the problems that were asked for, once and from any thread. Dropped, the request
/// has failed.
#[derive(Debug)]
pub struct DiagnosticsResponder(oneshot::Sender<Result<Diagnostics, String>>);

impl DiagnosticsResponder {
    pub(crate) fn new(answer: oneshot::Sender<Result<Diagnostics, String>>) -> Self {
        Self(answer)
    }

    /// These are the problems.
    pub fn complete(self, diagnostics: Diagnostics) {
        // Who does not wait any more needs no answer.
        let _ = self.0.send(Ok(diagnostics));
    }

    /// The problems are those of `json`, a [`Diagnostics`].
    pub fn complete_json(self, json: &str) {
        match serde_json::from_str(json) {
            Ok(diagnostics) => self.complete(diagnostics),
            Err(error) => {
                // Not the message, which may have something of a file in it.
                log::warn!("the editor's problems are not valid: column {}", error.column());
                self.fail("The editor's answer is not valid.");
            }
        }
    }

    /// The problems can't be told; the model reads `message`.
    pub fn fail(self, message: &str) {
        let _ = self.0.send(Err(one_line(message, MAX_REASON)));
    }

    /// This editor does not know the request.
    pub fn unsupported(self) {
        self.fail("This editor tells no problems.");
    }
}

/// A request that the editor has not answered.
#[derive(Debug)]
pub enum PendingResponder {
    /// About a diff.
    Diff(Responder),
    /// For the problems of files.
    Diagnostics(DiagnosticsResponder),
}

impl PendingResponder {
    /// The editor could not do what it was asked.
    pub fn fail(self, message: &str) {
        match self {
            Self::Diff(responder) => responder.fail(message),
            Self::Diagnostics(responder) => responder.fail(message),
        }
    }

    /// Whether anybody waits for the answer.
    fn is_awaited(&self) -> bool {
        match self {
            Self::Diff(responder) => responder.is_awaited(),
            Self::Diagnostics(responder) => !responder.0.is_closed(),
        }
    }
}

impl From<Responder> for PendingResponder {
    fn from(responder: Responder) -> Self {
        Self::Diff(responder)
    }
}

impl From<DiagnosticsResponder> for PendingResponder {
    fn from(responder: DiagnosticsResponder) -> Self {
        Self::Diagnostics(responder)
    }
}

/// Requests by number, for an editor that is asked by messages.
#[derive(Debug, Default)]
pub struct Responders(Mutex<(u64, HashMap<u64, PendingResponder>)>);

impl Responders {
    /// Keeps a responder, and returns its number, which is never used again.
    pub fn add(&self, responder: impl Into<PendingResponder>) -> u64 {
        let mut kept = self.0.lock();
        let (last, responders) = &mut *kept;
        *last += 1;
        let number = *last;
        // An editor that does not answer must not cost memory for ever.
        let over: Vec<_> = responders.extract_if(|_, asked| !asked.is_awaited()).collect();
        responders.insert(number, responder.into());
        drop(kept);
        // To fail them may lead to another request.
        drop(over);
        number
    }

    /// The request of that number, if nobody has taken it.
    pub fn take(&self, number: u64) -> Option<PendingResponder> {
        self.0.lock().1.remove(&number)
    }
}

/// What became of a decision that the editor told the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The asker is connected and is told.
    Delivered,
    /// The asker's stream is down; it is told when it comes back.
    Queued,
    /// No such diff is open: it was decided, closed or replaced before, or its asker is gone.
    Unknown,
}
