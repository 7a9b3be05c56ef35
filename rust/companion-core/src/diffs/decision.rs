//! Declares the decision about a diff, as its client receives it.

use crate::text::Text;

/// The decision about a diff. A diff that is closed, replaced or abandoned is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Accepted, with the user's final text.
    Accepted(Text),
    /// Rejected.
    Rejected,
    /// Rejected with a reason. The client receives the file's present text as an acceptance, which
    /// changes nothing, so that its turn goes on.
    RejectedWithReason(Text),
}

impl Decision {
    /// Whether the user accepted it.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// The accepted text.
    pub fn text(&self) -> Option<&Text> {
        match self {
            Self::Accepted(text) => Some(text),
            Self::Rejected | Self::RejectedWithReason(_) => None,
        }
    }

    /// The text that the client receives with an acceptance.
    pub fn sent_text(&self) -> Option<&Text> {
        match self {
            Self::Accepted(text) | Self::RejectedWithReason(text) => Some(text),
            Self::Rejected => None,
        }
    }

    /// Changes the accepted text.
    pub(crate) fn map_accepted(self, change: impl FnOnce(Text) -> Text) -> Self {
        match self {
            Self::Accepted(text) => Self::Accepted(change(text)),
            others => others,
        }
    }
}
