//! Models the protocol's answers a second time, simply and without regard to speed.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::input::{Request, SESSION};
use crate::testing::{PORT, TOKEN};

/// JSON that keeps duplicate members of objects.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    Integer(i128),
    Float,
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns the member, unless it is missing or occurs twice.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        let mut found = self.all(name);
        found.next().filter(|_| found.next().is_none())
    }

    fn has_twice(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.all(name).count() > 1)
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Json> {
        let members = if let Self::Object(members) = self { members.as_slice() } else { &[] };
        members.iter().filter(move |(key, _)| key == name).map(|(_, value)| value)
    }

    pub(super) fn text(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonVisitor;
        impl<'de> Visitor<'de> for JsonVisitor {
            type Value = Json;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
                Ok(Json::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
                Ok(Json::Integer(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
                Ok(Json::Integer(value.into()))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
                Ok(Json::Float)
            }
            fn visit_str<E>(self, value: &str) -> Result<Json, E> {
                Ok(Json::String(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = seq.next_element()? {
                    elements.push(element);
                }
                Ok(Json::Array(elements))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Json::Object(members))
            }
        }
        deserializer.deserialize_any(JsonVisitor)
    }
}

/// The expected result of a request.
#[derive(Debug, PartialEq)]
pub(super) struct Expected {
    pub(super) status: u16,
    /// Refused because of its head. An unread body may end the connection.
    pub(super) unread: bool,
    /// The answers to the requests of the body, in order.
    pub(super) answers: Vec<Answer>,
    /// The requests to the editor.
    pub(super) asked: Vec<String>,
    pub(super) new_session: bool,
}

/// The answer to one request.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) id: Json,
    pub(super) kind: Kind,
}

#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    /// A result without `isError`.
    Result,
    /// A result with `isError`.
    IsError,
    /// An error of this code.
    Error(i128),
}

fn only(status: u16) -> Expected {
    let (answers, asked) = (Vec::new(), Vec::new());
    Expected { status, unread: false, answers, asked, new_session: false }
}

fn unread(status: u16) -> Expected {
    Expected { unread: true, ..only(status) }
}

/// Returns the expected result of `request`, if it is known: only a JSON parser can judge some
/// values. `open` are the paths that have a diff.
pub(super) fn expect(request: &Request, open: &mut BTreeSet<String>) -> Option<Expected> {
    let header = |name| {
        let found = request.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    };
    let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{PORT}"));
    let host = header("host").unwrap_or_default().to_ascii_lowercase();
    if header("origin").is_some() || !hosts.contains(&host) {
        return Some(unread(403));
    }
    // Spaces around a value do not belong to it.
    if header("authorization").map(str::trim) != Some(&format!("Bearer {TOKEN}")) {
        return Some(unread(401));
    }
    match (request.target.split('?').next(), request.method.as_str()) {
        (Some("/mcp"), "POST") => {}
        (Some("/mcp"), "GET" | "DELETE") | (Some("/events"), "GET") => return None,
        (Some("/mcp" | "/events"), _) => return Some(unread(405)),
        _ => return Some(unread(404)),
    }
    if !matches!(header("accept"), None | Some("*/*" | "application/json, text/event-stream")) {
        return Some(unread(406));
    }
    if !header("content-encoding").is_none_or(|coding| coding.eq_ignore_ascii_case("identity")) {
        return Some(unread(415));
    }
    if serde_json::from_slice::<&RawValue>(&request.body).is_err() {
        return Some(only(400));
    }
    let body: Json = serde_json::from_slice(&request.body).ok()?;
    let (messages, batch) = match body {
        Json::Array(messages) if messages.is_empty() || messages.len() > 100 => {
            return Some(only(400));
        }
        Json::Array(messages) => (messages, true),
        message => (vec![message], false),
    };
    let probe: Option<Vec<_>> = messages.iter().map(is_request).collect();
    let Some(probe) = probe else { return Some(only(400)) };
    let is_initialize =
        !batch && probe[0] && messages[0].get("method").and_then(Json::text) == Some("initialize");
    if !is_initialize {
        if !matches!(header("mcp-protocol-version"), None | Some("2025-06-18")) {
            return Some(only(400));
        }
        match header("mcp-session-id") {
            Some(SESSION) => {}
            None => return Some(only(400)),
            Some(_) => return Some(only(404)),
        }
    }
    let mut expected = only(200);
    for (message, _) in messages.iter().zip(&probe).filter(|(_, is_request)| **is_request) {
        let kind = if is_initialize {
            initialize(message)
        } else {
            answer(message, open, &mut expected.asked)
        };
        expected.answers.push(Answer { id: message.get("id")?.clone(), kind });
    }
    expected.new_session = is_initialize && expected.answers[0].kind == Kind::Result;
    expected.status = if expected.answers.is_empty() { 202 } else { 200 };
    Some(expected)
}

