//! Tests requests with ambiguous framing, and heads without end.

use std::io::Write;
use std::time::Duration;

use crate::assert_status;
use crate::common::{Rig, call, ping, read_all};

/// Returns a complete request that opens a diff. Tests hide it inside other requests.
fn hidden(rig: &Rig, session: &str) -> String {
    rig.post(session, &call("openDiff", r#"{"filePath":"/smuggled","newContent":""}"#))
}

/// Returns ambiguous headers, a body, and the expected status. The server then closes the
/// connection.
fn ambiguous() -> [(&'static str, String, String, &'static str); 6] {
    let ping = ping(1);
    let chunk = format!("{:x}\r\n{ping}\r\n0\r\n\r\n", ping.len());
    let length = format!("content-length: {}\r\n", ping.len());
    let chunked = "transfer-encoding: chunked\r\n";
    let both = format!("content-length: 300\r\n{chunked}");
    let other = format!("{length}transfer-encoding: x\r\n");
    let folded = format!("{length}transfer-encoding:\r\n chunked\r\n");
    let twice = "transfer-encoding: chunked, chunked\r\n".to_owned();
    let lengths = format!("{length}content-length: 300\r\n");
    let late = format!("28\r\n{ping}XX\r\n0\r\n\r\n");
    [
        ("a length beside chunks", both, chunk.clone(), "200"),
        ("chunks in another header", other, ping.clone(), "400"),
        ("chunks on a folded line", folded, ping.clone(), "400"),
        ("chunks twice", twice, chunk, "501"),
        ("two lengths", lengths, ping, "400"),
        ("a chunk that ends late", chunked.to_owned(), late, "400"),
    ]
}

#[test]
fn a_request_that_hides_behind_another_is_never_carried_out() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let hidden = hidden(&rig, &session);
    for (case, headers, body, status) in ambiguous() {
        let request = rig.head("POST /mcp", &format!("{session}{headers}")) + &body + &hidden;
        assert_status(&rig.exchange(request), status, case);
        assert_eq!(rig.asked(), [""; 0], "{case}");
    }
    rig.is_well();
}

#[test]
fn a_head_has_bounds() {
    // A busy machine may take long for large input.
    let rig = Rig::with(|config| config.limits.header_timeout = Duration::from_mins(1));
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let post = |headers: &str| rig.post(&format!("{session}{headers}"), &ping(1));
    let close = "connection: close\r\n";
    let cases = [
        ("90 headers", format!("{close}{}", "x: y\r\n".repeat(90)), "200"),
        ("101 headers", "x: y\r\n".repeat(101), "431"),
        ("a header of 30 KB", format!("{close}x: {}\r\n", "y".repeat(30_000)), "200"),
        ("a header of 40 KB", format!("{close}x: {}\r\n", "y".repeat(40_000)), "431"),
        ("a header of 10 MB", format!("x: {}\r\n", "y".repeat(10_000_000)), "431"),
        ("a name of 70 KB", format!("{}: x\r\n", "y".repeat(70_000)), "431"),
        ("headers of 80 KB", format!("x: {}\r\n", "y".repeat(1600)).repeat(50), "431"),
    ];
    for (case, headers, status) in cases {
        let mut stream = rig.connect();
        // The server does not read beyond its limit, so the write may fail.
        let _ = stream.write_all(post(&headers).as_bytes());
        assert_status(&read_all(&mut stream), status, case);
    }
    let mut stream = rig.connect();
    let _ = stream.write_all(rig.head(&format!("GET /{}", "y".repeat(66_000)), "").as_bytes());
    let reply = read_all(&mut stream);
    assert!(reply.starts_with("HTTP/1.1 4"), "{reply}");
    rig.is_well();
}
