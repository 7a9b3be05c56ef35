//! Declares the decision about a diff, as its client receives it.

use crate::text::Text;

/// The decision about a diff. A diff that is closed, replaced or abandoned is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Decision<T = Text> {
    /// Accepted, with the user's final text.
    Accepted(T),
    /// Rejected.
    Rejected,
    /// Rejected with a reason. The client receives the file's present text as an acceptance, which
    /// changes nothing, so that its turn goes on.
    RejectedWithReason(T),
}

impl<T> Decision<T> {
    /// Whether the user accepted it.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// The accepted text.
    pub fn text(&self) -> Option<&T> {
        match self {
            Self::Accepted(text) => Some(text),
            Self::Rejected | Self::RejectedWithReason(_) => None,
        }
    }

    /// The text that the client receives with an acceptance.
    pub fn sent_text(&self) -> Option<&T> {
        match self {
            Self::Accepted(text) | Self::RejectedWithReason(text) => Some(text),
            Self::Rejected => None,
        }
    }

    /// The accepted text.
    pub fn into_text(self) -> Option<T> {
        match self {
            Self::Accepted(text) => Some(text),
            Self::Rejected | Self::RejectedWithReason(_) => None,
        }
    }

    /// Changes the accepted text.
    pub(crate) fn map_accepted(self, change: impl FnOnce(T) -> T) -> Self {
        match self {
            Self::Accepted(text) => Self::Accepted(change(text)),
            others => others,
        }
    }

    /// Changes the text.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Decision<U> {
        match self {
            Self::Accepted(text) => Decision::Accepted(change(text)),
            Self::Rejected => Decision::Rejected,
            Self::RejectedWithReason(text) => Decision::RejectedWithReason(change(text)),
        }
    }
}
