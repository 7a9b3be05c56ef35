//! Fuzzes all input of an editor: some thousand lines, or a million with `COMPANION_TEST_LONG=1`.
//!
//! The server answers an invalid line with one error and changes nothing. To check that, a second
//! server gets only the lines that the first one accepted. Both must reach the same state.
//!
//! `corpus/editor` has lines that failed before. Each line of a file `invalid-…` must be refused.

mod lines;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use companion_protocol::settings::Settings;
use companion_server::{Config, Runtime, Server};
use proptest::prelude::*;
use proptest::test_runner::{Config as Trials, RngAlgorithm, TestError, TestRng, TestRunner};
use serde_json::{Value, json};

use super::{Editor, Outgoing, read};
use lines::{FOLDER, Line, line};

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/editor");

/// The number of lines for a pair of servers. With more, later lines would hide the effect of
/// earlier ones.
const LINES: usize = 100;

/// A server and its output to the editor.
struct Subject {
    server: Server,
    editor: Arc<Editor>,
    outgoing: Receiver<Outgoing>,
    session: String,
}

impl Subject {
    /// Starts a server that shows one diff.
    fn start(runtime: &Runtime, folder: &Path) -> Self {
        let mut config = Config::new(Settings::default());
        config.discovery_dir = Some(folder.join("discovery"));
        let (editor, outgoing) = Editor::new();
        let editor = Arc::new(editor);
        let host = Arc::clone(&editor);
        let server = Server::open(runtime, config, host).unwrap();
        let mut subject = Self { server, editor, outgoing, session: String::new() };
        let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {} });
        let reply = read_all(&mut subject.post(&initialize));
        let id = reply.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        subject.session = id.unwrap().to_owned();
        let arguments = json!({ "filePath": "/diff", "newContent": "" });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let mut calling = subject.post(&open);
        let asked = subject.outgoing.recv_timeout(Duration::from_secs(20)).unwrap();
        let asked: Value = serde_json::from_slice(&written(&asked)).unwrap();
        let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} });
        assert!(subject.take(answer.to_string().as_bytes()).is_empty());
        assert!(read_all(&mut calling).contains(r#""result":{"content":[]}"#));
        subject
    }

    fn request(&self, first: &str, headers: &str, body: &str) -> TcpStream {
        let (port, token) = (self.server.port(), self.server.token());
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let head = format!(
            "{first} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             connection: close\r\ncontent-length: {}\r\n{headers}\r\n",
            body.len()
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        stream
    }

    fn post(&self, body: &Value) -> TcpStream {
        let session = match &*self.session {
            "" => String::new(),
            id => format!("mcp-session-id: {id}\r\n"),
        };
        self.request("POST /mcp", &session, &body.to_string())
    }

    /// Sends lines to the server, and returns the errors that answer them.
    fn take(&self, lines: &[u8]) -> Vec<Value> {
        read(&self.server, &self.editor, lines);
        let answers = self.outgoing.try_iter().map(|outgoing| {
            let line = written(&outgoing);
            let text = line.strip_suffix(b"\n").expect("one line each");
            assert!(!text.contains(&b'\n'), "one line each");
            serde_json::from_slice::<Value>(text).expect("lines are JSON")
        });
        let errors: Vec<_> = answers.filter(|line| line.get("method").is_none()).collect();
        for error in &errors {
            assert!(error["error"]["code"].is_i64() && error["error"]["message"].is_string());
            assert!(error.get("id").is_some() && error.get("result").is_none(), "{error}");
        }
        errors
    }

    /// Returns the client's final context, without times.
    fn final_context(&self, last: &str) -> Value {
        let focus =
            json!({ "jsonrpc": "2.0", "method": "editor/focused", "params": { "path": last } });
        assert_eq!(self.take(focus.to_string().as_bytes()), [json!(null); 0]);
        let session = format!("mcp-session-id: {}\r\n", self.session);
        // Reads whole lines, because a signal may interrupt a read with a timeout. Then this loop
        // goes on.
        let mut stream = BufReader::new(self.request("GET /mcp", &session, ""));
        let mut text = String::new();
        let begun = Instant::now();
        loop {
            let count = stream.read_line(&mut text).unwrap();
            let goes_on = count > 0 && begun.elapsed() < Duration::from_mins(1);
            assert!(goes_on, "the client gets no context where {last} has the focus, but {text}");
            let complete = text.rsplit_once("\n\n").map_or("", |(complete, _)| complete);
            // A decision may follow the context.
            let newest = complete.lines().rfind(|line| line.contains("\"ide/contextUpdate\""));
            let newest = newest.map_or("null", |line| &line["data: ".len()..]);
            let mut state: Value = serde_json::from_str(newest).unwrap();
            let files = &mut state["params"]["workspaceState"]["openFiles"];
            if files[0]["path"] == last {
                for file in files.as_array_mut().unwrap() {
                    file["timestamp"].take();
                }
                let folders = &self.server.terminal_environment()["GEMINI_CLI_IDE_WORKSPACE_PATH"];
                return json!([state, folders, self.server.status().open_diffs]);
            }
        }
    }
}

fn written(outgoing: &Outgoing) -> Vec<u8> {
    let mut line = Vec::new();
    outgoing.write(&mut line).unwrap();
    line
}

fn read_all(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Sends `lines` to a server, and the accepted ones to another server.
fn try_out(runtime: &Runtime, folder: &Path, lines: &[Line]) {
    let (all, accepted) = (Subject::start(runtime, folder), Subject::start(runtime, folder));
    let mut taken = Vec::new();
    let folder = folder.to_str().unwrap();
    for line in lines {
        let text = replace(&line.text, folder);
        let errors = all.take(&text);
        assert!(errors.len() <= 1, "{line:?}: {errors:?}");
        if let Some(valid) = line.valid {
            assert_eq!(errors.is_empty(), valid, "{line:?}: {errors:?}");
        }
        if errors.is_empty() {
            taken.extend([text.as_slice(), b"\n"].concat());
        }
    }
    taken.pop();
    assert_eq!(accepted.take(&taken), [json!(null); 0], "the same lines in one go");
    let last = format!("{folder}/last");
    assert_eq!(
        all.final_context(&last),
        accepted.final_context(&last),
        "a line with an error changed something"
    );
    all.server.stop();
    accepted.server.stop();
}

fn replace(text: &[u8], folder: &str) -> Vec<u8> {
    let mut text = text.to_vec();
    while let Some(at) = text.windows(FOLDER.len()).position(|part| part == FOLDER.as_bytes()) {
        text.splice(at..at + FOLDER.len(), folder.bytes());
    }
    text
}

#[test]
fn whatever_an_editor_says_is_taken_or_answered_with_an_error_that_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("d")).unwrap();
    for name in ["a", "b", "c", "d/e", "d/f", "\u{6587}", "last"] {
        std::fs::write(dir.path().join(name), "").unwrap();
    }
    let runtime = Runtime::start().unwrap();
    for file in std::fs::read_dir(CORPUS).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        eprintln!("{}", path.display());
        let name = path.file_name().unwrap().to_string_lossy();
        let valid = name.starts_with("invalid").then_some(false);
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines: Vec<_> = lines.map(|line| Line { text: line.to_vec(), valid }).collect();
        try_out(&runtime, dir.path(), &lines);
    }
    let long = std::env::var_os("COMPANION_TEST_LONG").is_some_and(|long| long == "1");
    let cases = if long { 1_000_000 / LINES } else { 30 };
    let config = Trials {
        cases: u32::try_from(cases).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Trials::default()
    };
    let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos().to_le_bytes();
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &seed);
    let lines = prop::collection::vec(line(), LINES);
    let tried = TestRunner::new_with_rng(config, rng).run(&lines, |lines| {
        try_out(&runtime, dir.path(), &lines);
        Ok(())
    });
    if let Err(TestError::Fail(reason, lines)) = tried {
        let text: Vec<_> = lines.iter().map(|line| line.text.clone()).collect();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let file = format!("{CORPUS}/found-{:016x}.jsonl", hasher.finish());
        std::fs::write(&file, text.join(&b'\n')).unwrap();
        panic!("{reason}\nnow in {file}");
    }
    tried.unwrap();
}
