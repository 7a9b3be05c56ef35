//! Tests the JSON of messages to clients and of the discovery file, and reads messages of any form.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use companion_protocol::editor::EditorNotification;
use companion_protocol::ide::{
    self, DiscoveryFile, IdeContext, IdeInfo, OpenFile, Position, WorkspaceState,
};
use companion_protocol::jsonrpc::{ErrorObject, Message, Payload, Response, parse};
use companion_protocol::mcp::{CallToolResult, negotiate};
use proptest::prelude::*;
use serde::Serialize;

fn text(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap()
}

fn context() -> IdeContext {
    let file = OpenFile {
        path: "/work/a b/文.rs".to_owned(),
        timestamp: 1_700_000_000_123,
        is_active: true,
        cursor: Position::new(3, 14),
        selected_text: Some("fn main() {\n}\t\"😀\"".to_owned()),
    };
    let other = OpenFile {
        path: "/work/é.rs".to_owned(),
        timestamp: 1_700_000_000_000,
        is_active: false,
        cursor: None,
        selected_text: None,
    };
    let open_files = vec![file, other];
    IdeContext { workspace_state: WorkspaceState { open_files, is_trusted: Some(false) } }
}

#[test]
fn to_the_client() {
    let messages = [
        text(&ide::context_update(&context())),
        text(&ide::context_update(&IdeContext::default())),
        text(&ide::diff_accepted("/a", "text\r\n")),
        text(&ide::diff_accepted("/a", "")),
        text(&ide::diff_rejected("/a b/%25/文")),
        text(&CallToolResult::empty()),
        text(&CallToolResult::text("{}")),
        text(&CallToolResult::error("It is a directory.")),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn to_event_listeners() {
    let messages = [
        text(&ide::events::context_update(&context())),
        text(&ide::events::context_update(&IdeContext::default())),
        text(&ide::events::diff_accepted("/a", "text")),
        text(&ide::events::diff_rejected("/a")),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn the_discovery_file() {
    let file = DiscoveryFile {
        ppid: None,
        port: 41234,
        workspace_path: "/work/a:/work/b".to_owned(),
        worktrees: Vec::new(),
        auth_token: "token".to_owned(),
        ide_info: IdeInfo {
            name: "intellijidea".to_owned(),
            display_name: "IntelliJ IDEA".to_owned(),
        },
    };
    insta::assert_snapshot!(text(&file));
}

/// Reads a notification from the editor.
fn notification(line: &str) -> Result<EditorNotification, ErrorObject> {
    match parse(line.as_bytes()) {
        Ok(Payload::Single(Message::Notification { method, params })) => {
            EditorNotification::parse(&method, params)
        }
        other => panic!("{other:?}"),
    }
}

fn note(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

#[test]
fn an_error_does_not_quote_its_message() {
    let wrong = |method: &str, params: &str| {
        let error = notification(&note(method, params)).unwrap_err();
        format!("{} {}", error.code, error.message)
    };
    let messages = [
        wrong("editor/moved", "{}"),
        wrong("editor/opened", "{}"),
        wrong("editor/opened", r#"{"path":["secret"]}"#),
        wrong("editor/cursor", r#"{"path":"/a","line":0,"character":1}"#),
        wrong("editor/cursor", r#"{"path":"/a","line":-1,"character":1}"#),
        wrong("editor/selection", r#"{"path":"/a","text":{"secret":1}}"#),
        wrong("workspace/trust", r#"{"trusted":"secret, expected by nobody"}"#),
    ];
    let all = messages.join("\n");
    assert!(!all.contains("secret"), "{all}");
    insta::assert_snapshot!(all);
}

#[test]
fn a_supported_version_is_echoed() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(negotiate(Some(version)), version);
    }
    for other in [None, Some("2026-07-28"), Some("")] {
        assert_eq!(negotiate(other), "2025-11-25");
    }
}

#[test]
fn deep_and_wide_messages_use_no_stack_and_little_memory() {
    for open in ["[", "{\"a\":"] {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}"#,
            open.repeat(100_000)
        );
        assert!(parse(deep.as_bytes()).is_err(), "it is not closed");
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(parse(deep.as_bytes()).is_ok());
    let wide = format!("[{}1]", "1,".repeat(1_000_000));
    assert!(parse(wide.as_bytes()).is_err());
}

/// Makes text that is almost a message.
fn almost_json() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"jsonrpc\"",
        "\"2.0\"",
        "\"id\"",
        "\"method\"",
        "\"params\"",
        "\"result\"",
        "\"error\"",
        "1",
        "-0",
        "1e999",
        "null",
        "true",
        "\"",
        "\\u",
        "\\ud800",
        "\u{feff}",
        " ",
        "文",
    ];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
            .prop_map(|pieces| pieces.concat().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in almost_json()) {
        if let Ok(Payload::Single(Message::Notification { method, params })) = parse(&bytes) {
            let _ = EditorNotification::parse(&method, params);
        }
    }

    #[test]
    fn ids_are_echoed_as_they_were(id in prop_oneof![
        any::<i64>().prop_map(|id| id.to_string()),
        any::<f64>().prop_filter("JSON has none", |id| id.is_finite()).prop_map(|id| format!("{id:e}")),
        any::<String>().prop_map(|id| serde_json::to_string(&id).unwrap()),
    ]) {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let Ok(Payload::Single(Message::Request { id: read, .. })) = parse(request.as_bytes()) else {
            return Err(TestCaseError::fail(request));
        };
        let answer = text(&Response::new(&read, 1));
        prop_assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#));
    }
}
