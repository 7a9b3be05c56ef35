//! What a hostile peer can write into the log: one line for each connection, in our words.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;
use std::sync::Mutex;

use common::{Rig, call, read_all};
use log::{Level, LevelFilter, Log, Metadata, Record};

/// All lines but those of other libraries.
static LINES: Mutex<Vec<(Level, String)>> = Mutex::new(Vec::new());

struct Keep;

impl Log for Keep {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("companion")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            LINES.lock().unwrap().push((record.level(), record.args().to_string()));
        }
    }

    fn flush(&self) {}
}

#[test]
fn a_peer_that_does_not_speak_http_is_one_line_at_debug_and_nothing_of_its_own() {
    log::set_logger(&Keep).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let rig = Rig::start();
    let session = rig.initialize();
    let headers = format!("mcp-session-id: {session}\r\nconnection: close\r\n");
    LINES.lock().unwrap().clear();
    let broken: [&[u8]; 6] = [
        b"secret\r\n\r\n",
        b"\0\0\0\0secret",
        b"GET /secret HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nsecret\r\n\r\n",
        b"\x16\x03\x01secret",
        b"PRI * HTTP/2.0\r\n\r\nsecret",
    ];
    for bytes in broken {
        let mut stream = rig.connect();
        stream.write_all(bytes).unwrap();
        // Its connection is closed, which ends this.
        read_all(&mut stream);
    }
    let lines = std::mem::take(&mut *LINES.lock().unwrap());
    assert!(lines.len() <= broken.len(), "{lines:?}");
    assert!(lines.iter().all(|(level, _)| *level == Level::Debug), "{lines:?}");
    assert!(lines.iter().all(|(_, line)| !line.contains("secret")), "{lines:?}");

    // Nor is there anything of it in the log when it speaks HTTP, but no JSON-RPC, or asks wrongly.
    for body in [
        "secret",
        r#"{"jsonrpc":"2.0","id":"secret","method":"secret"}"#,
        &call("openDiff", r#"{"filePath":"/secret\u0000","newContent":"secret"}"#),
        &call("openDiff", r#"{"filePath":"/secret","newContent":"secret"}"#),
        &call("secret", "{}"),
    ] {
        rig.exchange(rig.post(&headers, body));
        rig.exchange(rig.post(&headers, body).replace("Bearer ", "Bearer secret"));
    }
    let lines = std::mem::take(&mut *LINES.lock().unwrap());
    let own = [rig.server.token(), session.as_str(), "secret"];
    for (_, line) in &lines {
        assert!(own.iter().all(|own| !line.contains(own)), "{lines:?}");
    }
}
