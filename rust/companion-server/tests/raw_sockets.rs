//! Tests socket operations that no client library would do.

use std::io::Write;
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use crate::common::{Rig, call, ping, read_all, read_until};

#[test]
fn a_peer_that_is_still_sending_gets_to_read_why_it_was_refused() {
    let rig = Rig::start();
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    for (token, status) in [(true, "413 Payload Too Large"), (false, "401 Unauthorized")] {
        let head = rig.head("POST /mcp", "transfer-encoding: chunked\r\n");
        let head = if token { head } else { head.replace("Bearer ", "Bearer x") };
        let mut stream = rig.connect();
        stream.write_all(head.as_bytes()).unwrap();
        for _ in 0..320 {
            // 20 MB are far above the limit, and above all buffers on the way.
            stream.write_all(chunk.as_bytes()).expect("the server still listens");
        }
        let reply = read_all(&mut stream);
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{reply}");
    }
}

#[test]
fn without_the_token_nothing_is_read_but_the_head() {
    let rig = Rig::start();
    let head = rig.head("POST /mcp", "content-length: 99999999999\r\n");
    let reply = rig.exchange(head.replace("Bearer ", "Bearer x"));
    assert!(reply.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{reply}");
}

#[test]
fn a_refused_request_leaves_its_connection_open() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let refused = rig.post(&session, &ping(1)).replace("Bearer ", "Bearer x");
    let accepted = rig.post(&format!("{session}connection: close\r\n"), &ping(2));
    let replies = rig.exchange(refused + &accepted);
    assert!(replies.contains("401 Unauthorized") && replies.contains("200 OK"), "{replies}");
}

/// Some HTTP clients close their side after a request.
#[test]
fn a_peer_that_closes_its_side_gets_the_whole_answer() {
    let rig = Rig::start();
    let exchange = |request: String| {
        let mut stream = rig.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        read_all(&mut stream)
    };
    let reply = exchange(rig.head("GET /changes", ""));
    assert!(reply.ends_with("\r\n0\r\n\r\n"), "{reply:?}");
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let end = format!("{session}connection: close\r\n");
    let open = call("openDiff", r#"{"filePath":"/a","newContent":"new"}"#);
    rig.exchange(rig.post(&end, &open));
    let content = "x".repeat(250_000);
    rig.notify("diff/accepted", &json!({ "filePath": "/a", "content": content }));
    let close = call("closeDiff", r#"{"filePath":"/a","suppressNotification":true}"#);
    let reply = exchange(rig.post(&session, &close));
    assert!(reply.matches('x').count() >= content.len(), "{}", reply.len());
    assert!(reply.ends_with("\r\n0\r\n\r\n"), "{}", reply.len());
}

#[test]
fn a_stream_that_is_replaced_or_stopped_ends_by_a_fin_and_nothing_else() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let open = || {
        let mut stream = rig.connect();
        stream.write_all(rig.head("GET /mcp", &session).as_bytes()).unwrap();
        let head = read_until(&mut stream, "ide/contextUpdate").to_ascii_lowercase();
        // A client accepts the end as an orderly one only if the head announces neither chunks nor
        // a length.
        assert!(head.starts_with("http/1.0 200 ok\r\n"), "{head}");
        assert!(!head.contains("transfer-encoding") && !head.contains("content-length"), "{head}");
        let rest = head.split_once("ide/contextupdate").unwrap().1;
        if !rest.ends_with("\n\n") {
            read_until(&mut stream, "\n\n");
        }
        stream
    };
    let mut first = open();
    let mut second = open();
    assert_eq!(read_all(&mut first), "");
    let stopping = std::thread::spawn({
        let server = rig.server.clone();
        move || server.stop()
    });
    assert_eq!(read_all(&mut second), "");
    stopping.join().unwrap();
    let refused = TcpStream::connect(("127.0.0.1", rig.server.port()));
    assert_eq!(refused.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
}
