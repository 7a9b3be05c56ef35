//! Tests web pages that make a browser connect: their `Origin`, and host names that resolve to this
//! machine.

use super::assert_status;
use crate::common::{Rig, ping};

/// Sends a ping with this first line, and with these headers besides the token.
fn send(rig: &Rig, session: &str, first: &str, headers: &str) -> String {
    let (token, ping) = (rig.server.token(), ping(1));
    let length = ping.len();
    rig.exchange(format!(
        "{first}\r\n{headers}authorization: Bearer {token}\r\nmcp-session-id: {session}\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{ping}"
    ))
}

const POST: &str = "POST /mcp HTTP/1.1";

#[test]
fn only_names_of_this_machine_are_a_host() {
    let rig = Rig::start();
    let session = rig.initialize();
    let port = rig.server.port();
    let check = |host: &str, status: &str| {
        let reply = send(&rig, &session, POST, &format!("host: {host}\r\n"));
        assert_status(&reply, status, host);
    };
    for host in ["127.0.0.1", "localhost", "LocalHost", "[::1]", "host.docker.internal"] {
        // The port may be forwarded under another number.
        for port in [&*format!(":{port}"), ":9000", ":80", ""] {
            check(&format!("{host}{port}"), "200");
        }
    }
    for name in [
        // names that an attacker's DNS server resolves to this machine
        "evil.example",
        "127.0.0.1.nip.example",
        "localhost.evil.example",
        "evil.example#127.0.0.1",
        // the root of all names, an empty name, none
        "127.0.0.1.",
        "localhost.",
        ".localhost",
        "",
        // other spellings of the address, some of which a browser sends unchanged
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "127.0.0.2",
        "0.0.0.0",
        "127.0.0.01",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "[::1%25lo]",
        "::1",
        "[::1",
        // users, lists, paths, schemes
        "user@127.0.0.1",
        "127.0.0.1@evil.example",
        "user:password@localhost",
        "evil.example, 127.0.0.1",
        "127.0.0.1 evil.example",
        "http://127.0.0.1",
        "127.0.0.1/evil.example",
        "lo\u{441}alhost",
        "loc\u{e0}lhost",
        "%6cocalhost",
    ] {
        check(&format!("{name}:{port}"), "403");
    }
    for no_port in ["", "-1", "0x50", &*format!("{port}:{port}"), &*format!("+{port}")] {
        check(&format!("127.0.0.1:{no_port}"), "403");
    }
    check(&format!("127.0.0.1:{port}, 127.0.0.1:{port}"), "403");
    rig.is_well();
}

#[test]
fn a_web_page_gets_nothing_wherever_it_is_from() {
    let rig = Rig::start();
    let session = rig.initialize();
    let port = rig.server.port();
    let host = format!("host: 127.0.0.1:{port}\r\n");
    for origin in [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        "file://".to_owned(),
        "vscode-webview://x".to_owned(),
        "chrome-extension://x".to_owned(),
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
    ] {
        let reply = send(&rig, &session, POST, &format!("{host}origin: {origin}\r\n"));
        assert_status(&reply, "403", &origin);
        assert!(!reply.to_ascii_lowercase().contains("access-control"), "{reply}");
        // The browser's preflight request, which has no token.
        let preflight = format!(
            "OPTIONS /mcp HTTP/1.1\r\n{host}origin: {origin}\r\naccess-control-request-method: POST\r\n\
             access-control-request-headers: authorization\r\nconnection: close\r\n\r\n"
        );
        let reply = rig.exchange(preflight);
        assert_status(&reply, "403", &origin);
        assert!(!reply.to_ascii_lowercase().contains("access-control"), "{reply}");
    }
    rig.is_well();
}

#[test]
fn a_token_is_right_as_a_whole_or_not_at_all() {
    let rig = Rig::start();
    let (port, token) = (rig.server.port(), rig.server.token().to_owned());
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        token.clone(),
        format!("Bearer  {token}"),
        format!("Bearer {token}0"),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {}", &token[..token.len() - 1]),
        format!("Bearer {}", token.to_ascii_uppercase()),
        format!("Bearer {token}, Bearer {token}"),
        format!("Basic {token}"),
        format!("Bearer {}", "0".repeat(token.len())),
        format!("Bearer {}", "\u{e9}".repeat(token.len())),
    ];
    for value in wrong {
        let head = format!("GET /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n");
        let reply = rig.exchange(format!("{head}authorization: {value}\r\n\r\n"));
        assert_status(&reply, "401", &value);
        assert!(!reply.contains(&token[..8]), "{reply}");
        // The token does not count in a header that others may see.
        let elsewhere = format!("{head}cookie: token={token}\r\nx-token: {token}\r\n\r\n");
        assert_status(&rig.exchange(elsewhere), "401", "elsewhere");
    }
    // RFC 9110 §11.1: the case of the scheme does not matter.
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let head =
            format!("DELETE /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n");
        let reply = rig.exchange(format!("{head}authorization: {scheme} {token}\r\n\r\n"));
        assert_status(&reply, "400", scheme);
    }
    let query = format!(
        "GET /mcp?token={token}&access_token={token} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n\
         connection: close\r\n\r\n"
    );
    assert_status(&rig.exchange(query), "401", "in the URL");
    rig.is_well();
}
