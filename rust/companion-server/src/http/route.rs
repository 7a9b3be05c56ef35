//! Routes a request: checks guard, path, method and headers, then answers the message.

use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use companion_core::companion::Input;
use companion_core::diffs::EventId;
use companion_protocol::changes;
use companion_protocol::hook::{ENDPOINT, MAX_EVENT, MAX_PROCESS_ID};
use companion_protocol::jsonrpc::{
    ErrorData, ErrorObject, Id, Message, Params, Payload, code, method_not_found, parse,
};
use companion_protocol::mcp::{self, PROTOCOL_VERSIONS, has_handshake};
use companion_protocol::stateless;
use hyper::body::Body;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, ALLOW, CONNECTION, CONTENT_ENCODING, HeaderMap, HeaderName,
    HeaderValue, TRANSFER_ENCODING, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use tokio::task::spawn_blocking;

use super::HttpServer;
use super::read_end::ReadEnd;
use super::reply::{self, Reply, ReplyBody};
use super::stream::EventStream;
use crate::clients::Clients;
use crate::hooks::HookRequest;
use crate::mcp::dispatch;
use crate::net::bodies::BodyError;
use crate::net::guard::{Endpoint, Refusal};
use crate::net::slots::SlotGuard;
use crate::session::{Session, SessionId};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const REPEATED: HeaderName = HeaderName::from_static(mcp::REPEATED);
const ANCESTORS: HeaderName = HeaderName::from_static(mcp::ANCESTORS);
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The largest head of a request, in bytes. Hyper may read some more.
pub(super) const MAX_HEAD: usize = 32 << 10;

/// The largest body of a hook, in bytes: an event, and what the hook adds.
const MAX_HOOK_BODY: usize = MAX_EVENT + (64 << 10);

/// The largest event of a hook that is read on the server's thread, in bytes.
const MAX_EVENT_HERE: usize = 64 << 10;

pub(super) const FULL: &str = "Service unavailable: too many clients are connected";

/// Answers a request of `peer` to `endpoint`. The order of the checks is part of the
/// protocol; none reads the body.
pub(crate) async fn route<B>(
    server: Arc<HttpServer>,
    endpoint: &Endpoint,
    request: Request<B>,
    slot: &SlotGuard,
    end: &ReadEnd,
    peer: SocketAddr,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let port = peer.port();
    let (head, body) = request.into_parts();
    if let Err(refusal) = endpoint.check(&head) {
        return refuse(refusal);
    }
    slot.token_shown();
    if head_size(&head) > MAX_HEAD {
        let message = "Request header fields too large: the limit is 32 KB";
        return server_error(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message);
    }
    match (head.uri.path(), &head.method) {
        ("/mcp", &Method::POST) => post(server, endpoint, head, body, end, port).await,
        ("/mcp", &Method::GET) => open_stream(server, endpoint, &head, port).await,
        ("/mcp", &Method::DELETE) => delete(&server, endpoint, &head),
        ("/events", &Method::GET) => monitor(&server, &head),
        (ENDPOINT, &Method::POST) => hook(server, head, body).await,
        (ENDPOINT, &Method::GET) => hook_senders(&server),
        (changes::ENDPOINT, &Method::GET) => list_changes(&server, peer),
        (ENDPOINT, _) => method_not_allowed("GET, POST"),
        ("/mcp", _) => method_not_allowed("GET, POST, DELETE"),
        ("/events" | changes::ENDPOINT, _) => method_not_allowed("GET"),
        _ => server_error(StatusCode::NOT_FOUND, "Not found: the endpoint is /mcp"),
    }
}

/// The bytes of the lines of a head, about.
fn head_size(head: &Parts) -> usize {
    let lines = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
    lines.sum::<usize>() + head.uri.path().len()
}

fn refuse(refusal: Refusal) -> Reply {
    match refusal {
        Refusal::Origin => {
            server_error(StatusCode::FORBIDDEN, "Forbidden: requests from web pages are refused")
        }
        Refusal::Host => {
            server_error(StatusCode::FORBIDDEN, "Forbidden: the Host header is not an allowed one")
        }
        Refusal::Token => {
            let mut reply = server_error(
                StatusCode::UNAUTHORIZED,
                "Unauthorized: the request needs the token of the discovery file",
            );
            let bearer = HeaderValue::from_static("Bearer");
            reply.headers_mut().insert(WWW_AUTHENTICATE, bearer);
            reply
        }
    }
}

