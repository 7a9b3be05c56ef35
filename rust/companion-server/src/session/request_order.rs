//! Orders the requests of a client by the time when they began to arrive.
//!
//! A client sends each request on its own connection, so a small one can overtake a large one.

use std::collections::BTreeSet;

use tokio::sync::watch;

/// The requests of one client that are arriving.
#[derive(Default)]
pub(crate) struct RequestOrder(watch::Sender<BTreeSet<u64>>);

impl RequestOrder {
    /// Begins the arrival of a request. The request has arrived when the value is dropped.
    pub(crate) fn begin(&self) -> Arrival<'_> {
        let mut number = 0;
        self.0.send_if_modified(|arriving| {
            number = arriving.last().map_or(0, |last| last + 1);
            arriving.insert(number);
            false // nobody waits for it
        });
        Arrival { order: self, number }
    }
}

/// A request that is arriving.
pub(crate) struct Arrival<'a> {
    order: &'a RequestOrder,
    number: u64,
}

impl Arrival<'_> {
    /// Waits until all earlier requests have arrived or broken off.
    pub(crate) async fn be_first(&self) {
        let is_first = |arriving: &BTreeSet<_>| arriving.first() == Some(&self.number);
        // The sender belongs to the order, so the wait cannot fail.
        let _ = self.order.0.subscribe().wait_for(is_first).await;
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.order.0.send_if_modified(|arriving| {
            arriving.remove(&self.number);
            !arriving.is_empty()
        });
    }
}
