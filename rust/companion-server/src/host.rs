//! The editor, as the server sees it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use companion_protocol::editor::OpenDiff;
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;

use crate::diffs::CallId;
use crate::kind::Kinds;

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
    /// that the proposal had in the end. Fail it if there is no such view.
    fn close_diff(&self, file_path: &str, responder: Responder);

    /// Accept the proposal for `file_path` as the user would, put its text into the file, and tell
    /// [`Server::diff_accepted`](crate::Server::diff_accepted); then complete the request.
    fn accept_diff(&self, file_path: &str, responder: Responder);

    /// Reject the proposal for `file_path` as the user would, and tell
    /// [`Server::diff_rejected`](crate::Server::diff_rejected); then complete the request.
    fn reject_diff(&self, file_path: &str, responder: Responder);

    /// The number of connected CLIs is now `count`.
    fn sessions_changed(&self, count: usize);
}

/// A proposed edit. Until it is dropped the editor has not taken it, and further proposals are
/// refused if there are too many bytes of such.
pub struct Proposal {
    /// The file, absolute and as the client wrote it; it may not exist yet.
    pub file_path: String,
    /// The whole proposed text.
    pub new_content: String,
    pub(crate) kinds: Arc<Kinds>,
    /// What it takes of the bytes that the editor may leave untaken.
    pub(crate) untaken: Option<OwnedSemaphorePermit>,
}

impl Proposal {
    /// The proposal as the editor is to show it. Asks the disk, for a tenth of a second at most, so it
    /// is not for the calls of [`EditorHost`].
    pub fn to_show(&self) -> OpenDiff<'_> {
        let Self { file_path, new_content, kinds, .. } = self;
        OpenDiff { file_path, kind: kinds.of(file_path), new_content }
    }
}

impl fmt::Debug for Proposal {
    /// Without the text, which is nothing for a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proposal").field("file_path", &self.file_path).finish_non_exhaustive()
    }
}

/// The way to answer a request, once and from any thread. Dropped, the request has failed.
pub struct Responder {
    asker: Weak<dyn Asker>,
    call: Option<CallId>,
}

/// Who asks the editor, and hears what comes of it.
pub(crate) trait Asker: Send + Sync {
    /// The editor has done what it was asked.
    fn completed(&self, call: CallId, content: Option<String>);

    /// The editor could not do what it was asked.
    fn failed(&self, call: CallId, message: &str);

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
        if let (Some(asker), Some(call)) = (self.asker.upgrade(), self.call.take()) {
            asker.completed(call, content);
        }
    }

    /// The editor could not do what it was asked; the client shows `message` to the user.
    pub fn fail(mut self, message: &str) {
        self.failed(message);
    }

    fn failed(&mut self, message: &str) {
        if let (Some(asker), Some(call)) = (self.asker.upgrade(), self.call.take()) {
            asker.failed(call, message);
        }
    }

    /// Whether anybody waits for the answer.
    fn is_awaited(&self) -> bool {
        let asker = self.asker.upgrade();
        asker.is_some_and(|asker| self.call.is_some_and(|call| asker.is_awaited(call)))
    }
}

impl fmt::Debug for Responder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Responder").field(&self.call).finish()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.failed("The editor could not carry out the request.");
    }
}

/// Responders by number, for an editor that is asked by messages.
#[derive(Debug, Default)]
pub struct Responders(Mutex<(u64, HashMap<u64, Responder>)>);

impl Responders {
    /// Keeps a responder, and returns its number, which is never used again.
    pub fn add(&self, responder: Responder) -> u64 {
        let (last, responders) = &mut *self.0.lock();
        *last += 1;
        // An editor that does not answer must not cost memory for ever.
        let over: Vec<_> = responders.extract_if(|_, responder| !responder.is_awaited()).collect();
        responders.insert(*last, responder);
        drop(over);
        *last
    }

    /// The responder of that number, if nobody has taken it.
    pub fn take(&self, number: u64) -> Option<Responder> {
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
