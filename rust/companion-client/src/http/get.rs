//! Asks a companion for facts that belong to no session.

use std::time::Duration;

use companion_protocol::changes::{self, ChangeList};
use companion_protocol::hook::{self, HookSenders};
use companion_protocol::jsonrpc::describe;
use http_body_util::{BodyExt, Full, Limited};
use hyper::{Request, Uri};
use serde::de::DeserializeOwned;
use tokio::time::Instant;

use super::{Endpoint, Error, MAX_MESSAGE, answered_by, connection};

/// Returns the ids of the clients whose hooks have reached a companion. Takes at most `limit`. A
/// companion that answers clears its [mark](companion_platform::SuspendedMark).
///
/// # Errors
/// Any but [`Error::Rpc`] and [`Error::SessionEnded`]. An older companion answers with
/// [`Error::Status`].
pub async fn hook_senders(endpoint: &Endpoint, limit: Duration) -> Result<Vec<String>, Error> {
    let HookSenders { clients } = get(endpoint, hook::ENDPOINT, limit).await?;
    Ok(clients)
}

/// Returns the changes of CLIs. Takes at most `limit`.
///
/// # Errors
/// As [`hook_senders`].
pub async fn changes(endpoint: &Endpoint, limit: Duration) -> Result<ChangeList, Error> {
    get(endpoint, changes::ENDPOINT, limit).await
}

async fn get<T: DeserializeOwned>(
    endpoint: &Endpoint,
    path: &'static str,
    limit: Duration,
) -> Result<T, Error> {
    let ask = async {
        let mut request = Request::new(Full::default());
        *request.uri_mut() = Uri::from_static(path);
        let response = connection::send(endpoint, request).await?;
        let body = Limited::new(response.into_body(), MAX_MESSAGE).collect().await;
        let body = body.map_err(|error| Error::Broken { reason: error.to_string() })?.to_bytes();
        serde_json::from_slice(&body).map_err(|error| Error::NotACompanion {
            reason: format!("invalid answer: {}", describe(&error)),
        })
    };
    answered_by(Instant::now() + limit, endpoint, ask).await
}
