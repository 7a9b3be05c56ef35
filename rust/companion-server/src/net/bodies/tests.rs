//! Tests which bodies wait for the memory budget.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::Frame;
use tokio::time::{sleep, timeout};

use super::*;

const MEGABYTE: usize = 1 << 20;

/// A body without an announced length, whose end comes a moment later.
struct Chunked {
    bytes: Option<Bytes>,
    ends: bool,
}

impl Chunked {
    fn new(size: usize) -> Self {
        Self { bytes: Some(bytes(size)), ends: false }
    }
}

impl Body for Chunked {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take();
        if bytes.is_some() || std::mem::replace(&mut self.ends, true) {
            return Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn bodies() -> BodyBudget {
    BodyBudget::new(&Limits { body: MEGABYTE, ..Limits::default() })
}

fn bytes(size: usize) -> Bytes {
    vec![b'x'; size].into()
}

/// Reads a body with an announced length. Returns `None` if it has to wait.
async fn announced(bodies: &BodyBudget, size: usize) -> Option<BufferedBody> {
    let read = timeout(Duration::from_secs(1), bodies.read(Full::new(bytes(size)), MEGABYTE));
    read.await.ok().map(Result::unwrap)
}

/// Does the same for a body without an announced length.
async fn chunked(bodies: &BodyBudget, size: usize) -> Option<BufferedBody> {
    let read = timeout(Duration::from_secs(1), bodies.read(Chunked::new(size), MEGABYTE));
    read.await.ok().map(Result::unwrap)
}

#[tokio::test(start_paused = true)]
async fn a_body_has_as_much_of_the_budget_as_it_says_until_it_is_dropped() {
    let bodies = bodies();
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(announced(&bodies, MEGABYTE / 4).await.expect("there is room"));
    }
    assert!(announced(&bodies, MEGABYTE / 4).await.is_none());
    held.pop();
    assert!(announced(&bodies, MEGABYTE / 4).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_say_its_size_has_as_much_of_the_budget_as_it_took() {
    let bodies = bodies();
    let mut held = Vec::new();
    for _ in 0..5 {
        held.push(chunked(&bodies, MEGABYTE / 4).await.expect("there is room for the largest"));
    }
    assert!(chunked(&bodies, MEGABYTE / 4).await.is_none());
    held.clear();
    assert!(chunked(&bodies, MEGABYTE).await.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_small_body_waits_for_nobody() {
    let bodies = bodies();
    let _held = [announced(&bodies, MEGABYTE).await, announced(&bodies, MEGABYTE).await];
    assert!(announced(&bodies, SMALL_BODY).await.is_some());
    assert!(chunked(&bodies, SMALL_BODY).await.is_some());
    assert!(announced(&bodies, SMALL_BODY + 1).await.is_none());
    assert!(chunked(&bodies, SMALL_BODY + 1).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_others_is_no_time_that_a_body_takes() {
    let body_total = Duration::from_secs(10);
    let bodies = BodyBudget::new(&Limits { body_total, body: MEGABYTE, ..Limits::default() });
    let held = [announced(&bodies, MEGABYTE).await, announced(&bodies, MEGABYTE).await];
    let freeing = async {
        sleep(2 * body_total).await;
        drop(held);
    };
    let (read, ()) = tokio::join!(bodies.read(Chunked::new(MEGABYTE), MEGABYTE), freeing);
    assert_eq!(read.map(|body| body.bytes.len()).ok(), Some(MEGABYTE));
}

#[tokio::test(start_paused = true)]
async fn a_limit_beyond_all_counting_lets_in_what_comes() {
    let bodies = BodyBudget::new(&Limits { body: usize::MAX, ..Limits::default() });
    assert!(announced(&bodies, MEGABYTE).await.is_some());
}
