//! Connects to a companion: MCP over Streamable HTTP, as far as companions and Gemini CLI use it.
//!
//! [`probe`] checks whether a companion answers. [`initialize`] begins a lasting [`Session`], which posts
//! messages and reads notifications. [`connect`] does the same without a client's parameters. Each request
//! has its own connection, so that no request waits for another.

mod connection;
mod error;
mod events;
mod get;
mod handshake;
mod hook;
mod session;
mod sse;

use std::io;

use tokio::time::{Instant, timeout_at};

pub use error::{Error, Stage};
pub use events::Events;
pub use get::{changes, hook_senders};
pub(crate) use handshake::first_message;
pub use handshake::{InitializeResult, Initialized, ServerInfo, connect, initialize, probe};
pub use hook::{HookResponse, confirm_hook, post_hook};
pub use session::Session;
pub use sse::Event;

use crate::discover::Token;

/// The longest message, in bytes. By default a companion's largest request has 64 MB, and an answer
/// must carry the same text, with escapes.
pub const MAX_MESSAGE: usize = 256 << 20;

/// The address and credentials of a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// A name or an address; an IPv6 address without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The bearer token; `None` sends no `Authorization`.
    pub token: Option<Token>,
    /// The `Host` header. `None` means `host:port`, as Gemini CLI sends it.
    pub host_header: Option<String>,
}

impl Endpoint {
    /// Creates an endpoint from `host:port` and a token, as Gemini CLI uses it.
    pub fn new(host: impl Into<String>, port: u16, token: Option<Token>) -> Self {
        Self { host: host.into(), port, token, host_header: None }
    }

    /// Returns `host:port`, with brackets around an IPv6 address.
    pub fn authority(&self) -> String {
        let Self { host, port, .. } = self;
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

/// Waits for the answer of a companion until the deadline.
async fn answered_by<T>(
    deadline: Instant,
    endpoint: &Endpoint,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = || Error::Timeout { authority: endpoint.authority(), stage: Stage::Answer };
    timeout_at(deadline, answer).await.unwrap_or_else(|_| Err(late()))
}

/// Runs an exchange with companions to its end, without a runtime of the caller.
///
/// # Errors
/// That of the exchange, or that of the system if it permits no runtime.
pub fn block_on<T, E: From<io::Error>>(
    exchange: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(exchange);
    // A lookup of a host's name, or a read of stdin or a disk, may still be pending. Don't wait.
    runtime.shutdown_background();
    result
}
