//! Compares the messages between the companion and an editor with the examples of
//! `docs/editor-protocol.md`: the page has each message and each field, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use companion_protocol::diagnostics::{Diagnostics, DiagnosticsRequest, Severity};
use companion_protocol::editor::{
    AcceptanceDelivery, AcceptedDiff, ChangeKind, ChangedFile, ChangedPath, ChangedPaths,
    ChangedText, CliAnswered, CliChanged, CliCommand, CliFinished, CliWaiting, Clients, CloseDiff,
    CommentId, CommentOnLines, CommentRefused, CommentsDelivered, CommentsPending,
    CompanionNotification as Sent, CursorMoved, Delivery, Diagnosis, DiffPath, DiffResult,
    EditorNotification as Read, EditorQuery, FilePath, FileToRevert, Folders, Hunk, Hunks,
    OpenDiff, PlanRevert, PlannedFile, PrivateFiles, PromptOfSession, ProposalKind, Ready,
    ReasonArrival, ReasonLost, RejectedDiff, Renamed, Restarts, ResumedProposal, ResumedProposals,
    RevertAction, RevertPlan, Review, SelectionChanged, ShareContext, ShownProposal,
    ShownProposals, TerminalEnvironment, Trust, UnsavedFiles, Withdrawn,
};
use companion_protocol::ide::Position;
use companion_protocol::jsonrpc::code::METHOD_NOT_FOUND;
use companion_protocol::jsonrpc::{ErrorObject, ErrorResponse, Message, Payload, parse};
use companion_protocol::profile::GEMINI;
use serde::Serialize;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../docs/editor-protocol.md");

/// The sources that contain the methods.
const SOURCES: [&str; 2] =
    [include_str!("../src/editor.rs"), include_str!("../../companion-server/src/host.rs")];

/// The messages of the page, in its order.
#[derive(Default)]
struct Examples {
    /// Notifications and requests, as `(method, params)`.
    from_editor: Vec<(String, Value)>,
    to_editor: Vec<(String, Value)>,
    /// The results of requests, as `(method, result)`.
    results: Vec<(String, Value)>,
    /// Errors, as whole messages.
    errors: Vec<Value>,
}

/// Returns the code in a line of Markdown.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn read_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Examples {
    fn read() -> Self {
        let mut examples = Self::default();
        let mut section = "";
        let mut blocks = PAGE.split("```");
        while let Some(prose) = blocks.next() {
            for line in prose.lines() {
                if let Some(title) = line.strip_prefix("## ") {
                    section = title;
                } else if line.starts_with("| `") {
                    examples.read_row(line, section == "From the editor");
                } else {
                    let messages = code_spans(line).filter(|code| code.starts_with("{\"jsonrpc"));
                    messages.for_each(|message| examples.read_message(message, true));
                }
            }
            let lines = blocks.next().unwrap_or_default();
            for message in lines.split("\n← ").skip(1) {
                let mut parts = message.split("\n→ ");
                examples.read_message(parts.next().unwrap(), false);
                parts.for_each(|message| examples.read_message(message, true));
            }
        }
        examples
    }

    /// Reads a row: methods and their parameters in the first cell, a result in the second one.
    fn read_row(&mut self, row: &str, is_from_editor: bool) {
        let mut cells = row.split(" | ");
        let mut methods = Vec::new();
        for code in code_spans(cells.next().unwrap()) {
            if code.starts_with('{') {
                let list = if is_from_editor { &mut self.from_editor } else { &mut self.to_editor };
                list.extend(
                    methods.iter().map(|method: &String| (method.clone(), read_json(code))),
                );
            } else {
                methods.push(code.to_owned());
            }
        }
        let result = cells.next().and_then(|cell| code_spans(cell).next());
        if let (Some(result), [method]) = (result.filter(|code| code.len() > 2), &*methods)
            && result.starts_with('{')
        {
            self.results.push((method.clone(), read_json(result)));
        }
    }

    /// Reads a whole message.
    fn read_message(&mut self, text: &str, is_from_editor: bool) {
        assert!(parse(text.as_bytes()).is_ok(), "{text}");
        let mut message = read_json(text);
        if let Some(method) = message["method"].as_str() {
            let example = (method.to_owned(), message["params"].clone());
            if is_from_editor {
                self.from_editor.push(example);
            } else {
                self.to_editor.push(example);
            }
        } else if message.get("error").is_some() {
            self.errors.push(message);
        } else {
            // The request of that id is the one before.
            let (method, _) = self.to_editor.last().unwrap();
            self.results.push((method.clone(), message["result"].take()));
        }
    }
}

