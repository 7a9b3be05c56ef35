//! What a call of a tool is answered.

use companion_protocol::ide::ClosedDiff;
use companion_protocol::mcp::CallToolResult;

use super::Text;
use crate::json;

/// How a diff ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// The user took it.
    Accepted,
    /// The user refused it, or the server stopped.
    Rejected,
    /// A client closed it, or its asker has gone.
    Closed,
    /// Another diff was opened for the same path.
    Replaced,
    /// The editor could not open it.
    Failed,
    /// The editor did not answer in time.
    TimedOut,
}

/// An answer, which is a result for the client to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// `openDiff`: the view shows, or the diff is over already.
    Opened,
    /// `closeDiff`: the final text, if there was such a diff and a text.
    Closed(Option<Text>),
    /// `acceptDiff` or `rejectDiff`: how the diff ended.
    Decided { accept: bool, outcome: Outcome },
    /// The call could not be carried out; the client fails the edit with this text.
    Failed(String),
}

impl Answer {
    /// How many bytes of a text it has.
    pub(super) fn len(&self) -> usize {
        if let Self::Closed(Some(text)) = self { text.len() } else { 0 }
    }
}

impl From<Answer> for CallToolResult {
    fn from(answer: Answer) -> Self {
        let (accept, outcome) = match answer {
            Answer::Opened => return Self::empty(),
            Answer::Failed(why) => return Self::error(why),
            Answer::Closed(content) => {
                let content = content.as_ref().map(|text| text.as_str());
                let mut text = json::buffer(content.map_or(0, str::len));
                serde_json::to_writer(&mut text, &ClosedDiff { content })
                    .expect("strings are JSON");
                return Self::text(String::from_utf8(text).expect("JSON is UTF-8"));
            }
            Answer::Decided { accept, outcome } => (accept, outcome),
        };
        let text = match outcome {
            Outcome::Accepted => "The diff was accepted.",
            Outcome::Rejected => "The diff was rejected.",
            Outcome::Closed => "The diff was closed without a decision.",
            Outcome::Replaced => "The diff was replaced by a newer one for the same file.",
            Outcome::Failed | Outcome::TimedOut => "The editor could not open the diff.",
        };
        let wanted = if accept { Outcome::Accepted } else { Outcome::Rejected };
        if outcome == wanted { Self::text(text) } else { Self::error(text) }
    }
}
