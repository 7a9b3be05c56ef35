//! Posts the events of a CLI's hook to a companion.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use companion_protocol::hook::ENDPOINT;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, EXPECT, HeaderValue};
use hyper::{Method, Request, Response};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, Error, MAX_MESSAGE, Stage, answered_by, connection};

/// The answer of a companion to an event.
#[derive(Debug)]
pub struct HookResponse {
    /// A [`HookReply`](companion_protocol::hook::HookReply); may be empty.
    pub body: Bytes,
    /// The address of the companion that answered.
    pub endpoint: Endpoint,
}

/// The size of an event, in bytes, above which the companion has to say that it is alive before it has
/// read the event. A busy machine may need longer for the event than the companion has.
const MAX_WITHOUT_SIGN: usize = 64 << 10;

/// Posts `event`, a whole [`HookCall`](companion_protocol::hook::HookCall), to a companion.
/// `hosts` are the names of the companion; the first that accepts a connection gets the event. The
/// companion must begin its answer, or to read a large event, within `limit`. There is no limit for the
/// rest.
///
/// # Errors
/// Any but [`Error::Rpc`] and [`Error::SessionEnded`]. [`Error::Timeout`] means that the companion
/// is suspended, or that nobody takes the connection.
pub async fn post_hook(
    hosts: &[Endpoint],
    event: Bytes,
    limit: Duration,
) -> Result<HookResponse, Error> {
    let deadline = Instant::now() + limit;
    let mut connecting: JoinSet<_> = hosts
        .iter()
        .cloned()
        .map(|endpoint| async move { (connection::open(&endpoint).await, endpoint) })
        .collect();
    let late = || {
        let authority = hosts.first().map(Endpoint::authority).unwrap_or_default();
        Error::Timeout { authority, stage: Stage::Connect }
    };
    let mut why = late();
    loop {
        let Ok(next) = timeout_at(deadline, connecting.join_next()).await else {
            return Err(late());
        };
        match next {
            Some(Ok((Ok(stream), endpoint))) => {
                let response = send(stream, &endpoint, event, deadline).await?;
                let body = Limited::new(response.into_body(), MAX_MESSAGE).collect().await;
                let body = body.map_err(|error| Error::Broken { reason: error.to_string() })?;
                return Ok(HookResponse { body: body.to_bytes(), endpoint });
            }
            Some(Ok((Err(error), _))) => why = error,
            Some(Err(_panicked)) => {}
            None => return Err(why),
        }
    }
}

/// Posts `ack`, a whole [`HookAck`](companion_protocol::hook::HookAck), to the companion that
/// answered. It takes at most `limit`.
///
/// # Errors
/// As [`post_hook`].
pub async fn confirm_hook(endpoint: &Endpoint, ack: Bytes, limit: Duration) -> Result<(), Error> {
    post_hook(std::slice::from_ref(endpoint), ack, limit).await.map(drop)
}

/// Sends the event, and waits for the head of the answer. Until the deadline the companion has to show
/// that it is alive.
async fn send(
    stream: TcpStream,
    endpoint: &Endpoint,
    event: Bytes,
    deadline: Instant,
) -> Result<Response<Incoming>, Error> {
    let is_large = event.len() > MAX_WITHOUT_SIGN;
    let mut request = Request::new(Full::new(event));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = hyper::Uri::from_static(ENDPOINT);
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(CONTENT_TYPE, json);
    let reads = Arc::new(Notify::new());
    if is_large {
        request.headers_mut().insert(EXPECT, HeaderValue::from_static("100-continue"));
        let reads = Arc::clone(&reads);
        hyper::ext::on_informational(&mut request, move |_| reads.notify_one());
    }
    let answer = connection::exchange(stream, endpoint, request);
    tokio::pin!(answer);
    tokio::select! {
        response = answered_by(deadline, endpoint, &mut answer) => response,
        () = reads.notified() => answer.await,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write, copy, sink};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(1);

    static LARGE: [u8; MAX_WITHOUT_SIGN + 1] = [b' '; MAX_WITHOUT_SIGN + 1];

    /// Posts an event to a companion that writes `first`, and answers after the limit.
    async fn post(event: &'static [u8], first: &'static [u8]) -> Result<HookResponse, Error> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // hyper takes an answer before the request for an error.
            stream.read_exact(&mut [0]).unwrap();
            let mut reader = stream.try_clone().unwrap();
            thread::spawn(move || copy(&mut reader, &mut sink()));
            stream.write_all(first).unwrap();
            thread::sleep(LIMIT * 2);
            // The hook may have gone.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n1");
        });
        let endpoint = [Endpoint::new("127.0.0.1", port, None)];
        post_hook(&endpoint, Bytes::from_static(event), LIMIT).await
    }

    #[tokio::test]
    async fn a_companion_that_reads_a_large_event_has_more_time() {
        let answer = post(&LARGE, b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
        assert_eq!(answer.body, "1");
    }

    #[tokio::test]
    async fn a_companion_that_shows_no_sign_has_the_limit() {
        for event in [&LARGE, &b"{}"[..]] {
            let error = post(event, b"").await.unwrap_err();
            assert!(matches!(error, Error::Timeout { stage: Stage::Answer, .. }), "{error}");
        }
    }
}
