//! Sends one request on one connection: from the lookup of the host to the head of the answer.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use companion_protocol::jsonrpc::ErrorObject;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::{Endpoint, Error, Stage};

/// The time for an address to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes that are read of the body of a refusal.
const MAX_REFUSAL: usize = 64 << 10;

/// Sends a request and waits for the head of its answer. A refusal is an error.
pub(super) async fn send(
    endpoint: &Endpoint,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Error> {
    let stream = open(endpoint).await?;
    exchange(stream, endpoint, request).await
}

/// Sends a request on a new connection and waits for the head of its answer. A refusal is an
/// error.
pub(super) async fn exchange(
    stream: TcpStream,
    endpoint: &Endpoint,
    mut request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Error> {
    let host = endpoint.host_header.clone().unwrap_or_else(|| endpoint.authority());
    let headers = request.headers_mut();
    headers.insert(HOST, header(&host)?);
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if let Some(token) = &endpoint.token {
        let mut bearer = header(&format!("Bearer {}", token.expose()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }

    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| broken(&error))?;
    // The task ends when the answer has been read or dropped.
    tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(|error| {
        if error.is_parse() {
            Error::NotACompanion { reason: format!("it does not speak HTTP ({error})") }
        } else {
            broken(&error)
        }
    })?;
    if response.status().is_success() { Ok(response) } else { Err(refusal(response).await) }
}

/// Opens a connection.
pub(super) async fn open(endpoint: &Endpoint) -> Result<TcpStream, Error> {
    let authority = || endpoint.authority();
    let connected = timeout(CONNECT_TIMEOUT, async {
        let host = (endpoint.host.as_str(), endpoint.port);
        let addresses: Vec<SocketAddr> = match lookup_host(host).await {
            Ok(addresses) => addresses.collect(),
            Err(_) => return Err(Error::UnknownHost { host: endpoint.host.clone() }),
        };
        let mut result = Err(Error::UnknownHost { host: endpoint.host.clone() });
        for address in addresses {
            match TcpStream::connect(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => result = Err(not_connected(authority(), error)),
            }
        }
        result
    });
    let stream = connected.await.unwrap_or_else(|_| {
        Err(Error::Timeout { authority: authority(), stage: Stage::Connect })
    })?;
    stream.set_nodelay(true).map_err(Error::Local)?;
    Ok(stream)
}

fn not_connected(authority: String, source: io::Error) -> Error {
    match source.kind() {
        ErrorKind::ConnectionRefused => Error::Refused { authority },
        ErrorKind::TimedOut => Error::Timeout { authority, stage: Stage::Connect },
        _ => Error::Unreachable { authority, source },
    }
}

pub(super) fn broken(error: &hyper::Error) -> Error {
    Error::Broken { reason: error.to_string() }
}

fn header(value: &str) -> Result<HeaderValue, Error> {
    HeaderValue::from_str(value).map_err(|_| {
        let message = "the host or the token has characters that no header can carry";
        Error::Local(io::Error::new(ErrorKind::InvalidInput, message))
    })
}

/// The body of a companion's refusal.
#[derive(Deserialize)]
struct Refusal {
    error: ErrorObject,
}

/// Converts a status other than success to an error.
async fn refusal(response: Response<Incoming>) -> Error {
    let status = response.status();
    let body = timeout(CONNECT_TIMEOUT, Limited::new(response.into_body(), MAX_REFUSAL).collect());
    let body = match body.await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) | Err(_) => Bytes::new(),
    };
    let message = serde_json::from_slice::<Refusal>(&body)
        .map(|refusal| refusal.error.message)
        .unwrap_or_default();
    Error::of_status(status, message)
}
