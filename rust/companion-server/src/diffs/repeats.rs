//! The newest calls, should a connection break before the answer arrives: who sends the same
//! request again, as `gemini-companion bridge` does, has the answer to the first. Without that, a
//! diff that is closed again has no text any more, and one that is opened again loses what the user
//! has typed or decided.

use std::collections::VecDeque;
use std::sync::Arc;

use companion_protocol::jsonrpc::Id;
use parking_lot::Mutex;

use super::calls::Waiter;
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
    /// Oldest first.
    newest: Mutex<VecDeque<Call>>,
    /// How many bytes of paths and texts may be kept, besides the newest.
    bytes: usize,
}

struct Call {
    session: SessionId,
    id: Id,
    path: Arc<str>,
    is_repeated: bool,
    waiter: Waiter,
}

impl Repeats {
    pub(super) fn new(bytes: usize) -> Self {
        Self { newest: Mutex::default(), bytes }
    }

    /// The call about `path` that the same request has made before, if it has. The first may also
    /// arrive last: a system sends again what a network has dropped.
    pub(super) fn find(&self, request: Request<'_>, path: &str) -> Option<Waiter> {
        let newest = self.newest.lock();
        let mut same = newest.iter().rev().filter(|call| call.session == request.session);
        let call = same.find(|call| call.id == *request.id && &*call.path == path)?;
        (call.is_repeated || request.is_repeated).then(|| call.waiter.clone())
    }

    pub(super) fn push(&self, request: Request<'_>, path: Arc<str>, waiter: Waiter) {
        if request.id.size() > MAX_ID {
            return;
        }
        let mut newest = self.newest.lock();
        let Request { session, id, is_repeated } = request;
        newest.push_back(Call { session, id: id.clone(), path, is_repeated, waiter });
        let mut bytes: usize = newest.iter().map(Call::len).sum();
        while newest.len() > KEPT || (newest.len() > 1 && bytes > self.bytes) {
            bytes -= newest.pop_front().map_or(0, |oldest| oldest.len());
        }
    }

    /// That client will ask nothing more.
    pub(super) fn forget(&self, session: SessionId) {
        self.newest.lock().retain(|call| call.session != session);
    }
}

impl Call {
    fn len(&self) -> usize {
        let text = self.waiter.borrow().as_ref().map_or(0, |answered| answered.answer.len());
        self.path.len() + text
    }
}
