//! What we send: requests, notifications, answers, errors.

use serde::Serialize;

use super::{Id, Version, code};

/// A request of ours.
#[derive(Debug, Serialize)]
pub struct Request<P> {
    jsonrpc: Version,
    id: Id,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Request<P> {
    /// Asks for `method`.
    pub fn new(id: Id, method: &'static str, params: P) -> Self {
        Self { jsonrpc: Version, id, method, params }
    }
}

/// A notification of ours.
#[derive(Debug, Serialize)]
pub struct Notification<P> {
    jsonrpc: Version,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Notification<P> {
    /// Tells that `method` happened.
    pub fn new(method: &'static str, params: P) -> Self {
        Self { jsonrpc: Version, method, params }
    }
}

/// The answer to a request that went well.
#[derive(Debug, Serialize)]
pub struct Response<'a, R> {
    jsonrpc: Version,
    id: &'a Id,
    result: R,
}

impl<'a, R: Serialize> Response<'a, R> {
    /// Answers the request `id`.
    pub fn new(id: &'a Id, result: R) -> Self {
        Self { jsonrpc: Version, id, result }
    }
}

/// The answer to a request that failed.
///
/// Without an id (`null`, as JSON-RPC 2.0 §5 wants it where none could be read) it goes only
/// into bodies of HTTP errors and to editors; a client does not read those as messages.
#[derive(Debug, Serialize)]
pub struct ErrorResponse<'a> {
    jsonrpc: Version,
    id: Option<&'a Id>,
    error: ErrorObject,
}

impl<'a> ErrorResponse<'a> {
    /// Answers the request `id`, or a text whose id could not be read.
    pub fn new(id: Option<&'a Id>, error: ErrorObject) -> Self {
        Self { jsonrpc: Version, id, error }
    }
}

/// What went wrong with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct ErrorObject {
    /// One of [`code`], or the peer's own.
    pub code: i32,
    /// For people.
    pub message: String,
    /// For programs. That of a peer's error is not read.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub data: Option<ErrorData>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// What a client of another protocol revision needs in order to choose one that is spoken here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorData {
    /// The revisions that are spoken here.
    pub supported: &'static [&'static str],
    /// The revision that was asked for.
    pub requested: String,
}

/// An error in a method's parameters, told without quoting them.
pub fn invalid_params(method: &str, error: &serde_json::Error) -> ErrorObject {
    let message = format!("Invalid params for {method}: {}", describe(error));
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// What is wrong with a message, without the value that serde quotes: that may be a user's text.
/// Also without the place, which is one within the parameters only.
pub fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let quotes = text.starts_with("invalid type: ") || text.starts_with("invalid value: ");
    match text.rsplit_once(", expected ") {
        Some((_, expected)) if quotes => format!("expected {expected}"),
        _ => text.to_owned(),
    }
}
