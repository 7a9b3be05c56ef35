//! Defines the messages that the companion sends: requests, notifications, answers, errors.

use serde::Serialize;

use super::{Id, Version, code};

/// A request that the companion sends.
#[derive(Debug, Serialize)]
pub struct Request<P> {
    jsonrpc: Version,
    id: Id,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Request<P> {
    /// Makes a request of `method`.
    pub fn new(id: Id, method: &'static str, params: P) -> Self {
        Self { jsonrpc: Version, id, method, params }
    }
}

/// A notification that the companion sends.
#[derive(Debug, Serialize)]
pub struct Notification<P> {
    jsonrpc: Version,
    method: &'static str,
    params: P,
}

impl<P: Serialize> Notification<P> {
    /// Makes a notification of `method`.
    pub fn new(method: impl Into<&'static str>, params: P) -> Self {
        Self { jsonrpc: Version, method: method.into(), params }
    }
}

/// The answer to a successful request.
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
/// JSON-RPC 2.0 §5 requires the id `null` if the request's id could not be read. Such an answer
/// occurs only in bodies of HTTP errors, which clients do not read as messages, and to editors.
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

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct ErrorObject {
    /// One of [`code`], or the peer's own.
    pub code: i32,
    /// For people.
    pub message: String,
    /// Details for programs. The companion ignores this member of a peer's error.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub data: Option<ErrorData>,
}

impl ErrorObject {
    /// Makes an error without data.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// The supported revisions, for a client of another protocol revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorData {
    /// The revisions that the companion supports.
    pub supported: &'static [&'static str],
    /// The revision that the client requested.
    pub requested: String,
}

/// Makes the error for a method that the companion does not have.
pub fn method_not_found(method: &str) -> ErrorObject {
    ErrorObject::new(code::METHOD_NOT_FOUND, format!("Method not found: {method}"))
}

/// Makes the error for wrong parameters of `method`, without quoting them.
pub fn invalid_params(method: &str, error: &serde_json::Error) -> ErrorObject {
    let message = format!("Invalid params for {method}: {}", describe(error));
    ErrorObject::new(code::INVALID_PARAMS, message)
}

/// Describes an error of serde without the value that serde quotes, which may be a user's text.
/// Leaves out the position, too, because it counts within the parameters only.
pub fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(text, _)| text);
    let quotes = text.starts_with("invalid type: ") || text.starts_with("invalid value: ");
    match text.rsplit_once(", expected ") {
        Some((_, expected)) if quotes => format!("expected {expected}"),
        _ => text.to_owned(),
    }
}
