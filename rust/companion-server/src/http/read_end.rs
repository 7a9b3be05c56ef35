//! Delays the end of a peer's side of a connection until the peer has its answer.

use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The end of a peer's side. hyper gives up a request as soon as that ends, but a peer may close its side
/// after the request and wait for the answer. A stream ends with its peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReadEnd(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// The requests that are being answered.
    requests: usize,
    /// Bytes of an answer are not on their way.
    is_unflushed: bool,
    /// Reads the connection, which has ended.
    reader: Option<Waker>,
}

impl State {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct Answering(ReadEnd);

impl Drop for Answering {
    fn drop(&mut self) {
        let mut state = self.0.0.lock();
        state.requests -= 1;
        state.wake();
    }
}

impl ReadEnd {
    /// Delays the end until the answer to a request has been written.
    pub(super) fn answering(&self) -> Answering {
        self.0.lock().requests += 1;
        Answering(self.clone())
    }

    /// The connection has ended. Returns when the reader may learn that.
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.requests == 0 && !state.is_unflushed {
            return Poll::Ready(());
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    pub(super) fn written(&self) {
        self.0.lock().is_unflushed = true;
    }

    pub(super) fn flushed(&self) {
        let mut state = self.0.lock();
        // hyper also flushes without bytes, at each poll.
        if mem::take(&mut state.is_unflushed) {
            state.wake();
        }
    }
}
