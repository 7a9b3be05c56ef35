//! Tests thousands of peers that connect and send almost nothing. They run in a separate process.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::print_stdout, reason = "one process of the test reports to the other")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use common::{Rig, is_long, read_until};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::json;

/// The number of peers in long tests, if the machine allows a process that many open files.
const PEERS: u64 = 10_000;

/// The most connections without the token.
const PLACES: usize = 64;

/// The variable with the server's port, for the process of the peers.
const PORT: &str = "COMPANION_TEST_PEERS_OF";

/// Returns the number of open files and sockets.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Raises the limit on open files as far as possible. Returns how many peers it allows.
fn room() -> u64 {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    let wanted = if is_long() { PEERS } else { PEERS / 10 };
    wanted.min(limit.maximum.unwrap_or(u64::MAX).saturating_sub(200))
}

#[test]
fn thousands_of_half_open_connections_take_few_descriptors_and_hold_up_nobody() {
    if let Ok(port) = std::env::var(PORT) {
        peers(port.parse().unwrap());
        return;
    }
    let count = room();
    let rig = Rig::with(|config| config.limits.header_timeout = Duration::from_mins(1));
    rig.is_well();
    let session = format!("mcp-session-id: {}\r\n", rig.initialize());
    let mut client = rig.connect();
    client.write_all(rig.head("GET /mcp", &session).as_bytes()).unwrap();
    read_until(&mut client, "ide/contextUpdate");
    let before = descriptors();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "thousands_of_half_open_connections_take_few_descriptors_and_hold_up_nobody",
        ])
        .arg("--nocapture")
        .env(PORT, rig.server.port().to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("all are there")), "the peers have ended");
    for _ in 0..100 {
        rig.is_well();
    }
    let taken = descriptors() - before;
    // Includes some pipes to the other process, and a connection that is just being closed.
    assert!(taken < PLACES + 8, "{count} connections took {taken} descriptors");
    rig.notify("workspace/trust", &json!({ "trusted": true }));
    read_until(&mut client, "isTrusted");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    for _ in 0..100 {
        rig.is_well();
    }
}

/// Connects all peers, and waits for the command to end.
fn peers(port: u16) {
    let heads =
        ["", "P", "POST /mcp HTTP/1.1\r\n", "POST /mcp HTTP/1.1\r\nx: yyyyyyyyyyyyyyyyyyyyy"];
    let peers: Vec<_> = (0..room())
        .map(|number| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            let head = heads[usize::try_from(number).unwrap() % heads.len()];
            let _ = stream.write_all(head.as_bytes()); // fails if the server evicted the connection
            stream
        })
        .collect();
    println!("all are there");
    let _ = std::io::stdin().read_line(&mut String::new());
    drop(peers);
}
