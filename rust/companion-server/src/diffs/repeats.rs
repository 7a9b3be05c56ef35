//! The newest calls, should a connection break before the answer arrives: who sends the same
//! request again, as `gemini-companion bridge` does, has the answer to the first. Without that, a
//! diff that is closed again has no text any more, and one that is opened again loses what the user
//! has typed or decided.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::jsonrpc::Id;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::calls::Waiter;
use crate::host::CallId;
use crate::session::SessionId;

/// How many calls are kept, of all clients.
const KEPT: usize = 64;

/// How long the id of a request that is kept may be, in bytes. Clients count.
const MAX_ID: usize = 128;

/// The request that a call comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) session: SessionId,
    pub(crate) id: &'a Id,
    /// It was sent before, and its sender knows no answer.
    pub(crate) is_repeated: bool,
}

pub(super) struct Repeats {
    newest: Mutex<Newest>,
    /// How many bytes of paths and texts may be kept, besides the newest.
    limit: usize,
}

#[derive(Default)]
struct Newest {
    /// Oldest first.
    calls: VecDeque<Kept>,
    bytes: usize,
}

struct Kept {
    session: SessionId,
    id: Id,
    call: CallId,
    path: Arc<str>,
    is_repeated: bool,
    waiter: Waiter,
    bytes: usize,
    since: Instant,
}

impl Repeats {
    pub(super) fn new(limit: usize) -> Self {
        Self { newest: Mutex::default(), limit }
    }

    /// The call about `path` that the same request has made before, if it has. The first may also
    /// arrive last: a system sends again what a network has dropped.
    pub(super) fn find(&self, request: Request<'_>, path: &str) -> Option<Waiter> {
        let newest = self.newest.lock();
        let mut same = newest.calls.iter().rev().filter(|call| call.session == request.session);
        let call = same.find(|call| call.id == *request.id && &*call.path == path)?;
        (call.is_repeated || request.is_repeated).then(|| call.waiter.clone())
    }

    pub(super) fn push(&self, request: Request<'_>, call: CallId, path: Arc<str>, waiter: Waiter) {
        if request.id.size() > MAX_ID {
            return;
        }
        let Request { session, id, is_repeated } = request;
        let bytes = path.len();
        let since = Instant::now();
        let kept = Kept { session, id: id.clone(), call, path, is_repeated, waiter, bytes, since };
        let mut newest = self.newest.lock();
        newest.bytes += bytes;
        newest.calls.push_back(kept);
        newest.trim(self.limit);
    }

    /// A call was answered with a text of so many bytes.
    pub(super) fn answered(&self, call: CallId, bytes: usize) {
        let mut newest = self.newest.lock();
        if let Some(kept) = newest.calls.iter_mut().rev().find(|kept| kept.call == call) {
            kept.bytes += bytes;
            newest.bytes += bytes;
            newest.trim(self.limit);
        }
    }

    /// That client will ask nothing more.
    pub(super) fn forget(&self, session: SessionId) {
        self.newest.lock().retain(|call| call.session != session);
    }

    /// Nobody asks again for what is older than that.
    pub(super) fn forget_older(&self, age: Duration) {
        self.newest.lock().retain(|call| call.since.elapsed() < age);
    }
}

impl Newest {
    fn retain(&mut self, is_kept: impl Fn(&Kept) -> bool) {
        self.calls.retain(is_kept);
        self.bytes = self.calls.iter().map(|call| call.bytes).sum();
    }

    fn trim(&mut self, limit: usize) {
        while self.calls.len() > KEPT || (self.calls.len() > 1 && self.bytes > limit) {
            self.bytes -= self.calls.pop_front().map_or(0, |oldest| oldest.bytes);
        }
    }
}
