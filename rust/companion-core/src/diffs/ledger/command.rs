//! Declares the requests to the editor about proposals.

use std::sync::Arc;

use crate::diffs::DiffId;

/// A request to the editor about the proposal of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EditorCommand {
    /// Show the proposal of this diff.
    Open(Arc<str>, DiffId),
    /// Close the view without a decision of the user.
    Close(Arc<str>, CloseReason),
    /// Accept the proposal in the user's place.
    Accept(Arc<str>),
    /// Reject the proposal in the user's place.
    Reject(Arc<str>),
}

/// Why a view closes without a decision of the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CloseReason {
    /// Its client closes the diff, and takes the text.
    ClientTakesText,
    /// Its client closes the diff because the client is being disabled or ends.
    ClientDisconnects,
    /// Its client has left, or has had no stream for too long.
    ClientAway,
    /// Its client has received the end of the diff from the last process.
    EndedBefore,
    /// No call waits for the view: its `openDiff` or its `closeDiff` was answered without it.
    Unclaimed,
}

impl CloseReason {
    /// Whether the client takes the proposal's text. Otherwise the editor keeps the user's edits.
    pub fn takes_text(self) -> bool {
        match self {
            Self::ClientTakesText => true,
            Self::ClientDisconnects | Self::ClientAway | Self::EndedBefore | Self::Unclaimed => {
                false
            }
        }
    }
}

impl EditorCommand {
    /// The path of the proposal.
    pub(crate) fn path(&self) -> &Arc<str> {
        match self {
            Self::Open(path, _)
            | Self::Close(path, _)
            | Self::Accept(path)
            | Self::Reject(path) => path,
        }
    }

    /// Whether it closes a view.
    pub(super) fn closes(&self) -> bool {
        matches!(self, Self::Close(..))
    }
}
