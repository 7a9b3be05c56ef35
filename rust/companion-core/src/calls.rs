//! Keeps the calls that wait for the editor or for a client's acknowledgement, and the answers to the
//! newest ones.
//!
//! The answers are for clients that repeat a request after a broken connection, such as
//! `gemini-companion bridge`. Without them, a repeated close would find no text, and a repeated open
//! would lose the user's edits and decision.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use companion_protocol::jsonrpc::Id;
use companion_protocol::tool::Tool;

use crate::diffs::Answer;
use crate::session::SessionId;

/// The most calls that are kept for one client.
const MAX_KEPT_CALLS: usize = 64;

/// The longest id of a request that is kept, in bytes. Clients count.
const MAX_REQUEST_ID: usize = 128;

/// The size of a call besides its path and its text, in bytes.
const CALL_OVERHEAD: usize = 256;

/// Names a call. A companion never uses one twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u64);

/// The request that a call comes from.
#[derive(Clone, Copy, Debug)]
pub struct CallOrigin<'a> {
    /// Its client.
    pub session: SessionId,
    /// The id that the client gave it.
    pub id: &'a Id,
    /// How it was sent.
    pub sent: Attempt,
}

/// How a request was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// The client may send it again.
    Once,
    /// It was sent before, and its client has no answer.
    Again,
    /// It will not be sent again.
    OnceForAll,
}

/// The calls of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Calls {
    waiting: BTreeMap<CallId, PendingCall>,
    /// In milliseconds.
    deadlines: BTreeSet<(u64, CallId)>,
    /// The calls of each client, oldest first.
    clients: BTreeMap<SessionId, VecDeque<KeptCall>>,
    /// Of all clients.
    bytes: usize,
    /// The most bytes of paths and texts that are kept for all clients.
    limit: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PendingCall {
    asker: SessionId,
    deadline: u64,
    /// The repetitions of its request, which wait for the same answer.
    repetitions: Vec<CallId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KeptCall {
    id: Id,
    tool: Tool,
    call: CallId,
    path: Arc<str>,
    is_repeated: bool,
    answer: Option<Answer>,
    bytes: usize,
    since: u64,
}

impl KeptCall {
    /// Whether it turned out to concern no diff.
    fn is_idle(&self) -> bool {
        matches!(self.answer, Some(Answer::Closed(None) | Answer::Failed(_)))
    }
}

/// A call that was made before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Repeated {
    Answered(Answer),
    Waits,
}

impl Calls {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Adds a call that waits until `deadline`.
    pub(crate) fn begin(
        &mut self,
        call: CallId,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &Arc<str>,
        now: u64,
        deadline: u64,
    ) {
        let CallOrigin { session, id, sent } = from;
        let pending = PendingCall { asker: session, deadline, repetitions: Vec::new() };
        self.waiting.insert(call, pending);
        self.deadlines.insert((deadline, call));
        if id.size() > MAX_REQUEST_ID || sent == Attempt::OnceForAll {
            return;
        }
        let bytes = path.len() + CALL_OVERHEAD;
        self.clients.entry(session).or_default().push_back(KeptCall {
            id: id.clone(),
            tool,
            call,
            path: Arc::clone(path),
            is_repeated: sent == Attempt::Again,
            answer: None,
            bytes,
            since: now,
        });
        self.bytes += bytes;
    }

    /// Finds the call of `tool` about `path` that the same request has made before. The first may
    /// arrive last, because networks resend lost packets.
    pub(crate) fn repeat(
        &mut self,
        call: CallId,
        from: CallOrigin<'_>,
        tool: Tool,
        path: &str,
    ) -> Option<Repeated> {
        if from.sent == Attempt::OnceForAll {
            return None;
        }
        let mut calls = self.clients.get_mut(&from.session)?.iter_mut().rev();
        let is_same =
            |kept: &&mut KeptCall| kept.tool == tool && kept.id == *from.id && *kept.path == *path;
        let kept = calls.find(is_same)?;
        if !kept.is_repeated && from.sent != Attempt::Again {
            return None;
        }
        if let Some(answer) = &kept.answer {
            return Some(Repeated::Answered(answer.clone()));
        }
        self.waiting.get_mut(&kept.call)?.repetitions.push(call);
        Some(Repeated::Waits)
    }

    /// Changes the deadline of a call.
    pub(crate) fn set_deadline(&mut self, call: CallId, deadline: u64) {
        let Some(waiting) = self.waiting.get_mut(&call) else { return };
        let before = std::mem::replace(&mut waiting.deadline, deadline);
        self.deadlines.remove(&(before, call));
        self.deadlines.insert((deadline, call));
    }

    /// Ends a call, and keeps its answer. The deadline stays if the editor has not answered its request.
    /// Returns the repetitions that get the same answer.
    pub(crate) fn answered(
        &mut self,
        call: CallId,
        answer: &Answer,
        keeps_deadline: bool,
    ) -> Vec<CallId> {
        let Some(PendingCall { asker, deadline, repetitions }) = self.waiting.remove(&call) else {
            return Vec::new();
        };
        if !keeps_deadline {
            self.deadlines.remove(&(deadline, call));
        }
        let Some(calls) = self.clients.get_mut(&asker) else { return repetitions };
        if let Some(kept) = calls.iter_mut().rev().find(|kept| kept.call == call) {
            kept.answer = Some(answer.clone());
            kept.bytes += answer.len();
            self.bytes += answer.len();
        }
        // Only now, so that a call that concerns no diff evicts nothing else.
        while calls.len() > MAX_KEPT_CALLS {
            self.bytes -= drop_one(calls);
        }
        self.trim(asker);
        repetitions
    }

    /// The next deadline.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    /// Takes a call whose deadline has passed, each once.
    pub(crate) fn overdue(&mut self, now: u64) -> Option<CallId> {
        let (deadline, call) = self.deadlines.first().copied().filter(|(due, _)| *due <= now)?;
        self.deadlines.remove(&(deadline, call));
        Some(call)
    }

    /// Forgets a client that sends no more requests.
    pub(crate) fn forget(&mut self, session: SessionId) {
        if let Some(calls) = self.clients.remove(&session) {
            self.bytes -= bytes(&calls);
        }
    }

    /// Forgets calls that began before this time; they are not repeated.
    pub(crate) fn forget_older(&mut self, time: u64) {
        self.clients.retain(|_, calls| {
            calls.retain(|call| call.since > time);
            !calls.is_empty()
        });
        self.bytes = self.clients.values().map(bytes).sum();
    }

    /// Evicts calls of the client with the most bytes first, so that nobody's texts evict
    /// another's smaller ones. The newest call of `session` stays, however long its text is.
    fn trim(&mut self, session: SessionId) {
        while self.bytes > self.limit {
            let clients = self.clients.iter_mut();
            let may = clients.filter(|(id, calls)| calls.len() > usize::from(**id == session));
            let Some((_, most)) = may.max_by_key(|(_, calls)| bytes(calls)) else { return };
            self.bytes -= drop_one(most);
        }
    }
}

fn bytes(calls: &VecDeque<KeptCall>) -> usize {
    calls.iter().map(|call| call.bytes).sum()
}

/// Evicts the oldest call that concerned no diff, or else the oldest. Returns its bytes.
fn drop_one(calls: &mut VecDeque<KeptCall>) -> usize {
    let idle = calls.iter().position(KeptCall::is_idle);
    calls.remove(idle.unwrap_or_default()).map_or(0, |call| call.bytes)
}
