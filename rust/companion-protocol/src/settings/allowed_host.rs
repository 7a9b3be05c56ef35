//! Parses the host names that the user allows in a `Host` header.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A host that clients may use for the server besides the usual ones.
///
/// It is a name or an address, with a port if only that port is allowed. Its text is the user's:
/// `build-box`, `build-box:9000`, `172.17.0.1`, `[fd00::1]:9000`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AllowedHost {
    /// Lower case; an IPv6 address in brackets and in its shortest form.
    host: String,
    /// `:9000`; empty if every port is allowed.
    port: String,
}

impl AllowedHost {
    /// Whether `value`, from a `Host` header, means this host. Clients leave out the default port.
    pub fn is(&self, value: &[u8]) -> bool {
        let Some((host, port)) = value.split_at_checked(self.host.len()) else { return false };
        host.eq_ignore_ascii_case(self.host.as_bytes())
            && match self.port.as_str() {
                "" => is_port(port),
                ":80" if port.is_empty() => true,
                wanted => port == wanted.as_bytes(),
            }
    }
}

/// Whether `text` is empty, or `:` and digits.
fn is_port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

impl From<SocketAddr> for AllowedHost {
    fn from(address: SocketAddr) -> Self {
        Self { host: in_url(address.ip()), port: format!(":{}", address.port()) }
    }
}

impl FromStr for AllowedHost {
    type Err = String;

    /// # Errors
    /// If `text` is not a host; the error is a text for the user.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { host: in_url(address), port: String::new() });
        }
        if text.contains(['/', '*']) {
            return Err(wrong_name(text));
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().map(|address| in_url(address.into())).ok(),
            None => is_name(host).then(|| host.to_ascii_lowercase()),
        };
        let Some(host) = host else { return Err(wrong_name(text)) };
        let Some(port) = port else { return Ok(Self { host, port: String::new() }) };
        let port = port.parse::<u16>().ok().filter(|port| *port > 0);
        let port = port.ok_or_else(|| format!("{text:?}: a port is a number up to 65535"))?;
        Ok(Self { host, port: format!(":{port}") })
    }
}

impl TryFrom<String> for AllowedHost {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        write!(f, "{host}{port}")
    }
}

impl From<AllowedHost> for String {
    fn from(host: AllowedHost) -> Self {
        host.to_string()
    }
}

/// Formats an address as in a URL and in a `Host` header.
fn in_url(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// Whether `text` is a host name. Allows underscores, because Docker Compose uses them.
fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    text.split('.').all(label)
}

fn wrong_name(text: &str) -> String {
    let hint = if text.contains('/') {
        "give the name alone, without http:// and without a path"
    } else if text.contains('*') {
        "each name must be given in full"
    } else if !text.is_ascii() {
        "give the name as it goes over the wire, in ASCII (xn--…)"
    } else {
        "give a name or an address, such as build-box, build-box:9000 or 172.17.0.1"
    };
    format!("{text:?} is not a host: {hint}")
}

#[cfg(test)]
mod tests {
    use super::AllowedHost;

    #[test]
    fn a_host_is_known_by_name_and_by_port_if_it_has_one() {
        let any_port = ["build-box", "Build-Box:1", "BUILD-BOX:65535"];
        let one_port = ["my.box:9000", "MY.box:9000"];
        let address = ["172.17.0.1", "172.17.0.1:80"];
        let ipv6 = ["[fd00::1]", "[FD00::1]:7"];
        for (text, same) in [
            ("build-box", &any_port[..]),
            ("Build-Box", &any_port),
            ("My.Box:9000", &one_port),
            ("172.17.0.1", &address),
            ("fd00:0:0::1", &ipv6),
            ("[fd00:0:0::1]", &ipv6),
        ] {
            let host: AllowedHost = text.parse().unwrap();
            for value in [&any_port[..], &one_port, &address, &ipv6].concat() {
                assert_eq!(host.is(value.as_bytes()), same.contains(&value), "{text}: {value}");
            }
        }
    }

    #[test]
    fn a_similar_host_is_refused() {
        let host: AllowedHost = "build-box".parse().unwrap();
        let one: AllowedHost = "build-box:90".parse().unwrap();
        for value in [
            "",
            "build-bo",
            "build-boxx",
            "build-box.",
            "build-box:",
            "build-box:x",
            "xbuild-box",
            "build-box:90.evil.example",
            "build-box.evil.example",
            "build-box@evil",
            "evil:90",
            "build-box:9 0",
            "build-box:+90",
        ] {
            assert!(!host.is(value.as_bytes()), "{value}");
            assert!(!one.is(value.as_bytes()), "{value}");
        }
        for value in ["build-box", "build-box:9", "build-box:900", "build-box:090"] {
            assert!(!one.is(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn a_wrong_host_is_refused_with_a_hint() {
        for (text, hint) in [
            ("", "such as build-box"),
            ("http://build-box", "without http://"),
            ("build-box/mcp", "without a path"),
            ("*.example", "in full"),
            ("büild", "ASCII"),
            ("build box", "such as build-box"),
            ("a..b", "such as build-box"),
            ("build-box.", "such as build-box"),
            ("user@box", "such as build-box"),
            ("[fd00::1", "such as build-box"),
            ("[box]", "such as build-box"),
            ("fd00::1:99999", "such as build-box"),
            ("box:", "65535"),
            ("box:0", "65535"),
            ("box:65536", "65535"),
            ("box:http", "65535"),
        ] {
            let error = text.parse::<AllowedHost>().unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }
}
