//! Describes an address where clients reach the server: a port, and the token that belongs to it.

use companion_protocol::settings::AllowedHost;
use tokio_util::sync::CancellationToken;

use super::guard::Guard;

pub(crate) struct Endpoint {
    /// The port, on all addresses where the server listens.
    pub(crate) port: u16,
    pub(crate) guard: Guard,
    /// Stop accepting connections here.
    pub(crate) closing: CancellationToken,
}

impl Endpoint {
    /// See [`Guard::new`]. The endpoint closes at the latest when `stopping` is cancelled.
    pub(crate) fn new(
        port: u16,
        token: &str,
        allowed_hosts: &[AllowedHost],
        stopping: &CancellationToken,
    ) -> Self {
        let guard = Guard::new(port, token, allowed_hosts);
        Self { port, guard, closing: stopping.child_token() }
    }
}
