//! Parses the addresses where the user lets the server listen besides loopback.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An address to listen on besides loopback, such as a Docker bridge or a WSL adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ListenAddress(IpAddr);

impl ListenAddress {
    /// The address. An IPv4 address is never mapped into IPv6.
    pub fn ip(self) -> IpAddr {
        self.0
    }

    /// Whether this means every address of the machine (`0.0.0.0`, `::`), so that other machines
    /// can connect. Then the user must also set `listen_on_all_addresses`.
    pub fn is_everywhere(self) -> bool {
        self.0.is_unspecified()
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ListenAddress {
    type Err = String;

    /// # Errors
    /// If `text` is not an address to listen on; the error is a text for the user.
    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.parse::<IpAddr>().map(|address| address.to_canonical());
        let hint = match address {
            Err(_) => "is not an IP address; give one without a port, such as 172.17.0.1",
            Ok(address) if address.is_multicast() => "is a multicast address, not a machine's",
            Ok(IpAddr::V4(Ipv4Addr::BROADCAST)) => "is the broadcast address, not a machine's",
            Ok(IpAddr::V6(address)) if address.is_unicast_link_local() => {
                "is a link-local address, which means nothing without an interface; give another"
            }
            Ok(address) => return Ok(Self(address)),
        };
        Err(format!("{text:?} {hint}"))
    }
}

impl TryFrom<String> for ListenAddress {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ListenAddress> for String {
    fn from(address: ListenAddress) -> Self {
        address.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::ListenAddress;

    #[test]
    fn an_address_is_one_of_a_machine() {
        for (text, hint) in [
            ("", "is not an IP address"),
            ("localhost", "is not an IP address"),
            ("172.17.0.1:80", "without a port"),
            ("172.17.0.1/16", "is not an IP address"),
            ("224.0.0.1", "multicast"),
            ("ff02::1", "multicast"),
            ("255.255.255.255", "broadcast"),
            ("::ffff:255.255.255.255", "broadcast"),
            ("fe80::1", "link-local"),
        ] {
            let error = text.parse::<ListenAddress>().unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
        }
        for (text, everywhere) in [
            ("172.17.0.1", false),
            ("fd00::1", false),
            ("0.0.0.0", true),
            ("::", true),
            ("::ffff:0.0.0.0", true),
        ] {
            let address: ListenAddress = text.parse().unwrap();
            assert_eq!(address.is_everywhere(), everywhere, "{text}");
        }
    }
}
