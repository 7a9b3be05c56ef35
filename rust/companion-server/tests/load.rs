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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use common::wire::{Connection, EventStream, Session};
use common::{Rig, is_long, process, until, variable};
use companion_protocol::editor::{CursorMoved, EditorNotification};
use companion_protocol::ide::Position;
use companion_server::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

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

/// Calls openDiff about every millisecond, alternately without and with a storm, and reports the
/// durations.
async fn report_calls(window: &Window, storm: impl Fn()) -> String {
    let mut session = Session::initialize(&window.rig.target()).await.unwrap();
    let arguments = json!({ "filePath": "/p/measured", "newContent": "line\n".repeat(400) });
    let mut phases = [Times::default(), Times::default()];
    for turn in 0..6 {
        let end_storm = (turn % 2 == 1).then(|| window.storm());
        let until = Instant::now() + storm_seconds() / 3;
        while Instant::now() < until {
            if turn % 2 == 1 {
                storm();
            }
            let called = Instant::now();
            let result = session.call("openDiff", &arguments).await.unwrap();
            phases[turn % 2].0.push(called.elapsed().as_secs_f64() * 1e6);
            assert_eq!(result, json!({ "content": [] }));
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
    async fn are_back(&self, window: &Window) {
        until("all connections and calls have ended", || window.rig.server.status().tasks == 0)
            .await;
        until("all sockets are closed", || process::are_closed(self.descriptors)).await;
        // Idle disk threads end after 10 s. The thread that watches ignore files stays.
        let threads = process::threads();
        assert!(threads <= self.threads + 5, "{threads} threads, before {self:?}");
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn a_thousand_clients_and_a_storm_leave_nothing_behind() {
    let window = Window::open();
    block_on(async {
        let target = window.rig.target();
        let before = Holdings::now();
        let empty = process::memory();
        let mut clients = Vec::new();
        for _ in 0..CLIENTS {
            let mut session = Session::initialize(&target).await.unwrap();
            session.hang_up();
            let stream = EventStream::open(&target, &session.id, None).await.unwrap();
            clients.push((session, stream.unwrap()));
        }
        until("all are connected", || window.rig.server.status().connected == CLIENTS).await;

        // These calls wait for the editor; half of the callers do not wait.
        let mut calls = Vec::new();
        for (number, (session, _)) in clients.iter_mut().take(CALLS).enumerate() {
            let path = format!("/held/{number}");
            let arguments = json!({ "filePath": path, "newContent": "text" });
            let request = session.call_request("openDiff", &arguments);
            let mut connection = Connection::open(&target).await.unwrap();
            connection.send(request.as_bytes()).await.unwrap();
            calls.push((path, connection));
        }
        until("all calls wait", || window.rig.editor.held() == CALLS).await;
        calls.truncate(CALLS / 2);
        let full = process::memory();

        let times = report_calls(&window, || {}).await;
        let stormed = process::memory();
        println!(
            "{times}memory {empty} KB, with {CLIENTS} clients {full} KB, after the storm {stormed} KB"
        );
        assert!(stormed < full + 16 * 1024, "a storm of {full} to {stormed} KB");

        window.rig.editor.release();
        for (path, call) in &mut calls {
            assert_eq!(
                call.response().await.unwrap()["result"],
                json!({ "content": [] }),
                "{path}"
            );
        }
        drop(calls);
        // No client has read until now. Each receives the newest context in the end.
        let caret = json!({ "path": window.file.path(), "line": 7, "character": 7 });
        window.rig.notify("editor/cursor", &caret);
        for (_, stream) in &mut clients {
            while stream.next().await.unwrap().unwrap().message["params"]["workspaceState"]["openFiles"]
                [0]["cursor"]["line"]
                != 7
            {}
        }
        for (number, (_, stream)) in clients.into_iter().enumerate() {
            if number % 2 == 0 {
                stream.connection.end_by_rst();
            }
        }
        before.are_back(&window).await;
        Session::initialize(&target).await.unwrap();
    });
}

#[test]
#[expect(clippy::print_stdout, reason = "the report")]
fn clients_that_read_nothing_hold_no_memory_and_disturb_nobody() {
    let window = Window::open();
    block_on(async {
        let target = window.rig.target();
        let before = Holdings::now();
        let mut deaf = Vec::new();
        for _ in 0..8 {
            let session = Session::initialize(&target).await.unwrap();
            let stream = EventStream::open(&target, &session.id, None).await.unwrap().unwrap();
            stream.connection.hold_little();
            deaf.push((session, stream));
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
        })
        .await;
        let stormed = process::memory();
        println!("{times}memory {full} KB, after the storm {stormed} KB");
        assert!(stormed < full + 16 * 1024, "they hold {full} to {stormed} KB");
        drop(deaf);
        before.are_back(&window).await;
    });
}
