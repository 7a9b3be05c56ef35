//! Decides from the head of a request whether its sender may talk to the server.
//!
//! The guard runs before the body is read. It keeps out web pages, which can make a browser connect
//! to any port (`Origin`, and by DNS rebinding `Host`), and other users of the machine (token).

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use companion_protocol::settings::AllowedHost;

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A web page has sent it.
    Origin,
    /// It is addressed to another host.
    Host,
    /// It does not have the token.
    Token,
}

/// An address where clients reach the server: a port, and the token that belongs to it.
pub(crate) struct Endpoint {
    /// The port, on all addresses where the server listens.
    pub(crate) port: u16,
    /// Stop accepting connections here.
    pub(crate) closing: CancellationToken,
    /// The usual values of `Host`, in lower case and with port.
    usual: Vec<String>,
    more: Vec<AllowedHost>,
    authorization: Vec<u8>,
}

impl Endpoint {
    /// Besides the usual values of `Host`, the guard accepts `more`. The endpoint closes at the latest when
    /// `stopping` is cancelled.
    pub(crate) fn new(
        port: u16,
        token: &str,
        more: &[AllowedHost],
        stopping: &CancellationToken,
    ) -> Self {
        let usual = ["127.0.0.1", "localhost", "[::1]", "host.docker.internal"];
        Self {
            port,
            closing: stopping.child_token(),
            usual: usual.into_iter().map(|host| format!("{host}:{port}")).collect(),
            more: more.to_vec(),
            authorization: format!("Bearer {token}").into_bytes(),
        }
    }

    /// Checks `Origin`, `Host` and `Authorization`, in this order.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Refusal> {
        if head.headers.contains_key(ORIGIN) {
            return Err(Refusal::Origin);
        }
        // A target in absolute form names a host as well (RFC 9112 §3.2.2).
        let target = head.uri.authority().map(|authority| authority.as_str().as_bytes());
        let host = only(&head.headers, &HOST).map(HeaderValue::as_bytes);
        if !host.is_some_and(|host| self.knows(host)) || !target.is_none_or(|host| self.knows(host))
        {
            return Err(Refusal::Host);
        }
        let authorization = only(&head.headers, &AUTHORIZATION).map(HeaderValue::as_bytes);
        let authorized = authorization
            .is_some_and(|value| bool::from(value.ct_eq(self.authorization.as_slice())));
        if authorized { Ok(()) } else { Err(Refusal::Token) }
    }

    fn knows(&self, host: &[u8]) -> bool {
        self.usual.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(host))
            || self.more.iter().any(|known| known.is(host))
    }
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}
