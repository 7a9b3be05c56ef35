//! Serves `GET /events`: every notification to every client, for people who watch with curl.
//!
//! A watcher must never hold up a client: what a slow one does not read in time, it misses, and of what is
//! very long it sees the beginning.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::net::sse;

/// How many notifications wait for a watcher, and how many bytes with the one that is on its way.
const MAX_QUEUED: usize = 64;
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// How many bytes a watcher is shown of a notification that has more than all that may wait.
const MAX_SHOWN: usize = 500;

/// All watchers.
pub(crate) struct Monitors {
    watchers: Mutex<Vec<Watcher>>,
    limit: usize,
}

struct Watcher {
    sender: mpsc::Sender<Bytes>,
    /// How many bytes wait or are on their way.
    waiting: Arc<AtomicUsize>,
}

impl Watcher {
    /// Has it sent, if there is room. An error if nobody watches any more.
    fn send(&self, event: Bytes) -> Result<(), mpsc::error::SendError<()>> {
        let waiting = self.waiting.load(Relaxed);
        if self.sender.is_closed() {
            return Err(mpsc::error::SendError(()));
        }
        if waiting + event.len() <= MAX_QUEUED_BYTES {
            let length = event.len();
            self.waiting.fetch_add(length, Relaxed); // before it can be taken
            if self.sender.try_send(event).is_err() {
                self.waiting.fetch_sub(length, Relaxed);
            }
        }
        Ok(())
    }
}

impl Monitors {
    pub(crate) fn new(limit: usize) -> Self {
        Self { watchers: Mutex::default(), limit }
    }

    /// Opens a stream that begins with `first`; nothing if there are too many.
    pub(crate) fn open(&self, first: Bytes) -> Option<MonitorStream> {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| !watcher.sender.is_closed());
        if watchers.len() >= self.limit {
            return None;
        }
        let (sender, events) = mpsc::channel(MAX_QUEUED);
        let watcher = Watcher { sender, waiting: Arc::default() };
        let stream = MonitorStream { events, waiting: Arc::clone(&watcher.waiting), on_its_way: 0 };
        let _ = watcher.send(shortened(first));
        watchers.push(watcher);
        Some(stream)
    }

    /// Sends what `event` makes, which is not called if nobody watches.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Bytes) {
        let mut watchers = self.watchers.lock();
        if watchers.is_empty() {
            return;
        }
        let event = shortened(event());
        watchers.retain(|watcher| watcher.send(event.clone()).is_ok());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.lock().is_empty()
    }

    pub(crate) fn keep_alive(&self) {
        self.publish(|| sse::KEEP_ALIVE);
    }

    /// Ends all streams once they have sent what waits.
    pub(crate) fn end(&self) {
        self.watchers.lock().clear();
    }
}

/// In place of an event that is too long, a comment, which people read and programs skip: an event with
/// a part of its text would be taken for the whole.
fn shortened(event: Bytes) -> Bytes {
    if event.len() <= MAX_QUEUED_BYTES {
        return event;
    }
    let beginning = String::from_utf8_lossy(&event[..MAX_SHOWN]);
    format!(": {} bytes, which begin with {beginning}\n\n", event.len()).into()
}

/// The body of `GET /events`.
pub(crate) struct MonitorStream {
    events: mpsc::Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
    /// The length of the event that was taken last. The connection has it until it asks for more.
    on_its_way: usize,
}

impl Body for MonitorStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let sent = std::mem::take(&mut self.on_its_way);
        self.waiting.fetch_sub(sent, Relaxed);
        let event = ready!(self.events.poll_recv(cx));
        Poll::Ready(event.map(|event| {
            self.on_its_way = event.len();
            Ok(Frame::data(event))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_left_is_forgotten_at_the_next_sign_of_life() {
        let monitors = Monitors::new(1);
        assert!(monitors.is_empty());
        let stream = monitors.open(Bytes::new());
        monitors.keep_alive();
        assert!(!monitors.is_empty());
        drop(stream);
        monitors.keep_alive();
        assert!(monitors.is_empty());
    }
}