/// `POST /mcp`: a message or a batch.
async fn post<B>(
    server: Arc<HttpServer>,
    endpoint: &Endpoint,
    head: Parts,
    body: B,
    end: &ReadEnd,
    port: u16,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let accepted = Accepted::of(&head.headers);
    if !(accepted.json && accepted.events) {
        return not_acceptable("application/json and text/event-stream");
    }
    if let Some(reply) = unsupported_coding(&head.headers) {
        return reply;
    }
    let sender = session(&server.clients, endpoint, &head.headers);
    let arrival = sender.as_ref().ok().map(|sender| sender.request_order.begin());
    let limit = server.config.limits.body;
    let mut body = match server.bodies.read(body, limit).await {
        Ok(body) => body,
        Err(error) => return refuse_body("a client's request", &error, limit),
    };
    if text(&head.headers, &PROTOCOL_VERSION) == Some(stateless::VERSION) {
        // It is the largest answer, and each connection keeps room for the largest one.
        let answer = super::stateless::answer(server, endpoint.port, &head.headers, body, end);
        return Box::pin(answer).await;
    }
    // From here on the request is whole.
    let _answering = end.answering();
    let received = match server.dispatcher.read_call(&mut body.bytes) {
        Some(call) => call,
        None => match parse(&body.bytes) {
            Ok(Payload::Single(Message::Request { id, method, params }))
                if method == "initialize" =>
            {
                return initialize(&server, endpoint, &id, params, &head.headers).await;
            }
            Ok(Payload::Single(Message::Request { id, method, .. }))
                if method == "server/discover" =>
            {
                // A client of a later revision tries this first. It falls back to `initialize`.
                return reply::error(StatusCode::OK, Some(&id), method_not_found(&method));
            }
            Ok(payload) => server.dispatcher.read(payload),
            Err(error) => return reply::error(StatusCode::BAD_REQUEST, None, error.into_object()),
        },
    };
    if let Some(reply) = unsupported_version(&head.headers, received.request_id()) {
        return reply;
    }
    // It may have ended while the body arrived.
    let session = match &sender {
        Ok(session) if server.clients.get(session.id).is_some() => session,
        Ok(_) => return reply::error(StatusCode::NOT_FOUND, received.request_id(), not_found()),
        Err((status, error)) => {
            return reply::error(*status, received.request_id(), error.clone());
        }
    };
    let _busy = session.busy(Some(port));
    // A client that gives up an edit closes it, perhaps before the edit has arrived.
    if received.follows_earlier_calls()
        && let Some(arrival) = &arrival
    {
        arrival.be_first().await;
    }
    // The next request of the session may start after the first step of this one.
    drop(arrival);
    let is_single = !received.is_batch();
    let is_repeated = head.headers.get(REPEATED).is_some_and(|value| value == "true");
    let _copied = body.free(received.size());
    match server.dispatcher.answer(session, is_repeated, received).await {
        None => reply::empty(StatusCode::ACCEPTED),
        // Until the client has a stream, an answer is a stream, if the client waits for a decision
        // too.
        Some(json)
            if is_single
                && session.is_returning()
                && server.driver.ask(|companion| companion.diffs().is_anything_due(session.id)) =>
        {
            let stream = EventStream::answer(Arc::clone(&server), Arc::clone(session), json);
            reply::events(ReplyBody::Events(Box::new(stream)))
        }
        Some(json) => reply::json(StatusCode::OK, json),
    }
}

async fn initialize(
    server: &HttpServer,
    endpoint: &Endpoint,
    id: &Id,
    params: Params<'_>,
    headers: &HeaderMap,
) -> Reply {
    let repeats_requests = headers.contains_key(REPEATED);
    let (result, client) = match dispatch::initialize(params, repeats_requests) {
        Ok(initialized) => initialized,
        Err(error) => return reply::error(StatusCode::OK, Some(id), error),
    };
    match server.clients.create(client) {
        Ok(session) => {
            session.reached_at(endpoint.port);
            note_ancestors(server, &session, headers);
            server.driver.wait_until_journaled().await;
            let mut reply = reply::json(StatusCode::OK, dispatch::response(id, &result));
            let id = HeaderValue::try_from(session.id.to_string()).expect("ids are ASCII");
            reply.headers_mut().insert(SESSION_ID, id);
            reply
        }
        Err(_full) => server_error(StatusCode::SERVICE_UNAVAILABLE, FULL),
    }
}

/// `GET /mcp`: opens the stream of notifications. It replaces the session's earlier stream.
async fn open_stream(
    server: Arc<HttpServer>,
    endpoint: &Endpoint,
    head: &Parts,
    port: u16,
) -> Reply {
    if !Accepted::of(&head.headers).events {
        return not_acceptable("text/event-stream");
    }
    if let Some(reply) = unsupported_version(&head.headers, None) {
        return reply;
    }
    match session(&server.clients, endpoint, &head.headers) {
        Ok(session) => {
            session.set_stream_port(port);
            note_ancestors(&server, &session, &head.headers);
            let last = text(&head.headers, &LAST_EVENT_ID).map(EventId::parse).unwrap_or_default();
            let stream = EventStream::open(Arc::clone(&server), session, &last);
            // Only this request says which decisions have arrived, so the journal must have it.
            server.driver.wait_until_journaled().await;
            reply::events(ReplyBody::Events(Box::new(stream)))
        }
        Err((status, error)) => reply::error(status, None, error),
    }
}

