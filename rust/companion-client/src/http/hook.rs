//! Posts the event of a CLI's hook to a companion.

use std::time::Duration;

use bytes::Bytes;
use companion_protocol::hook::ENDPOINT;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use super::{Endpoint, Error, MAX_MESSAGE, Stage, connection};

/// Posts `event`, a whole [`HookCall`](companion_protocol::hook::HookCall), to a companion, and
/// returns its answer, which may be empty. `hosts` are the names of the companion; the first that
/// accepts a connection gets the event. The companion must begin its answer within `limit`; there
/// is no limit for the rest.
///
/// # Errors
/// Any but [`Error::Rpc`] and [`Error::SessionEnded`]. [`Error::Timeout`] with [`Stage::Answer`]
/// means that something accepted the connection but is suspended.
pub async fn post_hook(hosts: &[Endpoint], event: Bytes, limit: Duration) -> Result<Bytes, Error> {
    let deadline = Instant::now() + limit;
    let mut connecting: JoinSet<_> = hosts
        .iter()
        .cloned()
        .map(|endpoint| async move { (connection::open(&endpoint).await, endpoint) })
        .collect();
    let mut why = Error::UnknownHost { host: String::new() };
    while let Ok(Some(connected)) = timeout_at(deadline, connecting.join_next()).await {
        let Ok((stream, endpoint)) = connected else { continue };
        let stream = match stream {
            Ok(stream) => stream,
            Err(error) => {
                why = error;
                continue;
            }
        };
        let mut request = Request::new(Full::new(event));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = hyper::Uri::from_static(ENDPOINT);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        let exchange = connection::exchange(stream, &endpoint, request);
        let response = timeout_at(deadline, exchange).await.unwrap_or_else(|_| {
            Err(Error::Timeout { authority: endpoint.authority(), stage: Stage::Answer })
        })?;
        let body = Limited::new(response.into_body(), MAX_MESSAGE).collect().await;
        return match body {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) => Err(Error::Broken { reason: error.to_string() }),
        };
    }
    Err(why)
}
