//! What waits for one client: the newest context, and decisions that must arrive.
//!
//! A context is a state, so a newer one takes the place of one that was not sent: a client
//! that reads slowly skips what is stale and holds no memory. A decision is an event: it is
//! kept until the client has shown that it got it, and sent again if the stream broke.
//!
//! Event ids are given out when an event goes onto a stream, so that the client's
//! `last-event-id` says: everything that was sent before has arrived. A decision may be sent
//! twice that way; the client has no waiter the second time and ignores it. It would not if it
//! had asked again for the same path, so then [`Mailbox::forget`] drops what is still here.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;
use uuid::Uuid;

/// How many bytes of sent decisions are kept for replay, besides the newest.
const SENT_BYTES: usize = 1 << 20;
/// How many sent decisions are kept for replay.
const SENT_EVENTS: usize = 64;

/// Tells the event ids of one server from those of its predecessor on the same port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u32);

impl Epoch {
    pub(crate) fn new() -> Self {
        Self(Uuid::new_v4().as_fields().0)
    }
}

/// The `id:` of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    epoch: Epoch,
    number: u64,
}

impl EventId {
    /// Reads a `last-event-id`. One that was not given out here says nothing.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (epoch, number) = text.split_once('-')?;
        let epoch = Epoch(u32::from_str_radix(epoch, 16).ok()?);
        Some(Self { epoch, number: number.parse().ok()? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}-{}", self.epoch.0, self.number)
    }
}

/// What a stream sends next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    /// An event whose data is a JSON-RPC message.
    Event(EventId, Bytes),
    /// A comment.
    KeepAlive,
}

pub(crate) struct Mailbox {
    epoch: Epoch,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Numbers the streams; the newest one is served.
    number: u64,
    stream: Stream,
    ended: bool,
    waker: Option<Waker>,
    last_id: u64,
    context: Option<Bytes>,
    keep_alive: bool,
    /// Oldest first; those that were sent before those that were not.
    decisions: VecDeque<Queued>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stream {
    #[default]
    Down,
    /// Nothing was sent on it yet.
    Fresh,
    Up,
}

struct Queued {
    path: Arc<str>,
    message: Bytes,
    /// The event id under which it went out.
    sent_as: Option<u64>,
}

impl Mailbox {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self { epoch, state: Mutex::default() }
    }

    pub(crate) fn has_stream(&self) -> bool {
        self.state.lock().stream != Stream::Down
    }

    /// Begins a new stream: its number, and whether there was one before, which now ends.
    pub(crate) fn attach(&self, last: Option<EventId>, context: Option<Bytes>) -> (u64, bool) {
        let mut state = self.state.lock();
        let received = last.filter(|id| id.epoch == self.epoch).map_or(0, |id| id.number);
        state.decisions.retain(|queued| queued.sent_as.is_none_or(|id| id > received));
        for queued in &mut state.decisions {
            queued.sent_as = None;
        }
        state.context = context;
        state.number += 1;
        let before = std::mem::replace(&mut state.stream, Stream::Fresh);
        wake(&mut state);
        (state.number, before != Stream::Down)
    }

    /// The stream `number` has ended. Whether that leaves the client without a stream.
    pub(crate) fn detach(&self, number: u64) -> bool {
        let mut state = self.state.lock();
        if state.number != number || state.stream == Stream::Down {
            return false;
        }
        state.stream = Stream::Down;
        state.context = None;
        state.keep_alive = false;
        state.waker = None;
        true
    }

    /// Replaces the context that waits, and returns what wakes the stream to send it.
    pub(crate) fn set_context(&self, context: &Bytes) -> Option<Waker> {
        let mut state = self.state.lock();
        if state.stream != Stream::Down {
            state.context = Some(context.clone());
        }
        state.waker.clone()
    }

    /// Queues a decision. Whether a stream is there to send it.
    pub(crate) fn push_decision(&self, path: Arc<str>, message: Bytes) -> bool {
        let mut state = self.state.lock();
        state.decisions.push_back(Queued { path, message, sent_as: None });
        wake(&mut state);
        state.stream != Stream::Down
    }

    /// Drops the decisions for `path`: the client asks again and must not get an old answer.
    pub(crate) fn forget(&self, path: &str) {
        self.state.lock().decisions.retain(|queued| &*queued.path != path);
    }

    /// Number and bytes of the decisions that were not sent.
    pub(crate) fn backlog(&self) -> (usize, usize) {
        let state = self.state.lock();
        let unsent = state.decisions.iter().filter(|queued| queued.sent_as.is_none());
        unsent.fold((0, 0), |(count, bytes), queued| (count + 1, bytes + queued.message.len()))
    }

    /// The decisions that are not known to have arrived, each with its path.
    pub(crate) fn decisions(&self) -> Vec<(Arc<str>, Bytes)> {
        let state = self.state.lock();
        let queued = state.decisions.iter();
        queued.map(|queued| (Arc::clone(&queued.path), queued.message.clone())).collect()
    }

    /// Has a comment sent, and returns what wakes the stream to do so.
    pub(crate) fn keep_alive(&self) -> Option<Waker> {
        let mut state = self.state.lock();
        state.keep_alive = state.stream != Stream::Down;
        state.waker.clone()
    }

    /// Ends the stream, and any later one, once it has sent what waits.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        wake(&mut state);
    }

    /// What the stream `number` sends next; nothing once it has been replaced or ended.
    pub(crate) fn poll_next(&self, number: u64, cx: &Context<'_>) -> Poll<Option<Outgoing>> {
        let mut state = self.state.lock();
        if state.number != number {
            return Poll::Ready(None);
        }
        if let Some(next) = self.next(&mut state) {
            return Poll::Ready(Some(next));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn next(&self, state: &mut State) -> Option<Outgoing> {
        // A stream begins with the context. Later a decision goes first, or a client that reads
        // slowly while the caret moves would wait for it without end.
        if std::mem::replace(&mut state.stream, Stream::Up) == Stream::Fresh
            && let Some(context) = state.context.take()
        {
            return Some(Outgoing::Event(self.next_id(state), context));
        }
        if let Some(at) = state.decisions.iter().position(|queued| queued.sent_as.is_none()) {
            let id = self.next_id(state);
            state.decisions[at].sent_as = Some(id.number);
            let message = state.decisions[at].message.clone();
            drop_oldest_sent(&mut state.decisions, at);
            return Some(Outgoing::Event(id, message));
        }
        if let Some(context) = state.context.take() {
            return Some(Outgoing::Event(self.next_id(state), context));
        }
        std::mem::take(&mut state.keep_alive).then_some(Outgoing::KeepAlive)
    }

    fn next_id(&self, state: &mut State) -> EventId {
        state.last_id += 1;
        EventId { epoch: self.epoch, number: state.last_id }
    }
}

/// Bounds what is kept for replay. The decision at `newest` has just been sent and stays.
fn drop_oldest_sent(decisions: &mut VecDeque<Queued>, newest: usize) {
    let mut older = newest;
    let mut bytes: usize = decisions.iter().take(newest).map(|queued| queued.message.len()).sum();
    while older > 0 && (older >= SENT_EVENTS || bytes > SENT_BYTES) {
        if let Some(dropped) = decisions.pop_front() {
            bytes -= dropped.message.len();
        }
        older -= 1;
    }
}

fn wake(state: &mut State) {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
}
