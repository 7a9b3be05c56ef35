//! Places for connections that have not shown the token. Anybody can connect, and each connection
//! takes a descriptor of the editor's process; so there are few places, and whoever has waited
//! the longest without showing the token makes room for the next.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// How many there are. A client shows its token at once; all of them together wait for less.
const PLACES: usize = 64;

#[derive(Clone, Default)]
pub(crate) struct Places(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    last: u64,
    /// In the order in which they came.
    strangers: BTreeMap<u64, CancellationToken>,
}

impl Places {
    /// A place for a connection that begins.
    pub(crate) fn take(&self) -> Place {
        let mut taken = self.0.lock();
        if taken.strangers.len() >= PLACES {
            taken.make_room();
        }
        taken.last += 1;
        let (number, lost) = (taken.last, CancellationToken::new());
        taken.strangers.insert(number, lost.clone());
        Place { places: self.clone(), number, lost }
    }

    /// Has a connection without the token go, because something else needs its descriptor. False if
    /// there is none.
    pub(crate) fn make_room(&self) -> bool {
        self.0.lock().make_room()
    }
}

impl Taken {
    fn make_room(&mut self) -> bool {
        let oldest = self.strangers.pop_first();
        oldest.is_some_and(|(_, lost)| {
            lost.cancel();
            true
        })
    }
}

/// The place of a connection, for as long as it lasts.
pub(crate) struct Place {
    places: Places,
    number: u64,
    lost: CancellationToken,
}

impl Place {
    /// The connection has shown the token: it is a client's, and counts no more.
    pub(crate) fn token_shown(&self) {
        self.places.0.lock().strangers.remove(&self.number);
    }

    /// Waits until it has to make room.
    pub(crate) async fn lost(&self) {
        self.lost.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.token_shown();
    }
}

#[cfg(test)]
mod tests {
    use super::Places;

    #[tokio::test]
    async fn the_oldest_stranger_makes_room() {
        let places = Places::default();
        let (oldest, _newer) = (places.take(), places.take());
        assert!(places.make_room());
        oldest.lost().await;
    }

    #[test]
    fn only_strangers_that_are_there_make_room() {
        let places = Places::default();
        let client = places.take();
        client.token_shown();
        drop(places.take());
        assert!(!places.make_room());
    }
}
