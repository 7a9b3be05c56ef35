//! Declares the answers to calls of tools about diffs.

use super::{Accepted, Decision};

/// How a diff ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
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
pub enum Answer {
    /// `openDiff`: the view is shown, or the diff has already ended.
    Opened,
    /// `closeDiff`: the acceptance, if a diff was open and has a text.
    Closed(Option<Accepted>),
    /// `acceptDiff` or `rejectDiff`: how the diff ended.
    Outcome {
        /// Which of the two.
        accept: bool,
        /// How the diff ended.
        outcome: Outcome,
    },
    /// The call failed. The client fails the edit with this text.
    Failed(String),
}

impl Answer {
    /// The length of its text, in bytes.
    pub(crate) fn len(&self) -> usize {
        if let Self::Closed(Some(accepted)) = self { accepted.content.len() } else { 0 }
    }
}

impl From<&Decision> for Outcome {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Accepted(_) => Self::Accepted,
            Decision::Rejected | Decision::Undecided | Decision::RejectedWithReason(_) => {
                Self::Rejected
            }
        }
    }
}
