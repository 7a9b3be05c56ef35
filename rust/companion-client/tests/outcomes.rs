//! Tests `initialize` with a companion, and each cause of its failure.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use companion_client::http::{self, Endpoint, Error, InitializeResult, Stage, block_on};

/// More than a busy machine needs.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}"#;

fn endpoint(port: u16) -> Endpoint {
    Endpoint::new("127.0.0.1", port, Some("the-secret".to_owned().into()))
}

fn probe(endpoint: &Endpoint, limit: Duration) -> Result<InitializeResult, Error> {
    block_on(http::probe(endpoint, limit))
}

/// Runs `initialize` against a server that answers each request with the next of `replies`. Returns
/// the result and the requests.
fn against(replies: &[String]) -> (Result<InitializeResult, Error>, Vec<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let replies = replies.to_owned();
    let server = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for reply in replies {
            let mut stream = listener.accept().unwrap().0;
            let mut request = String::new();
            let mut byte = [0];
            while !request.ends_with("\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                request.push(char::from(byte[0]));
            }
            let length = request.split("content-length: ").nth(1);
            let length = length.map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
            stream.read_exact(&mut vec![0; length]).unwrap();
            stream.write_all(reply.as_bytes()).unwrap();
            asked.push(request);
        }
        asked
    });
    let outcome = probe(&endpoint(port), WAIT_TIMEOUT);
    (outcome, server.join().unwrap())
}

fn reply(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

fn refusal(status: &str, message: &str) -> String {
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32000,"message":"{message}"}}}}"#);
    reply(status, "content-type: application/json\r\n", &body)
}

#[test]
fn a_companion_says_who_it_is_and_its_session_is_ended() {
    let json = "content-type: application/json\r\nmcp-session-id: s1\r\n";
    let stream = "content-type: text/event-stream\r\nmcp-session-id: s1\r\n";
    let events =
        format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"m\"}}\n\nid: 1\ndata: {INITIALIZED}\n\n");
    for first in [reply("200 OK", json, INITIALIZED), reply("200 OK", stream, &events)] {
        let (outcome, asked) = against(&[first, reply("204 No Content", "", "")]);
        let server = outcome.unwrap();
        assert_eq!((&*server.server_info.name, &*server.protocol_version), ("a", "2025-06-18"));
        assert!(asked[0].starts_with("POST /mcp HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[0].contains("\r\nauthorization: Bearer the-secret\r\n"), "{asked:?}");
        assert!(asked[0].contains("\r\nhost: 127.0.0.1:"), "{asked:?}");
        assert!(asked[1].starts_with("DELETE /mcp HTTP/1.1\r\n"), "{asked:?}");
        assert!(asked[1].contains("\r\nmcp-session-id: s1\r\n"), "{asked:?}");
    }
}

#[test]
fn each_refusal_has_its_own_error() {
    let outcome = |reply: String| against(&[reply]).0.unwrap_err();
    let error = outcome(refusal("401 Unauthorized", "no token"));
    assert!(matches!(error, Error::Unauthorized { message } if message == "no token"));
    let error = outcome(refusal("403 Forbidden", "wrong host"));
    assert!(matches!(error, Error::Forbidden { message } if message == "wrong host"));
    let error = outcome(reply("404 Not Found", "content-type: text/html\r\n", "<h1>No</h1>"));
    assert!(matches!(error, Error::Status { status: 404, .. }));
    let error = outcome(refusal("200 OK", "not now"));
    assert!(matches!(error, Error::Rpc { code: -32000, message } if message == "not now"));
}

#[test]
fn what_is_no_companion_has_its_own_error() {
    let outcome = |reply: String| against(&[reply]).0.unwrap_err();
    for other in [
        reply("200 OK", "content-type: text/html\r\n", "<h1>Hello</h1>"),
        reply("200 OK", "content-type: application/json\r\n", r#"{"hello":1}"#),
        reply("202 Accepted", "", ""),
        "220 mail.example.com ESMTP\r\n".to_owned(),
    ] {
        let error = outcome(other.clone());
        assert!(matches!(error, Error::NotACompanion { .. }), "{error} after {other}");
    }
    let error = outcome(String::new());
    assert!(matches!(error, Error::Broken { .. }), "{error}");
}

#[test]
fn a_refused_connection_is_distinguished_from_silence() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let error = probe(&endpoint(port), Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, Error::Timeout { stage: Stage::Answer, .. }), "{error}");
    drop(listener);
    let error = probe(&endpoint(port), WAIT_TIMEOUT).unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
    let nowhere = Endpoint::new("no-such-name.invalid", port, None);
    let error = probe(&nowhere, WAIT_TIMEOUT).unwrap_err();
    assert!(matches!(error, Error::UnknownHost { .. }), "{error}");
}

/// A full queue of connections: the system neither accepts nor refuses further ones.
#[cfg(target_os = "linux")]
#[test]
fn a_firewall_is_distinguished_from_silence() {
    use std::net::{Ipv4Addr, SocketAddrV4};

    use socket2::{Domain, Socket, Type};

    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap();
    let _queued = std::net::TcpStream::connect(address.as_socket().unwrap()).unwrap();
    let port = address.as_socket().unwrap().port();
    let error = probe(&endpoint(port), Duration::from_millis(50)).unwrap_err();
    assert!(matches!(error, Error::Timeout { stage: Stage::Connect, .. }), "{error}");
}
