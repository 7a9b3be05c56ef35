//! Provides a server in this process, clients that write raw bytes, and resource counts of the
//! process, for tests with many clients.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "for several tests, which may panic"
)]

mod wire;

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use companion_protocol::settings::Settings;
use companion_server::{Config, EditorHost, Limits, Runtime, Server};
pub(crate) use wire::{Connection, Event, EventStream, Session, Target, answer_ping};

/// The timeout of a test. It is far above the needs of a busy machine.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

/// The window of an editor: a server in this process.
pub(crate) struct Window {
    pub(crate) server: Server,
    _runtime: Runtime,
    _dir: tempfile::TempDir,
}

impl Window {
    pub(crate) fn open(host: Arc<dyn EditorHost>, limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let workspace = vec!["/".into()];
        let mut config = Config::new(Settings { workspace, ..Settings::default() });
        config.discovery_dir = Some(dir.path().to_owned());
        config.limits = limits;
        let runtime = Runtime::start().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server::start(&runtime, listener, config, host).unwrap();
        Self { server, _runtime: runtime, _dir: dir }
    }

    /// Returns the address of the server, with its token.
    pub(crate) fn target(&self) -> Target {
        Target { port: self.server.port(), token: self.server.token().into() }
    }
}

/// Returns whether the test may take minutes, as with `cargo xtask test --long`.
pub(crate) fn long() -> bool {
    std::env::var("COMPANION_TEST_LONG").is_ok_and(|value| value == "1")
}

/// Returns the number in an environment variable.
pub(crate) fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or_else(|_| panic!("{name} is {value}, which is no number")))
}

/// Waits until `condition` holds. Panics after [`WAIT_TIMEOUT`].
pub(crate) async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = tokio::time::Instant::now() + WAIT_TIMEOUT;
    while !condition() {
        assert!(tokio::time::Instant::now() < deadline, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Reads the resources of this process from the system.
#[cfg(target_os = "linux")]
pub(crate) mod process {
    use std::fs;

    /// Returns the number of open files and sockets.
    pub(crate) fn descriptors() -> usize {
        fs::read_dir("/proc/self/fd").unwrap().count()
    }

    /// Returns whether clients have left no descriptors open, if there were `before` at the start.
    /// The server itself opens one or two later, and three for its watch of ignore files.
    pub(crate) fn are_closed(before: usize) -> bool {
        descriptors() <= before + 6
    }

    /// Returns the number of threads.
    pub(crate) fn threads() -> usize {
        fs::read_dir("/proc/self/task").unwrap().count()
    }

    /// Returns the memory in use, in KB.
    pub(crate) fn memory() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
