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

/// The begin of `Authorization`. Its case does not matter (RFC 9110 §11.1).
const SCHEME: &[u8] = b"Bearer ";

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
    hosts: Vec<AllowedHost>,
    token: String,
}

impl Endpoint {
    /// Besides the usual names in `Host`, the guard accepts `more`. A usual name may have any port: the
    /// server's own may be forwarded under another one. DNS rebinding needs another name. The endpoint
    /// closes at the latest when `stopping` is cancelled.
    pub(crate) fn new(
        port: u16,
        token: &str,
        more: &[AllowedHost],
        stopping: &CancellationToken,
    ) -> Self {
        let usual = ["127.0.0.1", "localhost", "[::1]", "host.docker.internal"];
        let usual = usual.map(|name| name.parse().expect("it is a host"));
        Self {
            port,
            closing: stopping.child_token(),
            hosts: usual.iter().chain(more).cloned().collect(),
            token: token.to_owned(),
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
        let token = authorization
            .and_then(|value| value.split_at_checked(SCHEME.len()))
            .filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME))
            .map(|(_, token)| token);
        let authorized = token.is_some_and(|token| bool::from(token.ct_eq(self.token.as_bytes())));
        if authorized { Ok(()) } else { Err(Refusal::Token) }
    }

    fn knows(&self, host: &[u8]) -> bool {
        self.hosts.iter().any(|known| known.is(host))
    }
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    #[test]
    fn clients_leave_out_the_default_port() {
        let listened = "172.17.0.1:80".parse::<std::net::SocketAddr>().unwrap();
        let allowed = [listened.into(), "build-box:80".parse().unwrap()];
        let check = |port, host: &str| {
            let endpoint = Endpoint::new(port, "x", &allowed, &CancellationToken::new());
            let request = Request::builder().header(HOST, host).header(AUTHORIZATION, "Bearer x");
            endpoint.check(&request.body(()).unwrap().into_parts().0)
        };
        for host in ["127.0.0.1", "LocalHost", "[::1]", "172.17.0.1", "build-box"] {
            assert_eq!(check(80, host), Ok(()), "{host}");
            assert_eq!(check(80, &format!("{host}:80")), Ok(()), "{host}");
        }
        for host in ["172.17.0.1", "build-box"] {
            assert_eq!(check(80, &format!("{host}:81")), Err(Refusal::Host), "{host}");
        }
    }
}
