//! Declares the results of tools.

use companion_protocol::ide::ClosedDiff;
use companion_protocol::jsonrpc::{Id, Response};
use companion_protocol::mcp::CallToolResult;
use companion_protocol::stateless::Complete;

use companion_core::diffs::{Accepted, Answer, Outcome};
use companion_core::text::Text;

use crate::mcp::dispatch::SERVER;
use crate::net::json::{Depth, Json};

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

    /// Whether the call failed.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Self::Other(result) if result.is_error)
    }

    /// The response to the request `id`.
    pub(crate) fn into_response(self, id: &Id) -> Json {
        self.into_response_of(|result| Json::new(&Response::new(id, result)))
    }

    /// The response to the request `id` of a client without a session.
    pub(crate) fn into_complete_response(self, id: &Id) -> Json {
        self.into_response_of(|result| Json::new(&Response::new(id, Complete::new(result, SERVER))))
    }

    fn into_response_of(self, response: impl Fn(CallToolResult) -> Json) -> Json {
        match self {
            Self::Closed(text) => {
                let closed = |content: &str| {
                    let closed = serde_json::to_string(&ClosedDiff { content });
                    response(CallToolResult::text(closed.expect("it is JSON")))
                };
                Json::with_text(text, Depth::StringInString, closed)
            }
            Self::Other(result) => response(result),
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
            Answer::Closed(Some(Accepted { content })) => return Self::Closed(content),
            Answer::Closed(None) => CallToolResult::text("{}"),
            Answer::Outcome { accept, outcome } => decided(accept, outcome),
        };
        result.into()
    }
}

/// The result of `acceptDiff` or `rejectDiff`.
fn decided(accept: bool, outcome: Outcome) -> CallToolResult {
    let text = match outcome {
        Outcome::Accepted => "The diff was accepted.",
        Outcome::Rejected => "The diff was rejected.",
        Outcome::Closed => "The diff was closed without a decision.",
        Outcome::Replaced => "The diff was replaced by a newer one for the same file.",
        Outcome::Failed | Outcome::TimedOut => "The editor could not open the diff.",
    };
    let wanted = if accept { Outcome::Accepted } else { Outcome::Rejected };
    if outcome == wanted { CallToolResult::text(text) } else { CallToolResult::error(text) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_a_client_reads() {
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        let decided = |accept, outcome| Answer::Outcome { accept, outcome };
        let accepted = json!({ "content": text("The diff was accepted.") });
        let rejected = json!({ "content": text("The diff was rejected."), "isError": true });
        let closed = json!({ "content": text(r#"{"content":"as \"edited\""}"#) });
        for (answer, expected) in [
            (Answer::Opened, json!({ "content": [] })),
            (Answer::Failed("no".to_owned()), json!({ "content": text("no"), "isError": true })),
            (Answer::Closed(Some(Accepted { content: "as \"edited\"".to_owned().into() })), closed),
            (Answer::Closed(None), json!({ "content": text("{}") })),
            (decided(true, Outcome::Accepted), accepted),
            (decided(true, Outcome::Rejected), rejected),
        ] {
            let response = ToolResult::from(answer).into_response(&Id::from(1));
            let mut read: Value = serde_json::from_slice(&response.into_bytes()).unwrap();
            assert_eq!(read["result"].take(), expected);
        }
    }
}
