//! Keeps one [`Session`] per client, by the id from `initialize`.
//!
//! It creates, evicts and ends sessions. It never reads their messages.

mod mailbox;
mod request_order;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use companion_core::diffs::DiffId;
pub(crate) use companion_core::session::{Client, ClientTraits, SessionId};
use companion_protocol::editor::{self, CompanionNotification};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::config::Limits;
use crate::host::EditorHost;
use crate::signal::Signal;
use mailbox::Mailbox;
pub(crate) use mailbox::Next;
use request_order::RequestOrder;

/// One client. The session is idle while no request and no stream holds it.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) client: Client,
    pub(crate) request_order: RequestOrder,
    state: Mutex<SessionState>,
}

struct SessionState {
    mailbox: Mailbox,
    /// The number that distinguishes the proposals of several clients for the user. 0 before the
    /// first proposal, and after another client took the number.
    number: u32,
    /// The last process left the session, and its client has not reopened its stream.
    returning: bool,
    /// The session was idle for so long that nothing in the editor waits for it.
    away: bool,
    /// The pings that the client has not answered.
    pings: Vec<(DiffId, oneshot::Sender<()>)>,
    /// The requests that are being answered.
    calls: usize,
    idle_since: Instant,
    /// The client's port of its stream, and of its last request.
    stream_port: Option<u16>,
    request_port: Option<u16>,
    /// The server's port where the client has reached it.
    endpoint: Option<u16>,
}

impl Session {
    fn new(id: SessionId, client: Client, returning: bool) -> Self {
        Self {
            id,
            client,
            request_order: RequestOrder::default(),
            state: Mutex::new(SessionState {
                mailbox: Mailbox::default(),
                number: 0,
                returning,
                away: false,
                pings: Vec::new(),
                calls: 0,
                idle_since: Instant::now(),
                stream_port: None,
                request_port: None,
                endpoint: None,
            }),
        }
    }

    /// Notes the client's port of its stream.
    pub(crate) fn set_stream_port(&self, port: u16) {
        self.state.lock().stream_port = Some(port);
    }

    /// Notes the server's port of a request.
    pub(crate) fn reached_at(&self, port: u16) {
        self.state.lock().endpoint = Some(port);
    }

    /// Whether the client has one of these ports.
    fn has_port(&self, ports: &[u16]) -> bool {
        let state = self.state.lock();
        state.stream_port.into_iter().chain(state.request_port).any(|port| ports.contains(&port))
    }

    /// Marks the session as busy until the guard is dropped. Notes the client's port of the request.
    pub(crate) fn busy(self: &Arc<Self>, port: Option<u16>) -> Busy {
        let mut state = self.state.lock();
        state.calls += 1;
        state.request_port = port.or(state.request_port);
        Busy(Arc::clone(self))
    }

    /// Whether the client answers a ping within `limit`. A client that is suspended, or behind a
    /// dead network, does not.
    pub(crate) async fn is_alive(&self, limit: Duration) -> bool {
        let id = DiffId::random();
        let (answer, answered) = oneshot::channel();
        {
            let mut state = self.state.lock();
            state.pings.push((id, answer));
            state.mailbox.ping(id);
        }
        let is_alive = timeout(limit, answered).await.is_ok();
        self.state.lock().pings.retain(|(of, _)| *of != id);
        is_alive
    }

    /// Takes the answer to a ping.
    pub(crate) fn ping_answered(&self, id: DiffId) {
        let pings = &mut self.state.lock().pings;
        if let Some(index) = pings.iter().position(|(of, _)| *of == id) {
            // Nobody may wait any more.
            let _ = pings.swap_remove(index).1.send(());
        }
    }

    /// Whether the client sends requests but has no stream yet. After a restart it reopens its
    /// stream only after `retry`.
    pub(crate) fn is_returning(&self) -> bool {
        let state = self.state.lock();
        !state.mailbox.has_stream() && state.returning
    }

    /// Notes that the client has reopened its own stream.
    pub(crate) fn returned(&self) {
        if std::mem::take(&mut self.state.lock().returning) {
            log::debug!("a client is back on its stream");
        }
    }

    /// The time when the session became idle; `None` if it is not idle.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        (!state.mailbox.has_stream() && state.calls == 0).then_some(state.idle_since)
    }

    /// Wakes the client's stream, because there is a decision to send.
    pub(crate) fn wake(&self) {
        self.state.lock().mailbox.wake();
    }

    /// Polls for the next item of the stream `number`; takes decisions from `decisions`. Returns
    /// `None` once the stream is replaced or ended.
    pub(crate) fn poll_next<D>(
        &self,
        number: u64,
        decisions: impl FnOnce() -> Option<D>,
        cx: &Context<'_>,
    ) -> Poll<Option<Next<D>>> {
        self.state.lock().mailbox.poll_next(number, decisions, cx)
    }
}

impl SessionState {
    fn touch(&mut self) {
        self.idle_since = Instant::now();
        self.away = false;
    }
}

