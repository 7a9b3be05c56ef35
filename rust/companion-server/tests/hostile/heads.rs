//! Tests heads without end.

use std::io::Write;
use std::time::Duration;

use super::assert_status;
use crate::common::{Rig, ping, read_all};

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