/// Returns whether a message is a request, or `None` if it is not a message.
fn is_request(message: &Json) -> Option<bool> {
    let twice = message.has_twice(&["jsonrpc", "id", "method", "params", "result", "error"]);
    if !message.is_object() || twice || message.get("jsonrpc")?.text() != Some("2.0") {
        return None;
    }
    if !message.get("params").is_none_or(Json::is_object) {
        return None;
    }
    let present = |name| message.get(name).filter(|value| **value != Json::Null);
    match (present("method"), message.get("result"), present("error")) {
        (Some(Json::String(_)), None, None) => match message.get("id") {
            Some(Json::String(_) | Json::Integer(_) | Json::Float) => Some(true),
            Some(_) => None,
            None => Some(false),
        },
        (None, Some(_), None) => Some(false),
        (None, None, Some(error)) => {
            let code = matches!(error.get("code"), Some(Json::Integer(code)) if i32::try_from(*code).is_ok());
            (code && error.get("message")?.text().is_some()).then_some(false)
        }
        _ => None,
    }
}

fn initialize(message: &Json) -> Kind {
    let Some(params) = message.get("params") else { return Kind::Result };
    let wrong = params.has_twice(&["protocolVersion"])
        || !matches!(params.get("protocolVersion"), None | Some(Json::Null | Json::String(_)));
    if wrong { Kind::Error(-32602) } else { Kind::Result }
}

fn answer(message: &Json, open: &mut BTreeSet<String>, asked: &mut Vec<String>) -> Kind {
    match message.get("method").and_then(Json::text) {
        Some("tools/call") => {}
        Some("tools/list" | "ping" | "logging/setLevel") => return Kind::Result,
        Some("initialize") => return Kind::Error(-32600),
        _ => return Kind::Error(-32601),
    }
    let none = Json::Object(Vec::new());
    let params = message.get("params").unwrap_or(&none);
    let Some(Json::String(tool)) = params.get("name") else { return Kind::Error(-32602) };
    if params.has_twice(&["arguments"]) {
        return Kind::Error(-32602);
    }
    let arguments = params.get("arguments").unwrap_or(&none);
    call(tool, arguments, open, asked).unwrap_or(Kind::IsError)
}

fn call(
    tool: &str,
    arguments: &Json,
    open: &mut BTreeSet<String>,
    asked: &mut Vec<String>,
) -> Option<Kind> {
    if !arguments.is_object() || arguments.has_twice(&["filePath", "newContent"]) {
        return None;
    }
    let content = match arguments.get("newContent") {
        None => None,
        Some(content) => Some(content.text()?),
    };
    let mut suppress = arguments.all("suppressNotification");
    if !suppress.all(|value| matches!(value, Json::Null | Json::Bool(_))) {
        return None;
    }
    let path = arguments.get("filePath")?.text()?;
    if !path.starts_with('/') || path.contains('\0') || path.encode_utf16().count() > 32_767 {
        return None;
    }
    match tool {
        "openDiff" => {
            asked.push(format!("open {path} {}", content?));
            open.insert(path.to_owned());
        }
        "closeDiff" if open.remove(path) => asked.push(format!("close {path}")),
        "closeDiff" => {}
        "acceptDiff" if open.remove(path) => asked.push(format!("accept {path}")),
        "rejectDiff" if open.remove(path) => asked.push(format!("reject {path}")),
        _ => return None,
    }
    Some(Kind::Result)
}
