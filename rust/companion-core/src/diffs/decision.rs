//! Declares the decision about a diff, as its client receives it.

use serde::{Deserialize, Serialize};

use crate::text::Text;

/// The user's acceptance: all that its client receives. The resume file contains the content alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Accepted {
    /// The final text.
    pub content: Text,
}

/// The decision about a diff.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Accepted by the user.
    Accepted(Accepted),
    /// Rejected by the user or by its client.
    Rejected,
    /// Ended without a decision: another diff has replaced it, or the server stops. A client with a session
    /// receives a rejection.
    Undecided,
    /// Rejected with a reason. The client receives the file's present text as an acceptance, which
    /// changes nothing, so that its turn goes on.
    RejectedWithReason(Text),
}

impl Decision {
    /// The user's acceptance.
    pub fn accepted(&self) -> Option<&Accepted> {
        match self {
            Self::Accepted(accepted) => Some(accepted),
            Self::Rejected | Self::Undecided | Self::RejectedWithReason(_) => None,
        }
    }

    /// The text that the client receives with an acceptance.
    pub fn sent_text(&self) -> Option<&Text> {
        match self {
            Self::Accepted(Accepted { content: text }) | Self::RejectedWithReason(text) => {
                Some(text)
            }
            Self::Rejected | Self::Undecided => None,
        }
    }

    /// Changes the acceptance.
    pub(crate) fn map_accepted(self, change: impl FnOnce(Accepted) -> Accepted) -> Self {
        match self {
            Self::Accepted(accepted) => Self::Accepted(change(accepted)),
            others => others,
        }
    }
}
