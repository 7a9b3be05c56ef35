//! A `serve --resume` that is killed, and the next one: what a client hears of the user's decisions.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant, SystemTime};

use common::program;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_mins(1);

/// An editor whose companion comes and goes.
struct Editor {
    dir: tempfile::TempDir,
    serve: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    port: u16,
    token: String,
}

impl Editor {
    fn start(dir: tempfile::TempDir) -> Self {
        let mut serve = program(dir.path())
            .args(["serve", "--resume", "--workspace"])
            .arg(dir.path())
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
    fn kill(mut self) -> tempfile::TempDir {
        self.serve.kill().unwrap();
        self.serve.wait().unwrap();
        self.dir
    }

    fn restart(self) -> Self {
        Self::start(self.kill())
    }

    fn say(&mut self, message: &Value) {
        self.stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn accept(&mut self, path: &str, content: &str) {
        let params = json!({ "filePath": path, "content": content });
        self.say(&json!({ "jsonrpc": "2.0", "method": "diff/accepted", "params": params }));
    }

    /// Shows what a client proposes.
    fn show(&mut self) {
        let request = loop {
            let message = next_line(&mut self.stdout);
            if message["method"] == "diff/open" {
                break message;
            }
        };
        self.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": {} }));
    }

    fn send(&self, method: &str, headers: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (port, token, length) = (self.port, &self.token, body.len());
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        BufReader::new(stream)
    }

    fn connect(&self) -> String {
        let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} });
        let mut reply = String::new();
        self.send("POST", "", &request.to_string()).read_to_string(&mut reply).unwrap();
        let id = reply.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        id.unwrap().to_owned()
    }

    /// Opens a diff, and returns once the client has heard that it is open.
    fn propose(&mut self, session: &str, path: &str) {
        let arguments = json!({ "filePath": path, "newContent": "proposal" });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut reply = self.send("POST", &of(session), &call.to_string());
        self.show();
        let mut text = String::new();
        reply.read_to_string(&mut text).unwrap();
        assert!(text.contains(r#""content":[]"#), "{text}");
    }

    fn listen(&self, session: &str, last: Option<&str>) -> Stream {
        let last = last.map(|id| format!("last-event-id: {id}\r\n")).unwrap_or_default();
        Stream { reader: self.send("GET", &(of(session) + &last), ""), last: String::new() }
    }

    /// What the next process will find.
    fn state(&self) -> PathBuf {
        let dir = self.dir.path().join(".local/state/companion-for-gemini-cli/resume");
        let files = std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
        files.into_iter().find(|file| file.extension().is_some_and(|e| e == "jsonl")).unwrap()
    }

    fn until_state(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !holds(&std::fs::read_to_string(self.state()).unwrap()) {
            assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn of(session: &str) -> String {
    format!("mcp-session-id: {session}\r\n")
}

fn next_line(stdout: &mut impl BufRead) -> Value {
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

/// A client's stream.
struct Stream {
    reader: BufReader<TcpStream>,
    /// The newest event id.
    last: String,
}

impl Stream {
    fn next(&mut self) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.reader.read_line(&mut line).unwrap(), 0, "the stream has ended");
            if let Some(id) = line.strip_prefix("id: ") {
                id.trim_end().clone_into(&mut self.last);
            } else if let Some(data) = line.strip_prefix("data: ").filter(|data| *data != "\n") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// The next decision: its method, and what belongs to it.
    fn decision(&mut self) -> (String, Value) {
        loop {
            let mut message = self.next();
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            if method.starts_with("ide/diff") {
                return (method, message["params"].take());
            }
        }
    }
}

/// Its first decision is about `path`, so nothing else was told before.
fn assert_next_is_rejected(editor: &Editor, session: &str, last: Option<&str>, path: &str) {
    let told = editor.listen(session, last).decision();
    assert_eq!(told, ("ide/diffRejected".to_owned(), json!({ "filePath": path })));
}

fn new_dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tmp")).unwrap();
    dir
}

fn accepted(content: &str) -> (String, Value) {
    ("ide/diffAccepted".to_owned(), json!({ "filePath": "/a", "content": content }))
}

#[test]
fn a_diff_that_was_open_is_rejected() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    editor.propose(&session, "/open");
    let editor = editor.restart();
    assert_next_is_rejected(&editor, &session, None, "/open");
    editor.kill();
}

#[test]
fn a_text_that_the_client_could_not_be_told_is_told_until_it_has_arrived_and_then_no_more() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    editor.propose(&session, "/a");
    editor.accept("/a", "the user’s text");
    editor.until_state("it is saved", |state| state.contains("the user’s text"));

    // Once without an answer to the ping behind it, and once with.
    let mut editor = editor.restart();
    assert_eq!(editor.listen(&session, None).decision(), accepted("the user’s text"));
    editor = editor.restart();
    let mut stream = editor.listen(&session, None);
    assert_eq!(stream.decision(), accepted("the user’s text"));
    let ping = stream.next();
    assert_eq!(ping["method"], "ping");
    let answer = json!({ "jsonrpc": "2.0", "id": ping["id"], "result": {} });
    editor.send("POST", &of(&session), &answer.to_string()).read_to_end(&mut Vec::new()).unwrap();
    editor.until_state("it is gone", |state| !state.contains("the user’s text"));

    editor.propose(&session, "/open");
    editor = editor.restart();
    assert_next_is_rejected(&editor, &session, None, "/open");
    editor.kill();
}

#[test]
fn what_a_client_says_to_have_got_from_the_killed_one_is_not_told_again() {
    let mut editor = Editor::start(new_dir());
    let session = editor.connect();
    let mut stream = editor.listen(&session, None);
    editor.propose(&session, "/a");
    editor.accept("/a", "the user’s text");
    assert_eq!(stream.decision(), accepted("the user’s text"));
    // Asked again about the same file, by which an old decision would be taken for the new one.
    editor.propose(&session, "/a");
    let editor = editor.restart();
    assert_next_is_rejected(&editor, &session, Some(&stream.last), "/a");
    editor.kill();
}

#[test]
fn one_that_was_killed_long_ago_is_another_one() {
    let editor = Editor::start(new_dir());
    let session = editor.connect();
    let (token, state) = (editor.token.clone(), editor.state());
    let dir = editor.kill();
    let file = File::options().append(true).open(state).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(301)).unwrap();
    let editor = Editor::start(dir);
    assert_ne!(editor.token, token);
    let mut reply = String::new();
    editor.send("GET", &of(&session), "").read_line(&mut reply).unwrap();
    assert!(reply.contains("404"), "{reply}");
    editor.kill();
}
