//! Tests the log on stderr, as an editor receives it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use common::editor::TEST_TIMEOUT;
use common::{first_line, program};

#[test]
fn a_log_that_nobody_reads_holds_up_nobody_and_counts_what_it_drops() {
    let dir = tempfile::tempdir().unwrap();
    let mut serve = program(dir.path())
        .args(["--log-level", "debug", "serve", "--workspace"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ready = first_line(&mut serve);
    let port = u16::try_from(ready["params"]["port"].as_u64().unwrap()).unwrap();
    // Each of these writes one log line. A pipe holds a few hundred lines.
    for _ in 0..4000 {
        let mut peer = TcpStream::connect(("127.0.0.1", port)).unwrap();
        peer.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        peer.write_all(b"no request\r\n\r\n").unwrap();
        peer.read_to_end(&mut Vec::new()).expect("the server answers");
    }
    let log = BufReader::new(serve.stderr.take().unwrap()).lines().map(Result::unwrap);
    let dropped = log.into_iter().find(|line| line.contains("lines of the log were dropped"));
    assert!(dropped.is_some());
    drop(serve.stdin.take());
    serve.wait().unwrap();
}
