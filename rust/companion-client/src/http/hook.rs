//! Posts the events of a CLI's hook to a companion.

use std::time::Duration;

use bytes::Bytes;
use companion_protocol::hook::ENDPOINT;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, Error, MAX_MESSAGE, Stage, connection};

/// The answer of a companion to an event.
#[derive(Debug)]
pub struct HookAnswer {
    /// A [`HookReply`](companion_protocol::hook::HookReply); may be empty.
    pub body: Bytes,
    /// The address of the companion that answered.
    pub endpoint: Endpoint,
}

/// Posts `event`, a whole [`HookCall`](companion_protocol::hook::HookCall), to a companion.
/// `hosts` are the names of the companion; the first that accepts a connection gets the event. The
/// companion must begin its answer within `limit`; there is no limit for the rest.
///
/// # Errors
/// Any but [`Error::Rpc`] and [`Error::SessionEnded`]. [`Error::Timeout`] means that the companion
/// is suspended, or that nobody takes the connection.
pub async fn post_hook(
    hosts: &[Endpoint],
    event: Bytes,
    limit: Duration,
) -> Result<HookAnswer, Error> {
    let deadline = Instant::now() + limit;
    let mut connecting: JoinSet<_> = hosts
        .iter()
        .cloned()
        .map(|endpoint| async move { (connection::open(&endpoint).await, endpoint) })
        .collect();
    let late = |stage| {
        let authority = hosts.first().map(Endpoint::authority).unwrap_or_default();
        Error::Timeout { authority, stage }
    };
    let mut why = late(Stage::Connect);
    loop {
        let Ok(next) = timeout_at(deadline, connecting.join_next()).await else {
            return Err(late(Stage::Connect));
        };
        match next {
            Some(Ok((Ok(stream), endpoint))) => {
                let answer = timeout_at(deadline, send(stream, &endpoint, event));
                let response = answer.await.unwrap_or_else(|_| Err(late(Stage::Answer)))?;
                let body = Limited::new(response.into_body(), MAX_MESSAGE).collect().await;
                let body = body.map_err(|error| Error::Broken { reason: error.to_string() })?;
                return Ok(HookAnswer { body: body.to_bytes(), endpoint });
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

async fn send(
    stream: TcpStream,
    endpoint: &Endpoint,
    event: Bytes,
) -> Result<hyper::Response<hyper::body::Incoming>, Error> {
    let mut request = Request::new(Full::new(event));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = hyper::Uri::from_static(ENDPOINT);
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(CONTENT_TYPE, json);
    connection::exchange(stream, endpoint, request).await
}
