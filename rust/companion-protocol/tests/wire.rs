//! Tests the JSON of every message.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use companion_protocol::dialect::GEMINI;
use companion_protocol::editor::{
    AcceptedDiff, AgentChanged, AgentCommand, AgentFinished, AgentWaiting, ChangeKind, ChangedFile,
    ChangedPath, ChangedPaths, ChangedText, CloseDiff, CommentId, CommentOnLines, CommentRefused,
    CommentsDelivered, CommentsPending, CursorMoved, DiffPath, EditorNotification, EditorQuery,
    FilePath, Folders, OpenDiff, PrivateFiles, ProposalKind, Ready, ReasonArrival, RejectedDiff,
    Renamed, Review, SelectionChanged, Sessions, Silent, Trust,
};
use companion_protocol::ide::{
    self, DiscoveryFile, IdeContext, IdeInfo, OpenFile, Position, WorkspaceState,
};
use companion_protocol::jsonrpc::{
    ErrorObject, ErrorResponse, Id, Message, Notification, Payload, Request, Response, code, parse,
};
use companion_protocol::mcp::{CallToolResult, negotiate};
use proptest::prelude::*;
use serde::Serialize;

fn text(message: &impl Serialize) -> String {
    serde_json::to_string(message).unwrap()
}

fn comment() -> CommentOnLines {
    let [id, path, content, text] = ["1", "/a", "x", "why?"].map(str::to_owned);
    CommentOnLines { id, path, line: 2, end_line: 3, content, text }
}