/// Adds the method.
fn to<T: Serialize>(method: &str, params: T) -> (String, Value) {
    (method.to_owned(), serde_json::to_value(params).unwrap())
}

fn path() -> String {
    "/p/a.txt".to_owned()
}

fn comment() -> CommentOnLines {
    let [id, content, text] = ["1", "x", "Why?"].map(Into::into);
    CommentOnLines { id, path: path().into(), line: 2, end_line: 3, content, text }
}

fn hunk() -> Hunk {
    let lines = ["-old\n", "+new\n"].map(str::to_owned).to_vec();
    Hunk { before: 1, after: 1, lines }
}

/// The changes of a prompt: a file of which all is known, and a private one.
fn changes() -> CliChanged {
    let file = ChangedFile {
        path: path(),
        kind: ChangeKind::Changed,
        added: Some(2),
        removed: Some(0),
        revertible: true,
        reverted: false,
        private: false,
        mixed: true,
    };
    let key = ChangedFile {
        path: "/p/key".to_owned(),
        kind: ChangeKind::Created,
        added: None,
        removed: None,
        revertible: false,
        private: true,
        mixed: false,
        ..file.clone()
    };
    let [session, title] = ["s", "Add a test"].map(str::to_owned);
    CliChanged { session, prompt: 1, title, time: 1_700_000_000_000, files: vec![file, key] }
}

#[test]
fn the_page_has_each_method() {
    let mut expected = BTreeSet::from(["companion/ready"]);
    for source in SOURCES {
        expected.extend(source.split('"').skip(1).step_by(2).filter(|text| {
            let parts = text.split_once('/');
            parts.is_some_and(|(area, name)| {
                [area, name]
                    .iter()
                    .all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphabetic()))
            })
        }));
    }
    let examples = Examples::read();
    let all = examples.from_editor.iter().chain(&examples.to_editor);
    let shown: BTreeSet<_> = all.map(|(method, _)| &**method).collect();
    assert_eq!(shown, expected);
    assert!(shown.len() > 30);
}

#[test]
fn messages_to_the_editor() {
    let ready = Ready {
        port: 41234,
        url: "http://127.0.0.1:41234/mcp".to_owned(),
        listening: vec!["127.0.0.1:41234".to_owned()],
        auth_token: "…",
        discovery_files: BTreeMap::from([(
            GEMINI.id,
            "/tmp/gemini/ide/gemini-ide-server-4100-41234.json".to_owned(),
        )]),
        env: BTreeMap::from([(GEMINI.variables.port, "41234".to_owned())]),
    };
    let open = OpenDiff {
        file_path: "/p/a.txt",
        diff: "7f3a".to_owned(),
        kind: ProposalKind::Change,
        private: false,
        cli: 1,
        replays_edits: true,
        reason: ReasonArrival::Now,
        new_content: "new\n",
    };
    let close = |abandoned| CloseDiff { file_path: path(), abandoned };
    let diff = || DiffPath { file_path: path() };
    let problems = |path: String, severity| DiagnosticsRequest { paths: vec![path], severity };
    let sent = |notification: Sent| to(notification.method(), &notification);
    let command = |running, lost| CliCommand {
        session: "s".to_owned(),
        prompt: 1,
        title: "Run it".to_owned(),
        time: 1_700_000_000_000,
        running,
        lost,
    };
    let lost = ReasonLost {
        file_path: path(),
        reason: "Use a list.".to_owned(),
        why: "its CLI has not come back within a day".to_owned(),
    };
    let reason = "No model gets this comment: the file lies outside of the workspace.".to_owned();
    let refused = CommentRefused { id: "1".to_owned(), reason };
    let expected = [
        to("companion/ready", ready),
        sent(Sent::Clients(Clients { count: 1 })),
        to("diff/open", open),
        to("diff/close", close(false)),
        to("diff/close", close(true)),
        to("diff/accept", diff()),
        to("diff/reject", diff()),
        to("editor/diagnostics", problems(path(), Severity::Warning)),
        to("editor/unsaved", json!({})),
        sent(Sent::Clients(Clients { count: 1 })),
        sent(Sent::PrivateFiles(PrivateFiles {
            paths: vec!["/p/key".to_owned()],
            reasons: [("/p/key".to_owned(), "An ignore file lists it.".to_owned())].into(),
        })),
        sent(Sent::Written(diff())),
        sent(Sent::Unwritten(diff())),
        sent(Sent::ReasonLost(lost)),
        sent(Sent::CliWaiting(CliWaiting {
            session: "s".to_owned(),
            message: "Run ls?".to_owned(),
        })),
        sent(Sent::CliAnswered(CliAnswered { session: "s".to_owned() })),
        sent(Sent::CliFinished(CliFinished { session: "s".to_owned(), seconds: 61 })),
        sent(Sent::CliCommand(command(true, false))),
        sent(Sent::CliCommand(command(false, true))),
        sent(Sent::CommentsDelivered(CommentsDelivered { ids: vec!["1".to_owned()] })),
        sent(Sent::CommentRefused(refused)),
        sent(Sent::CommentsPending(CommentsPending { comments: vec![comment()] })),
        sent(Sent::CliChanged(changes())),
        to("editor/diagnostics", problems("/p/a.json".to_owned(), Severity::Error)),
    ];
    assert_eq!(Examples::read().to_editor, expected);
}

