//! Orders the requests of a client by the time when they began to arrive.
//!
//! A client sends each request on its own connection, so a small one can overtake a large one.

use std::collections::BTreeSet;

use parking_lot::Mutex;
use tokio::sync::Notify;

/// The requests of one client that are arriving.
#[derive(Default)]
pub(crate) struct RequestOrder {
    arriving: Mutex<Arriving>,
    arrived: Notify,
}

#[derive(Default)]
struct Arriving {
    next: u64,
    numbers: BTreeSet<u64>,
}

impl RequestOrder {
    /// Begins the arrival of a request. The request has arrived when the value is dropped.
    pub(crate) fn begin(&self) -> Arrival<'_> {
        let mut arriving = self.arriving.lock();
        let number = arriving.next;
        arriving.next += 1;
        arriving.numbers.insert(number);
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
        loop {
            let arrived = self.order.arrived.notified();
            if self.order.arriving.lock().numbers.first() == Some(&self.number) {
                return;
            }
            arrived.await;
        }
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        self.order.arriving.lock().numbers.remove(&self.number);
        self.order.arrived.notify_waiters();
    }
}
