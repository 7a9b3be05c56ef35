//! Provides a server with a recording editor, and requests as text, for tests with real sockets.

#![allow(dead_code, clippy::unwrap_used, reason = "for several tests, which may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use companion_protocol::editor::{CompanionNotification, EditorNotification};
use companion_protocol::settings::Settings;
use companion_server::{Config, EditorHost, EditorRequest, Responder, Runtime, Server};
use serde_json::Value;

/// An editor that shows every diff at once, and records it.
#[derive(Default)]
pub(crate) struct Editor {
    asked: Mutex<Vec<String>>,
    when_clients_change: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl EditorHost for Editor {
    fn request(&self, request: EditorRequest, responder: Responder) {
        if let EditorRequest::OpenDiff(proposal) = request {
            self.asked.lock().unwrap().push(format!("open {}", proposal.file_path));
            responder.complete(None);
        }
    }

    fn notify(&self, notification: CompanionNotification) {
        if matches!(notification, CompanionNotification::Clients(_))
            && let Some(then) = &*self.when_clients_change.lock().unwrap()
        {
            then();
        }
    }
}

/// A server in this process, with its editor.
pub(crate) struct Rig {
    pub(crate) server: Server,
    pub(crate) editor: Arc<Editor>,
    pub(crate) runtime: Runtime,
    pub(crate) discovery: tempfile::TempDir,
}

impl Rig {
    /// Starts a server with short timeouts and small limits.
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let discovery = tempfile::tempdir().unwrap();
        let mut config = Config::new(Settings::default());
        config.discovery_dir = Some(discovery.path().to_owned());
        config.limits.body = 300_000;
        config.limits.header_timeout = Duration::from_millis(300);
        config.limits.body_timeout = Duration::from_millis(300);
        change(&mut config);
        let runtime = Runtime::start().unwrap();
        let editor = Arc::<Editor>::default();
        let host = Arc::<Editor>::clone(&editor);
        let server = Server::open(&runtime, config, host).unwrap();
        Self { server, editor, runtime, discovery }
    }

    /// Returns the requests to the editor since the last call, such as `open /a`.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.editor.asked.lock().unwrap())
    }

    /// Makes the editor call `then` on the server's thread, whenever the number of clients changes.
    pub(crate) fn when_clients_change(&self, then: impl Fn() + Send + 'static) {
        *self.editor.when_clients_change.lock().unwrap() = Some(Box::new(then));
    }

    /// Sends a notification of the editor.
    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let notification = EditorNotification::from_json(method, &params.to_string()).unwrap();
        self.server.apply(notification).unwrap();
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.server.port())).unwrap();
        let patience = if is_long() { 300 } else { 20 };
        stream.set_read_timeout(Some(Duration::from_secs(patience))).unwrap();
        stream
    }

    pub(crate) fn head(&self, request: &str, headers: &str) -> String {
        let (port, token) = (self.server.port(), self.server.token());
        format!(
            "{request} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             {headers}\r\n"
        )
    }

    pub(crate) fn post(&self, headers: &str, body: &str) -> String {
        let headers = format!("content-length: {}\r\n{headers}", body.len());
        format!("{}{body}", self.head("POST /mcp", &headers))
    }

    pub(crate) fn initialize(&self) -> String {
        let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        let reply = self.exchange(self.post("connection: close\r\n", body));
        let header = reply.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        header.unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    /// Sends a request, and reads until the server closes the connection.
    pub(crate) fn exchange(&self, request: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_ref()).unwrap();
        read_all(&mut stream)
    }

    /// Asserts that the server still answers.
    pub(crate) fn is_well(&self) {
        self.initialize();
    }
}

pub(crate) fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the end comes by FIN");
    String::from_utf8(bytes).unwrap()
}

/// Reads until `text` has arrived.
pub(crate) fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut seen = String::new();
    let mut buffer = [0; 4096];
    while !seen.contains(text) {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "closed after {seen:?}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    seen
}

/// Returns a call of a tool. `arguments` may be invalid JSON.
pub(crate) fn call(tool: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
}

pub(crate) fn ping(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// Returns whether the tests may take minutes, as with `cargo xtask test --long`.
pub(crate) fn is_long() -> bool {
    std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1")
}