/// Keeps a session busy while a request of it is being answered.
pub(crate) struct Busy(Arc<Session>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.touch();
        state.calls -= 1;
    }
}

/// All sessions of a server.
pub(crate) struct Sessions {
    state: Mutex<SessionsState>,
    limits: Limits,
    host: Arc<dyn EditorHost>,
}

#[derive(Default)]
struct SessionsState {
    by_id: HashMap<SessionId, Arc<Session>>,
    /// The number of sessions with a stream, which is the number of connected clients. A session
    /// that was removed counts until its stream has ended.
    streams: usize,
    /// Whether clients of other companions know the server by other ports.
    has_adopted: bool,
    /// A session or a watcher was created, so maintenance resumes.
    inhabited: Signal,
}

/// Every session belongs to a client that is connected or waits for a decision.
#[derive(Debug)]
pub(crate) struct Full;

/// Sessions whose clients stay away.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Absent {
    /// Sessions without anything in the editor that waits.
    pub(crate) away: Vec<SessionId>,
    /// Sessions that have ended.
    pub(crate) gone: Vec<SessionId>,
}

impl Sessions {
    /// `left` are the clients of the last process, which are expected to return.
    pub(crate) fn new(
        limits: Limits,
        host: Arc<dyn EditorHost>,
        left: impl IntoIterator<Item = (SessionId, Client)>,
    ) -> Self {
        let sessions = Self { state: Mutex::default(), limits, host };
        sessions.adopt(left);
        sessions
    }

    /// Adds clients of an earlier process, which are expected to return.
    pub(crate) fn adopt(&self, left: impl IntoIterator<Item = (SessionId, Client)>) {
        let session = |(id, client)| (id, Arc::new(Session::new(id, client, true)));
        self.state.lock().by_id.extend(left.into_iter().map(session));
    }

    /// Whether a client reaches the server at this port, or may do so when it returns.
    pub(crate) fn may_reach(&self, port: u16) -> bool {
        let by_id = &self.state.lock().by_id;
        by_id.values().any(|session| session.state.lock().endpoint.is_none_or(|of| of == port))
    }

    /// Notes whether the server has ports of other companions.
    pub(crate) fn set_adopted(&self, has_adopted: bool) {
        self.state.lock().has_adopted = has_adopted;
    }

    /// Whether a client may have a connection to a port that its hooks do not know.
    pub(crate) fn has_adopted(&self) -> bool {
        self.state.lock().has_adopted
    }

    /// Creates a session. If there are too many, evicts the sessions that were idle longest, and
    /// returns their ids, too. Evicts a session last if `waits` is true for it, and never while
    /// its client may be between two streams.
    pub(crate) fn create(
        &self,
        client: Client,
        waits: impl Fn(SessionId) -> bool,
    ) -> Result<(Arc<Session>, Vec<SessionId>), Full> {
        let by_id = &mut self.state.lock().by_id;
        let mut idle: Vec<_> = by_id
            .values()
            .filter_map(|session| session.idle_since().map(|since| (since, session)))
            // Expected, not idle. A returning client tries at most twice, the first time after
            // `retry`.
            .filter(|(since, session)| {
                !(session.is_returning() && since.elapsed() < 3 * self.limits.retry)
            })
            .map(|(since, session)| (since, session.id))
            // The client may be between two streams.
            .filter(|(since, id)| since.elapsed() >= self.limits.core.session_away || !waits(*id))
            .collect();
        // A new session counts as idle until its stream opens.
        let too_many_idle = (idle.len() + 1).saturating_sub(self.limits.idle_sessions);
        let too_many = (by_id.len() + 1).saturating_sub(self.limits.sessions);
        let excess = too_many_idle.max(too_many);
        if too_many > idle.len() {
            return Err(Full);
        }
        if excess > 0 {
            idle.sort_by_cached_key(|(since, id)| (waits(*id), *since));
        }
        let gone: Vec<_> = idle.into_iter().take(excess).map(|(_, id)| id).collect();
        for id in &gone {
            by_id.remove(id);
        }
        let session = Arc::new(Session::new(SessionId::new(), client, false));
        by_id.insert(session.id, Arc::clone(&session));
        Ok((session, gone))
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.state.lock().by_id.get(&id).cloned()
    }

    /// The number of a session that makes a proposal: the lowest free one. The session keeps it
    /// while its client is there, or while `has_open` says that it has open proposals.
    pub(crate) fn number(&self, session: &Session, has_open: impl Fn(SessionId) -> bool) -> u32 {
        let known = session.state.lock().number;
        if known != 0 {
            return known;
        }
        let by_id = &self.state.lock().by_id;
        let mut taken = BTreeSet::new();
        for other in by_id.values() {
            let number = other.state.lock().number;
            if number != 0 && (other.idle_since().is_none() || has_open(other.id)) {
                taken.insert(number);
            }
        }
        let free = (1..=u32::MAX).find(|number| !taken.contains(number));
        let free = free.expect("sessions are fewer");
        for other in by_id.values() {
            let mut state = other.state.lock();
            if state.number == free {
                state.number = 0;
            }
        }
        session.state.lock().number = free;
        free
    }

