//! Begins a session: sends `initialize` and reads the server's identity from its answer.

use std::time::Duration;

use bytes::Bytes;
use companion_protocol::jsonrpc::{Id, Request};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::session::{SESSION_ID, result_of};
use super::{Endpoint, Error, Events, Session, Stage, answered_by, connection};

/// The server that answered, from its result of `initialize`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The MCP revision that the server chose.
    pub protocol_version: String,
    /// The server's program.
    pub server_info: ServerInfo,
}

/// A server's program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ServerInfo {
    /// The name for programs.
    pub name: String,
    /// Any form.
    pub version: String,
}

/// A session that has begun.
#[derive(Debug)]
pub struct Initialized {
    /// The session, which still needs the notification `notifications/initialized`.
    pub session: Session,
    /// The whole response, as the server wrote it.
    pub response: Bytes,
    /// The server that answered.
    pub server: InitializeResult,
}

/// Begins a session with `message`, a whole request `initialize`. Takes at most `limit`. `ancestors`
/// are the processes that have started a bridge, the nearest first, as
/// [`CliProcess::id`](companion_protocol::hook::CliProcess::id).
///
/// # Errors
/// Any except [`Error::SessionEnded`].
pub async fn initialize(
    endpoint: &Endpoint,
    message: Bytes,
    ancestors: &[String],
    limit: Duration,
) -> Result<Initialized, Error> {
    let deadline = Instant::now() + limit;
    let late = || Error::Timeout { authority: endpoint.authority(), stage: Stage::Connect };
    let stream = timeout_at(deadline, connection::open(endpoint));
    let stream = stream.await.unwrap_or_else(|_| Err(late()))?;
    let session = Session::new(endpoint.clone(), ancestors);
    answered_by(deadline, endpoint, begin(stream, session, message)).await
}

/// Begins a session of this program's own, without a client. Takes at most `limit`.
///
/// # Errors
/// Any except [`Error::SessionEnded`].
pub async fn connect(endpoint: &Endpoint, limit: Duration) -> Result<Initialized, Error> {
    initialize(endpoint, first_message().into(), &[], limit).await
}

/// Returns the request `initialize` of this program's own, with the id 0.
pub(crate) fn first_message() -> Vec<u8> {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "gemini-companion", "version": env!("CARGO_PKG_VERSION") },
    });
    let request = Request::new(Id::from(0), "initialize", params);
    serde_json::to_vec(&request).expect("our messages are JSON")
}

/// Checks whether a companion answers: begins a session and ends it. Takes at most `limit`.
///
/// # Errors
/// Any except [`Error::SessionEnded`].
pub async fn probe(endpoint: &Endpoint, limit: Duration) -> Result<InitializeResult, Error> {
    let begun = connect(endpoint, limit).await?;
    // If this fails, the server keeps the session for a while, which does no harm.
    let _ = timeout(Duration::from_secs(1), begun.session.end()).await;
    Ok(begun.server)
}

async fn begin(
    stream: TcpStream,
    mut session: Session,
    message: Bytes,
) -> Result<Initialized, Error> {
    let request = session.first_request(message);
    let response = connection::exchange(stream, session.endpoint(), request).await?;
    let id = response.headers().get(&SESSION_ID).cloned();
    let events = Events::new(response);
    let (response, server) = result_of::<InitializeResult>(events, "initialize").await?;
    session.begin(id, &server.protocol_version);
    Ok(Initialized { session, response, server })
}
