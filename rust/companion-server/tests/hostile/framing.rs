//! Tests requests with ambiguous framing, heads without end, and bodies that inflate or hide a
//! second request.

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
fn ambiguous() -> Vec<(&'static str, String, String, &'static str)> {
    let ping = ping(1);
    let chunk = format!("{:x}\r\n{ping}\r\n0\r\n\r\n", ping.len());
    let long = "content-length: 300\r\n";
    let short = format!("content-length: {}\r\n", ping.len());
    let te = "transfer-encoding: chunked\r\n";
    let zero = "content-length: 0\r\n";
    vec![
        ("a length before chunks", format!("{long}{te}"), chunk.clone(), "200"),
        ("a length behind chunks", format!("{te}{long}"), chunk.clone(), "200"),
        ("no length and chunks", format!("{zero}{te}"), chunk.clone(), "200"),
        (
            "chunks in another header",
            format!("{short}transfer-encoding: x\r\n"),
            ping.clone(),
            "400",
        ),
        (
            "a space before the colon",
            format!("{short}transfer-encoding : chunked\r\n"),
            ping.clone(),
            "400",
        ),
        (
            "chunks on a folded line",
            format!("{short}transfer-encoding:\r\n chunked\r\n"),
            ping.clone(),
            "400",
        ),
        (
            "chunks behind a tab",
            format!("{short}transfer-encoding:\x0bchunked\r\n"),
            ping.clone(),
            "400",
        ),
        (
            "chunks, not last",
            "transfer-encoding: chunked, identity\r\n".to_owned(),
            chunk.clone(),
            "400",
        ),
        (
            "chunks and then not",
            format!("{te}transfer-encoding: identity\r\n"),
            chunk.clone(),
            "400",
        ),
        (
            "chunks twice",
            "transfer-encoding: chunked, chunked\r\n".to_owned(),
            chunk.clone(),
            "501",
        ),
        ("two lengths", format!("{short}{long}"), ping.clone(), "400"),
        (
            "two lengths in one",
            format!("content-length: {0}, {0}\r\n", ping.len()),
            ping.clone(),
            "400",
        ),
        (
            "a length with a sign",
            format!("content-length: +{}\r\n", ping.len()),
            ping.clone(),
            "400",
        ),
        ("a length in hex", "content-length: 0x28\r\n".to_owned(), ping.clone(), "400"),
        ("a negative length", "content-length: -1\r\n".to_owned(), ping.clone(), "400"),
        (
            "a length past 64 bits",
            "content-length: 18446744073709551656\r\n".to_owned(),
            ping.clone(),
            "400",
        ),
        (
            "a chunk past 64 bits",
            te.to_owned(),
            format!("10000000000000028\r\n{ping}\r\n0\r\n\r\n"),
            "400",
        ),
        ("a chunk with a sign", te.to_owned(), format!("+28\r\n{ping}\r\n0\r\n\r\n"), "400"),
        ("a chunk in 0x", te.to_owned(), format!("0x28\r\n{ping}\r\n0\r\n\r\n"), "400"),
        ("a chunk that ends late", te.to_owned(), format!("28\r\n{ping}XX\r\n0\r\n\r\n"), "400"),
        ("a bare LF ends a chunk's size", te.to_owned(), format!("28\n{ping}\r\n0\r\n\r\n"), "400"),
        ("a bare LF in an extension", te.to_owned(), format!("28;a\n{ping}\r\n0\r\n\r\n"), "400"),
        (
            "a bare CR in a header",
            format!("{short}x: a\rtransfer-encoding: chunked\r\n"),
            ping.clone(),
            "400",
        ),
        ("a NUL in a header", format!("{short}x: a\0b\r\n"), ping.clone(), "400"),
        ("a NUL in a name", format!("{short}x\0: a\r\n"), ping.clone(), "400"),
        ("a folded header", format!("{short}x: a\r\n b\r\n"), ping.clone(), "400"),
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
fn a_body_is_a_body_whatever_it_looks_like() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let hidden = hidden(&rig, &session);
    let close = format!("{session}connection: close\r\n");
    assert_status(&rig.exchange(rig.post(&close, &hidden)), "400", "in a body");
    let length = format!("{close}content-length: {}\r\n", hidden.len());
    for request in ["GET /nope", "PUT /mcp", "DELETE /nope", "OPTIONS *"] {
        // The server may skip unread bytes or close the connection, but it must not read them as a
        // request.
        let reply = rig.exchange(rig.head(request, &length) + &hidden);
        assert_eq!(reply.matches("HTTP/1.1 40").count(), 1, "{request}: {reply}");
    }
    let extended = rig.head("POST /mcp", &format!("{close}transfer-encoding: chunked\r\n"));
    let extended = extended
        + &format!("28;x=\"{}\"\r\n{}\r\n0\r\nhost: evil\r\n\r\n", "y".repeat(100), ping(1));
    assert_status(&rig.exchange(extended), "200", "an extension and a trailer mean nothing");
    assert_eq!(rig.asked(), [""; 0]);
}

#[test]
fn a_plain_line_feed_ends_a_line_and_nothing_else() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\nconnection: close\r\n", rig.initialize());
    let request = rig.post(&session, &ping(1)).replace("\r\n", "\n");
    assert_status(&rig.exchange(request), "200", "as RFC 9112 §2.2 allows");
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
        ("a header of 80 KB", format!("x: {}\r\n", "y".repeat(80_000)), "431"),
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

#[test]
fn what_follows_a_body_has_bounds() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let head = rig.head("POST /mcp", &format!("{session}transfer-encoding: chunked\r\n"));
    let begun = format!("{head}28\r\n{}\r\n0\r\n", ping(1));
    let cases = [
        ("trailers", format!("{begun}{}", "x: y\r\n".repeat(100_000))),
        ("an extension", format!("{head}28;{}", "x".repeat(1_000_000))),
        ("extensions", head + &"1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\na\r\n".repeat(50_000)),
    ];
    for (case, request) in cases {
        let mut stream = rig.connect();
        let _ = stream.write_all(request.as_bytes());
        assert_status(&read_all(&mut stream), "400", case);
    }
    rig.is_well();
}