    /// Ends a session for good, and its stream.
    pub(crate) fn remove(&self, id: SessionId) {
        if let Some(session) = self.state.lock().by_id.remove(&id) {
            session.state.lock().mailbox.end();
        }
    }

    /// Finds the clients that stay away for too long. Reports each once, and removes those that
    /// have ended.
    pub(crate) fn absent(&self) -> Absent {
        let now = Instant::now();
        let mut absent = Absent::default();
        self.state.lock().by_id.retain(|id, session| {
            let idle = session.idle_since().map(|since| now.duration_since(since));
            let idle = idle.unwrap_or_default();
            if idle >= self.limits.session_gone {
                absent.gone.push(*id);
                return false;
            }
            if idle >= self.limits.core.session_away
                && !std::mem::replace(&mut session.state.lock().away, true)
            {
                absent.away.push(*id);
            }
            true
        });
        absent
    }

    /// The time of the next check; `None` if no client stays away.
    pub(crate) fn next_absence(&self) -> Option<Instant> {
        let by_id = &self.state.lock().by_id;
        let idle = by_id.values().filter_map(|session| Some((session, session.idle_since()?)));
        let due = idle.map(|(session, since)| {
            let is_away = session.state.lock().away;
            since + if is_away { self.limits.session_gone } else { self.limits.core.session_away }
        });
        due.min()
    }

    /// Attaches a stream to a session, starting with this context. Ends the earlier stream. Returns
    /// the stream's number.
    pub(crate) fn attach(&self, session: &Session, context: Bytes) -> u64 {
        let (number, was_attached) = session.state.lock().mailbox.attach(context);
        if !was_attached {
            self.count_streams(|streams| *streams += 1);
        }
        number
    }

    /// Detaches the stream `number` of a session.
    pub(crate) fn detach(&self, session: &Session, number: u64) {
        let has_ended = {
            let mut state = session.state.lock();
            state.touch();
            state.mailbox.detach(number)
        };
        if has_ended {
            self.count_streams(|streams| *streams -= 1);
        }
    }

    fn count_streams(&self, change: impl FnOnce(&mut usize)) {
        let count = {
            let streams = &mut self.state.lock().streams;
            change(streams);
            *streams
        };
        log::debug!("{count} clients are connected");
        self.host.notify(CompanionNotification::Clients(editor::Clients { count }));
    }

    /// Gives the newest context to every connected client. It replaces a waiting one.
    #[must_use]
    pub(crate) fn broadcast_context(&self, context: &Bytes) -> PendingWakes {
        let by_id = &self.state.lock().by_id;
        let wakers = by_id.values().filter_map(|of| of.state.lock().mailbox.set_context(context));
        PendingWakes(wakers.collect())
    }

    /// Sends a comment on every stream. A client sees that the server is alive, and the server sees
    /// whether the client is.
    #[must_use]
    pub(crate) fn keep_alive(&self) -> PendingWakes {
        let by_id = &self.state.lock().by_id;
        let wakers = by_id.values().filter_map(|of| of.state.lock().mailbox.keep_alive());
        PendingWakes(wakers.collect())
    }

    /// Ends all streams once they have sent their queues.
    pub(crate) fn end_streams(&self) {
        for session in self.state.lock().by_id.values() {
            session.state.lock().mailbox.end();
        }
    }

    /// Calls `each` for each connected client.
    pub(crate) fn for_each_connected(&self, mut each: impl FnMut(&Session)) {
        for session in self.state.lock().by_id.values() {
            if session.state.lock().mailbox.has_stream() {
                each(session);
            }
        }
    }

    /// The sessions whose clients have one of these ports.
    pub(crate) fn with_ports(&self, ports: &[u16]) -> Vec<SessionId> {
        let by_id = &self.state.lock().by_id;
        let sessions = by_id.values().filter(|session| session.has_port(ports));
        sessions.map(|session| session.id).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state.lock().by_id.is_empty()
    }

    pub(crate) fn resume_maintenance(&self) {
        self.state.lock().inhabited.set();
    }

    /// Waits for [`Self::resume_maintenance`].
    pub(crate) fn poll_maintenance(&self, cx: &Context<'_>) -> Poll<()> {
        self.state.lock().inhabited.poll(cx)
    }
}

/// The wakers of streams that have an item to send.
pub(crate) struct PendingWakes(Vec<Waker>);

/// The number of streams that write before requests have their turn.
const MAX_WAKES: usize = 16;

impl PendingWakes {
    /// Wakes the streams in small groups. A thousand streams take 10 ms, and a request should not
    /// wait that long.
    pub(crate) async fn wake(self) {
        for some in self.0.chunks(MAX_WAKES) {
            some.iter().for_each(Waker::wake_by_ref);
            tokio::task::yield_now().await;
        }
    }
}
