//! Keeps the answers to the newest calls for clients that repeat a request after a broken
//! connection, such as `gemini-companion bridge`. Without them, a repeated close would find no
//! text, and a repeated open would lose the user's edits and decision.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::jsonrpc::Id;
use companion_protocol::tool::Tool;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::Answer;
use super::calls::{Answered, Waiter};
use crate::host::CallId;
use crate::mcp::session::SessionId;

/// The most calls that are kept for one client.
const MAX_KEPT_CALLS: usize = 64;

/// The longest id of a request that is kept, in bytes. Clients count.
const MAX_REQUEST_ID: usize = 128;

/// The size of a call besides its path and its text, in bytes.
const CALL_OVERHEAD: usize = 256;

/// The request that a call comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOrigin<'a> {
    pub(crate) session: SessionId,
    pub(crate) id: &'a Id,
    pub(crate) sent: Attempt,
}

/// How a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Once,
    /// It was sent before, and its client has no answer.
    Again,
    /// It will not be sent again.
    OnceForAll,
}

pub(super) struct Repeats {
    newest: Mutex<RecentCalls>,
    /// The most bytes of paths and texts that are kept for all clients.
    limit: usize,
}

#[derive(Default)]
struct RecentCalls {
    clients: BTreeMap<SessionId, ClientCalls>,
    bytes: usize,
}

/// The calls of one client, oldest first.
#[derive(Default)]
struct ClientCalls {
    calls: VecDeque<KeptCall>,
    bytes: usize,
}

struct KeptCall {
    id: Id,
    tool: Tool,
    call: CallId,
    path: Arc<str>,
    is_repeated: bool,
    /// It turned out to concern no diff.
    is_idle: bool,
    waiter: Waiter,
    bytes: usize,
    since: Instant,
}

impl Repeats {
    pub(super) fn new(limit: usize) -> Self {
        Self { newest: Mutex::default(), limit }
    }

    /// Finds the call of `tool` about `path` that the same request has made before. The first may
    /// arrive last, because networks resend lost packets.
    pub(super) fn find(&self, request: CallOrigin<'_>, tool: Tool, path: &str) -> Option<Waiter> {
        if request.sent == Attempt::OnceForAll {
            return None;
        }
        let newest = self.newest.lock();
        let mut calls = newest.clients.get(&request.session)?.calls.iter().rev();
        let call = calls
            .find(|call| call.tool == tool && call.id == *request.id && &*call.path == path)?;
        (call.is_repeated || request.sent == Attempt::Again).then(|| call.waiter.clone())
    }

    pub(super) fn push(
        &self,
        request: CallOrigin<'_>,
        tool: Tool,
        call: CallId,
        path: Arc<str>,
        waiter: Waiter,
    ) {
        let CallOrigin { session, id, sent } = request;
        if id.size() > MAX_REQUEST_ID || sent == Attempt::OnceForAll {
            return;
        }
        let bytes = path.len() + CALL_OVERHEAD;
        let kept = KeptCall {
            id: id.clone(),
            tool,
            call,
            path,
            is_repeated: sent == Attempt::Again,
            is_idle: false,
            waiter,
            bytes,
            since: Instant::now(),
        };
        let mut newest = self.newest.lock();
        let client = newest.clients.entry(session).or_default();
        client.calls.push_back(kept);
        client.bytes += bytes;
        newest.bytes += bytes;
    }

    /// Notes that a call of a session was answered.
    pub(super) fn answered(&self, session: SessionId, call: CallId) {
        let newest = &mut *self.newest.lock();
        let Some(client) = newest.clients.get_mut(&session) else { return };
        if let Some(kept) = client.calls.iter_mut().rev().find(|kept| kept.call == call)
            && let Some(Answered { answer, .. }) = kept.waiter.get()
        {
            kept.is_idle = matches!(answer, Answer::Closed(None) | Answer::Failed(_));
            kept.bytes += answer.len();
            client.bytes += answer.len();
            newest.bytes += answer.len();
        }
        // Only now, so that a call that concerns no diff evicts nothing else.
        while client.calls.len() > MAX_KEPT_CALLS {
            newest.bytes -= client.drop_one();
        }
        newest.trim(self.limit, session);
    }

    /// Forgets a client that sends no more requests.
    pub(super) fn forget(&self, session: SessionId) {
        let newest = &mut *self.newest.lock();
        if let Some(client) = newest.clients.remove(&session) {
            newest.bytes -= client.bytes;
        }
    }

    /// Forgets calls that are older than this; they are not repeated.
    pub(super) fn forget_older(&self, age: Duration) {
        let newest = &mut *self.newest.lock();
        newest.clients.retain(|_, client| {
            client.calls.retain(|call| call.since.elapsed() < age);
            client.bytes = client.calls.iter().map(|call| call.bytes).sum();
            !client.calls.is_empty()
        });
        newest.bytes = newest.clients.values().map(|client| client.bytes).sum();
    }
}

impl RecentCalls {
    /// Evicts calls of the client with the most bytes first, so that nobody's texts evict
    /// another's smaller ones. The newest call of `session` stays, however long its text is.
    fn trim(&mut self, limit: usize, session: SessionId) {
        while self.bytes > limit {
            let clients = self.clients.iter_mut();
            let may = clients.filter(|(id, of)| of.calls.len() > usize::from(**id == session));
            let Some((_, most)) = may.max_by_key(|(_, client)| client.bytes) else { return };
            self.bytes -= most.drop_one();
        }
    }
}

impl ClientCalls {
    /// Evicts the oldest call that concerned no diff, or else the oldest. Returns its bytes.
    fn drop_one(&mut self) -> usize {
        let idle = self.calls.iter().position(|call| call.is_idle);
        let bytes = self.calls.remove(idle.unwrap_or_default()).map_or(0, |call| call.bytes);
        self.bytes -= bytes;
        bytes
    }
}
