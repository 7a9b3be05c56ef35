//! Finds paths in messages, and replaces them.
//!
//! The rest of a message stays byte for byte as it was sent.

use std::borrow::Cow;
use std::ops::Range;

use companion_protocol::diagnostics::DiagnosticsReport;
use companion_protocol::ide::IdeMethod;
use companion_protocol::jsonrpc::{Id, Message, Params, Payload, parse};
use companion_protocol::tool::Tool;
use serde_json::value::RawValue;

use crate::raw::member;

/// A path in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathField {
    /// The position of its JSON string, including the quotes.
    pub(super) at: Range<usize>,
    /// The path as text.
    pub(super) path: String,
}

/// The diagnostics in a message.
#[derive(Debug)]
pub(super) struct ReportField {
    report: DiagnosticsReport,
    /// The position of the report as JSON.
    json: Range<usize>,
    /// The position of the report's text as a JSON string.
    text: Range<usize>,
}

impl ReportField {
    /// Returns the changes that replace the report with the result of `change`.
    pub(super) fn changed(
        self,
        change: impl FnOnce(DiagnosticsReport) -> DiagnosticsReport,
    ) -> Vec<(Range<usize>, String)> {
        let report = change(self.report);
        let json = serde_json::to_string(&report).expect("a report is JSON");
        let mut changes = vec![(self.json, json), (self.text, to_json(&report.text()))];
        changes.sort_by_key(|(at, _)| at.start);
        changes
    }
}

/// A message of the client.
#[derive(Debug)]
pub(super) enum FromClient {
    /// A request, which needs an answer.
    Request(Id, RequestKind),
    /// `notifications/initialized`: the client can now receive notifications.
    Ready,
    /// Any other notification, or an answer.
    Other,
}

/// The kinds of requests that matter to a bridge.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// `initialize`.
    Initialize,
    /// A tool of a companion, and the path among its arguments.
    Tool(Tool, PathField),
    /// Any other tool. Repeating the call could repeat its effect.
    OtherTool,
    /// Anything else.
    Other,
}

/// A message of the companion.
#[derive(Debug)]
pub(super) enum FromCompanion {
    /// The context, with the open files.
    Context(Vec<PathField>),
    /// The end of a diff.
    DiffEnded(PathField),
    /// An answer, and whether it is a success.
    Answer(bool),
    /// A successful answer with diagnostics.
    Problems(ReportField),
    /// Anything else.
    Other,
}

/// Parses a client's message. The error names the invalid part.
pub(super) fn from_client(text: &str) -> Result<FromClient, String> {
    match single(text)? {
        Message::Request { id, method, params } => {
            let asked = match &*method {
                "initialize" => RequestKind::Initialize,
                "tools/call" => tool_call(text, params),
                _ => RequestKind::Other,
            };
            Ok(FromClient::Request(id, asked))
        }
        Message::Notification { method, .. } if method == "notifications/initialized" => {
            Ok(FromClient::Ready)
        }
        Message::Notification { .. } | Message::Response { .. } => Ok(FromClient::Other),
    }
}

/// Parses a companion's message. The error names the invalid part.
pub(super) fn from_companion(text: &str) -> Result<FromCompanion, String> {
    match single(text)? {
        Message::Notification { method, params } => {
            let (method, params) = (method.parse(), params.parse().ok());
            Ok(match method {
                Ok(IdeMethod::ContextUpdate) => {
                    let state = params.and_then(|params| member(params, "workspaceState"));
                    let files = state.and_then(|state| member(state, "openFiles")).map(list);
                    let files = files.unwrap_or_default().into_iter();
                    let paths = files.filter_map(|file| field(text, member(file, "path")?));
                    FromCompanion::Context(paths.collect())
                }
                Ok(IdeMethod::DiffAccepted | IdeMethod::DiffRejected) => {
                    let path = params.and_then(|params| field(text, member(params, "filePath")?));
                    path.map_or(FromCompanion::Other, FromCompanion::DiffEnded)
                }
                Err(_) => FromCompanion::Other,
            })
        }
        Message::Response { id: None, .. } => Err("an answer to nothing".to_owned()),
        Message::Response { result, .. } => {
            let Ok(result) = result else { return Ok(FromCompanion::Answer(false)) };
            let went_well = member(result, "isError").is_none_or(|value| value.get() != "true");
            let problems = problems(text, result).filter(|_| went_well);
            Ok(problems.unwrap_or(FromCompanion::Answer(went_well)))
        }
        Message::Request { .. } => Ok(FromCompanion::Other),
    }
}

