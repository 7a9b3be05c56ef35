//! Tests many peers at once, their effect on others, and that nothing stays when they leave: a
//! thousand clients, a hundred calls that wait for the editor, a storm of events, and clients that
//! do not read.
//!
//! A storm takes 3 s, with `COMPANION_TEST_LONG=1` 60 s; `COMPANION_STORM_SECONDS` changes that.
//! Durations of calls are reported, not asserted; docs/contributing/benchmarks.md describes the method.
//! `e2e/tests/load.test.mjs` tests a lack of file descriptors.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

mod common;

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use common::{Rig, call, is_long, process, read_until, until, variable};
use companion_protocol::editor::{CursorMoved, EditorNotification};
use companion_protocol::ide::Position;
use companion_server::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use socket2::SockRef;

const CLIENTS: usize = 1000;
const CALLS: usize = 100;
const EVENTS_PER_SECOND: u32 = 50_000;

/// A server with one open file. Only one exists at a time, because it counts the descriptors of the
/// process.
struct Window {
    rig: Rig,
    file: tempfile::NamedTempFile,
    _alone: MutexGuard<'static, ()>,
}

impl Window {
    fn open() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        allow_descriptors();
        let rig = Rig::with(|config| {
            config.limits = Limits::default();
            config.settings.workspace = vec!["/".into()];
            config.limits.core.host_timeout = Duration::from_mins(10);
        });
        let file = tempfile::NamedTempFile::new().unwrap();
        rig.notify("editor/focused", &json!({ "path": file.path() }));
        Self { rig, file, _alone: alone }
    }

    /// Moves the caret this often per second, until stopped.
    fn storm(&self) -> impl FnOnce() -> u32 + use<> {
        let server = self.rig.server.clone();
        let path = self.file.path().to_str().unwrap().to_owned();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let storm = thread::spawn(move || {
            let begun = Instant::now();
            let mut events = 0;
            while !stopped.load(Ordering::Relaxed) {
                let millis = u32::try_from(begun.elapsed().as_millis()).unwrap();
                while events < millis * (EVENTS_PER_SECOND / 1000) {
                    events += 1;
                    let (path, cursor) = (path.clone(), Position::new(events, 1).unwrap());
                    server.apply(EditorNotification::Cursor(CursorMoved { path, cursor })).unwrap();
                }
                thread::sleep(Duration::from_millis(2));
            }
            events
        });
        move || {
            stop.store(true, Ordering::Relaxed);
            storm.join().unwrap()
        }
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

fn storm_seconds() -> Duration {
    let seconds = variable("COMPANION_STORM_SECONDS").unwrap_or(if is_long() { 60 } else { 3 });
    Duration::from_secs(seconds)
}

/// Durations of calls, in microseconds.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn percentile(&mut self, percent: usize) -> f64 {
        self.0.sort_by(f64::total_cmp);
        self.0[(self.0.len() - 1) * percent / 100]
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

/// Calls openDiff about every millisecond, alternately without and with a storm, and reports the
/// durations.
fn report_calls(window: &Window, storm: impl Fn()) -> String {
    let session = window.rig.initialize();
    let request = propose(&window.rig, &session, "/p/measured", &"line\n".repeat(400));
    let mut connection = window.rig.connect();
    let mut phases = [Times::default(), Times::default()];
    for turn in 0..6 {
        let end_storm = (turn % 2 == 1).then(|| window.storm());
        let until = Instant::now() + storm_seconds() / 3;
        while Instant::now() < until {
            if turn % 2 == 1 {
                storm();
            }
            let called = Instant::now();
            connection.write_all(request.as_bytes()).unwrap();
            read_until(&mut connection, OPENED);
            phases[turn % 2].0.push(called.elapsed().as_secs_f64() * 1e6);
            thread::sleep(Duration::from_millis(1));
        }
        if let Some(end_storm) = end_storm {
            let events = end_storm();
            assert!(events > 1000, "{events} events are no storm");
        }
    }
    let [quiet, stormy] = &mut phases;
    let mut report = String::new();
    for percent in [50, 99] {
        let (quiet, stormy) = (quiet.percentile(percent), stormy.percentile(percent));
        let ratio = stormy / quiet;
        write!(
            report,
            "p{percent} of a call {quiet:.0} µs, in the storm {stormy:.0} µs: {ratio:.1}; "
        )
        .unwrap();
    }
    report
}

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
#[expect(clippy::print_stdout, reason = "the report")]
fn a_thousand_clients_and_a_storm_leave_nothing_behind() {
    let window = Window::open();
    let rig = &window.rig;
    let before = Holdings::now();
    let empty = process::memory();
    let mut streams: Vec<_> = (0..CLIENTS).map(|_| listen(rig)).collect();
    until("all are connected", || rig.server.status().connected == CLIENTS);

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
    let full = process::memory();

    let times = report_calls(&window, || {});
    let stormed = process::memory();
    println!(
        "{times}memory {empty} KB, with {CLIENTS} clients {full} KB, after the storm {stormed} KB"
    );
    assert!(stormed < full + 16 * 1024, "a storm of {full} to {stormed} KB");

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

#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn clients_that_read_nothing_hold_no_memory_and_disturb_nobody() {
    let window = Window::open();
    let before = Holdings::now();
    let deaf: Vec<_> = (0..8).map(|_| listen(&window.rig)).collect();
    for stream in &deaf {
        // The system buffers as little unread data as possible.
        SockRef::from(stream).set_recv_buffer_size(1).unwrap();
    }
    // The largest possible context has 48 KB. Four are sent in a second.
    let selections = ["文".repeat(16_384), "字".repeat(16_384)];
    let path = window.file.path();
    let selected = Cell::new(0);
    let full = process::memory();
    let times = report_calls(&window, || {
        selected.set(selected.get() + 1);
        let text = &selections[selected.get() % 2];
        window.rig.notify("editor/selection", &json!({ "path": path, "text": text }));
    });
    let stormed = process::memory();
    println!("{times}memory {full} KB, after the storm {stormed} KB");
    assert!(stormed < full + 16 * 1024, "they hold {full} to {stormed} KB");
    drop(deaf);
    before.are_back(&window);
}
