//! The editor, as the server sees it.

use std::fmt;

/// What the server asks of the editor.
///
/// All calls come from the server's one thread, in the order in which things happened, and
/// must return at once. The answer to a request is given later, from any thread, by
/// [`Server::complete_request`](crate::Server::complete_request) or
/// [`Server::fail_request`](crate::Server::fail_request). A request that is not answered
/// within [`host_timeout`](crate::Limits::host_timeout) has failed, and its answer is ignored.
pub trait EditorHost: Send + Sync + 'static {
    /// Show `new_content` as a proposal for the file `path` and complete the request once it
    /// shows, before any decision about it is told. A view that is open for the same path is
    /// replaced, without a decision.
    fn open_diff(&self, request: HostRequest, path: &str, new_content: String);

    /// Close the view for `path`, without a decision, and complete the request with the text
    /// that the proposal had in the end. Fail it if there is no such view.
    fn close_diff(&self, request: HostRequest, path: &str);

    /// Accept the proposal for `path` as the user would, put its text into the file, and tell
    /// [`Server::diff_accepted`](crate::Server::diff_accepted); then complete the request.
    fn accept_diff(&self, request: HostRequest, path: &str);

    /// Reject the proposal for `path` as the user would, and tell
    /// [`Server::diff_rejected`](crate::Server::diff_rejected); then complete the request.
    fn reject_diff(&self, request: HostRequest, path: &str);

    /// The number of connected CLIs is now `count`.
    fn sessions_changed(&self, count: usize);
}

/// Names a request to the editor; never used twice by one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostRequest(pub u64);

impl fmt::Display for HostRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What became of a decision that the editor told the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The asker is connected and is told.
    Delivered,
    /// The asker's stream is down; it is told when it comes back.
    Queued,
    /// No such diff is open: it was decided, closed or replaced before, or its asker is gone.
    Unknown,
}
