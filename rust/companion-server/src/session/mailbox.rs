//! Keeps the newest context and the keep-alive of a client's stream.
//!
//! A context is a state, so it replaces an earlier one that was not sent. A client that reads
//! slowly skips stale contexts and holds no memory. The core keeps the decisions; the mailbox asks
//! it for the next one.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use companion_core::diffs::DiffId;

/// The next item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<D> {
    /// A context, as the data of an event.
    Context(Bytes),
    /// A decision, or the ping behind it.
    Decision(D),
    /// A ping, to learn whether the client is alive.
    Ping(DiffId),
    /// A comment.
    KeepAlive,
}

#[derive(Default)]
pub(super) struct Mailbox {
    /// The number of the newest stream. Only the newest stream is served.
    number: u64,
    stream: StreamState,
    ended: bool,
    waker: Option<Waker>,
    context: Option<Bytes>,
    pings: VecDeque<DiffId>,
    keep_alive: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum StreamState {
    #[default]
    Down,
    /// The stream is open, and has sent nothing.
    Fresh,
    Up,
}

impl Mailbox {
    pub(super) fn has_stream(&self) -> bool {
        self.stream != StreamState::Down
    }

    /// Begins a new stream. Returns its number, and whether it replaces an earlier one.
    pub(super) fn attach(&mut self, context: Bytes) -> (u64, bool) {
        let replaces = self.has_stream();
        self.context = Some(context);
        self.number += 1;
        self.stream = StreamState::Fresh;
        self.wake();
        (self.number, replaces)
    }

    /// Ends the stream `number`. Returns whether the client has no stream now.
    pub(super) fn detach(&mut self, number: u64) -> bool {
        if self.number != number || !self.has_stream() {
            return false;
        }
        *self = Self { number, ended: self.ended, ..Self::default() };
        true
    }

    /// Replaces the waiting context. Returns the waker of the stream.
    pub(super) fn set_context(&mut self, context: &Bytes) -> Option<Waker> {
        self.context = self.has_stream().then(|| context.clone());
        self.waker.clone()
    }

    /// Requests a comment. Returns the waker of the stream.
    pub(super) fn keep_alive(&mut self) -> Option<Waker> {
        self.keep_alive = self.has_stream();
        self.waker.clone()
    }

    /// Sends a ping, if there is a stream.
    pub(super) fn ping(&mut self, id: DiffId) {
        if self.has_stream() {
            self.pings.push_back(id);
            self.wake();
        }
    }

    /// Wakes the stream, because there is something to send.
    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Ends the current stream and later ones, once they have sent the waiting items.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.wake();
    }

    /// Polls for the next item of the stream `number`; takes decisions from `decisions`. Returns
    /// `None` once the stream is replaced or ended.
    pub(super) fn poll_next<D>(
        &mut self,
        number: u64,
        decisions: impl FnOnce() -> Option<D>,
        cx: &Context<'_>,
    ) -> Poll<Option<Next<D>>> {
        if self.number != number {
            return Poll::Ready(None);
        }
        // A stream begins with the context. Later, decisions go first. Otherwise a slow client
        // whose user moves the caret would wait for a decision without end.
        if std::mem::replace(&mut self.stream, StreamState::Up) == StreamState::Fresh
            && let Some(context) = self.context.take()
        {
            return Poll::Ready(Some(Next::Context(context)));
        }
        if let Some(decision) = decisions() {
            return Poll::Ready(Some(Next::Decision(decision)));
        }
        if let Some(ping) = self.pings.pop_front() {
            return Poll::Ready(Some(Next::Ping(ping)));
        }
        if let Some(context) = self.context.take() {
            return Poll::Ready(Some(Next::Context(context)));
        }
        if std::mem::take(&mut self.keep_alive) {
            return Poll::Ready(Some(Next::KeepAlive));
        }
        if self.ended {
            return Poll::Ready(None);
        }
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            waker => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}
