//! Declares the answers to calls of tools about diffs.

use companion_protocol::ide::ClosedDiff;
use companion_protocol::jsonrpc::{Id, Response};
use companion_protocol::mcp::CallToolResult;

use super::Decision;
use crate::net::json::{self, Depth, Json};
use crate::text::Text;

/// How a diff ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// The user accepted it.
    Accepted,
    /// The user rejected it, or the server stopped.
    Rejected,
    /// A client closed it, or its client has left.
    Closed,
    /// Another diff was opened for the same path.
    Replaced,
    /// The editor could not open it.
    Failed,
    /// The editor did not answer in time.
    TimedOut,
}

/// An answer to a client's call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// `openDiff`: the view is shown, or the diff has already ended.
    Opened,
    /// `closeDiff`: the final text, if a diff was open and has a text.
    Closed(Option<Text>),
    /// `acceptDiff` or `rejectDiff`: how the diff ended.
    Decided { accept: bool, outcome: Outcome },
    /// The call failed. The client fails the edit with this text.
    Failed(String),
}

impl Answer {
    /// The length of its text, in bytes.
    pub(super) fn len(&self) -> usize {
        if let Self::Closed(Some(text)) = self { text.len() } else { 0 }
    }
}

/// The result of a call.
pub(crate) enum ToolResult {
    /// The result of `closeDiff` with a text.
    Closed(Text),
    Other(CallToolResult),
}

impl ToolResult {
    pub(crate) fn error(why: &str) -> Self {
        CallToolResult::error(why).into()
    }

    /// The response to the request `id`.
    pub(crate) fn into_response(self, id: &Id) -> Json {
        match self {
            Self::Closed(text) => Json::with_text(text, Depth::StringInString, |text| {
                let closed = json::write(&ClosedDiff { content: text }, text.len());
                let closed = String::from_utf8(closed).expect("JSON is UTF-8");
                json::write(&Response::new(id, CallToolResult::text(closed)), text.len())
            }),
            Self::Other(result) => Json::new(&Response::new(id, result)),
        }
    }
}

impl From<CallToolResult> for ToolResult {
    fn from(result: CallToolResult) -> Self {
        Self::Other(result)
    }
}

impl From<Answer> for ToolResult {
    fn from(answer: Answer) -> Self {
        let result = match answer {
            Answer::Opened => CallToolResult::empty(),
            Answer::Failed(why) => CallToolResult::error(why),
            Answer::Closed(Some(text)) => return Self::Closed(text),
            Answer::Closed(None) => CallToolResult::text("{}"),
            Answer::Decided { accept, outcome } => outcome.decided(accept),
        };
        result.into()
    }
}

impl<T> From<&Decision<T>> for Outcome {
    fn from(decision: &Decision<T>) -> Self {
        if decision.is_accepted() { Self::Accepted } else { Self::Rejected }
    }
}

impl Outcome {
    /// The result of `acceptDiff` or `rejectDiff`.
    fn decided(self, accept: bool) -> CallToolResult {
        let text = match self {
            Self::Accepted => "The diff was accepted.",
            Self::Rejected => "The diff was rejected.",
            Self::Closed => "The diff was closed without a decision.",
            Self::Replaced => "The diff was replaced by a newer one for the same file.",
            Self::Failed | Self::TimedOut => "The editor could not open the diff.",
        };
        let wanted = if accept { Self::Accepted } else { Self::Rejected };
        if self == wanted { CallToolResult::text(text) } else { CallToolResult::error(text) }
    }
}
