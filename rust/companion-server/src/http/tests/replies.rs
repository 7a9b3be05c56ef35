//! Tests every reply of PROTOCOL §1 and §2, as its bytes are sent.

use std::fmt::Write;
use std::sync::Arc;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use serde_json::json;

use crate::http::{ReadEnd, route};
use crate::tests::{EditorCall, PEER, PORT, Rig, TOKEN, tool_call};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Requests and their replies, as text.
struct Exchanges {
    rig: Rig,
    session: String,
    text: String,
}

impl Exchanges {
    async fn with(rig: Rig) -> Self {
        let session = rig.initialize().await;
        Self { rig, session, text: String::new() }
    }

    async fn new() -> Self {
        Self::with(Rig::start()).await
    }

    /// Sends a request with exactly these headers.
    async fn send(&mut self, what: &str, method: &str, uri: &str, headers: &str, body: &str) {
        let mut request = Request::builder().method(method).uri(uri);
        for header in headers.split('|').filter(|header| !header.is_empty()) {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let request = request.body(Full::from(body.to_owned())).unwrap();
        let http = &self.rig.parts.http;
        let slot = http.slots.take();
        let reply =
            route(Arc::clone(http), &http.endpoint, request, &slot, &ReadEnd::default(), PEER)
                .await;
        let (head, body) = reply.into_parts();
        writeln!(self.text, "### {what}\n{}", head.status).unwrap();
        for (name, value) in &head.headers {
            let value = value.to_str().unwrap();
            let value = if name == "mcp-session-id" { "<new id>" } else { value };
            writeln!(self.text, "{name}: {value}").unwrap();
        }
        if head.headers.get("content-type").is_none_or(|kind| kind != "text/event-stream") {
            let body = body.collect().await.unwrap().to_bytes();
            writeln!(self.text, "\n{}", std::str::from_utf8(&body).unwrap()).unwrap();
        }
        self.text.push('\n');
    }

    /// Sends a message within the session.
    async fn post(&mut self, what: &str, body: &str) {
        let headers = format!("{}|mcp-session-id: {}", usual(), self.session);
        self.send(what, "POST", "/mcp", &headers, body).await;
    }
}

fn usual() -> String {
    format!("host: 127.0.0.1:{PORT}|authorization: Bearer {TOKEN}")
}

#[tokio::test]
async fn the_guard_refuses_in_order_before_all_else() {
    let mut x = Exchanges::new().await;
    let (host, token) =
        (format!("host: 127.0.0.1:{PORT}"), format!("authorization: Bearer {TOKEN}"));
    let origin = format!("origin: http://evil.example|host: evil.example|{token}");
    x.send("a web page, with all else wrong too", "PATCH", "/x", &origin, "").await;
    let null = format!("origin: null|{host}|{token}");
    x.send("a web page that hides its origin", "POST", "/mcp", &null, PING).await;
    x.send("another host, no token", "PATCH", "/x", "host: evil.example", "").await;
    x.send("no host", "POST", "/mcp", &token, PING).await;
    x.send("two hosts", "POST", "/mcp", &format!("{host}|{host}|{token}"), PING).await;
    let absolute = "http://evil.example/mcp";
    x.send("another host in the target", "POST", absolute, &usual(), PING).await;
    x.send("no token", "PATCH", "/x", &host, "").await;
    let wrong = format!("{host}|authorization: Bearer {TOKEN}x");
    x.send("a wrong token", "POST", "/mcp", &wrong, PING).await;
    let scheme = format!("{host}|authorization: Basic {TOKEN}");
    x.send("another scheme", "POST", "/mcp", &scheme, PING).await;
    x.send("two tokens", "POST", "/mcp", &format!("{host}|{token}|{token}"), PING).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn paths_methods_and_accept() {
    let mut x = Exchanges::new().await;
    x.send("another path", "POST", "/", &usual(), PING).await;
    x.send("another method", "PUT", "/mcp", &usual(), PING).await;
    x.send("another method for events", "POST", "/events", &usual(), PING).await;
    let json = format!("{}|accept: application/json", usual());
    x.send("POST without event streams", "POST", "/mcp", &json, PING).await;
    let html = format!("{}|accept: text/html", usual());
    x.send("POST without JSON", "POST", "/mcp", &html, PING).await;
    x.send("GET without event streams", "GET", "/mcp", &json, "").await;
    x.send("events without event streams", "GET", "/events", &json, "").await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn every_way_to_accept() {
    let mut x = Exchanges::new().await;
    let session = format!("{}|mcp-session-id: {}", usual(), x.session);
    for accept in [
        "",
        "|accept: */*",
        "|accept: application/json, text/event-stream",
        "|accept: text/event-stream;q=0.9 , Application/JSON; charset=utf-8",
        "|accept: application/json|accept: text/*",
    ] {
        x.send(accept, "POST", "/mcp", &format!("{session}{accept}"), PING).await;
    }
    assert_eq!(x.text.matches("200 OK").count(), 5, "{}", x.text);
}

#[tokio::test]
async fn the_handshake() {
    let mut x = Exchanges::new().await;
    for version in ["2025-06-18", "2024-11-05", "2025-11-25", "2026-07-28", "1.0"] {
        let body = json!({
            "jsonrpc": "2.0",
            "id": 0,
            "method": "initialize",
            "params": {
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            },
        });
        x.send(version, "POST", "/mcp", &usual(), &body.to_string()).await;
    }
    let bare = r#"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}"#;
    x.send("as typed into curl", "POST", "/mcp", &usual(), bare).await;
    let wrong = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
    x.send("a version of the wrong type", "POST", "/mcp", &usual(), wrong).await;
    x.post("initialized", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn without_a_session() {
    let mut x = Exchanges::new().await;
    let unknown = format!("{}|mcp-session-id: 00000000-0000-4000-8000-000000000000", usual());
    let garbage = format!("{}|mcp-session-id: garbage", usual());
    x.send("POST without one", "POST", "/mcp", &usual(), PING).await;
    x.send("POST with an unknown one", "POST", "/mcp", &unknown, PING).await;
    x.send("POST with garbage", "POST", "/mcp", &garbage, PING).await;
    x.send("GET without one", "GET", "/mcp", &usual(), "").await;
    x.send("GET with an unknown one", "GET", "/mcp", &unknown, "").await;
    x.send("DELETE without one", "DELETE", "/mcp", &usual(), "").await;
    x.send("DELETE with an unknown one", "DELETE", "/mcp", &unknown, "").await;
    let newer = format!("{}|mcp-protocol-version: 2026-07-28", usual());
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#;
    x.send("a revision without handshake", "POST", "/mcp", &newer, discover).await;
    x.send("its GET", "GET", "/mcp", &newer, "").await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn methods() {
    let mut x = Exchanges::new().await;
    x.post("ping", PING).await;
    x.post("ids keep their type", r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#).await;
    let big = r#"{"jsonrpc":"2.0","id":12345678901234567890123,"method":"ping"}"#;
    x.post("and their digits", big).await;
    let level = r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}"#;
    x.post("logging/setLevel", level).await;
    x.post("an unknown method", r#"{"jsonrpc":"2.0","id":3,"method":"resources/list"}"#).await;
    x.post("a notification", r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#).await;
    x.post("a response", r#"{"jsonrpc":"2.0","id":9,"result":{}}"#).await;
    x.post("tools/list", r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn bad_messages() {
    let mut x = Exchanges::new().await;
    for body in [
        "",
        "{",
        "nonsense",
        "\"text\"",
        "{}",
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":[1,"not an object"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"} trailing"#,
    ] {
        x.post(body, body).await;
    }
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn batches() {
    let mut x = Exchanges::new().await;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let unknown = r#"{"jsonrpc":"2.0","id":"b","method":"nope"}"#;
    x.post("requests and a notification", &format!("[{PING},{note},{unknown}]")).await;
    x.post("one request is still a batch", &format!(" [{PING}]")).await;
    x.post("notifications only", &format!("[{note},{note}]")).await;
    x.post("empty", "[]").await;
    x.post("with a bad message nothing is done", &format!("[{PING},1]")).await;
    x.post("an array for a message", r#"[["2.0",1,"ping"]]"#).await;
    x.post("too long", &format!("[{}1]", "1,".repeat(100))).await;
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    x.post("initialize", &format!("[{initialize}]")).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn tool_calls_that_can_not_be_carried_out() {
    let mut x = Exchanges::new().await;
    for call in [
        json!({ "name": "nope", "arguments": {} }),
        json!({ "name": "nope", "arguments": { "filePath": 5 } }),
        json!({ "name": "openDiff" }),
        json!({ "name": "openDiff", "arguments": {} }),
        json!({ "name": "openDiff", "arguments": { "filePath": "/a" } }),
        json!({ "name": "openDiff", "arguments": { "filePath": "", "newContent": "" } }),
        json!({ "name": "openDiff", "arguments": { "filePath": "a/b", "newContent": "" } }),
        json!({ "name": "openDiff", "arguments": { "filePath": "/a\0b", "newContent": "" } }),
        json!({ "name": "openDiff", "arguments": { "filePath": 5, "newContent": "" } }),
        json!({ "name": "openDiff", "arguments": { "filePath": "/a", "newContent": null } }),
        json!({ "name": "openDiff", "arguments": "x" }),
        json!({ "name": "closeDiff", "arguments": { "filePath": "/a", "suppressNotification": 1 } }),
        json!({ "name": "closeDiff", "arguments": { "filePath": "/a" } }),
        json!({ "name": "acceptDiff", "arguments": { "filePath": "/a" } }),
        json!({ "name": "rejectDiff", "arguments": {} }),
        json!({ "arguments": {} }),
    ] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        x.post(&call.to_string(), &body.to_string()).await;
    }
    let lone = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff",
        "arguments":{"filePath":"/a","newContent":"\ud800"}}}"#;
    x.post("half a surrogate pair", lone).await;
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"openDiff",
        "arguments":{"filePath":"/a","newContent":"","filePath":"/b"}}}"#;
    x.post("an argument twice", twice).await;
    insta::assert_snapshot!(x.text);

    let mut x = Exchanges::new().await;
    let arguments = json!({ "filePath": format!("/{}", "\u{6587}".repeat(32_767)) });
    let body = tool_call("closeDiff", &arguments).to_string();
    x.post("a path that is too long", &body).await;
    assert!(x.text.contains(r#""isError":true"#) && x.text.contains("filePath"), "{:.500}", x.text);
}

#[tokio::test]
async fn bodies_that_are_too_large() {
    let mut x = Exchanges::with(Rig::limits(|limits| limits.body = 100)).await;
    x.post("at the limit", &format!("{PING:100}")).await;
    x.post("one more", &format!("{PING:101}")).await;
    let headers = format!("host: 127.0.0.1:{PORT}|authorization: Bearer x");
    x.send("without the token", "POST", "/mcp", &headers, &format!("{PING:101}")).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn bodies_that_are_compressed() {
    let mut x = Exchanges::new().await;
    let usual = format!("{}|mcp-session-id: {}", usual(), x.session);
    for coding in ["content-encoding: gzip", "content-encoding: identity|content-encoding: br"] {
        x.send(coding, "POST", "/mcp", &format!("{usual}|{coding}"), "\u{1f}\u{8b}").await;
    }
    let gzip = "transfer-encoding: gzip, chunked";
    x.send(gzip, "POST", "/mcp", &format!("{usual}|{gzip}"), "\u{1f}\u{8b}").await;
    let plain = "content-encoding: Identity|transfer-encoding: Chunked";
    x.send(plain, "POST", "/mcp", &format!("{usual}|{plain}"), PING).await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn streams_and_their_end() {
    let mut x = Exchanges::new().await;
    let headers = format!("{}|accept: text/event-stream|mcp-session-id: {}", usual(), x.session);
    x.send("GET", "GET", "/mcp", &headers, "").await;
    x.send("events", "GET", "/events", &usual(), "").await;
    x.send("DELETE", "DELETE", "/mcp", &headers, "").await;
    x.send("DELETE again", "DELETE", "/mcp", &headers, "").await;
    insta::assert_snapshot!(x.text);
}

#[tokio::test]
async fn what_the_editor_has_taken_counts_until_it_has_answered() {
    let rig = Rig::limits(|limits| limits.body = 1 << 16);
    let session = rig.initialize().await;
    let half = |path| json!({ "filePath": path, "newContent": "x".repeat(60_000) });
    let (a, b, c) = (half("/a"), half("/b"), half("/c"));
    let answer = async {
        let EditorCall::Open(first, _) = rig.asked().await else { panic!() };
        let EditorCall::Open(second, _) = rig.asked().await else { panic!() };
        let refused = rig.call(&session, "openDiff", &c).await.to_string();
        assert!(refused.contains("has not taken the proposals before this one"), "{refused}");
        first.complete(None);
        second.complete(None);
    };
    let call = |arguments| rig.call(&session, "openDiff", arguments);
    tokio::join!(call(&a), call(&b), answer);
    let answer = async {
        let EditorCall::Open(third, _) = rig.asked().await else { panic!() };
        third.complete(None);
    };
    let (result, ()) = tokio::join!(rig.call(&session, "openDiff", &c), answer);
    assert_eq!(result, json!({ "content": [] }));
}
