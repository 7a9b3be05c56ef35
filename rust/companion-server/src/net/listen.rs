//! Binds the sockets of one server: one on loopback, and one for each address that the user added.
//!
//! All have the same port, because a client knows only one.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use companion_protocol::settings::ListenAddress;
use socket2::{Domain, Socket, Type};

/// The number of ports that are tried if the system's choice is taken at another address.
const ATTEMPTS: usize = 16;

/// The number of connections that may wait to be accepted, as in the standard library.
const BACKLOG: i32 = 128;

/// An address where the server should listen and does not.
#[derive(Clone, Debug)]
pub(crate) struct UnavailableAddress {
    address: ListenAddress,
    /// The reason, as a sentence for the user that names the address.
    pub(crate) reason: String,
    /// Whether another program listens there.
    taken: bool,
}

/// The sockets of one server.
#[derive(Debug)]
pub(crate) struct Listeners {
    sockets: Vec<TcpListener>,
    missing: Vec<UnavailableAddress>,
}

impl Listeners {
    /// Binds `127.0.0.1` and the addresses of `more`. Port 0 lets the system choose. Fails only if
    /// `127.0.0.1` can't be bound; [`Listeners::missing`] has the other addresses that can't.
    pub(crate) fn bind(port: u16, more: &[ListenAddress]) -> io::Result<Self> {
        let (first, others) = plan(more);
        let mut attempts = if port == 0 { ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            let socket = listen(SocketAddr::new(first, port))?;
            let port = socket.local_addr()?.port();
            let mut bound = Self { sockets: vec![socket], missing: Vec::new() };
            for address in &others {
                match listen(SocketAddr::new(address.ip(), port)) {
                    Ok(socket) => bound.sockets.push(socket),
                    Err(error) => {
                        bound.missing.push(UnavailableAddress::new(*address, port, &error));
                    }
                }
            }
            if bound.taken().is_none() || attempts == 0 {
                return Ok(bound);
            }
        }
    }

    /// The addresses where the server should listen and does not.
    pub(crate) fn missing(&self) -> &[UnavailableAddress] {
        &self.missing
    }

    /// An address where another program has the port.
    pub(crate) fn taken(&self) -> Option<ListenAddress> {
        self.missing.iter().find(|missing| missing.taken).map(|missing| missing.address)
    }

    pub(crate) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        self.sockets.iter().map(TcpListener::local_addr).collect()
    }

    pub(crate) fn into_parts(self) -> (Vec<TcpListener>, Vec<UnavailableAddress>) {
        (self.sockets, self.missing)
    }
}

impl UnavailableAddress {
    fn new(address: ListenAddress, port: u16, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address at present (Docker's is there once Docker runs)"
                    .to_owned()
            }
            io::ErrorKind::AddrInUse => format!("port {port} is taken there"),
            _ => error.to_string(),
        };
        let taken = error.kind() == io::ErrorKind::AddrInUse;
        Self { address, reason: format!("can't listen on {address}: {why}"), taken }
    }
}

/// The address for loopback and the other addresses, each once. A system refuses an address if a
/// listener for all addresses of its kind has the port.
fn plan(more: &[ListenAddress]) -> (IpAddr, Vec<ListenAddress>) {
    let everywhere = |v6| more.iter().any(|more| more.is_everywhere() && more.ip().is_ipv6() == v6);
    let first = if everywhere(false) { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::LOCALHOST };
    let first = IpAddr::V4(first);
    let mut others = Vec::new();
    for address in more {
        let covered = everywhere(address.ip().is_ipv6()) && !address.is_everywhere();
        if address.ip() != first && !covered && !others.contains(address) {
            others.push(*address);
        }
    }
    (first, others)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    if address.is_ipv4() {
        return TcpListener::bind(address);
    }
    // The standard library's socket takes IPv4 as well for `::`, on some systems.
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None)?;
    socket.set_only_v6(true)?;
    socket.set_reuse_address(cfg!(unix))?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::{ListenAddress, Listeners, plan};

    fn addresses(texts: &[&str]) -> Vec<ListenAddress> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn each_address_is_bound_once_and_none_that_another_covers() {
        for (more, first, others) in [
            (&[][..], "127.0.0.1", &[][..]),
            (&["127.0.0.1", "10.0.0.1", "10.0.0.1", "::1"], "127.0.0.1", &["10.0.0.1", "::1"]),
            (&["10.0.0.1", "0.0.0.0", "fd00::1"], "0.0.0.0", &["fd00::1"]),
            (&["10.0.0.1", "::", "fd00::1"], "127.0.0.1", &["10.0.0.1", "::"]),
            (&["::", "0.0.0.0"], "0.0.0.0", &["::"]),
        ] {
            let (planned, rest) = plan(&addresses(more));
            assert_eq!(
                (planned.to_string().as_str(), rest),
                (first, addresses(others)),
                "{more:?}"
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_port_that_is_taken_on_another_address_is_named() {
        let taken = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let bound = Listeners::bind(port, &addresses(&["127.0.0.2"])).unwrap();
        let reason = format!("can't listen on 127.0.0.2: port {port} is taken there");
        assert_eq!(bound.missing()[0].reason, reason);
        assert_eq!(bound.taken(), Some("127.0.0.2".parse().unwrap()));
    }
}