/// Notes the processes that have started the bridge of a session.
fn note_ancestors(server: &HttpServer, session: &Session, headers: &HeaderMap) {
    let Some(names) = text(headers, &ANCESTORS) else { return };
    let names = names.split(',').map(str::trim);
    let names = names.filter(|name| !name.is_empty() && name.len() <= MAX_PROCESS_ID);
    let ancestors = names.take(mcp::MAX_ANCESTORS).map(Arc::from).collect();
    server.driver.handle(Input::Bridged(session.id, ancestors));
}

/// `POST /hook`: answers the event of a CLI. The head of the reply comes at once, so that the CLI
/// knows that the server is alive.
async fn hook<B>(server: Arc<HttpServer>, head: Parts, body: B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    if let Some(reply) = unsupported_coding(&head.headers) {
        return reply;
    }
    // First, because a hook that has given up closes the connection.
    server.hooks.clear_mark();
    let mut body = match server.bodies.read(body, MAX_HOOK_BODY).await {
        Ok(body) => body,
        Err(error) => return refuse_body("an event of a CLI's hook", &error, MAX_HOOK_BODY),
    };
    // `body` still counts in the budget, until the end of this function.
    let event = mem::take(&mut body.bytes);
    let read = if event.len() > MAX_EVENT_HERE {
        // The parsing of 30 MB takes a second.
        spawn_blocking(move || HookRequest::read(&event)).await.unwrap_or(Err("it can't be read"))
    } else {
        HookRequest::read(&event)
    };
    match read {
        Ok(HookRequest::Event(event)) => {
            let answer = Box::pin(Arc::clone(&server.hooks).answer(*event));
            reply::later(ReplyBody::ForHook(answer))
        }
        Ok(HookRequest::Ack(ack)) if server.hooks.confirm_delivery(ack).await => {
            reply::empty(StatusCode::OK)
        }
        Ok(HookRequest::Ack(_)) => {
            server_error(StatusCode::GONE, "Gone: another hook gets these notes")
        }
        Err(why) => {
            // The CLI drops the log of its hooks.
            log::warn!("an event of a CLI's hook is refused: {why}");
            server_error(StatusCode::BAD_REQUEST, format!("Bad request: {why}"))
        }
    }
}

/// `GET /hook`: lists the clients whose hooks have arrived, for doctor and for a hook that was not
/// answered in time.
fn hook_senders(server: &HttpServer) -> Reply {
    server.hooks.clear_mark();
    reply::json(StatusCode::OK, server.hooks.hook_senders())
}

/// `GET /changes`: lists the changes of CLIs, for the user's scripts. A peer on another interface, such
/// as Docker's bridge, does not get the prompts and texts of other CLIs. A forwarded port does.
fn list_changes(server: &HttpServer, peer: SocketAddr) -> Reply {
    if !peer.ip().to_canonical().is_loopback() {
        let message = "Forbidden: only programs of the editor's machine get the changes";
        return server_error(StatusCode::FORBIDDEN, message);
    }
    if !server.context.is_shared() {
        let message =
            "Forbidden: the user shares nothing of this project; turn sharing on in the editor";
        return server_error(StatusCode::FORBIDDEN, message);
    }
    let hooks = Arc::clone(&server.hooks);
    reply::later(ReplyBody::Later(Box::pin(async move { hooks.list_changes().await })))
}

/// `DELETE /mcp`: ends the session.
fn delete(server: &HttpServer, endpoint: &Endpoint, head: &Parts) -> Reply {
    match session(&server.clients, endpoint, &head.headers) {
        Ok(session) => {
            server.clients.end(session.id);
            reply::empty(StatusCode::NO_CONTENT)
        }
        Err((status, error)) => reply::error(status, None, error),
    }
}

/// `GET /events`: opens a stream of all notifications, for people.
fn monitor(server: &HttpServer, head: &Parts) -> Reply {
    if !Accepted::of(&head.headers).events {
        return not_acceptable("text/event-stream");
    }
    match server.clients.open_monitor(server.context.event()) {
        Some(stream) => reply::events(ReplyBody::Monitor(stream)),
        None => server_error(
            StatusCode::SERVICE_UNAVAILABLE,
            "Service unavailable: too many streams of /events are open",
        ),
    }
}

