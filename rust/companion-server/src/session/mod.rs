//! Who is connected: one [`Session`] per client, found by the id that `initialize` gave out.
//!
//! Owns the sessions' lives and their number. It never looks into what they send.

mod mailbox;
mod stream;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Waker;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use crate::config::Limits;
use crate::host::EditorHost;
use crate::resume::Identity;
#[cfg(test)]
pub(crate) use mailbox::Outgoing;
pub(crate) use mailbox::{Epoch, EventId, Mailbox};
pub(crate) use stream::{EventStream, KEEP_ALIVE};

/// The value of the header `mcp-session-id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionId(Uuid);

impl SessionId {
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4())
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }
}

impl From<Uuid> for SessionId {
    fn from(id: Uuid) -> Self {
        Self(id)
    }
}

impl From<SessionId> for Uuid {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One client. It is idle while no request and no stream holds it.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) mailbox: Mailbox,
    /// It was recognised, and its client has not come back to its stream yet.
    returning: AtomicBool,
    calls: AtomicUsize,
    idle_since: Mutex<Instant>,
}

impl Session {
    fn new(id: SessionId, epoch: Epoch, returning: bool) -> Self {
        Self {
            id,
            mailbox: Mailbox::new(epoch),
            returning: AtomicBool::new(returning),
            calls: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
        }
    }

    /// Marks the session as busy until the guard is dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(self))
    }

    /// Whether the client does not listen yet, although it speaks to us: after a restart it comes
    /// back to its stream only when `retry` has passed.
    pub(crate) fn is_returning(&self) -> bool {
        self.returning.load(Ordering::Relaxed) && !self.mailbox.has_stream()
    }

    /// Since when the session is idle; nothing if it is not.
    fn idle_since(&self) -> Option<Instant> {
        let busy = self.calls.load(Ordering::Relaxed) > 0 || self.mailbox.has_stream();
        (!busy).then(|| *self.idle_since.lock())
    }

    fn touch(&self) {
        *self.idle_since.lock() = Instant::now();
    }
}

/// A request of a session that is being answered.
pub(crate) struct Busy(Arc<Session>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
        self.0.touch();
    }
}

/// All sessions of a server.
pub(crate) struct Sessions {
    by_id: Mutex<HashMap<SessionId, Arc<Session>>>,
    /// How many have a stream: the number of connected CLIs.
    streams: AtomicUsize,
    epoch: Epoch,
    /// By which ids of an earlier process are recognised, if they are to be.
    identity: Option<Identity>,
    /// The newest ids that clients have ended; they are recognised no more.
    ended: Mutex<VecDeque<SessionId>>,
    limits: Limits,
    host: Arc<dyn EditorHost>,
}

/// Every place for a session is taken by a client that is connected.
#[derive(Debug)]
pub(crate) struct Full;

impl Sessions {
    /// With an identity, the sessions of an earlier process are its as well.
    pub(crate) fn new(
        limits: Limits,
        host: Arc<dyn EditorHost>,
        identity: Option<Identity>,
    ) -> Self {
        Self {
            by_id: Mutex::default(),
            streams: AtomicUsize::new(0),
            epoch: Epoch::new(),
            identity,
            ended: Mutex::default(),
            limits,
            host,
        }
    }

    /// An id for a new client.
    pub(crate) fn new_id(&self) -> SessionId {
        self.identity.as_ref().map_or_else(SessionId::new, |of| SessionId(of.new_session()))
    }

    /// Whether a client got this id from an earlier process, or lost its session here by being
    /// away for long, and has not ended it.
    pub(crate) fn recognises(&self, id: SessionId) -> bool {
        let known = self.identity.as_ref().is_some_and(|of| of.knows(id.0));
        known && !self.ended.lock().contains(&id)
    }

    /// Makes a session, for a new client or one that is `returning`. Returns also those that had
    /// to go for it.
    pub(crate) fn create(
        &self,
        id: SessionId,
        returning: bool,
    ) -> Result<(Arc<Session>, Vec<SessionId>), Full> {
        let mut by_id = self.by_id.lock();
        // A client that comes back to hear what it waits for is expected, not idle.
        let expected =
            |session: &Session| session.is_returning() && session.mailbox.backlog().0 > 0;
        let mut idle: Vec<_> = by_id
            .values()
            .filter(|session| !expected(session))
            .filter_map(|session| session.idle_since().map(|since| (since, session.id)))
            .collect();
        // The new one counts as idle until its stream comes.
        let too_many_idle = (idle.len() + 1).saturating_sub(self.limits.idle_sessions);
        let too_many = (by_id.len() + 1).saturating_sub(self.limits.sessions);
        let excess = too_many_idle.max(too_many);
        if too_many > idle.len() {
            return Err(Full);
        }
        idle.sort_unstable();
        let gone: Vec<_> = idle.into_iter().take(excess).map(|(_, id)| id).collect();
        for id in &gone {
            by_id.remove(id);
        }
        let session = Arc::new(Session::new(id, self.epoch, returning));
        by_id.insert(session.id, Arc::clone(&session));
        Ok((session, gone))
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.by_id.lock().get(&id).cloned()
    }

