//! Declares the decision about a diff, as its client receives it.

use crate::text::Text;

/// The decision about a diff. A diff that is closed, replaced or abandoned is rejected.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Decision<T = Text> {
    /// Accepted, with the user's final text.
    Accepted(T),
    Rejected,
}

impl<T> Decision<T> {
    pub(crate) fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted(_))
    }

    /// The accepted text.
    pub(crate) fn text(&self) -> Option<&T> {
        match self {
            Self::Accepted(text) => Some(text),
            Self::Rejected => None,
        }
    }

    /// The accepted text.
    pub(crate) fn into_text(self) -> Option<T> {
        match self {
            Self::Accepted(text) => Some(text),
            Self::Rejected => None,
        }
    }

    /// Changes the accepted text.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Decision<U> {
        match self {
            Self::Accepted(text) => Decision::Accepted(change(text)),
            Self::Rejected => Decision::Rejected,
        }
    }
}
