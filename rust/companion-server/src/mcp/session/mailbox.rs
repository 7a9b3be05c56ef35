//! Keeps the newest context and the signs of life for a client's stream.
//!
//! A context is a state, so a newer one takes the place of one that was not sent: a client that
//! reads slowly skips what is stale and holds no memory. Decisions are `diffs`' matter, which says
//! what is next when it is asked.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

/// What a stream sends next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next<D> {
    /// A context, as data of an event.
    Context(Bytes),
    /// A decision, or what belongs to one.
    Decision(D),
    /// A comment.
    KeepAlive,
}

#[derive(Default)]
pub(crate) struct Mailbox(Mutex<MailboxState>);

#[derive(Default)]
struct MailboxState {
    /// Numbers the streams; the newest one is served.
    number: u64,
    stream: StreamState,
    ended: bool,
    waker: Option<Waker>,
    context: Option<Bytes>,
    keep_alive: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum StreamState {
    #[default]
    Down,
    /// Nothing was sent on it yet.
    Fresh,
    Up,
}

impl Mailbox {
    pub(crate) fn has_stream(&self) -> bool {
        self.0.lock().stream != StreamState::Down
    }

    /// Begins a new stream: its number, and whether there was one before, which now ends.
    pub(crate) fn attach(&self, context: Bytes) -> (u64, bool) {
        let mut state = self.0.lock();
        state.context = Some(context);
        state.number += 1;
        let before = std::mem::replace(&mut state.stream, StreamState::Fresh);
        wake(&mut state);
        (state.number, before != StreamState::Down)
    }

    /// The stream `number` has ended. Whether that leaves the client without a stream.
    pub(crate) fn detach(&self, number: u64) -> bool {
        let mut state = self.0.lock();
        if state.number != number || state.stream == StreamState::Down {
            return false;
        }
        state.stream = StreamState::Down;
        state.context = None;
        state.keep_alive = false;
        state.waker = None;
        true
    }

    /// Replaces the context that waits, and returns what wakes the stream to send it.
    pub(crate) fn set_context(&self, context: &Bytes) -> Option<Waker> {
        let mut state = self.0.lock();
        if state.stream != StreamState::Down {
            state.context = Some(context.clone());
        }
        state.waker.clone()
    }

    /// Has a comment sent, and returns what wakes the stream to do so.
    pub(crate) fn keep_alive(&self) -> Option<Waker> {
        let mut state = self.0.lock();
        state.keep_alive = state.stream != StreamState::Down;
        state.waker.clone()
    }

    /// There is a decision to send.
    pub(crate) fn wake(&self) {
        wake(&mut self.0.lock());
    }

    /// Ends the stream, and any later one, once it has sent what waits.
    pub(crate) fn end(&self) {
        let mut state = self.0.lock();
        state.ended = true;
        wake(&mut state);
    }

    /// What the stream `number` sends next, with decisions from `decisions`; nothing once it has
    /// been replaced or ended.
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
        // A stream begins with the context. Later a decision goes first, or a client that reads
        // slowly while the caret moves would wait for it without end.
        if std::mem::replace(&mut state.stream, StreamState::Up) == StreamState::Fresh
            && let Some(context) = state.context.take()
        {
            return Poll::Ready(Some(Next::Context(context)));
        }
        if let Some(decision) = decisions() {
            return Poll::Ready(Some(Next::Decision(decision)));
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
