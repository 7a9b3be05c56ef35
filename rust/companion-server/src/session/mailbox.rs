//! Keeps the newest context and the keep-alive of a client's stream.
//!
//! A context is a state, so it replaces an earlier one that was not sent. A client that reads
//! slowly skips stale contexts and holds no memory. The core keeps the decisions; the mailbox asks
//! it for the next one.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

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
pub(crate) struct Mailbox(Mutex<MailboxState>);

#[derive(Default)]
struct MailboxState {
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
    pub(crate) fn has_stream(&self) -> bool {
        self.0.lock().stream != StreamState::Down
    }

    /// Begins a new stream. Returns its number, and whether it replaces an earlier one.
    pub(crate) fn attach(&self, context: Bytes) -> (u64, bool) {
        let mut state = self.0.lock();
        state.context = Some(context);
        state.number += 1;
        let before = std::mem::replace(&mut state.stream, StreamState::Fresh);
        wake(&mut state);
        (state.number, before != StreamState::Down)
    }

    /// Ends the stream `number`. Returns whether the client has no stream now.
    pub(crate) fn detach(&self, number: u64) -> bool {
        let mut state = self.0.lock();
        if state.number != number || state.stream == StreamState::Down {
            return false;
        }
        state.stream = StreamState::Down;
        state.context = None;
        state.pings.clear();
        state.keep_alive = false;
        state.waker = None;
        true
    }

    /// Replaces the waiting context. Returns the waker of the stream.
    pub(crate) fn set_context(&self, context: &Bytes) -> Option<Waker> {
        let mut state = self.0.lock();
        if state.stream != StreamState::Down {
            state.context = Some(context.clone());
        }
        state.waker.clone()
    }

    /// Requests a comment. Returns the waker of the stream.
    pub(crate) fn keep_alive(&self) -> Option<Waker> {
        let mut state = self.0.lock();
        state.keep_alive = state.stream != StreamState::Down;
        state.waker.clone()
    }

    /// Sends a ping, if there is a stream.
    pub(crate) fn ping(&self, id: DiffId) {
        let mut state = self.0.lock();
        if state.stream != StreamState::Down {
            state.pings.push_back(id);
            wake(&mut state);
        }
    }

    /// Wakes the stream, because there is a decision to send.
    pub(crate) fn wake(&self) {
        wake(&mut self.0.lock());
    }

    /// Ends the current stream and later ones, once they have sent the waiting items.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock();
        state.ended = true;
        wake(&mut state);
    }

    /// Polls for the next item of the stream `number`; takes decisions from `decisions`. Returns
    /// `None` once the stream is replaced or ended.
    pub(crate) fn poll_next<D>(
        &self,
        number: u64,
        decisions: impl FnOnce() -> Option<D>,
        cx: &Context<'_>,
    ) -> Poll<Option<Next<D>>> {
        let mut state = self.0.lock();
        if state.number != number {
            return Poll::Ready(None);
        }
        // A stream begins with the context. Later, decisions go first. Otherwise a slow client
        // whose user moves the caret would wait for a decision without end.
        if std::mem::replace(&mut state.stream, StreamState::Up) == StreamState::Fresh
            && let Some(context) = state.context.take()
        {
            return Poll::Ready(Some(Next::Context(context)));
        }
        if let Some(decision) = decisions() {
            return Poll::Ready(Some(Next::Decision(decision)));
        }
        if let Some(ping) = state.pings.pop_front() {
            return Poll::Ready(Some(Next::Ping(ping)));
        }
        if let Some(context) = state.context.take() {
            return Poll::Ready(Some(Next::Context(context)));
        }
        if std::mem::take(&mut state.keep_alive) {
            return Poll::Ready(Some(Next::KeepAlive));
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
}

fn wake(state: &mut MailboxState) {
    if let Some(waker) = state.waker.take() {
        waker.wake();
    }
}
