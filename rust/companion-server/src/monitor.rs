//! `GET /events`: every notification to every client, for people who watch with curl.
//!
//! A watcher must never hold up a client: what a slow one does not read in time, it misses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::sse;

/// How many notifications wait for a watcher.
const QUEUE: usize = 64;

/// All watchers.
pub(crate) struct Monitors {
    senders: Mutex<Vec<mpsc::Sender<Bytes>>>,
    limit: usize,
}

impl Monitors {
    pub(crate) fn new(limit: usize) -> Self {
        Self { senders: Mutex::default(), limit }
    }

    /// Opens a stream that begins with `first`; nothing if there are too many.
    pub(crate) fn open(&self, first: Bytes) -> Option<MonitorStream> {
        let mut senders = self.senders.lock();
        senders.retain(|sender| !sender.is_closed());
        if senders.len() >= self.limit {
            return None;
        }
        let (sender, receiver) = mpsc::channel(QUEUE);
        let _ = sender.try_send(first);
        senders.push(sender);
        Some(MonitorStream(receiver))
    }

    /// Sends what `event` makes, which is not called if nobody watches.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Bytes) {
        let mut senders = self.senders.lock();
        if senders.is_empty() {
            return;
        }
        let event = event();
        senders.retain(|sender| {
            !matches!(sender.try_send(event.clone()), Err(mpsc::error::TrySendError::Closed(_)))
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.senders.lock().is_empty()
    }

    pub(crate) fn keep_alive(&self) {
        self.publish(|| sse::KEEP_ALIVE);
    }

    /// Ends all streams once they have sent what waits.
    pub(crate) fn end(&self) {
        self.senders.lock().clear();
    }
}

/// The body of `GET /events`.
pub(crate) struct MonitorStream(mpsc::Receiver<Bytes>);

impl Body for MonitorStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
    }
}