/// Returns the diagnostics in a result.
fn problems(text: &str, result: &RawValue) -> Option<FromCompanion> {
    let structured = member(result, "structuredContent")?;
    let report = serde_json::from_str(structured.get()).ok()?;
    let [block] = list(member(result, "content")?)[..] else { return None };
    let (json, text) = (place(text, structured)?, place(text, member(block, "text")?)?);
    Some(FromCompanion::Problems(ReportField { report, json, text }))
}

fn single(text: &str) -> Result<Message<'_>, String> {
    match parse(text.as_bytes()).map_err(|error| error.to_string())? {
        Payload::Single(message) => Ok(message),
        Payload::Batch(_) => Err("Invalid Request: one message per line, no batches".to_owned()),
    }
}

fn tool_call<'a>(text: &'a str, params: Params<'a>) -> RequestKind {
    let Ok(params) = params.parse::<&RawValue>() else { return RequestKind::OtherTool };
    let name = member(params, "name").and_then(|name| serde_json::from_str(name.get()).ok());
    let Some(tool) = name.and_then(|name: Cow<'_, str>| Tool::named(&name)) else {
        return RequestKind::OtherTool;
    };
    let path = member(params, "arguments").and_then(|all| member(all, Tool::PATH_ARGUMENT));
    match path.and_then(|path| field(text, path)) {
        Some(path) => RequestKind::Tool(tool, path),
        None if tool.is_read_only() => RequestKind::Other, // diagnostics of all files
        None => RequestKind::OtherTool,
    }
}

/// Returns the items of an array.
fn list(array: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(array.get()).unwrap_or_default()
}

/// Returns `raw`, which is part of `text`, if it is a string.
fn field(text: &str, raw: &RawValue) -> Option<PathField> {
    let path = serde_json::from_str(raw.get()).ok()?;
    Some(PathField { at: place(text, raw)?, path })
}

/// Returns the position of `raw` in `text`.
fn place(text: &str, raw: &RawValue) -> Option<Range<usize>> {
    let from = raw.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    Some(from..from + raw.get().len())
}

/// Returns `text` with JSON replaced at some positions, which are in order and do not overlap.
pub(super) fn replace(text: &str, changes: &[(Range<usize>, String)]) -> String {
    let more: usize = changes.iter().map(|(_, new)| new.len()).sum();
    let mut result = String::with_capacity(text.len() + more);
    let mut from = 0;
    for (at, new) in changes {
        result.push_str(&text[from..at.start]);
        result.push_str(new);
        from = at.end;
    }
    result.push_str(&text[from..]);
    result
}

/// Returns a path as JSON.
pub(super) fn to_json(path: &str) -> String {
    serde_json::to_string(path).expect("a string is JSON")
}

