//! Keeps the watchers of `GET /events`, and queues the notifications that others publish.
//!
//! `driver` and `context` make the notifications, for people who watch with curl.
//! A watcher must never hold up a client. A slow watcher misses notifications, and each watcher misses
//! those that are longer than the queue.

use std::task::{Context, Poll, ready};

use bytes::Bytes;
use companion_core::text::{HeldBytes, Share};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::net::sse;

/// The most notifications that wait for a watcher, and their most bytes together with the one that
/// is being sent.
const MAX_QUEUED: usize = 64;
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// All watchers.
#[derive(Default)]
pub(crate) struct Monitors {
    watchers: Mutex<Vec<Watcher>>,
}

struct Watcher {
    sender: mpsc::Sender<Queued>,
    /// Bytes of notifications that the watcher has not read.
    queued: HeldBytes,
}

/// A notification with its share of the bytes.
type Queued = (Bytes, Share);

impl Watcher {
    /// Queues a notification if there is room.
    fn send(&self, event: Bytes) {
        if self.queued.bytes() + event.len() <= MAX_QUEUED_BYTES {
            let share = self.queued.add(event.len());
            let _ = self.sender.try_send((event, share)); // or the queue is full
        }
    }
}

impl Monitors {
    /// Opens a stream that begins with `first`. Returns `None` if there are `max` streams.
    pub(crate) fn open(&self, first: Bytes, max: usize) -> Option<MonitorStream> {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| !watcher.sender.is_closed());
        if watchers.len() >= max {
            return None;
        }
        let (sender, events) = mpsc::channel(MAX_QUEUED);
        let watcher = Watcher { sender, queued: HeldBytes::default() };
        watcher.send(first);
        watchers.push(watcher);
        Some(MonitorStream { events, share_of_last: None })
    }

    /// Sends the notification that `event` makes. `event` is not called if nobody watches.
    pub(crate) fn publish(&self, event: impl FnOnce() -> Bytes) {
        let mut watchers = self.watchers.lock();
        watchers.retain(|watcher| !watcher.sender.is_closed());
        if watchers.is_empty() {
            return;
        }
        let event = event();
        for watcher in &*watchers {
            watcher.send(event.clone());
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.lock().is_empty()
    }

    pub(crate) fn keep_alive(&self) {
        self.publish(|| sse::KEEP_ALIVE);
    }

    /// Ends all streams once they have sent their queues.
    pub(crate) fn end(&self) {
        self.watchers.lock().clear();
    }
}

/// The body of `GET /events`.
pub(crate) struct MonitorStream {
    events: mpsc::Receiver<Queued>,
    /// The share of the event that was taken last. The connection holds that event until it asks
    /// for the next one.
    share_of_last: Option<Share>,
}

impl MonitorStream {
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.share_of_last = None;
        let Some((event, share)) = ready!(self.events.poll_recv(cx)) else {
            return Poll::Ready(None);
        };
        self.share_of_last = Some(share);
        Poll::Ready(Some(event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_left_is_forgotten_at_the_next_sign_of_life() {
        let monitors = Monitors::default();
        assert!(monitors.is_empty());
        let stream = monitors.open(Bytes::new(), 1);
        monitors.keep_alive();
        assert!(!monitors.is_empty());
        drop(stream);
        monitors.keep_alive();
        assert!(monitors.is_empty());
    }
}
