//! Answers the requests of MCP revision 2026-07-28, which has no handshake and no sessions.
//!
//! A call of `openDiff` is answered with the user's decision. A client that ends the call withdraws
//! its proposal. The context is a resource, and a client can subscribe to its changes.

mod stream;

use std::sync::Arc;

use companion_core::calls::{Attempt, CallOrigin};
use companion_protocol::ide::CONTEXT_CONTENT;
use companion_protocol::jsonrpc::{
    ErrorObject, Id, Message, Params, Payload, code, invalid_params, method_not_found, parse,
};
use companion_protocol::mcp::{CallToolParams, PROTOCOL_VERSIONS};
use companion_protocol::profile::replays_edits;
use companion_protocol::stateless::{
    CONTEXT_URI, Cacheable, Complete, DiscoverResult, ListResourceTemplatesResult,
    ListResourcesResult, ListenParams, ReadResourceParams, ReadResourceResult, RequestMeta,
    RequestParams, ServerCapabilities, SubscriptionFilter, VERSION, acknowledged,
};
use companion_protocol::tool::Tool;
use hyper::StatusCode;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::HttpServer;
use super::read_end::ReadEnd;
use super::reply::{self, Reply, ReplyBody};
use super::route::{FULL, server_error, text};
use crate::clients::Clients;
use crate::mcp::dispatch::{self, SERVER, response};
use crate::mcp::result::ToolResult;
use crate::mcp::tools::{Call, Tools};
use crate::net::bodies::BufferedBody;
use crate::net::json::Json;
use crate::net::sse;
use crate::session::{Client, ClientTraits, Full, Session};
use stream::Awaited;
pub(super) use stream::StatelessStream;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Makes reverse proxies pass on events at once.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The begin of a header whose value is encoded, because it is not ASCII.
const ENCODED: &str = "=?base64?";

/// The time for which a client may keep a list, in milliseconds. A list changes with the settings only.
const LIST_TIME: u32 = 60_000;

/// Explains the server to a model behind a client.
fn instructions() -> String {
    format!(
        "Shows proposed edits in the user's editor. openDiff opens a diff that the user edits, \
         accepts or rejects, and returns the decision. The resource {CONTEXT_URI} has \
         {CONTEXT_CONTENT}. getDiagnostics returns the errors and warnings that the editor has found."
    )
}

/// The session of one request. It ends with the request.
struct RequestSession {
    clients: Arc<Clients>,
    session: Arc<Session>,
}

impl RequestSession {
    /// Begins a session of a client that has come by this port of the server.
    fn begin(clients: &Arc<Clients>, client: Client, port: u16) -> Result<Self, Full> {
        let session = clients.create(client)?;
        session.reached_at(port);
        Ok(Self { clients: Arc::clone(clients), session })
    }
}

impl Drop for RequestSession {
    fn drop(&mut self) {
        self.clients.end(self.session.id);
    }
}

/// The error of a request, and its status.
struct Failure(StatusCode, ErrorObject);

impl Failure {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self(StatusCode::BAD_REQUEST, ErrorObject::new(code, message))
    }
}

/// What a request wants.
enum Wanted {
    Ready(Json),
    Call { client: Client, call: Call, progress_token: Option<Id> },
    Subscription { client: Client, has_context: bool },
}

/// Answers a request whose header names the revision.
pub(super) async fn answer(
    server: Arc<HttpServer>,
    port: u16,
    headers: &HeaderMap,
    body: BufferedBody,
    end: &ReadEnd,
) -> Reply {
    let (id, wanted) = match parse(&body.bytes) {
        Ok(Payload::Single(Message::Request { id, method, params })) => {
            let wanted = read(&server, headers, &id, &method, params);
            (id, wanted)
        }
        // A client has nothing to notify a companion of.
        Ok(Payload::Single(Message::Notification { .. })) => {
            return reply::empty(StatusCode::ACCEPTED);
        }
        Ok(_) => {
            let message = "Invalid Request: the body must be one request";
            let error = ErrorObject::new(code::INVALID_REQUEST, message);
            return reply::error(StatusCode::BAD_REQUEST, None, error);
        }
        Err(error) => return reply::error(StatusCode::BAD_REQUEST, None, error.into_object()),
    };
    match wanted {
        Ok(Wanted::Ready(json)) => reply::json(StatusCode::OK, json),
        Ok(Wanted::Call { client, call, progress_token }) => {
            let _copied = body.free(call.size());
            match RequestSession::begin(&server.clients, client, port) {
                Ok(request) => run(server, request, id, call, progress_token, end).await,
                Err(Full) => full(),
            }
        }
        Ok(Wanted::Subscription { client, has_context }) => {
            let Ok(request) = RequestSession::begin(&server.clients, client, port) else {
                return full();
            };
            let filter = SubscriptionFilter::of_context(has_context);
            let first = sse::data(&acknowledged(&id, &filter));
            let awaited = Awaited::Subscription { has_context };
            stream(StatelessStream::open(server, request, id, awaited, first.into()))
        }
        Err(Failure(status, error)) => reply::error(status, Some(&id), error),
    }
}

