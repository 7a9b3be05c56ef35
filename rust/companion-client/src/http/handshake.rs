//! Begins a session: sends `initialize` and reads the server's identity from its answer.

use std::time::Duration;

use bytes::Bytes;
use companion_protocol::jsonrpc::{ErrorObject, Id, Request};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use super::session::SESSION_ID;
use super::{Endpoint, Error, Events, Session, Stage, block_on, connection};

/// The server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// The server's name for programs.
    pub name: String,
    /// The server's version.
    pub version: String,
    /// The MCP revision that the server chose.
    pub protocol_version: String,
}

/// A session that has begun.
#[derive(Debug)]
pub struct Initialized {
    /// The session, which still needs the notification `notifications/initialized`.
    pub session: Session,
    /// The whole response, as the server wrote it.
    pub response: Bytes,
    /// The server that answered.
    pub server: ServerInfo,
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
    let too_late = |stage| Error::Timeout { authority: endpoint.authority(), stage };
    let stream = timeout_at(deadline, connection::open(endpoint));
    let stream = stream.await.unwrap_or_else(|_| Err(too_late(Stage::Connect)))?;
    let session = Session::new(endpoint.clone(), ancestors);
    let begun = timeout_at(deadline, begin(stream, session, message));
    begun.await.unwrap_or_else(|_| Err(too_late(Stage::Answer)))
}

/// Begins a session of this program's own, without a client. Takes at most `limit`.
///
/// # Errors
/// Any except [`Error::SessionEnded`].
pub async fn connect(endpoint: &Endpoint, limit: Duration) -> Result<Initialized, Error> {
    let params = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "gemini-companion", "version": env!("CARGO_PKG_VERSION") },
    });
    let message = serde_json::to_vec(&Request::new(Id::from(0), "initialize", params))
        .expect("our messages are JSON");
    initialize(endpoint, message.into(), &[], limit).await
}

/// Checks whether a companion answers: begins a session and ends it. Takes at most `limit`, and
/// needs no runtime.
///
/// # Errors
/// Any except [`Error::SessionEnded`].
pub fn probe(endpoint: &Endpoint, limit: Duration) -> Result<ServerInfo, Error> {
    block_on(async {
        let begun = connect(endpoint, limit).await?;
        // If this fails, the server keeps the session for a while, which does no harm.
        let _ = timeout(Duration::from_secs(1), begun.session.end()).await;
        Ok(begun.server)
    })
}

async fn begin(
    stream: TcpStream,
    mut session: Session,
    message: Bytes,
) -> Result<Initialized, Error> {
    let request = session.first_request(message);
    let response = connection::exchange(stream, session.endpoint(), request).await?;
    let id = response.headers().get(&SESSION_ID).cloned();
    let mut events = Events::new(response);
    while let Some(event) = events.next().await? {
        let Some(answer) = answer(&event.data)? else { continue };
        let server = ServerInfo {
            name: answer.server_info.name,
            version: answer.server_info.version,
            protocol_version: answer.protocol_version,
        };
        session.begin(id, &server.protocol_version);
        return Ok(Initialized { session, response: event.data, server });
    }
    Err(Error::NotACompanion { reason: "it did not answer `initialize`".to_owned() })
}

/// The members of the response that matter.
#[derive(Deserialize)]
struct Response {
    result: Option<InitializeResult>,
    error: Option<ErrorObject>,
    method: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeResult {
    protocol_version: String,
    server_info: Implementation,
}

#[derive(Deserialize)]
struct Implementation {
    name: String,
    version: String,
}

/// Returns the result if this message is the response. Earlier messages may precede it.
fn answer(data: &[u8]) -> Result<Option<InitializeResult>, Error> {
    match serde_json::from_slice(data) {
        Ok(Response { result: Some(result), .. }) => Ok(Some(result)),
        Ok(Response { error: Some(ErrorObject { code, message, .. }), .. }) => {
            Err(Error::Rpc { code, message })
        }
        Ok(Response { method: Some(_), .. }) => Ok(None),
        Ok(_) | Err(_) => {
            Err(Error::NotACompanion { reason: "the response is not MCP".to_owned() })
        }
    }
}
