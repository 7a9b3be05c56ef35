//! Tests a server that listens on more than loopback: its addresses, and its accepted peers. Runs
//! on Linux, where all of 127.0.0.0/8 are addresses of the machine.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};

use crate::common::{Rig, read_all};

fn listening_on(addresses: &[&str]) -> Rig {
    Rig::with(|config| {
        config.settings.allowed_hosts = vec!["build-box".parse().unwrap()];
        config.settings.listen = addresses.iter().map(|text| text.parse().unwrap()).collect();
    })
}

/// Sends an `initialize` to `address` with this `Host` and this token, and returns the status. `P`
/// stands for the port.
fn status(rig: &Rig, address: &str, host: &str, token: &str) -> u16 {
    let port = rig.server.port();
    let host = host.replace('P', &port.to_string());
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let length = body.len();
    let address = SocketAddr::new(address.parse().unwrap(), port);
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    read_all(&mut stream).split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn every_address_is_guarded_in_the_same_way() {
    let rig = listening_on(&["127.0.0.2", "192.0.2.1"]);
    let token = rig.server.token();
    for address in ["127.0.0.1", "127.0.0.2"] {
        for (host, token, expected) in [
            ("127.0.0.1:P", token, 200),
            ("127.0.0.2:P", token, 200),
            ("host.docker.internal:P", token, 200),
            ("build-box", token, 200),
            ("build-box:80", token, 200),
            ("127.0.0.2:P", "", 401),
            ("127.0.0.2:P", &token[1..], 401),
            ("build-box", "", 401),
            ("127.0.0.2", token, 403),
            ("127.0.0.3:P", token, 403),
            ("192.0.2.1:P", token, 403),
            ("evil.example:P", token, 403),
        ] {
            assert_eq!(status(&rig, address, host, token), expected, "{host} at {address}");
        }
    }
}

#[test]
fn the_status_says_where_it_listens_and_where_not() {
    let rig = listening_on(&["127.0.0.2", "192.0.2.1"]);
    let status = rig.server.status();
    let port = rig.server.port();
    let listening: Vec<_> = status.listening.iter().map(SocketAddr::to_string).collect();
    assert_eq!(listening, [format!("127.0.0.1:{port}"), format!("127.0.0.2:{port}")]);
    let [missing] = &status.not_listening[..] else { panic!("{status:?}") };
    assert!(missing.starts_with("can't listen on 192.0.2.1: "), "{missing}");
}

#[test]
fn on_all_addresses_only_the_names_that_the_user_gave_are_let_in() {
    let rig = listening_on(&["0.0.0.0", "127.0.0.3"]);
    let token = rig.server.token();
    assert_eq!(rig.server.status().listening.len(), 1);
    for (host, token, expected) in [
        ("127.0.0.1:P", token, 200),
        ("build-box:P", token, 200),
        ("127.0.0.1:P", "", 401),
        ("0.0.0.0:P", token, 403),
        ("127.0.0.2:P", token, 403),
    ] {
        for address in ["127.0.0.1", "127.0.0.2"] {
            assert_eq!(status(&rig, address, host, token), expected, "{host} at {address}");
        }
    }
}

#[test]
fn ipv6_is_guarded_in_the_same_way_and_takes_nothing_from_ipv4() {
    if TcpListener::bind("[::1]:0").is_err() {
        return; // this machine has no such address
    }
    for address in ["::1", "::"] {
        let rig = listening_on(&[address]);
        let token = rig.server.token();
        assert_eq!(rig.server.status().listening.len(), 2, "{address}");
        for (host, token, expected) in [
            ("[::1]:P", token, 200),
            ("[::1]:P", "", 401),
            ("[::]:P", token, 403),
            ("[::2]:P", token, 403),
        ] {
            for at in ["::1", "127.0.0.1"] {
                assert_eq!(status(&rig, at, host, token), expected, "{host} at {at}");
            }
        }
    }
}

#[test]
fn a_stopped_server_listens_nowhere() {
    let rig = listening_on(&["127.0.0.2"]);
    let port = rig.server.port();
    rig.server.stop();
    for address in ["127.0.0.1", "127.0.0.2"] {
        // By now the port may belong to another server, with another token.
        let gone = TcpStream::connect((address, port)).is_err()
            || status(&rig, address, "127.0.0.1:P", rig.server.token()) != 200;
        assert!(gone, "{address}");
    }
}
