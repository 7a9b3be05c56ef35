//! Writes replies. Every refusal is a JSON-RPC error, so that people and MCP clients can read it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use companion_protocol::jsonrpc::{ErrorObject, ErrorResponse, Id};
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode, Version};

use super::read_end::{Answering, ReadEnd};
use super::stateless::StatelessStream;
use super::stream::EventStream;
use crate::monitor::MonitorStream;
use crate::net::json::Json;

/// The body of a reply.
pub(crate) enum ReplyBody {
    /// An answer, or an empty body.
    Json(Json),
    /// `GET /mcp`
    Events(Box<EventStream>),
    /// An answer of revision 2026-07-28 that is a stream.
    Stateless(Box<StatelessStream>),
    /// `GET /events`
    Monitor(MonitorStream),
    /// An answer that follows the head when it is known.
    Later(Pin<Box<dyn Future<Output = Json> + Send>>),
    /// The same for a hook. One that gives up closes its connection, which ends the work for it.
    ForHook(Pin<Box<dyn Future<Output = Json> + Send>>),
}

pub(super) type Reply = Response<ReplyBody>;

/// A body that delays the end of the peer's side until it is sent, except a stream and the answer to a
/// hook.
pub(super) struct DelayingBody {
    body: ReplyBody,
    _until_sent: Option<Answering>,
}

impl ReplyBody {
    pub(super) fn delaying(self, end: &ReadEnd) -> DelayingBody {
        let is_answer = matches!(self, Self::Json(_) | Self::Later(_));
        DelayingBody { body: self, _until_sent: is_answer.then(|| end.answering()) }
    }
}

impl Body for DelayingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        let next = match body {
            Self::Json(json) => json.next(),
            Self::Events(events) => ready!(events.poll_next(cx)),
            Self::Stateless(stream) => ready!(stream.poll_next(cx)),
            Self::Monitor(monitor) => ready!(monitor.poll_next(cx)),
            Self::Later(answer) | Self::ForHook(answer) => {
                let mut json = ready!(answer.as_mut().poll(cx));
                let first = json.next();
                *body = Self::Json(json);
                first
            }
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Json(json) => {
                json.len().map_or_else(SizeHint::default, |len| SizeHint::with_exact(len as u64))
            }
            Self::Events(_)
            | Self::Stateless(_)
            | Self::Monitor(_)
            | Self::Later(_)
            | Self::ForHook(_) => SizeHint::default(),
        }
    }
}

/// A reply without body.
pub(super) fn empty(status: StatusCode) -> Reply {
    with_status(status, ReplyBody::Json(Json::default()))
}

/// A reply with JSON.
pub(super) fn json(status: StatusCode, json: Json) -> Reply {
    with_json(status, ReplyBody::Json(json))
}

/// A reply whose head is sent at once, and whose JSON follows.
pub(super) fn later(body: ReplyBody) -> Reply {
    with_json(StatusCode::OK, body)
}

fn with_json(status: StatusCode, body: ReplyBody) -> Reply {
    let mut reply = with_status(status, body);
    let json = HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}

/// A reply with a JSON-RPC error, for the request `id` or for a body that was not read.
pub(super) fn error(status: StatusCode, id: Option<&Id>, error: ErrorObject) -> Reply {
    let response = ErrorResponse::new(id, error);
    json(status, Json::new(&response))
}

/// A reply with an event stream. The stream ends with the connection, so the client sees its end at
/// once.
///
/// HTTP/1.0 has no chunks, so the end is valid at any moment, even if this process is killed. With
/// chunks the client could take the end for an error, and stay disconnected.
pub(super) fn events(body: ReplyBody) -> Reply {
    let mut reply = with_status(StatusCode::OK, body);
    *reply.version_mut() = Version::HTTP_10;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}

fn with_status(status: StatusCode, body: ReplyBody) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = status;
    reply
}
