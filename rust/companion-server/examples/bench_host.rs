//! Runs a server with a scripted editor, for measurements from outside (see docs/contributing/benchmarks.md).
//!
//! It speaks driver protocol v1, JSON lines on stdin and stdout. First it writes
//! `{"ready":{"port":1234,"token":"…","start_us":321}}`. Then it takes these events:
//!
//! - `{"id":1,"ev":"focus","path":"/p"}`
//! - `{"id":2,"ev":"caret","path":"/p","line":7}`
//! - `{"id":3,"ev":"accept","path":"/p"}`
//! - `{"id":4,"ev":"reject","path":"/p"}`
//! - `{"id":5,"ev":"storm","path":"/p","count":100000,"ms":2000}`
//!
//! It answers each event with `{"ack":<id>,"t":<CLOCK_MONOTONIC in ns when the event was read>}`.
//!
//! The scripted editor opens each diff at once, and keeps it until its decision.

#![expect(clippy::print_stdout, reason = "stdout is the protocol")]

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    unix::main()
}

#[cfg(not(unix))]
fn main() {
    println!("the harness runs on Linux only");
}

#[cfg(unix)]
mod unix {
    use std::collections::HashMap;
    use std::fs::OpenOptions;
    use std::io::{self, BufRead};
    use std::sync::{Arc, Mutex};
    use std::thread::sleep;
    use std::time::{Duration, Instant};

    use companion_protocol::editor::{
        AcceptedDiff, CompanionNotification, CursorMoved, EditorNotification, FilePath,
        RejectedDiff,
    };
    use companion_protocol::ide::Position;
    use companion_protocol::settings::Settings;
    use companion_server::{
        Config, EditorHost, EditorRequest, Proposal, Responder, Runtime, Server,
    };
    use rustix::time::{ClockId, clock_gettime};
    use serde::Deserialize;

    /// Shows every diff at once.
    #[derive(Default)]
    struct Script {
        proposals: Mutex<HashMap<String, String>>,
    }

    impl Script {
        fn take(&self, path: &str) -> Option<String> {
            self.proposals.lock().expect("no holder panics").remove(path)
        }
    }

    impl EditorHost for Script {
        fn request(&self, request: EditorRequest, responder: Responder) {
            let text = match request {
                EditorRequest::OpenDiff(Proposal { file_path, new_content, .. }) => {
                    self.proposals.lock().expect("no holder panics").insert(file_path, new_content);
                    None
                }
                EditorRequest::CloseDiff(close) => self.take(&close.file_path),
                _ => None,
            };
            responder.complete(text);
        }

        fn notify(&self, _: CompanionNotification) {}
    }

    #[derive(Deserialize)]
    struct Event {
        id: Option<u64>,
        ev: String,
        #[serde(default)]
        path: String,
        #[serde(default)]
        line: u32,
        #[serde(default)]
        count: u32,
        #[serde(default)]
        ms: u32,
    }

    pub(super) fn main() -> io::Result<()> {
        let begun = Instant::now();
        let runtime = Runtime::start()?;
        let workspace = vec!["/tmp/mcpbench".into()];
        let config = Config::new(Settings { workspace, ..Settings::default() });
        let script = Arc::new(Script::default());
        let server = Server::open(&runtime, config, script.clone())?;
        println!(
            r#"{{"ready":{{"port":{},"token":"{}","start_us":{}}}}}"#,
            server.port(),
            server.token(),
            begun.elapsed().as_micros()
        );
        for line in io::stdin().lock().lines() {
            let line = line?;
            let taken = monotonic_ns();
            let Ok(event) = serde_json::from_str::<Event>(&line) else { continue };
            take(&server, &script, &event)?;
            if let Some(id) = event.id {
                println!(r#"{{"ack":{id},"t":{taken}}}"#);
            }
        }
        server.stop();
        Ok(())
    }

    fn take(server: &Server, script: &Script, event: &Event) -> io::Result<()> {
        let path = event.path.clone();
        let notification = match event.ev.as_str() {
            "focus" => {
                // The server sends the client only files that exist.
                OpenOptions::new().create(true).append(true).open(&path)?;
                EditorNotification::Focused(FilePath { path })
            }
            "caret" => caret(path, event.line),
            "accept" => {
                let content = script.take(&path).unwrap_or_default();
                EditorNotification::DiffAccepted(AcceptedDiff { file_path: path, content })
            }
            "reject" => {
                script.take(&path);
                EditorNotification::DiffRejected(RejectedDiff { file_path: path, reason: None })
            }
            "storm" => return storm(server, &path, event.count, event.ms),
            _ => return Ok(()),
        };
        apply(server, notification)
    }

    /// Moves the caret `count` times in `ms` milliseconds, spread over ticks of 10 ms.
    fn storm(server: &Server, path: &str, count: u32, ms: u32) -> io::Result<()> {
        let begun = Instant::now();
        let ticks = ms / 10;
        let mut line = 0;
        for tick in 1..=ticks {
            for _ in 0..count / ticks {
                line += 1;
                apply(server, caret(path.to_owned(), line))?;
            }
            sleep(Duration::from_millis(u64::from(tick) * 10).saturating_sub(begun.elapsed()));
        }
        Ok(())
    }

    fn caret(path: String, line: u32) -> EditorNotification {
        let cursor = Position::new(line.max(1), 1).expect("neither is 0");
        EditorNotification::Cursor(CursorMoved { path, cursor })
    }

    fn apply(server: &Server, notification: EditorNotification) -> io::Result<()> {
        server.apply(notification).map_err(|error| io::Error::other(error.message))?;
        Ok(())
    }

    fn monotonic_ns() -> i64 {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec * 1_000_000_000 + now.tv_nsec
    }
}
