//! Tests that nothing stays when many peers leave: a thousand clients, and a hundred calls that wait
//! for the editor. `e2e/tests/load.test.mjs` tests a lack of file descriptors.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

mod common;

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use common::{Rig, call, process, read_until, until};
use companion_server::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use socket2::SockRef;

const CLIENTS: usize = 1000;
const CALLS: usize = 100;

/// A server with one open file.
struct Window {
    rig: Rig,
    file: tempfile::NamedTempFile,
}

impl Window {
    fn open() -> Self {
        allow_descriptors();
        let rig = Rig::with(|config| {
            config.limits = Limits::default();
            config.settings.workspace = vec!["/".into()];
            config.limits.core.host_timeout = Duration::from_mins(10);
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        rig.notify("editor/focused", &json!({ "path": file.path() }));
        Self { rig, file }
    }
}

/// Raises the limit on descriptors: this process has both ends of every connection.
fn allow_descriptors() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let needed = 2 * CLIENTS as u64 + 1000;
    if current.is_some_and(|current| current < needed) {
        assert!(maximum.is_none_or(|maximum| maximum >= needed), "ulimit -Hn is below {needed}");
        setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum }).unwrap();
    }
}

/// Opens the stream of a new session.
fn listen(rig: &Rig) -> TcpStream {
    let session = rig.initialize();
    let mut stream = rig.connect();
    let headers = format!("mcp-session-id: {session}\r\naccept: text/event-stream\r\n");
    stream.write_all(rig.head("GET /mcp", &headers).as_bytes()).unwrap();
    stream
}

/// Returns the bytes of an `openDiff`.
fn propose(rig: &Rig, session: &str, path: &str, text: &str) -> String {
    let arguments = json!({ "filePath": path, "newContent": text }).to_string();
    rig.post(&format!("mcp-session-id: {session}\r\n"), &call("openDiff", &arguments))
}

const OPENED: &str = r#""result":{"content":[]}}"#;

/// The resources of the process that must not grow.
#[derive(Debug)]
struct Holdings {
    descriptors: usize,
    threads: usize,
}

impl Holdings {
    fn now() -> Self {
        Self { descriptors: process::descriptors(), threads: process::threads() }
    }

    /// Waits until no more resources are used than before.
    fn are_back(&self, window: &Window) {
        until("all connections and calls have ended", || window.rig.server.status().tasks == 0);
        until("all sockets are closed", || process::are_closed(self.descriptors));
        // Idle disk threads end after 10 s. The thread that watches ignore files stays.
        let threads = process::threads();
        assert!(threads <= self.threads + 5, "{threads} threads, before {self:?}");
    }
}

#[test]
fn a_thousand_clients_leave_nothing_behind() {
    let window = Window::open();
    let rig = &window.rig;
    let before = Holdings::now();
    let mut streams: Vec<_> = (0..CLIENTS).map(|_| listen(rig)).collect();
    until("all are connected", || rig.server.status().clis.len() == CLIENTS);

    // These calls wait for the editor; half of the callers do not wait.
    let mut calls = Vec::new();
    for number in 0..CALLS {
        let mut connection = rig.connect();
        let request = propose(rig, &rig.initialize(), &format!("/held/{number}"), "text");
        connection.write_all(request.as_bytes()).unwrap();
        calls.push(connection);
    }
    until("all calls wait", || rig.editor.held() == CALLS);
    calls.truncate(CALLS / 2);
    rig.editor.release();
    for call in &mut calls {
        read_until(call, OPENED);
    }
    drop(calls);
    // No client has read until now. Each receives the newest context in the end.
    let caret = json!({ "path": window.file.path(), "line": 7, "character": 7 });
    rig.notify("editor/cursor", &caret);
    for stream in &mut streams {
        read_until(stream, r#""cursor":{"line":7,"#);
    }
    for stream in streams.iter().step_by(2) {
        SockRef::from(stream).set_linger(Some(Duration::ZERO)).unwrap();
    }
    drop(streams);
    before.are_back(&window);
    rig.is_well();
}