/// Returns `text` as one line. JSON has line breaks only between its tokens.
pub(super) fn to_line(text: &str) -> Cow<'_, str> {
    if text.contains(['\n', '\r']) {
        Cow::Owned(text.replace(['\n', '\r'], " "))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `text` with each path field in capitals, and nothing else changed.
    fn capitals(text: &str, fields: Vec<PathField>) -> String {
        let change = |field: PathField| (field.at, to_json(&field.path.to_uppercase()));
        replace(text, &fields.into_iter().map(change).collect::<Vec<_>>())
    }

    fn client(text: &str) -> String {
        let FromClient::Request(_, asked) = from_client(text).unwrap() else { panic!("{text}") };
        capitals(text, if let RequestKind::Tool(_, path) = asked { vec![path] } else { Vec::new() })
    }

    fn companion(text: &str) -> String {
        let fields = match from_companion(text).unwrap() {
            FromCompanion::Context(fields) => fields,
            FromCompanion::DiffEnded(field) => vec![field],
            FromCompanion::Answer(_) | FromCompanion::Problems(..) | FromCompanion::Other => {
                Vec::new()
            }
        };
        capitals(text, fields)
    }

    #[test]
    fn paths_of_the_clients() {
        for tool in ["openDiff", "closeDiff", "acceptDiff", "rejectDiff"] {
            let text = |path| {
                format!(
                    r#" {{"id" : 1.0, "jsonrpc":"2.0","method":"tools/call", "params":{{"arguments":{{"newContent":"/a \u0041","filePath": "{path}" ,"path":"/a"}},"name":"{tool}","_meta":{{"filePath":"/a"}}}}}}"#
                )
            };
            assert_eq!(client(&text("/a")), text("/A"), "{tool}");
        }
        let escaped = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open\u0044iff","arguments":{"file\u0050ath":"\/\u00e9"}}}"#;
        assert_eq!(client(escaped), escaped.replace(r"\/\u00e9", "/É"));
    }

    #[test]
    fn problems_of_all_files_may_be_asked_for_again() {
        let call =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"getDiagnostics"}}"#;
        assert!(matches!(from_client(call), Ok(FromClient::Request(_, RequestKind::Other))));
        let call = call.replace("getDiagnostics", "closeDiff");
        assert!(matches!(from_client(&call), Ok(FromClient::Request(_, RequestKind::OtherTool))));
    }

    #[test]
    fn what_is_no_path_of_a_diff_stays() {
        for params in [
            r#"{"name":"otherTool","arguments":{"filePath":"/a"}}"#,
            r#"{"name":"openDiff","arguments":{"filePath":7}}"#,
            r#"{"name":"openDiff","arguments":{"filePath":null}}"#,
            r#"{"name":"openDiff","arguments":["/a"]}"#,
            r#"{"name":"openDiff","arguments":{"filePath":"/a","file\u0050ath":"/b"}}"#,
            r#"{"name":"openDiff","filePath":"/a"}"#,
            r#"{"name":"openDiff"}"#,
            r#"{"filePath":"/a"}"#,
        ] {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{params}}}"#);
            assert_eq!(client(&text), text);
        }
    }

    #[test]
    fn paths_of_the_companions() {
        for (text, path) in [
            (
                r#"{"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"content":"/a","filePath":"/a/b"}}"#,
                "/a/b",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"/a/b"}}"#,
                "/a/b",
            ),
            (r#"{"jsonrpc":"2.0","method":"ide/diffClosed","params":{"filePath":"/a/b"}}"#, "/a/b"),
        ] {
            assert_eq!(companion(text), text.replace(path, "/A/B"));
        }
        let context = |a, b| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"ide/contextUpdate","params":{{"workspaceState":{{"openFiles":[{{"path":"{a}","timestamp":1,"isActive":true,"selectedText":"/x/y","cursor":{{"line":1,"character":1}}}},{{"timestamp":2.50,"path":"{b}"}}],"isTrusted":true,"path":"/x"}}}}}}"#
            )
        };
        assert_eq!(companion(&context("/x/y", "/z")), context("/X/Y", "/Z"));
        for untouched in [
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"filePath\":\"/a\"}"}]}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"/a"}}"#,
            r#"{"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":7}}"#,
            r#"{"jsonrpc":"2.0","method":"other","params":{"filePath":"/a"}}"#,
        ] {
            assert_eq!(companion(untouched), untouched);
        }
    }

    #[test]
    fn whether_a_call_went_well() {
        let answer =
            |rest: &str| match from_companion(&format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#)) {
                Ok(FromCompanion::Answer(well)) => well,
                other => panic!("{other:?}"),
            };
        assert!(answer(r#""result":{"content":[]}"#));
        assert!(answer(r#""result":{"content":[],"isError":false}"#));
        assert!(!answer(r#""result":{"content":[],"isError":true}"#));
        assert!(!answer(r#""error":{"code":1,"message":"m"}"#));
    }

    #[test]
    fn a_text_that_is_not_a_message_is_an_error() {
        for text in ["", "x", "{}", "[]", r#"[{"jsonrpc":"2.0","method":"m"}]"#] {
            assert!(from_client(text).is_err() && from_companion(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_line_with_the_same_meaning() {
        let pretty = "{\r\n  \"a\": \"b\\n\"\n}";
        assert_eq!(to_line(pretty), "{    \"a\": \"b\\n\" }");
    }
}