    /// Ends a session for good; its stream ends with it.
    pub(crate) fn remove(&self, id: SessionId) -> bool {
        if self.identity.is_some() {
            let mut ended = self.ended.lock();
            ended.push_back(id);
            let excess = ended.len().saturating_sub(self.limits.sessions);
            ended.drain(..excess);
        }
        let removed = self.by_id.lock().remove(&id);
        removed.is_some_and(|session| {
            session.mailbox.end();
            true
        })
    }

    /// Ends the sessions that would be idle for too long before the next call, one
    /// `interval` from now, and returns them.
    pub(crate) fn expire(&self, interval: std::time::Duration) -> Vec<SessionId> {
        let now = Instant::now();
        let mut gone = Vec::new();
        self.by_id.lock().retain(|id, session| {
            let idle = session.idle_since().map(|since| now.duration_since(since));
            let keep = idle.is_none_or(|idle| idle + interval < self.limits.session_idle);
            if !keep {
                gone.push(*id);
            }
            keep
        });
        gone
    }

    /// Opens the stream of a session: ends the one it had, and has what the client missed
    /// sent again. The first message is `context`.
    pub(crate) fn attach(
        self: &Arc<Self>,
        session: Arc<Session>,
        last_event_id: Option<EventId>,
        context: Option<Bytes>,
    ) -> EventStream {
        if session.returning.swap(false, Ordering::Relaxed) {
            log::debug!("a client is back on its stream");
        }
        let number = self.attach_stream(&session, last_event_id, context);
        EventStream::new(Arc::clone(self), session, number, self.limits.retry)
    }

    /// Answers a request by a stream that begins with the `response`, for a client that has no
    /// other one yet. It ends when that comes.
    pub(crate) fn answer(
        self: &Arc<Self>,
        session: Arc<Session>,
        response: Bytes,
        context: Option<Bytes>,
    ) -> EventStream {
        let number = self.attach_stream(&session, None, context);
        EventStream::answering(Arc::clone(self), session, number, response)
    }

    fn attach_stream(
        &self,
        session: &Session,
        last_event_id: Option<EventId>,
        context: Option<Bytes>,
    ) -> u64 {
        let (number, was_attached) = session.mailbox.attach(last_event_id, context);
        if !was_attached {
            self.streams_changed(self.streams.fetch_add(1, Ordering::Relaxed) + 1);
        }
        number
    }

    /// The stream `number` of a session has ended.
    fn detach(&self, session: &Session, number: u64) {
        session.touch();
        if session.mailbox.detach(number) {
            self.streams_changed(self.streams.fetch_sub(1, Ordering::Relaxed) - 1);
        }
    }

    fn streams_changed(&self, count: usize) {
        log::debug!("{count} clients are connected");
        self.host.sessions_changed(count);
    }

    /// Gives the newest context to every connected client, in place of one that still waits.
    #[must_use]
    pub(crate) fn broadcast_context(&self, context: &Bytes) -> Sleepers {
        let by_id = self.by_id.lock();
        Sleepers(by_id.values().filter_map(|s| s.mailbox.set_context(context)).collect())
    }

    /// The decisions that are not known to have arrived.
    pub(crate) fn decisions(&self) -> Vec<(SessionId, Arc<str>, Bytes)> {
        let mut all = Vec::new();
        for session in self.by_id.lock().values() {
            let decisions = session.mailbox.decisions().into_iter();
            all.extend(decisions.map(|(path, decision)| (session.id, path, decision)));
        }
        all
    }

    /// Lets every stream send a comment, which shows the client that we are here, and us
    /// whether it is.
    #[must_use]
    pub(crate) fn keep_alive(&self) -> Sleepers {
        let by_id = self.by_id.lock();
        Sleepers(by_id.values().filter_map(|s| s.mailbox.keep_alive()).collect())
    }

    /// Ends all streams once they have sent what waits.
    pub(crate) fn end_streams(&self) {
        for session in self.by_id.lock().values() {
            session.mailbox.end();
        }
    }

    /// How many clients are connected.
    pub(crate) fn connected(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.lock().is_empty()
    }
}

/// Streams that have something to send and don't know it yet.
pub(crate) struct Sleepers(Vec<Waker>);

/// How many streams write before requests have their turn.
const AT_ONCE: usize = 16;

impl Sleepers {
    /// Wakes them, a few at a time: to write to a thousand streams takes 10 ms, for which no
    /// request should wait.
    pub(crate) async fn wake(self) {
        for some in self.0.chunks(AT_ONCE) {
            some.iter().for_each(Waker::wake_by_ref);
            tokio::task::yield_now().await;
        }
    }
}
