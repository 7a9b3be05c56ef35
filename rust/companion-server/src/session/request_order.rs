//! Orders the requests of a client by the time when they began to arrive.
//!
//! A client sends each request on its own connection, so a small one can overtake a large one.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use parking_lot::Mutex;

/// The requests of one client that are arriving, the earliest first.
#[derive(Default)]
pub(crate) struct RequestOrder(Mutex<Vec<Arriving>>);

struct Arriving {
    number: u64,
    /// Woken when the request is the first.
    waker: Option<Waker>,
}

impl RequestOrder {
    /// Begins the arrival of a request. The request has arrived when the value is dropped.
    pub(crate) fn begin(&self) -> Arrival<'_> {
        let mut arriving = self.0.lock();
        let number = arriving.last().map_or(0, |last| last.number + 1);
        arriving.push(Arriving { number, waker: None });
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
        poll_fn(|cx| {
            let mut arriving = self.order.0.lock();
            match arriving.iter().position(|request| request.number == self.number) {
                Some(0) | None => Poll::Ready(()),
                Some(index) => {
                    arriving[index].waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await;
    }
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        let mut arriving = self.order.0.lock();
        arriving.retain(|request| request.number != self.number);
        if let Some(waker) = arriving.first_mut().and_then(|first| first.waker.take()) {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::RequestOrder;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_waiting_request_that_breaks_off_lets_the_last_one_go_on() {
        let order = RequestOrder::default();
        let (first, middle, last) = (order.begin(), order.begin(), order.begin());
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut cx = Context::from_waker(&waker);
        let mut waiting = pin!(last.be_first());
        assert!(waiting.as_mut().poll(&mut cx).is_pending());
        assert!(pin!(middle.be_first()).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(middle);
        assert!(waiting.as_mut().poll(&mut cx).is_pending(), "the first one is arriving");
        drop(first);
        assert!(woken.0.load(Ordering::Relaxed));
        assert!(waiting.as_mut().poll(&mut cx).is_ready());
    }
}
