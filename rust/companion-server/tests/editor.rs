//! Tests editor notifications, and the server's notifications to the editor.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::SystemTime;

use common::{Rig, call};
use companion_protocol::dialect;
use serde_json::{Value, json};

/// The stream of a new client.
struct Client {
    session: String,
    lines: Lines<BufReader<TcpStream>>,
}

impl Client {
    fn of(rig: &Rig) -> Self {
        let session = format!("mcp-session-id: {}\r\n", rig.initialize());
        let mut stream = rig.connect();
        let headers = format!("{session}accept: text/event-stream\r\n");
        stream.write_all(rig.head("GET /mcp", &headers).as_bytes()).unwrap();
        Self { session, lines: BufReader::new(stream).lines() }
    }

    /// Reads the next context.
    fn context(&mut self) -> Value {
        let mut data = self.lines.by_ref().map_while(Result::ok);
        let data = data.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
        let mut message: Value = serde_json::from_str(&data).unwrap();
        assert_eq!(message["method"], "ide/contextUpdate");
        message["params"]["workspaceState"].take()
    }

    /// Reads the next context, and returns the names of its files.
    fn files(&mut self) -> Vec<String> {
        let context = self.context();
        let name = |file: &Value| {
            let path = Path::new(file["path"].as_str().unwrap());
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        context["openFiles"].as_array().unwrap().iter().map(name).collect()
    }
}

fn now_ms() -> u128 {
    SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()
}

#[test]
fn clients_are_told_what_the_editor_says_of_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (a, b, c) = (at("a"), at("b"), at("c"));
    fs::write(&a, "").unwrap();
    fs::write(&b, "").unwrap();
    let rig = Rig::start();
    let notify = |method, params| rig.notify(method, &params);
    let mut client = Client::of(&rig);
    assert_eq!(client.context(), json!({ "openFiles": [] }));
    notify("editor/opened", json!({ "path": a }));
    assert_eq!(client.files(), ["a"]);

    let before = now_ms();
    notify("editor/focused", json!({ "path": b }));
    let told = client.context()["openFiles"][0].take();
    assert_eq!((&told["path"], &told["isActive"]), (&json!(b), &json!(true)));
    let focused = u128::from(told["timestamp"].as_u64().unwrap());
    assert!((before..=now_ms()).contains(&focused), "{focused}");

    notify("editor/cursor", json!({ "path": b, "line": 3, "character": 4 }));
    let cursor = json!({ "line": 3, "character": 4 });
    assert_eq!(client.context()["openFiles"][0]["cursor"], cursor);
    notify("editor/selection", json!({ "path": b, "text": "text" }));
    assert_eq!(client.context()["openFiles"][0]["selectedText"], "text");
    notify("workspace/trust", json!({ "trusted": true }));
    assert_eq!(client.context()["isTrusted"], true);
    notify("workspace/silent", json!({ "silent": true }));
    assert_eq!(client.files(), [""; 0]);
    notify("workspace/silent", json!({ "silent": false }));
    assert_eq!(client.files(), ["b", "a"]);
    fs::rename(&b, &c).unwrap();
    notify("editor/renamed", json!({ "from": b, "to": c }));
    assert_eq!(client.files(), ["c", "a"]);
    notify("editor/deleted", json!({ "path": c }));
    assert_eq!(client.files(), ["a"]);
    notify("editor/closed", json!({ "path": a }));
    assert_eq!(client.files(), [""; 0]);
}

#[test]
fn the_status_counts_clients_and_open_diffs() {
    let rig = Rig::start();
    let counts = || (rig.server.status().connected, rig.server.status().open_diffs);
    assert_eq!(counts(), (0, 0));
    let mut clients = [Client::of(&rig), Client::of(&rig)];
    for client in &mut clients {
        client.context();
    }
    assert_eq!(counts(), (2, 0));
    for path in ["/a", "/b"] {
        let arguments = format!(r#"{{"filePath":"{path}","newContent":""}}"#);
        let headers = format!("{}connection: close\r\n", clients[0].session);
        rig.exchange(rig.post(&headers, &call("openDiff", &arguments)));
    }
    assert_eq!(counts(), (2, 2));
    rig.notify("diff/rejected", &json!({ "filePath": "/a" }));
    assert_eq!(counts(), (2, 1));
}

#[test]
fn a_terminal_is_told_where_the_server_and_its_workspace_are() {
    let rig = Rig::start();
    let server = &rig.server;
    assert_eq!(server.clients(), dialect::ALL);
    rig.notify("workspace/folders", &json!({ "paths": ["/one", "/two"] }));
    let environment = server.terminal_environment();
    for client in server.clients() {
        let variables = &client.variables;
        assert_eq!(environment[variables.port], server.port().to_string());
        assert!(environment[variables.workspace_path].starts_with("/one"));
        if let Some(token) = variables.auth_token {
            assert_eq!(environment[token], server.token());
        }
    }
    for file in server.status().discovery_files {
        let told: Value = serde_json::from_slice(&fs::read(file.path).unwrap()).unwrap();
        assert_eq!(told["workspacePath"], environment[dialect::ALL[0].variables.workspace_path]);
    }
}
