//! Limits the connections that have not shown the token.
//!
//! Anybody can connect, and each connection takes a descriptor of the editor's process. So there are
//! few slots. A new connection evicts the one that has waited longest without showing the token.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// The most connections without the token. A client shows its token with its first request.
const MAX_UNAUTHENTICATED: usize = 64;

#[derive(Clone, Default)]
pub(crate) struct UnauthenticatedSlots(Arc<Mutex<Slots>>);

#[derive(Default)]
struct Slots {
    last: u64,
    /// Oldest first.
    unauthenticated: BTreeMap<u64, CancellationToken>,
}

impl UnauthenticatedSlots {
    /// Takes a slot for a new connection.
    pub(crate) fn take(&self) -> SlotGuard {
        let mut slots = self.0.lock();
        if slots.unauthenticated.len() >= MAX_UNAUTHENTICATED {
            slots.make_room();
        }
        slots.last += 1;
        let (number, evicted) = (slots.last, CancellationToken::new());
        slots.unauthenticated.insert(number, evicted.clone());
        SlotGuard { slots: self.clone(), number, evicted }
    }

    /// Evicts the oldest connection without the token, because something else needs its descriptor.
    /// Returns false if there is none.
    pub(crate) fn make_room(&self) -> bool {
        self.0.lock().make_room()
    }
}

impl Slots {
    fn make_room(&mut self) -> bool {
        let oldest = self.unauthenticated.pop_first();
        oldest.is_some_and(|(_, evicted)| {
            evicted.cancel();
            true
        })
    }
}

/// Holds the slot of a connection until it is dropped.
pub(crate) struct SlotGuard {
    slots: UnauthenticatedSlots,
    number: u64,
    evicted: CancellationToken,
}

impl SlotGuard {
    /// Frees the slot: the connection has shown the token, so it belongs to a client.
    pub(crate) fn token_shown(&self) {
        self.slots.0.lock().unauthenticated.remove(&self.number);
    }

    /// Waits until the connection is evicted.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for SlotGuard {
    fn drop(&mut self) {
        self.token_shown();
    }
}

#[cfg(test)]
mod tests {
    use super::UnauthenticatedSlots;

    #[tokio::test]
    async fn the_oldest_stranger_makes_room() {
        let slots = UnauthenticatedSlots::default();
        let (oldest, _newer) = (slots.take(), slots.take());
        assert!(slots.make_room());
        oldest.evicted().await;
    }

    #[test]
    fn only_strangers_that_are_there_make_room() {
        let slots = UnauthenticatedSlots::default();
        let client = slots.take();
        client.token_shown();
        drop(slots.take());
        assert!(!slots.make_room());
    }
}