#[test]
fn messages_from_the_editor() {
    let file = || FilePath { path: path() };
    let changed =
        || ChangedPaths { session: "s".to_owned(), prompt: 1, paths: vec![path()], hunk: None };
    let accepted =
        || Read::DiffAccepted(AcceptedDiff { file_path: path(), content: "new\n".to_owned() });
    let folders = ["/p", "/q"].map(str::to_owned).to_vec();
    let reason = Some("Use a list.".to_owned());
    let expected = [
        Read::Focused(file()),
        accepted(),
        Read::Opened(file()),
        Read::Closed(file()),
        Read::Focused(file()),
        Read::Deleted(file()),
        Read::Cursor(CursorMoved { path: path(), cursor: Position::new(3, 7).unwrap() }),
        Read::Selection(SelectionChanged { path: path(), text: "x".to_owned() }),
        Read::Renamed(Renamed { from: path(), to: "/p/b.txt".to_owned() }),
        Read::Folders(Folders { paths: folders }),
        Read::Trust(Trust { trusted: Some(true) }),
        Read::ShareContext(ShareContext { share: false }),
        Read::Review(Review { all: true }),
        Read::Restarts(Restarts {}),
        Read::CommentSet(comment()),
        Read::CommentRemoved(CommentId { id: "1".to_owned() }),
        Read::ChangesReverted(ChangedPaths { hunk: Some(hunk()), ..changed() }),
        Read::RevertUndone(changed()),
        Read::ChangesKept(changed()),
        accepted(),
        Read::DiffRejected(RejectedDiff { file_path: path(), reason }),
    ];
    let mut notifications = Vec::new();
    for (method, params) in Examples::read().from_editor {
        let read = |params: &Value| {
            let params = params.to_string();
            match Read::from_json(&method, &params) {
                Err(error) if error.code == METHOD_NOT_FOUND => {
                    EditorQuery::from_json(&method, &params).map(|query| format!("{query:?}"))
                }
                read => read.map(|notification| format!("{notification:?}")),
            }
        };
        // The page shows one message with an error.
        let Ok(whole) = read(&params) else { continue };
        for field in params.as_object().unwrap().keys() {
            let mut rest = params.clone();
            rest.as_object_mut().unwrap().remove(field);
            assert_ne!(read(&rest), Ok(whole.clone()), "{method} has no field {field}");
        }
        notifications.push(whole);
    }
    let of = ChangedPath { session: "s".to_owned(), prompt: 1, path: path() };
    let (query, hunks) = (EditorQuery::Texts(of.clone()), EditorQuery::Hunks(of));
    let prompts = vec![PromptOfSession { session: "s".to_owned(), prompt: 1 }];
    let (disk, unsaved) = (Some("new\n".to_owned()), Some("mine\n".to_owned()));
    let whole = FileToRevert { path: path(), prompts, disk, unsaved, hunk: None };
    let other = "/p/b.txt".to_owned();
    let part = FileToRevert { path: other, unsaved: None, hunk: Some(hunk()), ..whole.clone() };
    let files = vec![whole, part];
    let plan = EditorQuery::RevertPlan(PlanRevert { files, undoes_deletions: true });
    let mut expected: Vec<_> = expected.iter().map(|read| format!("{read:?}")).collect();
    expected.extend([format!("{query:?}"), format!("{hunks:?}"), format!("{plan:?}")]);
    expected.push(format!("{:?}", accepted()));
    let shown = ShownProposal { diff: "7f3a".to_owned(), new_content: "new\n".to_owned() };
    let queries = [
        EditorQuery::Withdraw(DiffPath { file_path: path() }),
        EditorQuery::Status,
        EditorQuery::Environment,
        EditorQuery::Diagnosis,
        EditorQuery::Resume(ShownProposals { proposals: vec![shown] }),
    ];
    expected.extend(queries.iter().map(|query| format!("{query:?}")));
    assert_eq!(notifications, expected);
    let accepted = AcceptedDiff { file_path: path(), content: "new\n".to_owned() };
    let params = r#"{"filePath":"/p/a.txt","content":"new\n"}"#;
    assert_eq!(
        EditorQuery::from_json("diff/accepted", params),
        Ok(EditorQuery::Accepted(accepted))
    );
}

