//! Tests the JSON of messages to clients, and reads messages of any form.

use companion_protocol::editor::EditorNotification;
use companion_protocol::ide::{self, IdeContext, OpenFile, Position, WorkspaceState};
use companion_protocol::jsonrpc::{ErrorObject, Message, Payload, parse};
use companion_protocol::mcp::{CallToolResult, negotiate};
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
fn a_deep_message_uses_no_stack() {
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(parse(deep.as_bytes()).is_ok());
}
