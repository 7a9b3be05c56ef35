//! Holds a session with a companion: posts messages, and reads the stream of notifications.

use std::time::Duration;

use bytes::Bytes;
use companion_protocol::jsonrpc::{self as jsonrpc, ErrorObject, Id, Message, Payload};
use companion_protocol::mcp;
use http_body_util::Full;
use hyper::Method;
use hyper::Request;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::events::is_stream;
use super::{Endpoint, Error, Events, answered_by, connection};

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ANCESTORS: HeaderName = HeaderName::from_static(mcp::ANCESTORS);
const REPEATED: HeaderName = HeaderName::from_static(mcp::REPEATED);

/// The time for a companion to open the stream.
const STREAM_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the result of `method` from its answer. Returns the whole response, too.
pub(super) async fn result_of<R: DeserializeOwned>(
    mut events: Events,
    method: &str,
) -> Result<(Bytes, R), Error> {
    let none = |reason: String| Error::NotACompanion { reason };
    while let Some(event) = events.next().await? {
        let Ok(Payload::Single(message)) = jsonrpc::parse(&event.data) else {
            return Err(none(format!("the response to `{method}` is not MCP")));
        };
        // Notifications may precede the answer.
        let Message::Response { result, .. } = message else { continue };
        let result =
            result.map_err(|ErrorObject { code, message, .. }| Error::Rpc { code, message })?;
        let result = serde_json::from_str(result.get())
            .map_err(|_| none(format!("the response to `{method}` is not MCP")))?;
        return Ok((event.data.clone(), result));
    }
    Err(none(format!("it did not answer `{method}`")))
}

/// A session. Several requests may be in progress at once.
#[derive(Clone, Debug)]
pub struct Session {
    endpoint: Endpoint,
    /// Some servers use no id.
    id: Option<HeaderValue>,
    protocol_version: Option<HeaderValue>,
    /// The processes that have started a bridge.
    ancestors: Option<HeaderValue>,
}

impl Session {
    /// Creates a session that has not begun: `initialize` must be the first message.
    pub(super) fn new(endpoint: Endpoint, ancestors: &[String]) -> Self {
        let names = ancestors.join(",");
        let ancestors = HeaderValue::try_from(names).ok().filter(|names| !names.is_empty());
        Self { endpoint, id: None, protocol_version: None, ancestors }
    }

    pub(super) fn begin(&mut self, id: Option<HeaderValue>, protocol_version: &str) {
        self.id = id;
        self.protocol_version = HeaderValue::from_str(protocol_version).ok();
    }

    /// Returns the address of the companion.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a message, byte for byte, and waits for the head of the answer. The wait has no
    /// timeout, because a request may wait for a user.
    ///
    /// # Errors
    /// Any except [`Error::Rpc`]. After some of them the message can be sent again; see
    /// [`Error::is_safe_to_retry`].
    pub async fn post(&self, message: Bytes) -> Result<Events, Error> {
        self.send(self.post_request(message)).await
    }

    /// Repeats a request whose connection broke. A companion returns the first request's answer.
    ///
    /// # Errors
    ///
    /// As [`Session::post`].
    pub async fn post_again(&self, message: Bytes) -> Result<Events, Error> {
        let mut request = self.post_request(message);
        request.headers_mut().insert(REPEATED, HeaderValue::from_static("true"));
        self.send(request).await
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Events, Error> {
        let sent = connection::send(&self.endpoint, request).await;
        Ok(Events::new(sent.map_err(|error| self.ended(error))?))
    }

    /// Sends a request and waits for its result, without a timeout.
    ///
    /// # Errors
    /// Any.
    pub async fn ask<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<R, Error> {
        let message = serde_json::to_vec(&jsonrpc::Request::new(Id::from(1), method, params));
        let events = self.post(message.expect("our messages are JSON").into()).await?;
        result_of(events, method).await.map(|(_, result)| result)
    }

    /// Returns the `initialize` request, with the headers of a bridge: it repeats requests.
    pub(super) fn first_request(&self, message: Bytes) -> Request<Full<Bytes>> {
        let mut request = self.post_request(message);
        let headers = request.headers_mut();
        headers.insert(REPEATED, HeaderValue::from_static("false"));
        headers.extend(self.ancestors.clone().map(|ancestors| (ANCESTORS, ancestors)));
        request
    }

    pub(super) fn post_request(&self, message: Bytes) -> Request<Full<Bytes>> {
        let mut request = self.request(Method::POST, Full::new(message));
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let both = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, both);
        request
    }

    /// Opens the stream of notifications. With the id of the last event of the earlier stream, the
    /// server resends lost events.
    ///
    /// # Errors
    /// Any except [`Error::Rpc`].
    pub async fn stream(&self, last_event_id: Option<&str>) -> Result<Events, Error> {
        let mut request = self.request(Method::GET, Full::default());
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        // A companion that has started again does not know them.
        headers.extend(self.ancestors.clone().map(|ancestors| (ANCESTORS, ancestors)));
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        let deadline = Instant::now() + STREAM_TIMEOUT;
        let sent = connection::send(&self.endpoint, request);
        let sent = answered_by(deadline, &self.endpoint, sent).await;
        let response = sent.map_err(|error| self.ended(error))?;
        if !is_stream(&response) {
            return Err(Error::NotACompanion {
                reason: "the response is not an event stream".to_owned(),
            });
        }
        Ok(Events::new(response))
    }

    /// Ends the session on the server.
    ///
    /// # Errors
    /// Any except [`Error::Rpc`].
    pub async fn end(&self) -> Result<(), Error> {
        let request = self.request(Method::DELETE, Full::default());
        connection::send(&self.endpoint, request).await.map(drop)
    }

    fn request(&self, method: Method, body: Full<Bytes>) -> Request<Full<Bytes>> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = hyper::Uri::from_static("/mcp");
        let headers = request.headers_mut();
        headers.extend(self.id.clone().map(|id| (SESSION_ID, id)));
        headers.extend(self.protocol_version.clone().map(|version| (PROTOCOL_VERSION, version)));
        request
    }

    fn ended(&self, error: Error) -> Error {
        if self.id.is_some() { error.in_session() } else { error }
    }
}