#[test]
fn results() {
    let results = Examples::read().results;
    let methods: Vec<_> = results.iter().map(|(method, _)| &**method).collect();
    let (open, close, problems) = ("diff/open", "diff/close", "editor/diagnostics");
    let (accepted, withdraw) = ("diff/accepted", "diff/withdraw");
    let [status, environment, diagnosis] =
        ["companion/status", "companion/environment", "companion/diagnosis"];
    let from = [
        "cli/texts",
        "cli/hunks",
        "cli/revertPlan",
        accepted,
        withdraw,
        status,
        environment,
        diagnosis,
        "diff/resume",
    ];
    let expected = [&[open], &from[..], &[close, "editor/unsaved", problems]].concat();
    assert_eq!(methods, expected);
    let texts = ChangedText { before: Some("old\n".into()), after: Some("new\n".into()) };
    assert_eq!(results[1].1, json!(texts));
    let created = ChangedText { before: None, ..texts };
    assert_eq!(json!(created), json!({ "after": "new\n" }));
    let file = PlannedFile {
        path: path(),
        action: RevertAction::Write { text: "old\n".into() },
        warning: Some("has other, unsaved changes (+1 −1)".to_owned()),
        differs: true,
    };
    let reason = "the earlier text is no longer available".to_owned();
    let refused = PlannedFile {
        path: "/p/b.txt".to_owned(),
        action: RevertAction::Refuse { reason },
        warning: None,
        differs: false,
    };
    let question = Some("a.txt has other, unsaved changes (+1 −1). Revert it?".to_owned());
    assert_eq!(results[2].1, json!(Hunks { hunks: vec![hunk().into()] }));
    assert_eq!(results[3].1, json!(RevertPlan { files: vec![file, refused], question }));
    assert_eq!(results[4].1, json!(AcceptanceDelivery { delivery: Delivery::Delivered }));
    assert_eq!(results[5].1, json!(Withdrawn { withdrawn: true }));
    let mut shape: Value = serde_json::from_str(include_str!("status.json")).unwrap();
    shape["port"] = 41234.into();
    shape["listening"] = json!(["127.0.0.1:41234"]);
    shape["privateFiles"] = json!({ "/p/key": "An ignore file lists it." });
    assert_eq!(results[6].1, shape);
    let env = BTreeMap::from([(GEMINI.variables.port, "41234".to_owned())]);
    assert_eq!(results[7].1, json!(TerminalEnvironment { env }));
    let text = "Gemini CLI connects.".to_owned();
    assert_eq!(results[8].1, json!(Diagnosis { text }));
    let diff = "7f3a".to_owned();
    let resumed = ResumedProposal { diff, cli: 1, reason: ReasonArrival::NextPrompt };
    assert_eq!(results[9].1, json!(ResumedProposals { proposals: vec![resumed] }));
    let closed: DiffResult = serde_json::from_str(&results[10].1.to_string()).unwrap();
    assert_eq!(closed.content.as_deref(), Some("new\n"));
    let unsaved: UnsavedFiles = serde_json::from_value(results[11].1.clone()).unwrap();
    assert_eq!(unsaved.paths, [path()]);
    let problems: Diagnostics = serde_json::from_value(results[12].1.clone()).unwrap();
    assert_eq!(json!(problems), results[12].1, "no field is unknown");
}

#[test]
fn errors() {
    let errors = Examples::read().errors;
    let wrong = br#"{"jsonrpc":"2.0","method":"editor/closed","params":{}}"#;
    let Ok(Payload::Single(Message::Notification { method, params })) = parse(wrong) else {
        panic!("not a notification")
    };
    let error = Read::parse(&method, params).unwrap_err();
    assert_eq!(errors[0], json!(ErrorResponse::new(None, error)));
    let of_editor: ErrorObject = serde_json::from_value(errors[1]["error"].clone()).unwrap();
    assert_eq!((of_editor.code, errors.len()), (-32000, 2));
}
