//! Tests peers that send slowly.

use std::io::{Read, Write};
use std::thread;
use std::time::Duration;

use crate::common::Rig;

/// Writes a byte every 20 ms until the server closes. Returns whether the server sent a reply.
fn drip(rig: &Rig, begun: &str, byte: u8) -> bool {
    let mut stream = rig.connect();
    stream.write_all(begun.as_bytes()).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut is_answered = false;
    while stream.write_all(&[byte]).is_ok() {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => break,
            Ok(_) => is_answered = true,
            Err(_pause) => {}
        }
    }
    is_answered
}

/// Starts these peers at once, while a client is served. Returns which of them received a reply.
fn drip_all(rig: &Rig, begun: &[&str], byte: u8) -> Vec<bool> {
    thread::scope(|scope| {
        let peers: Vec<_> =
            begun.iter().map(|begun| scope.spawn(|| drip(rig, begun, byte))).collect();
        for _ in 0..20 {
            rig.is_well();
        }
        peers.into_iter().map(|peer| peer.join().unwrap()).collect()
    })
}

#[test]
fn slow_heads_are_let_go_and_hold_up_nobody() {
    let rig = Rig::start();
    let begun = ["", "POST", "POST /mcp HTTP/1.1\r\nx: "].repeat(20);
    let replies = drip_all(&rig, &begun, b'x');
    assert_eq!(replies, [false; 60], "who does not ask gets no answer");
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
    // No pause is too long, but all bodies take too long in total.
    assert_eq!(drip_all(&rig, &begun, b' '), [true; 45], "who asks gets an answer");
    rig.is_well();
}
