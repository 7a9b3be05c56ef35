//! What waits for the budget and what does not.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::Full;
use hyper::body::Frame;
use tokio::time::{sleep, timeout};

use super::*;

const MEGABYTE: usize = 1 << 20;

/// A body that does not say how large it is.
struct Chunked(Option<Bytes>);

impl Body for Chunked {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn bodies() -> Bodies {
    Bodies::new(&Limits { body: MEGABYTE, ..Limits::default() })
}

fn bytes(size: usize) -> Bytes {
    vec![b'x'; size].into()
}

/// A body that says how large it is, once it has been read. Nothing if it has to wait.
async fn announced(bodies: &Bodies, size: usize) -> Option<Bodied> {
    let read = timeout(Duration::from_secs(1), bodies.read(Full::new(bytes(size))));
    read.await.ok().map(Result::unwrap)
}

/// The same of one that does not say it.
async fn chunked(bodies: &Bodies, size: usize) -> Option<Bodied> {
    let read = timeout(Duration::from_secs(1), bodies.read(Chunked(Some(bytes(size)))));
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
    assert!(announced(&bodies, SMALL).await.is_some());
    assert!(chunked(&bodies, SMALL).await.is_some());
    assert!(announced(&bodies, SMALL + 1).await.is_none());
    assert!(chunked(&bodies, SMALL + 1).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_others_is_no_time_that_a_body_takes() {
    let bodies = bodies();
    let held = [announced(&bodies, MEGABYTE).await, announced(&bodies, MEGABYTE).await];
    let freeing = async {
        sleep(2 * Limits::default().body_total).await;
        drop(held);
    };
    let (read, ()) = tokio::join!(bodies.read(Chunked(Some(bytes(MEGABYTE)))), freeing);
    assert_eq!(read.map(|body| body.bytes.len()).ok(), Some(MEGABYTE));
}
