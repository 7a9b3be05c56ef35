//! Tests the log: where a server listens, and one line per connection of a hostile peer, without
//! its text.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

use common::{Rig, call, read_all};
use log::{Level, LevelFilter, Log, Metadata, Record};

/// All log lines except those of other libraries.
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

/// Returns the lines that were logged since the last call.
fn lines() -> Vec<(Level, String)> {
    std::mem::take(&mut *LINES.lock().unwrap())
}

/// Runs all scenarios in one test, because a process has only one log.
#[test]
fn the_log_says_what_its_reader_needs_and_nothing_else() {
    log::set_logger(&Keep).unwrap();
    log::set_max_level(LevelFilter::Trace);
    a_server_says_where_it_listens_and_where_it_does_not();
    a_peer_that_does_not_speak_http_is_one_line_at_debug_and_nothing_of_its_own();
    an_event_of_a_hook_that_is_refused_is_a_warning_without_its_text();
}

fn a_server_says_where_it_listens_and_where_it_does_not() {
    for (listen, first, warning) in [
        (
            "0.0.0.0",
            "0.0.0.0",
            "every machine that reaches this one can try to connect, and is asked the token",
        ),
        (
            "192.0.2.1",
            "127.0.0.1",
            "can't listen on 192.0.2.1: this machine has no such address at present (Docker's is there once Docker runs)",
        ),
    ] {
        let rig = Rig::with(|config| config.settings.listen = vec![listen.parse().unwrap()]);
        let Rig { server, runtime, discovery: _dir, .. } = rig;
        let listening = format!("listening on {first}:{}", server.port());
        // Stopping completes pending work, such as the search for stale files.
        server.stop();
        assert!(runtime.end(Duration::from_mins(1)));
        let entries = lines().into_iter().filter(|(level, _)| *level <= Level::Info);
        let entries: Vec<_> = entries.collect();
        assert_eq!(entries, [(Level::Info, listening), (Level::Warn, warning.to_owned())]);
    }
}

fn a_peer_that_does_not_speak_http_is_one_line_at_debug_and_nothing_of_its_own() {
    let rig = Rig::start();
    let session = rig.initialize();
    let headers = format!("mcp-session-id: {session}\r\nconnection: close\r\n");
    drop(lines());
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
        // Returns once the server has closed the connection.
        read_all(&mut stream);
    }
    let entries = lines();
    assert!(entries.len() <= broken.len(), "{entries:?}");
    assert!(entries.iter().all(|(level, _)| *level == Level::Debug), "{entries:?}");
    assert!(entries.iter().all(|(_, line)| !line.contains("secret")), "{entries:?}");

    // The log also omits the peer's text if the peer speaks HTTP, but sends no JSON-RPC or a wrong
    // request.
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
    let entries = lines();
    let own = [rig.server.token(), session.as_str(), "secret"];
    for (_, line) in &entries {
        assert!(own.iter().all(|own| !line.contains(own)), "{entries:?}");
    }
}

fn an_event_of_a_hook_that_is_refused_is_a_warning_without_its_text() {
    let rig = Rig::with(|config| config.limits.body = 1_000);
    let long = "x".repeat(300_000);
    let event = r#"{"hook_event_name":"BeforeAgent","session_id":"1","prompt":"#;
    let event = format!(r#"{{"event":{event}"{long}"}}}}"#);
    let hook = |length: usize| format!("content-length: {length}\r\nconnection: close\r\n");
    let reply = rig.exchange(rig.head("POST /hook", &hook(event.len())) + &event);
    assert!(reply.starts_with("HTTP/1.1 200 "), "the limit is for other requests: {reply}");
    drop(lines());
    rig.exchange(rig.head("POST /hook", &hook(70_000_000)));
    let why = "an event of a CLI's hook is refused: Payload too large: the limit is 67174400 bytes";
    assert!(lines().contains(&(Level::Warn, why.to_owned())));

    let event = r#"{"event":{"hook_event_name":"secret","session_id":"secret"},"ancestors":[]}"#;
    for (body, why) in
        [("secret", "the body is not a hook call"), (event, "the event is not known")]
    {
        drop(lines());
        rig.exchange(rig.post("connection: close\r\n", body).replace("POST /mcp", "POST /hook"));
        let warnings: Vec<_> =
            lines().into_iter().filter(|(level, _)| *level <= Level::Warn).collect();
        let expected = format!("an event of a CLI's hook is refused: {why}");
        assert_eq!(warnings, [(Level::Warn, expected)]);
    }
}