#[test]
fn nothing_is_inflated() {
    let rig = Rig::start();
    let session = format!("mcp-session-id: {}\r\nconnection: close\r\n", rig.initialize());
    // The body stands for a compressed one: 300 KB that would inflate to 300 MB.
    let body = "\u{1f}\u{8}".repeat(100_000);
    for coding in ["gzip", "br", "deflate, gzip", "x"] {
        let headers = format!("{session}content-encoding: {coding}\r\n");
        let reply = rig.exchange(rig.post(&headers, &body));
        assert_status(&reply, "415", coding);
        assert!(reply.contains("\r\naccept-encoding: identity\r\n"), "{reply}");
        assert!(reply.contains("the body must not be compressed"), "{reply}");
    }
    rig.is_well();
}

#[test]
fn no_other_protocol_is_spoken() {
    let rig = Rig::start();
    let tls = [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(), &[b'a'; 500]].concat();
    for (case, bytes) in [
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("HTTP/0.9", b"GET /mcp\r\n\r\n".to_vec()),
        ("TLS", tls),
        ("SMTP", b"EHLO evil.example\r\n".to_vec()),
        ("zeros", vec![0; 100_000]),
    ] {
        let mut stream = rig.connect();
        let _ = stream.write_all(&bytes);
        let reply = read_all(&mut stream);
        assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 400"), "{case}: {reply}");
    }
    let session = format!("mcp-session-id: {}\r\nconnection: close\r\n", rig.initialize());
    let upgrade =
        "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n";
    let reply = rig.exchange(rig.post(&format!("{session}{upgrade}"), &ping(1)));
    assert_status(&reply, "200", "an upgrade is not taken");
    let reply = rig.exchange(rig.head("CONNECT 127.0.0.1:22", &session));
    assert_status(&reply, "403", "no tunnel to another host");
    rig.is_well();
}
