//! Tests many large bodies at once: they share a budget, and other requests don't wait for them.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use common::process::memory;
use common::{Rig, ping, read_until};

const BODIES: usize = 20;
const SIZE: usize = 16 << 20;

/// Sends a body except its end. Sends the end once `go` is set. Returns the reply.
fn send(rig: &Rig, chunked: bool, begun: &AtomicUsize, go: &AtomicBool) -> String {
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let framing = if chunked {
        "transfer-encoding: chunked\r\n".to_owned()
    } else {
        format!("content-length: {SIZE}\r\n")
    };
    let mut stream = rig.connect();
    stream.write_all(rig.head("POST /mcp", &(session + &framing)).as_bytes()).unwrap();
    let spaces = vec![b' '; 64 << 10];
    let mut message = ping(1).into_bytes();
    message.resize(spaces.len(), b' ');
    let parts = SIZE / spaces.len();
    for part in 0..parts {
        if part == parts - 1 {
            begun.fetch_add(1, SeqCst);
            while !go.load(SeqCst) {
                thread::sleep(Duration::from_millis(5));
            }
        }
        let data = if part == 0 { &message } else { &spaces };
        if chunked {
            stream.write_all(format!("{:x}\r\n", data.len()).as_bytes()).unwrap();
        }
        stream.write_all(data).unwrap();
        if chunked {
            stream.write_all(b"\r\n").unwrap();
        }
    }
    if chunked {
        stream.write_all(b"0\r\n\r\n").unwrap();
    }
    read_until(&mut stream, "\r\n\r\n")
}

#[test]
fn bodies_under_way_share_a_budget_and_hold_up_nobody_else() {
    let rig = Rig::with(|config| {
        config.limits.body = SIZE;
        config.limits.body_timeout = Duration::from_mins(1);
        config.limits.header_timeout = Duration::from_mins(1);
    });
    rig.is_well();
    let session = format!("mcp-session-id: {}\r\nconnection: close\r\n", rig.initialize());
    let before = memory();
    let (begun, go) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let bodies: Vec<_> = (0..BODIES)
            .map(|number| {
                scope.spawn({
                    let (rig, begun, go) = (&rig, &begun, &go);
                    move || send(rig, number % 2 == 0, begun, go)
                })
            })
            .collect();
        let deadline = Instant::now() + Duration::from_mins(1);
        while begun.load(SeqCst) < 2 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(5));
        }
        // A body that was read without room would have ended by now.
        for _ in 0..200 {
            rig.exchange(rig.post(&session, &ping(2)));
        }
        let read = begun.load(SeqCst);
        let megabytes = memory().saturating_sub(before) >> 10;
        go.store(true, SeqCst); // before any assertion, or the others would wait for ever
        assert_eq!(read, 2, "the others are not read");
        assert!(megabytes < 80, "{megabytes} MB");
        for body in bodies {
            let reply = body.join().unwrap();
            assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"), "{reply}");
        }
    });
}
