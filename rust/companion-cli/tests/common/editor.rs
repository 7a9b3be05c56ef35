//! Simulates an editor with `serve --resume`, and a client that writes raw HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::program;

pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(1);

/// An editor and its companion.
pub(crate) struct Editor {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) serve: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: BufReader<ChildStdout>,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Editor {
    pub(crate) fn start(dir: tempfile::TempDir) -> Self {
        Self::start_with(dir, &[])
    }

    pub(crate) fn start_with(dir: tempfile::TempDir, options: &[&str]) -> Self {
        let mut serve = program(dir.path())
            .args(["serve", "--resume", "--workspace"])
            .arg(dir.path())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = serve.stdin.take().unwrap();
        let mut stdout = BufReader::new(serve.stdout.take().unwrap());
        let ready = next_line(&mut stdout)["params"].take();
        let port = u16::try_from(ready["port"].as_u64().unwrap()).unwrap();
        let token = ready["authToken"].as_str().unwrap().to_owned();
        Self { dir, serve, stdin, stdout, port, token }
    }

    /// Kills the companion, and waits until it is gone.
    pub(crate) fn kill(mut self) -> tempfile::TempDir {
        self.serve.kill().unwrap();
        self.serve.wait().unwrap();
        self.dir
    }

    pub(crate) fn say(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Shows a client's proposal.
    pub(crate) fn show(&mut self) {
        let request = loop {
            let message = next_line(&mut self.stdout);
            if message["method"] == "diff/open" {
                break message;
            }
        };
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": {} }));
    }

    pub(crate) fn send(&self, method: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(TEST_TIMEOUT)).unwrap();
        let (port, token, length) = (self.port, &self.token, body.len());
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        BufReader::new(stream)
    }

    pub(crate) fn connect(&self) -> String {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} });
        let mut reply = String::new();
        self.send("POST", "", &request.to_string()).read_to_string(&mut reply).unwrap();
        let id = reply.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        id.unwrap().to_owned()
    }

    /// Calls a tool. Returns the connection, for the reply.
    pub(crate) fn call(
        &self,
        session: &str,
        tool: &str,
        arguments: &Value,
    ) -> BufReader<TcpStream> {
        let params = json!({ "name": tool, "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.send("POST", &format!("mcp-session-id: {session}\r\n"), &call.to_string())
    }

    /// Opens a diff, and returns once the client knows that it is open.
    pub(crate) fn propose(&mut self, session: &str, path: &str) {
        let arguments = json!({ "filePath": path, "newContent": "proposal" });
        let mut reply = self.call(session, "openDiff", &arguments);
        self.show();
        let mut text = String::new();
        reply.read_to_string(&mut text).unwrap();
        assert!(text.contains(r#""content":[]"#), "{text}");
    }

    /// Returns the peak memory of the companion, in bytes.
    pub(crate) fn peak_memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.serve.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }
}

pub(crate) fn next_line(stdout: &mut impl BufRead) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

pub(crate) fn new_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tmp")).unwrap();
    dir
}