/// The changes of a prompt: a file of which all is known, and a private one.
fn changes() -> AgentChanged {
    let file = ChangedFile {
        path: "/a".to_owned(),
        kind: ChangeKind::Changed,
        added: Some(2),
        removed: Some(0),
        revertible: true,
        reverted: false,
        private: false,
        mixed: true,
    };
    let key = ChangedFile {
        path: "/key".to_owned(),
        kind: ChangeKind::Created,
        added: None,
        removed: None,
        revertible: false,
        private: true,
        mixed: false,
        ..file.clone()
    };
    let [session, title] = ["s", "Add a test"].map(str::to_owned);
    AgentChanged { session, prompt: 1, title, time: 1_700_000_000_000, files: vec![file, key] }
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
fn to_the_editor() {
    let ready = Ready {
        port: 41234,
        url: "http://127.0.0.1:41234/mcp".to_owned(),
        listening: vec!["127.0.0.1:41234".to_owned()],
        auth_token: "token",
        discovery_files: BTreeMap::from([(
            GEMINI.id,
            "/tmp/gemini/ide/gemini-ide-server-1-41234.json".to_owned(),
        )]),
        env: BTreeMap::from([(GEMINI.variables.port, "41234".to_owned())]),
    };
    let diff = || DiffPath { file_path: "/a".to_owned() };
    let close = |abandoned| CloseDiff { file_path: "/a".to_owned(), abandoned };
    let kind = ProposalKind::Create;
    let open = OpenDiff {
        file_path: "/a",
        kind,
        private: true,
        cli: 2,
        replays_edits: true,
        reason: ReasonArrival::NextPrompt,
        new_content: "text\n",
    };
    let private = PrivateFiles { paths: vec!["/a".to_owned()] };
    let command = AgentCommand {
        session: "s".to_owned(),
        prompt: 1,
        title: "Run it".to_owned(),
        time: 1,
        running: true,
    };
    let messages = [
        text(&Notification::new("companion/ready", ready)),
        text(&Notification::new("companion/sessions", Sessions { count: 2 })),
        text(&Notification::new("companion/private", private)),
        text(&Notification::new("agent/waiting", AgentWaiting { message: "Run ls?".to_owned() })),
        text(&Notification::new("agent/finished", AgentFinished { seconds: 61 })),
        text(&Notification::new("agent/command", command)),
        text(&Notification::new("agent/changed", changes())),
        text(&Notification::new("comment/pending", CommentsPending { comments: vec![comment()] })),
        text(&Notification::new(
            "comment/delivered",
            CommentsDelivered { ids: vec!["1".to_owned()] },
        )),
        text(&Notification::new(
            "comment/refused",
            CommentRefused { id: "1".to_owned(), reason: "private".to_owned() },
        )),
        text(&Request::new(Id::from(1), "diff/open", open)),
        text(&Request::new(Id::from(2), "diff/close", close(false))),
        text(&Request::new(Id::from(2), "diff/close", close(true))),
        text(&Request::new(Id::from(3), "diff/accept", diff())),
        text(&Request::new(Id::from(4), "diff/reject", diff())),
        text(&ErrorResponse::new(None, ErrorObject::new(code::PARSE_ERROR, "Parse error"))),
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
fn from_the_editor() {
    use EditorNotification as Told;
    let path = || "/a".to_owned();
    let file = || FilePath { path: path() };
    let cursor = Position::new(2, 3).unwrap();
    let changed = || ChangedPaths {
        session: "s".to_owned(),
        prompt: 1,
        paths: vec![path(), "/b".to_owned()],
    };
    let of_prompt = r#"{"session":"s","prompt":1,"paths":["/a","/b"]}"#;
    let cases = [
        ("editor/opened", r#"{"path":"/a"}"#, Told::Opened(file())),
        ("editor/closed", r#"{"path":"/a"}"#, Told::Closed(file())),
        ("editor/focused", r#"{"path":"/a","more":1}"#, Told::Focused(file())),
        (
            "editor/cursor",
            r#"{"path":"/a","line":2,"character":3}"#,
            Told::Cursor(CursorMoved { path: path(), cursor }),
        ),
        (
            "editor/selection",
            r#"{"path":"/a","text":""}"#,
            Told::Selection(SelectionChanged { path: path(), text: String::new() }),
        ),
        (
            "editor/renamed",
            r#"{"from":"/a","to":"/b"}"#,
            Told::Renamed(Renamed { from: path(), to: "/b".to_owned() }),
        ),
        ("editor/deleted", r#"{"path":"/a"}"#, Told::Deleted(file())),
        (
            "workspace/folders",
            r#"{"paths":["/a"]}"#,
            Told::Folders(Folders { paths: vec![path()] }),
        ),
        ("workspace/trust", r#"{"trusted":true}"#, Told::Trust(Trust { trusted: true })),
        ("workspace/silent", r#"{"silent":true}"#, Told::Silent(Silent { silent: true })),
        (
            "diff/accepted",
            r#"{"filePath":"/a","content":"x"}"#,
            Told::DiffAccepted(AcceptedDiff { file_path: path(), content: "x".to_owned() }),
        ),
        (
            "diff/rejected",
            r#"{"filePath":"/a"}"#,
            Told::DiffRejected(RejectedDiff { file_path: path(), reason: None }),
        ),
        (
            "diff/rejected",
            r#"{"filePath":"/a","reason":"no"}"#,
            Told::DiffRejected(RejectedDiff { file_path: path(), reason: Some("no".to_owned()) }),
        ),
        (
            "comment/set",
            r#"{"id":"1","path":"/a","line":2,"endLine":3,"content":"x","text":"why?"}"#,
            Told::CommentSet(comment()),
        ),
        (
            "comment/removed",
            r#"{"id":"1"}"#,
            Told::CommentRemoved(CommentId { id: "1".to_owned() }),
        ),
        ("workspace/review", r#"{"all":true}"#, Told::Review(Review { all: true })),
        ("agent/reverted", of_prompt, Told::ChangesReverted(changed())),
        ("agent/revertUndone", of_prompt, Told::RevertUndone(changed())),
        ("agent/kept", of_prompt, Told::ChangesKept(changed())),
    ];
    for (method, params, expected) in cases {
        assert_eq!(notification(&note(method, params)), Ok(expected));
    }
}

#[test]
fn requests_from_the_editor() {
    let params = r#"{"session":"s","prompt":1,"path":"/a"}"#;
    let [session, path] = ["s", "/a"].map(str::to_owned);
    let expected = EditorQuery::Before(ChangedPath { session, prompt: 1, path });
    assert_eq!(EditorQuery::from_json("agent/before", params), Ok(expected));
    let unknown = EditorQuery::from_json("agent/after", params).unwrap_err();
    assert_eq!(unknown.code, code::METHOD_NOT_FOUND);
    let texts = ChangedText { content: None, left: Some("text\r\n".into()) };
    assert_eq!(text(&texts), r#"{"left":"text\r\n"}"#);
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
