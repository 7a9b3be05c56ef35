//! Tests peers that send bodies slowly.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use crate::common::Rig;

/// Writes a space every 20 ms until the server closes. Returns whether the server sent a reply.
fn drip(rig: &Rig, begun: &str) -> bool {
    let mut stream = rig.connect();
    stream.write_all(begun.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut is_answered = false;
    while stream.write_all(b" ").is_ok() {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => break,
            Ok(_) => is_answered = true,
            Err(_pause) => {}
        }
    }
    is_answered
}

#[test]
fn slow_bodies_are_let_go_and_hold_up_nobody() {
    let rig = Rig::with(|config| config.limits.body_total = Duration::from_secs(1));
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let length = rig.head("POST /mcp", &format!("{session}content-length: 100000\r\n"));
    let chunks = rig.head("POST /mcp", &format!("{session}transfer-encoding: chunked\r\n"));
    let chunks = format!("{chunks}186a0\r\n");
    let stranger = length.replace("Bearer ", "Bearer x");
    let begun = [length.as_str(), &chunks, &stranger].repeat(15);
    thread::scope(|scope| {
        let peers: Vec<_> = begun.iter().map(|begun| scope.spawn(|| drip(&rig, begun))).collect();
        for _ in 0..20 {
            rig.is_well();
        }
        for peer in peers {
            // No pause is too long, but all bodies take too long in total.
            assert!(peer.join().unwrap(), "who asks gets an answer");
        }
    });
    rig.is_well();
}