/// Finds the session of a request, or the reason why there is none.
fn session(
    clients: &Clients,
    endpoint: &Endpoint,
    headers: &HeaderMap,
) -> Result<Arc<Session>, (StatusCode, ErrorObject)> {
    let Some(value) = headers.get(&SESSION_ID) else {
        let message = "Bad request: the header mcp-session-id is missing; send initialize first";
        return Err((StatusCode::BAD_REQUEST, ErrorObject::new(code::SERVER_ERROR, message)));
    };
    let id = value.to_str().ok().and_then(SessionId::parse);
    let session = id.and_then(|id| clients.get(id));
    let session = session.ok_or_else(|| (StatusCode::NOT_FOUND, not_found()))?;
    session.reached_at(endpoint.port);
    Ok(session)
}

fn not_found() -> ErrorObject {
    let message = "Session not found: it is unknown or has ended; send initialize again";
    ErrorObject::new(code::SESSION_NOT_FOUND, message)
}

/// Refuses a protocol revision that the server does not know. A client of a later revision without
/// handshake understands the error, and falls back to a listed revision.
fn unsupported_version(headers: &HeaderMap, id: Option<&Id>) -> Option<Reply> {
    let value = headers.get(&PROTOCOL_VERSION)?;
    let requested = String::from_utf8_lossy(value.as_bytes());
    if has_handshake(&requested) {
        return None;
    }
    if requested == stateless::VERSION {
        // Its requests are handled before, and it has no stream that begins by GET.
        return Some(method_not_allowed("POST"));
    }
    let data = ErrorData { supported: &PROTOCOL_VERSIONS, requested: requested.into_owned() };
    let error = ErrorObject {
        code: code::UNSUPPORTED_PROTOCOL_VERSION,
        message: "Unsupported protocol version".to_owned(),
        data: Some(data),
    };
    Some(reply::error(StatusCode::BAD_REQUEST, id, error))
}

/// Refuses a compressed body: a small one could inflate to any size.
fn unsupported_coding(headers: &HeaderMap) -> Option<Reply> {
    let only = |name, coding| {
        let mut values = headers.get_all(name).iter();
        values.all(|value| value.as_bytes().eq_ignore_ascii_case(coding))
    };
    // HTTP frames the body by `chunked` at the end of the list. The rest is left to the server.
    if headers.get_all(TRANSFER_ENCODING).iter().count() > 1 || !only(TRANSFER_ENCODING, b"chunked")
    {
        let message = "Not implemented: the only transfer coding is chunked";
        let mut reply = server_error(StatusCode::NOT_IMPLEMENTED, message);
        // The end of such a body is ambiguous.
        reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        return Some(reply);
    }
    if only(CONTENT_ENCODING, b"identity") {
        return None;
    }
    let message = "Unsupported media type: the body must not be compressed";
    let mut reply = server_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    reply.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Some(reply)
}

/// Refuses the body of `request`, and logs that: not each client shows the reply.
fn refuse_body(request: &str, error: &BodyError, limit: usize) -> Reply {
    let (status, why) = match error {
        BodyError::TooLarge => (
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("Payload too large: the limit is {limit} bytes"),
        ),
        BodyError::TooSlow => {
            (StatusCode::REQUEST_TIMEOUT, "Request timeout: the body did not come".to_owned())
        }
        BodyError::Broken => {
            (StatusCode::BAD_REQUEST, "Bad request: the body is incomplete".to_owned())
        }
        BodyError::NoRoom => (
            StatusCode::SERVICE_UNAVAILABLE,
            "Service unavailable: other large requests are under way; try again later".to_owned(),
        ),
    };
    log::warn!("{request} is refused: {why}");
    server_error(status, why)
}

fn not_acceptable(types: &str) -> Reply {
    let message = format!("Not acceptable: the client must accept {types}");
    server_error(StatusCode::NOT_ACCEPTABLE, message)
}

fn method_not_allowed(allow: &'static str) -> Reply {
    let mut reply = server_error(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allow));
    reply
}

pub(super) fn server_error(status: StatusCode, message: impl Into<String>) -> Reply {
    reply::error(status, None, ErrorObject::new(code::SERVER_ERROR, message))
}

/// The media types that a client accepts.
struct Accepted {
    json: bool,
    events: bool,
}

impl Accepted {
    /// A missing header, `*/*` and a type's range mean yes, so that curl works without options.
    fn of(headers: &HeaderMap) -> Self {
        let is_missing = !headers.contains_key(ACCEPT);
        let mut accepted = Self { json: is_missing, events: is_missing };
        for value in headers.get_all(ACCEPT) {
            for range in value.to_str().unwrap_or_default().split(',') {
                let range = range.split(';').next().unwrap_or_default().trim();
                let is_any = range == "*/*";
                accepted.json |= is_any
                    || range == "application/*"
                    || range.eq_ignore_ascii_case("application/json");
                accepted.events |=
                    is_any || range == "text/*" || range.eq_ignore_ascii_case("text/event-stream");
            }
        }
        accepted
    }
}

pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