/// Reads a request. Answers those that need no waiting.
fn read(
    server: &HttpServer,
    headers: &HeaderMap,
    id: &Id,
    method: &str,
    params: Params<'_>,
) -> Result<Wanted, Failure> {
    let RequestParams { meta } = read_params(method, params)?;
    fits("MCP-Protocol-Version", Some(VERSION), &meta.protocol_version)?;
    fits("Mcp-Method", text(headers, &METHOD), method)?;
    let tools = &server.dispatcher.tools;
    let json = match method {
        "server/discover" => discover(id, &meta)?,
        "tools/list" => list(id, tools.stateless_list()),
        "tools/call" => return read_call(tools, headers, id, params, &meta),
        "resources/list" => list(id, ListResourcesResult::context()),
        "resources/templates/list" => list(id, ListResourceTemplatesResult::default()),
        "resources/read" => {
            let ReadResourceParams { uri } = read_params(method, params)?;
            fits("Mcp-Name", text(headers, &NAME), &uri)?;
            if uri != CONTEXT_URI {
                return Err(Failure::new(code::INVALID_PARAMS, "Resource not found"));
            }
            let context = ReadResourceResult::context(server.context.json());
            complete(id, Cacheable::new(context, 0))
        }
        "subscriptions/listen" => {
            let ListenParams { notifications } = read_params(method, params)?;
            let has_context = notifications.has_context();
            return Ok(Wanted::Subscription { client: client(&meta), has_context });
        }
        _ => {
            return Err(Failure(StatusCode::NOT_FOUND, method_not_found(method)));
        }
    };
    Ok(Wanted::Ready(json))
}

/// Answers `server/discover`.
///
/// Gemini CLI and Qwen Code get the answer of a server without this revision, if they ever ask: their
/// protocol with the companion needs a stream of notifications.
fn discover(id: &Id, meta: &RequestMeta<'_>) -> Result<Json, Failure> {
    if replays_edits(&meta.client_info.name) {
        return Err(Failure(StatusCode::OK, method_not_found("server/discover")));
    }
    let result = DiscoverResult {
        supported_versions: &PROTOCOL_VERSIONS,
        capabilities: ServerCapabilities::default(),
        instructions: instructions(),
    };
    Ok(list(id, result))
}

fn read_call(
    tools: &Tools,
    headers: &HeaderMap,
    id: &Id,
    params: Params<'_>,
    meta: &RequestMeta<'_>,
) -> Result<Wanted, Failure> {
    let method = "tools/call";
    let CallToolParams { name, arguments: IgnoredAny } = read_params(method, params)?;
    fits("Mcp-Name", text(headers, &NAME), &name)?;
    if Tool::named(&name).is_some_and(|tool| tool.stateless_definition().is_none()) {
        let is_close = name == Tool::CloseDiff.name();
        let hint = if is_close { "; cancel the call of openDiff" } else { "" };
        let unknown = ToolResult::error(&format!("Unknown tool: {name}{hint}"));
        return Ok(Wanted::Ready(unknown.into_complete_response(id)));
    }
    let call = tools.read(params).map_err(|error| invalid(method, &error))?;
    let progress_token = meta.progress_token.and_then(Id::new);
    Ok(Wanted::Call { client: client(meta), call, progress_token })
}

/// Describes the client of a request.
fn client(meta: &RequestMeta<'_>) -> Client {
    let traits = ClientTraits { is_one_request: true, ..ClientTraits::default() };
    dispatch::client(traits, &meta.client_info)
}

/// Runs a tool. The answer of `openDiff` is a stream until the user has decided.
async fn run(
    server: Arc<HttpServer>,
    request: RequestSession,
    id: Id,
    call: Call,
    progress_token: Option<Id>,
    end: &ReadEnd,
) -> Reply {
    let session = &request.session;
    let _busy = session.busy(None);
    let is_diff = call.tool() == Some(Tool::OpenDiff);
    // A client that closes its side has cancelled its proposal. Of other calls it waits for the answer.
    let _answering = (!is_diff).then(|| end.answering());
    let from = CallOrigin { session: session.id, id: &id, sent: Attempt::OnceForAll };
    let result = server.dispatcher.tools.run(session, from, call).await;
    if !is_diff || result.is_error() {
        return reply::json(StatusCode::OK, result.into_complete_response(&id));
    }
    let awaited = Awaited::Decision { progress_token, steps: 0 };
    stream(StatelessStream::open(server, request, id, awaited, Json::from(sse::KEEP_ALIVE)))
}

/// Reads the parameters that a method needs.
fn read_params<'a, T: Deserialize<'a>>(method: &str, params: Params<'a>) -> Result<T, Failure> {
    params.parse().map_err(|error| invalid(method, &error))
}

fn invalid(method: &str, error: &serde_json::Error) -> Failure {
    Failure(StatusCode::BAD_REQUEST, invalid_params(method, error))
}

/// Checks that a header has the value of the body. The header of a value that is not ASCII is encoded;
/// then nothing here has that name.
fn fits(name: &str, header: Option<&str>, body: &str) -> Result<(), Failure> {
    if header
        .is_some_and(|header| header == body || header.starts_with(ENCODED) && !body.is_ascii())
    {
        return Ok(());
    }
    let message = format!("Header mismatch: {name} must have the value of the body");
    Err(Failure::new(code::HEADER_MISMATCH, message))
}

fn list(id: &Id, result: impl Serialize) -> Json {
    complete(id, Cacheable::new(result, LIST_TIME))
}

fn complete(id: &Id, result: impl Serialize) -> Json {
    response(id, &Complete::new(result, SERVER))
}

fn full() -> Reply {
    server_error(StatusCode::SERVICE_UNAVAILABLE, FULL)
}

fn stream(stream: StatelessStream) -> Reply {
    let mut reply = reply::events(ReplyBody::Stateless(Box::new(stream)));
    reply.headers_mut().insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    reply
}
